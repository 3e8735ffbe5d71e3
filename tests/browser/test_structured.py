"""Profile, facts, preferences and review: what people change by hand."""

import pytest
from watching import expect, go, settled


@pytest.fixture
def page(own_server, console):
    """A page on a store of its own."""
    return console(server=own_server)


def test_the_profile_is_edited_and_stands_in_what_the_model_is_told(page):
    go(page, "profile")
    page.get_by_label("Name", exact=True).fill("Anna Maria")
    page.get_by_role("textbox", name="Notes").fill("")
    page.get_by_role("button", name="Save").click()
    told = page.locator(".pack")
    expect(told).to_contain_text("name: Anna Maria")
    expect(told).not_to_contain_text("Fridays")
    traits = page.get_by_role("form", name="Add to Traits")
    traits.get_by_label("One more").fill("speaks Polish")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("speaks Polish")
    page.get_by_role("button", name="Remove cycles to work").click()
    expect(told).not_to_contain_text("cycles to work")
    page.locator("#notices").get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("cycles to work")


def test_each_speaker_has_a_profile(page):
    go(page, "profile")
    page.get_by_label("Whose", exact=True).select_option("anna")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".entries")).to_contain_text("metric units")
    page.get_by_label("Another speaker").fill("tom")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**speaker=tom**")
    expect(page.locator(".entries", has_text="metric units")).to_have_count(0)
    settled(page)
    form = page.get_by_role("form", name="Add to Preferences")
    form.get_by_label("One more").fill("no sugar")
    form.get_by_role("button", name="Add").click()
    expect(page.locator(".pack")).to_contain_text("Speaker profile, preferences: no sugar")


def test_a_fact_is_added_superseded_asked_for_and_forgotten(page):
    go(page, "facts")
    page.get_by_role("button", name="New fact").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("About").fill("light.office")
    dialog.get_by_label("Attribute").fill("location")
    dialog.get_by_label("Value").fill("by the door")
    dialog.get_by_role("button", name="Keep the fact").click()
    expect(page.locator("#notices")).to_contain_text("what was known before is in its history")
    expect(page.locator("main")).to_contain_text("by the door")
    expect(page.locator("main")).not_to_contain_text("by the window")
    page.get_by_role("searchbox", name="Ask").fill("where is the reading lamp?")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**q=where**")
    expect(page.locator("main h2").first).to_have_text("light.office")
    row = page.locator("tr", has_text="by the door")
    row.get_by_role("button", name="Forget").click()
    page.locator("dialog").get_by_role("button", name="Forget").click()
    expect(page.locator("main")).not_to_contain_text("by the door")


def test_a_fact_without_a_value_is_refused_in_the_form_with_the_reason(page, console):
    console.allowed.append("422")
    go(page, "facts")
    page.get_by_role("button", name="New fact").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("About").fill("light.office")
    dialog.get_by_label("Attribute").fill("profile.name")
    dialog.get_by_label("Value").fill("x")
    dialog.get_by_role("button", name="Keep the fact").click()
    expect(dialog.locator(".wrong")).to_contain_text("belongs to the profile")
    expect(dialog.locator(".wrong")).to_contain_text("Use memory.profile")


def test_preferences_show_what_applies_under_given_circumstances(page):
    go(page, "preferences?now=2026-06-01T12:00")
    expect(page.locator("tr", has_text="80%")).to_contain_text("applies")
    expect(page.locator("tr", has_text="40%")).not_to_contain_text("applies")
    page.get_by_label("And this is so").fill("after_sunset")
    page.get_by_role("button", name="What applies?").click()
    expect(page.locator("tr", has_text="40%")).to_contain_text("applies")
    page.get_by_role("button", name="New preference").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("Category").fill("music")
    dialog.get_by_label("Key").fill("volume")
    dialog.get_by_label("Value").fill("3")
    dialog.get_by_label("When").fill("weekday+morning")
    dialog.get_by_role("button", name="Keep").click()
    row = page.locator("tr", has_text="music")
    expect(row).to_contain_text("weekday+morning")
    row.get_by_role("button", name="Forget").click()
    page.locator("dialog").get_by_role("button", name="Forget").click()
    expect(row).to_have_count(0)


def test_what_waits_is_decided_with_the_keyboard_alone(page):
    go(page, "review")
    expect(page.get_by_role("link", name="Review")).to_contain_text("2")
    expect(page.locator(".waiting").first).to_contain_text("capture was told to ask")
    page.keyboard.press("j")
    second = page.locator(".waiting[aria-current]")
    text = second.locator(".memory-text").inner_text()
    page.keyboard.press("a")
    expect(page.locator("#notices")).to_contain_text("it may speak")
    expect(page.locator(".waiting")).to_have_count(1)
    page.keyboard.press("r")
    expect(page.locator(".empty")).to_contain_text("Nothing waits for a decision")
    go(page, f"browse?text={text[:20]}")
    expect(page.locator(".memory-text")).to_have_text(text)


def test_editing_what_waits_keeps_the_corrected_words_and_rejects_the_others(page):
    go(page, "review")
    page.keyboard.press("e")
    page.locator("dialog").get_by_label("What is to be remembered").fill("Anna is allergic to raspberries.")
    expect(page.locator("dialog h2")).to_have_text("Edit what waits")
    page.locator("dialog").get_by_role("button", name="Keep it like this").click()
    expect(page.locator(".waiting")).to_have_count(1)
    go(page, "browse?text=raspberries")
    expect(page.locator(".memory .chip", has_text="quarantined")).to_have_count(0)
    expect(page.locator(".memory")).to_have_count(1)
