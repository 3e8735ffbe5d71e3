"""Signing in, roles, scopes and keys: nobody sees a button that would fail, and a mouse is not needed."""

import pytest
from filling import ANNA, HOME
from watching import at, expect, go, settled


def test_a_token_in_the_address_is_removed_from_there_and_kept_for_the_tab(console, served):
    page = console()
    assert "token" not in page.url
    assert served.filled.admin not in page.evaluate("JSON.stringify([history.state, document.cookie, localStorage])")
    page.reload()
    settled(page)
    assert page.locator("h1").inner_text() == "Search"


def test_without_a_token_one_is_asked_for_and_a_wrong_one_is_refused(console, served):
    console.allowed.append("401")
    page = console(token="")
    box = page.get_by_label("Token")
    box.fill("mem_nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Token")).to_have_value("")
    box.fill(served.filled.reader)
    page.keyboard.press("Enter")
    at(page, "Search")
    page.get_by_role("button", name="Sign out").click()
    expect(box).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_token_that_was_revoked_leads_back_to_signing_in(console, own_server):
    console.allowed.append("401")
    page = console(server=own_server, token=own_server.filled.writer)
    page.evaluate("sessionStorage.setItem('memoranda.token', 'mem_gone')")
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()


WRITING = ["Remember", "Correct", "Archive", "Forget", "Save", "New fact", "New preference", "Add"]
DECIDING = ["Erase", "Accept", "Reject"]


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_each_role_sees_only_what_it_may_do(console, served, role):
    page = console(token=getattr(served.filled, role))
    seen = set()
    for path in ("browse", f"memory/{served.filled.lamp}", "profile", "facts", "preferences", "review"):
        go(page, path)
        assert page.locator(".wrong").count() == 0
        seen |= set(page.get_by_role("button").all_inner_texts())
    assert not seen & set(DECIDING)
    assert (seen & set(WRITING)) == (set(WRITING) if role == "writer" else set())


def test_what_is_kept_in_a_scope_above_is_shown_and_cannot_be_changed_from_here(console, served):
    page = console("browse?text=spare key", token=served.filled.writer)
    page.locator(".memory-text a").click()
    at(page, "Memory")
    assert "changed there" in page.locator(".page-acts").inner_text()
    assert page.get_by_role("button", name="Forget").count() == 0


def test_the_scope_is_chosen_from_the_tree_and_stands_in_the_address(console):
    page = console("browse")
    page.get_by_role("button", name="Scope:").click()
    expect(page.locator(".scope-choice")).to_have_count(4)
    page.get_by_label("Find, or write").fill("tom")
    page.locator(".scope-choice").click()
    page.wait_for_url("**in=home%2Ftom**")
    expect(page.locator("main")).to_contain_text("allergic to peanuts")
    assert "tomatoes" not in page.locator("main").inner_text()


def test_a_scope_that_the_token_does_not_reach_is_an_error_with_a_hint_and_nothing_else(console, served):
    console.allowed.append("403")
    page = console(token=served.filled.reader)
    go(page, "browse", scope="bot-1/group-7")
    expect(page.locator(".wrong")).to_contain_text("outside of what the token reaches")
    assert "Thursdays" not in page.content()
    page.get_by_role("button", name="Scope:").click()
    expect(page.locator(".scope-choice")).to_have_count(3)
    assert page.locator(".scope-choice").first.inner_text().startswith(HOME)


# -- the keyboard --

PAGE_OF_KEY = {"b": "Browse", "p": "Profile", "f": "Facts", "e": "Preferences", "r": "Review", "s": "Search"}


def focused(page):
    return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.ariaLabel || ''")


def test_everything_is_reached_with_the_keyboard_alone(console):
    page = console("browse")
    page.reload()
    settled(page)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the page"
    page.keyboard.press("Enter")
    assert focused(page) == "Browse"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.type("tomatoes")
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_have_text("1 memory fit.")
    assert page.evaluate("document.activeElement.name") == "text", "the focus was lost"
    while focused(page) != "Anna planted tomatoes on the balcony.":
        page.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid", "the focus is not seen"
    page.keyboard.press("Enter")
    at(page, "Memory")
    assert focused(page) == "Memory"


def test_g_and_a_letter_go_to_every_page(console):
    page = console()
    for key, title in {
        "b": "Browse",
        "p": "Profile",
        "f": "Facts",
        "e": "Preferences",
        "r": "Review",
        "s": "Search",
    }.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        at(page, title)
        expect(page.locator("h1")).to_be_focused()
    page.get_by_label("Question").fill("gb")
    at(page, "Search")


def test_the_question_mark_lists_the_keys_and_escape_closes_the_list(console):
    page = console("review")
    page.keyboard.press("?")
    dialog = page.locator("dialog[open]")
    for word in ("Search", "Accept", "Browse"):
        expect(dialog).to_contain_text(word)
    page.keyboard.press("g")
    page.keyboard.press("b")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert ANNA in page.url.replace("%2F", "/")


# -- when something is wrong --


def test_a_server_that_is_not_there_is_told_with_the_next_step_and_a_way_to_try_again(console):
    console.allowed.append("ERR_")
    page = console("browse")
    page.route("**/v1/**", lambda route: route.abort())
    page.get_by_role("link", name="Facts").click()
    expect(page.locator("main .wrong")).to_contain_text("the server cannot be reached")
    expect(page.locator("main .wrong")).to_contain_text("Check that it runs")
    page.unroute("**/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("main")).to_contain_text("light.office")


def test_a_broken_token_in_an_address_leads_to_signing_in(console, served):
    console.allowed.append("401")
    page = console(token="")
    page.goto(f"{served.url}/#token=%E0%A4%A")
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()
    assert "token=" not in page.url
