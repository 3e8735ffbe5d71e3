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
    while page.get_by_role("link", name="Next page").count():
        page.get_by_role("link", name="Next page").click()
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

    page.get_by_role("button", name="Forget").click()
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


def test_a_memory_that_is_not_there_says_so(console):
    console.allowed.append("404")
    page = console()
    go(page, "memory/zzzzzzzzzzzzzzzzzzzz")
    expect(page.locator(".wrong")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
