"""Documents: which folders are looked into, whether what is known of them is as they are, searched, cited and read."""

import re

import pytest
from household import NOTES, SCOPE, hostile, needs_attacks, write
from watching import at, expect, go, settled


@pytest.fixture
def look(looking):
    return lambda path="documents", **options: looking(path, scope=options.pop("scope", SCOPE), **options)


def source(page, name):
    return page.locator(".source").filter(has=page.get_by_role("heading", name=name, exact=True))


def test_each_source_tells_where_it_is_and_whether_it_is_up_to_date(look, home):
    page = look()
    card = source(page, "notes")
    told = card.inner_text()
    assert str(home.folder / "notes") in told
    assert "up to date" in told
    assert "3 of 3 files" in told
    assert "trusted" in told
    assert "3 of 3 on the disk" in page.locator(".panel").last.inner_text()


def test_what_is_not_read_yet_is_told_and_a_sync_takes_it_in(look, home):
    attic = {"attic.md": "# Attic\n\nThe marmalade jars are under the skylight.\n"}
    page = look()
    page.get_by_role("button", name="Add a folder").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Path on the server").fill(str(write(home.folder / "loft", attic)))
    box.get_by_label("Read it at once").uncheck()
    box.get_by_role("button", name="Add", exact=True).click()
    expect(source(page, "loft")).to_contain_text("1 change not read yet")
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator(".notice").last).to_contain_text("1 added")
    expect(source(page, "loft")).to_contain_text("up to date")
    go(page, "documents?q=marmalade jars", scope=SCOPE)
    expect(page.locator(".results .memory").first).to_contain_text("attic.md#L1-L3")
    go(page, "receipts", scope=SCOPE)
    page.get_by_text("POST documents/sync").click()
    assert re.search(r"added\s+1", page.locator("details[open]").first.inner_text())


def test_a_sync_shows_its_progress_and_can_be_cancelled(look):
    page = look()
    page.route("**/documents/sync*", lambda route: None)  # never answered
    page.get_by_role("button", name="Sync now").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".work-place")).to_contain_text("cancelled")


def test_a_passage_is_cited_and_leads_to_its_lines_in_the_file(look):
    page = look()
    page.get_by_role("searchbox").fill("boiler pressure")
    page.keyboard.press("Enter")
    first = page.locator(".results .memory").first
    expect(first.locator("a")).to_have_text(re.compile(r"boiler\.md#L\d+-L\d+"))
    first.locator("a").click()
    at(page, "Document")
    expect(page.locator(".name")).to_have_text("boiler.md")
    lines = page.locator(".line")
    first_line = NOTES["boiler.md"].splitlines()[0]
    assert lines.first.inner_text().strip() == first_line
    assert page.locator(".line-number").first.get_attribute("data-line") == "1"
    assert page.locator(".line.is-cited").count() > 0


def test_a_long_document_is_read_part_by_part_without_a_gap(look):
    page = look("document?source=notes&path=diary.md")
    seen = []
    while True:
        seen += [line.rstrip("\n") for line in page.locator(".line .said").all_inner_texts()]
        following = page.get_by_role("link", name="Next part")
        if not following.count():
            break
        before = page.locator(".line-number").first.get_attribute("data-line")
        following.click()
        expect(page.locator(f'.line-number[data-line="{before}"]')).to_have_count(0)
        settled(page)
    assert seen == NOTES["diary.md"].splitlines()
    page.get_by_role("link", name="Earlier part").click()
    page.wait_for_url(re.compile("from="))


def test_a_file_that_is_not_there_is_told_with_the_next_step(look):
    page = look("document?source=notes&path=gone.md")
    assert "The file is not there" in page.locator(".empty").inner_text()


def test_nothing_found_is_an_answer(look):
    page = look("documents?q=zeppelin hangar")
    assert "Nothing in the documents bears on it" in page.locator(".results").inner_text()


def test_a_folder_is_added_and_read_and_removed_with_the_proof(look, home):
    folder = write(home.folder / "recipes", {"soup.md": "# Soup\n\nLeeks, potatoes and wyvernseed.\n"})
    page = look()
    page.get_by_role("button", name="Add a folder").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Path on the server").fill(str(folder))
    box.get_by_role("button", name="Add", exact=True).click()
    expect(source(page, "recipes")).to_contain_text("1 of 1 file")
    expect(source(page, "recipes")).to_contain_text("untrusted")
    go(page, "documents?q=wyvernseed", scope=SCOPE)
    expect(page.locator(".results .memory").first).to_contain_text("wyvernseed")
    page.get_by_role("button", name="Remove recipes").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(source(page, "recipes")).to_have_count(1)
    page.get_by_role("button", name="Remove recipes").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".proof-big")).to_have_text("Gone, and proven gone.", timeout=30_000)
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    expect(source(page, "recipes")).to_have_count(0)
    assert (folder / "soup.md").exists(), "the files of people stay"
    ours = [each for each in home.folder.rglob("store.db*") if each.is_file()]
    assert ours
    assert not [each for each in ours if b"wyvernseed" in each.read_bytes()]


def test_a_folder_outside_of_the_roots_is_refused_with_what_to_do(look, looking):
    looking.allowed.append("403")
    page = look()
    page.get_by_role("button", name="Add a folder").click()
    box = page.get_by_role("dialog")
    assert "--root DIR" in box.inner_text()
    box.get_by_label("Path on the server").fill("/etc")
    box.get_by_role("button", name="Add", exact=True).click()
    expect(box.locator(".wrong")).to_contain_text("outside of the folders")
    expect(box.locator(".wrong")).to_contain_text("--root")


def test_who_may_not_add_or_sync_sees_no_such_button(look, home):
    page = look(token=home.filled.reader)
    assert page.locator("main .button").all_inner_texts() == ["Search"]
    writer = look(token=home.filled.writer)
    assert writer.locator("main .button").all_inner_texts() == ["Sync now", "Search"]


def test_with_the_keyboard_alone_a_document_is_found_and_read(look):
    page = look("timeline")
    page.keyboard.press("g")
    page.keyboard.press("d")
    at(page, "Documents")
    page.keyboard.press("/")
    page.keyboard.type("roses in March")
    page.keyboard.press("Enter")
    expect(page.locator(".results .memory").first).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.textContent.includes('roses.md#')"):
            break
    page.keyboard.press("Enter")
    at(page, "Document")
    expect(page.locator(".name")).to_have_text("garden/roses.md")
    assert "Cut them back in March" in page.locator(".lines-read").inner_text()


@needs_attacks
def test_hostile_texts_stay_texts_in_documents_their_names_and_their_sources(look, home):
    texts = hostile()
    notes = {}
    for place, text in enumerate(texts):
        name = re.sub(r"[/\0]", "∕", text)[:80]
        notes[f"{name}-{place}.md"] = f"# {text}\n\nhostilepassage {text} \u202ehidden\n"
    write(home.folder / "<img src=x onerror=alert(1)>", notes)
    page = look()
    page.get_by_role("button", name="Add a folder").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Path on the server").fill(str(home.folder / "<img src=x onerror=alert(1)>"))
    box.get_by_role("button", name="Add", exact=True).click()
    expect(source(page, "<img src=x onerror=alert(1)>")).to_contain_text(f"{len(texts)} of {len(texts)} files")
    go(page, "documents?q=hostilepassage", scope=SCOPE)
    hits = page.locator(".results .memory")
    assert hits.count() > 0
    assert any(text in hits.nth(place).inner_text() for place in range(hits.count()) for text in texts)
    for place in range(min(hits.count(), 4)):
        hits.nth(place).locator("a").click()
        expect(page.locator(".lines-read")).to_contain_text("hostilepassage")
        assert "⟨U+202E⟩" in page.locator(".lines-read").inner_text()
        assert page.locator("main :is(script, img, iframe, style, object, embed)").count() == 0
        page.go_back()
        expect(hits.first).to_be_visible()
