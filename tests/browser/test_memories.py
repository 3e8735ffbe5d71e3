"""Browse and one memory: find it, write it, correct it, let it go, prove that it is gone."""

import json

import pytest
from watching import at, expect, go, settled

from support import occurrences


@pytest.fixture
def page(own_server, console):
    """A page on a store of its own."""
    return console("browse", server=own_server)


def test_filters_narrow_what_is_shown_and_have_an_address(console):
    page = console("browse?kind=decision")
    assert page.locator(".memory-text").all_inner_texts() == ["We decided to paint the hall green."]
    go(page, "browse?states=forgotten&states=archived")
    assert set(page.locator(".memory .chip").all_inner_texts()) >= {"forgotten", "archived"}
    go(page, "browse?text=HERBAT")
    assert page.locator(".memory").count() == 1
    go(page, "browse?here=true&text=boiler is serviced")
    expect(page.locator(".empty")).to_contain_text("Nothing fits these filters")


def test_pages_follow_one_another_without_gap_or_repetition(console):
    page = console("browse")
    seen = page.locator(".memory-text").all_inner_texts()
    while page.get_by_role("link", name="Older page").count():
        page.get_by_role("link", name="Older page").click()
        expect(page.locator(".memory-text").first).not_to_have_text(seen[-25])
        settled(page)
        seen += page.locator(".memory-text").all_inner_texts()
    assert f"{len(seen)} memories." == page.locator(".told").inner_text()
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("form", ["JSON", "JSON lines"])
def test_what_is_shown_is_exported_whole(console, form):
    page = console("browse?text=errand")
    with page.expect_download() as started:
        page.get_by_role("button", name=f"Export what is shown as {form}", exact=True).click()
    text = started.value.path().read_text()
    found = json.loads(text) if form == "JSON" else [json.loads(line) for line in text.splitlines()]
    assert len(found) == 30
    assert {each["kind"] for each in found} == {"note"}
    assert all(each["text"].startswith("Errand") for each in found)


def test_a_memory_is_remembered_corrected_forgotten_and_restored(page):
    page.get_by_role("button", name="Remember", exact=True).click()
    page.get_by_label("What is to be remembered").fill("The bicycle is in the cellar.")
    page.locator("dialog").get_by_label("Kind").select_option("fact")
    page.locator("dialog").get_by_label("About").fill("bicycle")
    page.locator("dialog").get_by_label("Tags").fill("house, wheels")
    page.locator("dialog").get_by_role("button", name="Remember").click()
    at(page, "Memory")
    assert page.locator(".whole-text").inner_text() == "The bicycle is in the cellar."
    assert page.locator(".chip").all_inner_texts() == ["#house", "#wheels"]

    page.get_by_role("button", name="Correct").click()
    page.get_by_label("What is right").fill("The bicycle is in the shed.")
    page.locator("dialog").get_by_role("button", name="Correct").click()
    expect(page.locator(".whole-text")).to_have_text("The bicycle is in the shed.")
    expect(page.locator("#notices")).to_contain_text("Corrected.")
    page.locator("#notices").get_by_role("button", name="Show what it replaced").click()
    expect(page.locator(".whole-text")).to_have_text("The bicycle is in the cellar.")
    page.locator(".warned").get_by_role("link", name="The bicycle is in the shed.").click()
    expect(page.locator(".whole-text")).to_have_text("The bicycle is in the shed.")
    expect(page.locator(".replaced").get_by_role("link", name="The bicycle is in the cellar.")).to_be_visible()

    page.get_by_role("button", name="Forget").click()
    expect(page.locator("#notices")).to_contain_text("It can be restored for 30 days, until 20")
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    expect(page.locator(".chip").first).to_have_text("forgotten")
    page.locator("#notices").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    expect(page.locator(".history > li")).to_have_count(3)


def test_the_slider_shows_a_memory_as_it_was_before(console, served):
    page = console(f"memory/{served.filled.forgotten}")
    expect(page.locator(".facts").first).to_contain_text("forgotten")
    page.get_by_label("As it was").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".facts").first).to_contain_text("live")
    expect(page.locator("output")).to_contain_text("after “remembered”")
    page.keyboard.press("ArrowRight")
    expect(page.locator("output")).to_have_text("as it is now")


def test_several_are_forgotten_at_once_after_a_question(page):
    go(page, "browse?text=errand")
    boxes = page.get_by_role("checkbox", name="Select")
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.locator(".selection")).to_contain_text("2 selected")
    page.get_by_role("button", name="Forget").click()
    page.keyboard.press("Escape")
    expect(page.locator(".told")).to_have_text("30 memories fit.")
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget 2").click()
    expect(page.locator("#notices")).to_contain_text("They can be restored for 30 days")
    expect(page.locator(".told")).to_have_text("28 memories fit.")


def test_erasing_shows_what_goes_asks_for_a_word_and_gives_the_proof(page, own_server):
    text = "Anna reads by light.desk_lamp now."
    go(page, f"memory/{own_server.filled.lamp}")
    page.get_by_role("button", name="Erase").click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text(text)
    confirm = dialog.get_by_role("button", name="Erase")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type “erase” to go on").fill("yes")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type “erase” to go on").fill("erase")
    confirm.click()
    expect(dialog.locator(".proof-big")).to_have_text("Gone, and proven gone.")
    assert "Traces found\n0" in dialog.inner_text()
    with page.expect_download() as started:
        dialog.get_by_role("button", name="Download the receipt").click()
    receipt = json.loads(started.value.path().read_text())
    assert receipt["state"] == "purged"
    assert receipt["found"] == 0
    assert receipt["scanned"]
    dialog.get_by_role("button", name="Close").last.click()
    at(page, "Browse")
    assert occurrences(own_server.store, "light.desk_lamp now") == []


def erase_here(page, *, along):
    """Erase the memory that is shown; the dialog with the proof."""
    page.get_by_role("button", name="Erase").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("Erase it, too").set_checked(along)
    dialog.get_by_label("Type “erase” to go on").fill("erase")
    dialog.get_by_role("button", name="Erase").click()
    return dialog


def test_an_earlier_version_stays_when_it_is_not_taken_along_and_says_that_its_successor_is_gone(
    page, console, own_server
):
    console.allowed.append("404")
    go(page, f"memory/{own_server.filled.lamp}")
    dialog = erase_here(page, along=False)
    expect(dialog.locator(".proof-big")).to_have_text("Gone, and proven gone.")
    dialog.get_by_role("button", name="Close").last.click()
    at(page, "Browse")
    go(page, f"memory/{own_server.filled.old_lamp}")
    expect(page.locator(".warned")).to_contain_text("has been erased")
    assert page.locator(".warned a").count() == 0


def test_an_earlier_version_is_erased_too_when_it_is_taken_along_each_with_its_proof(page, own_server):
    go(page, f"memory/{own_server.filled.lamp}")
    dialog = erase_here(page, along=True)
    expect(dialog.locator(".proof-big")).to_have_text(["Gone, and proven gone."] * 2)
    dialog.get_by_role("button", name="Close").last.click()
    at(page, "Browse")
    assert occurrences(own_server.store, "light.bedroom_lamp") == []


def test_what_was_erased_is_kept_again_only_when_an_admin_insists(page, console, own_server):
    console.allowed.append("403")
    text = "Anna reads by light.desk_lamp now."
    go(page, f"memory/{own_server.filled.lamp}")
    dialog = erase_here(page, along=False)
    expect(dialog.locator(".proof-big")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    at(page, "Browse")
    other = console("browse", server=own_server, token=own_server.filled.writer)
    for each in (other, page):
        each.get_by_role("button", name="Remember", exact=True).click()
        each.get_by_label("What is to be remembered").fill(text)
        each.locator("dialog").get_by_role("button", name="Remember").click()
        expect(each.locator("dialog .wrong")).to_contain_text("was erased from this scope")
        assert "after_erase" not in each.locator("dialog").inner_text()
    assert other.get_by_role("button", name="Keep it all the same").count() == 0
    page.get_by_role("button", name="Keep it all the same").click()
    expect(page.locator(".whole-text")).to_have_text(text)


def test_going_back_closes_the_dialog_first_and_then_leaves_the_page(page):
    go(page, "facts")
    go(page, "browse")
    page.get_by_role("button", name="Remember", exact=True).click()
    page.go_back()
    expect(page.locator("dialog")).to_have_count(0)
    at(page, "Browse")
    page.go_back()
    at(page, "Facts")


def test_no_choice_is_offered_twice(page):
    page.get_by_role("button", name="Remember", exact=True).click()
    kinds = page.locator("dialog").get_by_label("Kind").locator("option").all_inner_texts()
    assert kinds == ["fact", "preference", "decision", "entity", "episode", "note (usual)"]
    assert page.locator("dialog").get_by_label("Kind").input_value() == ""


def test_a_memory_that_is_not_there_says_so(console):
    console.allowed.append("404")
    page = console()
    go(page, "memory/zzzzzzzzzzzzzzzzzzzz")
    expect(page.locator(".wrong")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
