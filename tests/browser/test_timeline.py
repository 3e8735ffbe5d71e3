"""Timeline: what happened, filtered, page after page, with ways to the memories and the beginning of what they say."""

import json
import re

import pytest
from household import SCOPE, asked, hostile, needs_attacks
from watching import Looking, at, expect, go, settled


@pytest.fixture
def look(chromium, home):
    looking = Looking(chromium, home)
    looking.allowed.append("404")  # how the page learns that something was erased
    yield lambda path="timeline", **options: looking(path, scope=options.pop("scope", SCOPE), **options)
    assert looking.close() == []


def sequences(page):
    return [
        int(each) for each in page.locator(".event").evaluate_all("all => all.map((each) => each.dataset.sequence)")
    ]


def test_events_stand_under_their_days_newest_first_beside_what_the_memory_says(look):
    asked_for = []
    page = look("browse")
    page.on("request", lambda request: asked_for.append(request.url))
    go(page, "timeline", scope=SCOPE)
    found = sequences(page)
    assert len(found) == 50
    assert found == sorted(found, reverse=True)
    days = page.locator(".day h2 time").evaluate_all("all => all.map((each) => each.dateTime)")
    assert days == sorted(days, reverse=True)
    assert "superseded" in page.locator("main").inner_text()
    row = page.locator(".event", has_text="superseded")
    expect(row).to_contain_text("The bins are collected on Monday.")
    last = page.locator(".event").last
    assert "coffee" not in last.inner_text()
    seen = len([each for each in asked_for if "/v1/memories/" in each])
    assert 0 < seen < 50, "only what is in sight is asked for"
    last.scroll_into_view_if_needed()
    expect(last.locator(".event-what .said").first).to_contain_text(".")


def test_the_pages_show_every_event_once(look):
    page = look()
    found = sequences(page)
    while page.get_by_role("link", name="Earlier events").count():
        page.get_by_role("link", name="Earlier events").click()
        page.wait_for_url(re.compile(f"before={found[-1]}"))
        expect(page.locator(f'.event[data-sequence="{found[-1]}"]')).to_have_count(0)
        settled(page)
        found += sequences(page)
    every = asked(page, "GET", "timeline?limit=1000")["events"]
    assert found == [each["sequence"] for each in every]
    page.get_by_role("link", name="The newest").click()
    expect(page.locator(f'.event[data-sequence="{found[0]}"]')).to_be_visible()


def test_filters_by_what_happened_stand_in_the_address_and_lead_to_the_memory(look):
    page = look()
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("What happened").select_option("forgotten")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".event")).to_have_count(1)
    assert "action=forgotten" in page.url
    assert "he is not" in page.locator(".event").inner_text()
    page.locator(".event a").click()
    at(page, "Memory")
    assert "Tom is allergic to cats." in page.locator("main").inner_text()


def test_filters_by_time_take_a_day_in_whole(look):
    page = look()
    day = page.locator(".day h2 time").nth(1).get_attribute("datetime")
    many = page.locator(".day").nth(1).locator(".event").count()
    go(page, f"timeline?after={day}&until={day}", scope=SCOPE)
    assert page.locator(".event").count() == many
    go(page, "timeline?until=2001-01-01", scope=SCOPE)
    assert "Nothing like that happened" in page.locator(".empty").inner_text()
    page.get_by_role("link", name="Show everything").click()
    expect(page.locator(".event").first).to_be_visible()


def test_scopes_below_are_shown_when_asked_for_and_their_memories_are_found_there(look):
    page = look(scope="household")
    assert page.locator(".event").count() == 1
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Also in the scopes below this one").check()
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".event")).to_have_count(50)
    row = page.locator(".event", has_text=SCOPE).first
    row.locator("a").click()
    at(page, "Memory")
    assert page.locator(".wrong").count() == 0
    assert "office" not in page.locator("main").inner_text()


def test_who_did_it_is_named_and_filtered_by(look, home):
    page = look()
    asked(page, "POST", "memories", {"text": "The ladder is in the cellar."}, token=home.filled.writer)
    go(page, "timeline?actor=assistant", scope=SCOPE)
    expect(page.locator(".event")).to_have_count(1)
    assert "by assistant" in page.locator(".event").inner_text()


def test_an_erased_memory_has_no_way_to_it(look):
    page = look()
    made = asked(page, "POST", "memories", {"text": "The safe opens with a plum."})
    ready = asked(page, "POST", "memories/erase", {"reference": made["memory"]["id"], "mode": "preview"})
    body = {"reference": made["memory"]["id"], "confirm": ready["confirm"]}
    asked(page, "POST", "memories/erase", body)
    go(page, "timeline?action=erased", scope=SCOPE)
    expect(page.locator(".event").first).to_be_visible()
    assert page.locator(".event a").count() == 0
    go(page, "timeline?action=remembered", scope=SCOPE)
    first = page.locator(".event").first
    expect(first).to_contain_text("erased since")
    assert first.locator("a").count() == 0


@needs_attacks
def test_hostile_texts_stay_texts_in_reasons_and_in_the_names_of_those_who_acted(look):
    page = look()
    texts = hostile()
    for text in texts:
        key = asked(page, "POST", "tokens", {"name": text[:100], "role": "writer", "scope": SCOPE})["secret"]
        words = {"text": f"Hostile note {json.dumps(text)}"}
        made = asked(page, "POST", "memories", words, token=key)
        reason = {"reason": f"{text}\u202e"}
        asked(page, "POST", f"memories/{made['memory']['id']}/forget", reason, token=key)
    page.reload()
    settled(page)
    told = page.locator("main").inner_text()
    for text in texts:
        assert told.count(text) >= 2, text
    assert "⟨U+202E⟩" in told
    assert page.locator("main :is(script, img, iframe, style, object, embed)").count() == 0
    assert page.locator('main a[href^="javascript"], main a[href^="http"]').count() == 0
