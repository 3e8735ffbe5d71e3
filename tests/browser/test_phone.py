"""The pages of talk, documents and upkeep on a small screen, in light and in dark: they fit, and nothing is hidden."""

import re

import pytest
from household import BOILER, KITCHEN, LONG, SCOPE, asked
from watching import expect, go, settled, shot

LOOKS = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (320, 640, "light")}
VIEWS = {
    "conversations-archived": "conversations?archived=true",
    "conversations-search": "conversations?q=pale green",
    "conversation": f"conversation?conversation={BOILER}",
    "conversation-working": f"conversation?conversation={KITCHEN}",
    "conversation-summary": f"conversation?conversation={LONG}",
    "conversation-all": f"conversation?conversation={LONG}&show=all",
    "documents-search": "documents?q=boiler pressure",
    "document": "document?source=notes&path=boiler.md&from=5&to=7",
    "document-long": "document?source=notes&path=diary.md&from=101",
    "timeline-filtered": "timeline?action=forgotten",
    "timeline-nothing": "timeline?actor=nobody at all",
    "health-days": "health?days=90",
    "access-tokens": "access",
}
FITS = "document.documentElement.scrollWidth <= innerWidth"
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichen" * 3


@pytest.mark.parametrize("look", LOOKS)
def test_every_view_opens_and_fits_the_screen(looking, look):
    width, height, scheme = LOOKS[look]
    page = looking("conversations", scope=SCOPE, width=width, height=height, scheme=scheme)
    for name, path in VIEWS.items():
        go(page, path, scope=SCOPE)
        assert page.locator(".wrong").count() == 0, f"{name}: {page.locator('.wrong').first.inner_text()}"
        assert page.evaluate(FITS), f"{name} is wider than the screen"
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.evaluate(FITS), f"{name} is wider than the screen when everything is unfolded"
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
        shot(page, f"{name}-{look}")


def test_what_a_summary_stands_for_fits_a_phone(looking):
    page = looking(f"conversation?conversation={LONG}", scope=SCOPE, width=320, height=640)
    page.get_by_role("button", name=re.compile("it stands for")).click()
    expect(page.locator(".stood-for .message").first).to_be_visible()
    page.locator(".stood-for").get_by_role("button", name=re.compile("it stands for")).first.click()
    expect(page.locator(".stood-for .stood-for .message").first).to_be_visible()
    assert page.evaluate(FITS)
    shot(page, "conversation-drill-down-phone")


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("conversations", "Import a transcript"),
        ("conversations", "Keep one private"),
        ("documents", "Add a folder"),
        ("documents", "Remove notes"),
        ("health", "Rebuild the index"),
        ("access", "Make a token"),
        ("access", "Scope"),
    ],
)
def test_every_dialog_fits_a_phone_and_is_closed_by_escape(looking, path, button):
    page = looking(path, scope=SCOPE, width=320, height=640)
    page.get_by_role("button", name=button).click()
    box = page.get_by_role("dialog")
    around = box.bounding_box()
    assert around["x"] >= 0
    assert around["x"] + around["width"] <= 320
    assert around["height"] <= 640
    assert box.evaluate("each => each.scrollWidth <= each.clientWidth")
    shot(page, f"dialog-{re.sub('[^a-z]+', '-', button.lower())}-phone")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_words_without_an_end_do_not_widen_the_page(looking):
    page = looking("conversations", scope=SCOPE, width=320, height=640)
    said = [{"role": "user", "content": LONG_WORD, "speaker": LONG_WORD}, {"role": "assistant", "content": LONG_WORD}]
    body = {"messages": said, "conversation": LONG_WORD, "metadata": {"title": LONG_WORD}}
    asked(page, "POST", "conversations/append", body)
    asked(page, "PUT", "conversations/working", {"conversation": LONG_WORD, "text": LONG_WORD})
    asked(page, "POST", "tokens", {"name": LONG_WORD[:100], "role": "reader", "scope": SCOPE}, scope="")
    page.reload()
    settled(page)
    assert page.evaluate(FITS)
    for path in (f"conversation?conversation={LONG_WORD}", "access"):
        go(page, path, scope=SCOPE)
        assert page.evaluate(FITS), path


def test_the_secret_of_a_token_fits_a_phone(looking):
    page = looking("access", scope=SCOPE, width=320, height=640)
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("dialog").get_by_label("Name").fill("phone")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("textbox", name="The token")).to_be_visible()
    page.get_by_text("How a program uses it").click()
    box = page.get_by_role("dialog")
    assert box.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert page.evaluate(FITS)
