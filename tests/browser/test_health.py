"""Health: growth and drift, how recalls go, whether the store is well, and the work that keeps it well."""

import os
import re

import pytest
from household import SCOPE, asked
from watching import Looking, at, expect, go, settled


@pytest.fixture
def look(chromium, home):
    looking = Looking(chromium, home)
    yield lambda path="health", **options: looking(path, scope=options.pop("scope", SCOPE), **options)
    assert looking.close() == []


def table_of(page, title):
    """The rows of the table beside a chart."""
    figure = page.locator("figure.chart").filter(has=page.locator("figcaption", has_text=re.compile(f"^{title}$")))
    figure.get_by_text("As a table").click()
    rows = figure.locator("tbody tr")
    return [rows.nth(at_).locator("th, td").all_inner_texts() for at_ in range(rows.count())]


def test_the_charts_say_what_the_server_counts(look):
    page = look("health?days=90")
    stats = asked(page, "GET", "stats")
    shown = {kind: int(many) for kind, many in table_of(page, "Kinds")}
    assert shown == {kind: many for kind, many in stats["by_kind"].items() if many}
    grades = {grade: int(many) for grade, many, _ in table_of(page, "Grades")}
    assert grades["must remember"] == stats["by_grade"]["must_remember"]
    assert grades["unknown"] == stats["by_grade"]["unknown"] > 0
    states = {state: int(many) for state, many, _ in table_of(page, "States")}
    assert states == {state: stats["by_state"].get(state, 0) for state in states}
    trust = {word: int(many) for word, many, _ in table_of(page, "Trust")}
    assert trust["untrusted"] == stats["by_trust"]["untrusted"]
    captured = {reason: int(many) for reason, many in table_of(page, "What capture did with messages")}
    assert captured == {reason: many for reason, many in stats["capture"].items() if reason != "messages"}
    share = f"{round(stats['by_grade']['unknown'] / stats['total'] * 100)} %"
    assert share in page.locator(".figures").inner_text()


def test_growth_is_drawn_day_by_day_over_the_time_that_is_chosen(look):
    page = look()
    assert len(table_of(page, "Live memories")) == 30
    page.get_by_label("Growth over").select_option("90")
    page.wait_for_url("**days=90**")
    settled(page)
    rows = table_of(page, "Live memories")
    days = asked(page, "GET", "growth?days=90")["items"]
    assert [int(live) for _, live in rows] == [each["live"] for each in days]
    happened = table_of(page, "What happened each day")
    assert sum(int(row[1]) for row in happened) == sum(each["created"] for each in days)
    drift = table_of(page, "Without a grade, of what was created")
    assert 1 < len(drift) <= 12
    assert all(0 <= int(share.removesuffix(" %")) <= 100 for _, share in drift)


def test_recalls_are_told_with_their_times_and_how_many_found_nothing(look):
    page = look()
    for query in ("which lamp is for reading", "zeppelin hangar", "spare key", "quarks"):
        asked(page, "POST", "recall", {"query": query})
    page.reload()
    settled(page)
    seen = asked(page, "GET", "activity", scope="")
    told = page.get_by_role("region", name="Requests", exact=True)
    expect(told).to_contain_text(re.compile(r"recall\s*4"))
    assert seen["times"]["recall"]["count"] == 4
    assert "50 % of 4 recalls abstained" in told.inner_text()
    reasons = {reason: int(many) for reason, many in table_of(page, "Why recalls abstained")}
    assert reasons == seen["abstained"]["reasons"]


def test_check_everything_tells_each_check_and_the_fix_of_what_is_not_well(look, home):
    page = look()
    asked(page, "POST", "admin/maintain", {}, scope="")  # what happened here is months old: it is overdue otherwise
    page.get_by_role("button", name="Check everything").click()
    expect(page.locator(".checks-place .proof-big")).to_have_text("Everything is well.", timeout=30_000)
    assert page.locator(".check").count() > 10
    os.chmod(home.store, 0o644)
    try:
        page.get_by_role("button", name="Check everything").click()
        bad = page.locator(".check.is-bad")
        expect(bad).to_contain_text("permissions", timeout=30_000)
        expect(bad).to_contain_text("What to do: chmod 600")
    finally:
        os.chmod(home.store, 0o600)


def test_verify_maintain_optimize_and_rebuild_tell_what_came_of_them(look):
    page = look()
    whole = page.get_by_role("region", name="The whole store")
    page.get_by_role("button", name="Verify").click()
    expect(whole.locator(".proof-big")).to_have_text("Everything is well.", timeout=30_000)
    page.get_by_role("button", name="Maintain").click()
    box = page.get_by_role("dialog")
    expect(box).to_contain_text("Forgotten long ago, to be erased")
    box.get_by_role("button", name="Maintain").click()
    expect(page.locator(".notice").last).to_contain_text("Done:", timeout=30_000)
    page.get_by_role("button", name="Optimize the index").click()
    expect(page.locator(".notice").last).to_contain_text("tidy", timeout=30_000)
    page.get_by_role("button", name="Rebuild the index").click()
    page.get_by_role("dialog").get_by_role("button", name="Rebuild").click()
    expect(page.locator(".notice").last).to_contain_text("Rebuilt:", timeout=30_000)
    expect(whole).to_contain_text("Self-test")


def test_long_work_shows_how_far_it_is_and_can_be_cancelled(look):
    page = look()
    page.route("**/admin/optimize*", lambda route: None)  # never answered
    page.get_by_role("button", name="Optimize the index").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".upkeep .work-place")).to_contain_text("cancelled")


@pytest.mark.parametrize("who", ["reader", "writer", "part"])
def test_who_does_not_reach_the_whole_store_is_told_why_there_is_no_upkeep(look, home, who):
    page = look(token=getattr(home.filled, who))
    assert page.locator("main button").count() == 0
    assert "an admin's token that reaches every scope" in page.locator(".why-absent").inner_text()
    assert page.locator("figure.chart").count() >= 6


def test_a_scope_without_anything_says_what_comes_here(look):
    page = look(scope="empty/place")
    assert "Nothing is kept in this scope yet" in page.locator(".empty").first.inner_text()


def test_with_the_keyboard_alone_the_store_is_checked(look):
    page = look("timeline")
    page.keyboard.press("g")
    page.keyboard.press("h")
    at(page, "Health")
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.textContent === 'Check everything'"):
            break
    page.keyboard.press("Enter")
    expect(page.locator(".checks-place .proof-big")).to_be_visible(timeout=30_000)


def test_receipts_are_tables_to_read_and_files_to_keep(look):
    page = look("conversations?q=boiler")
    go(page, "receipts", scope=SCOPE)
    page.get_by_text("POST conversations/search").click()
    opened = page.locator("details.panel[open]")
    assert re.search(r"searched\s+\d+", opened.inner_text())
    with page.expect_download() as started:
        opened.get_by_role("button", name="Download").click()
    assert '"searched"' in started.value.path().read_text()
