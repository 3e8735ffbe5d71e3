"""Access: who one is, tokens made, shown once, listed and revoked, and how a program connects."""

import contextlib
import io
import re
import urllib.error
import urllib.request

import pytest
from household import SCOPE, asked, hostile, needs_attacks
from watching import at, expect, settled


@pytest.fixture
def look(looking):
    return lambda path="access", **options: looking(path, scope=options.pop("scope", SCOPE), **options)


def status(url, token):
    """What the server answers to a token, without a browser."""
    request = urllib.request.Request(f"{url}/v1/stats?scope={SCOPE}", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def make(page, name, **chosen):
    """Make a token by hand; the dialog that shows it."""
    page.get_by_role("button", name="Make a token").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Name").fill(name)
    if "role" in chosen:
        box.get_by_label("Role").select_option(chosen["role"])
    if "scope" in chosen:
        box.get_by_label("Scope", exact=True).fill(chosen["scope"])
    if "days" in chosen:
        box.get_by_label("Good for days").fill(chosen["days"])
    box.get_by_role("button", name="Make it").click()
    return box


def row(page, name):
    return page.locator(".tokens tbody tr").filter(has_text=name)


def test_you_are_told_who_you_are_and_what_you_reach(look, home):
    page = look()
    told = page.locator(".panel").first.inner_text()
    assert re.search(r"operator[\s\S]*admin[\s\S]*every scope of the store", told)
    told = look(token=home.filled.reader).locator(".panel").first.inner_text()
    assert re.search(rf"watcher[\s\S]*reader[\s\S]*{SCOPE} and below[\s\S]*no", told)


def test_a_token_is_shown_once_opens_the_door_and_is_nowhere_afterwards(look, home):
    page = look()
    make(page, "kitchen speaker", role="reader", days="30")
    secret = page.get_by_role("textbox", name="The token").input_value()
    assert secret.startswith("mem_")
    assert status(home.url, secret) == 200
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    listed = row(page, "kitchen speaker")
    expect(listed).to_contain_text("reader")
    expect(listed).to_contain_text(re.compile(r"20\d\d-\d\d-\d\din 4 weeks"))
    page.reload()
    settled(page)
    expect(row(page, "kitchen speaker")).to_have_count(1)
    assert secret not in page.content()
    assert secret not in page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}, location.href])")


def test_the_token_is_copied_by_its_button(look):
    page = look()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    make(page, "copied")
    secret = page.get_by_role("textbox", name="The token").input_value()
    page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True).click()
    page.wait_for_timeout(200)
    assert page.evaluate("navigator.clipboard.readText()") == secret


def test_a_revoked_token_opens_nothing_and_one_is_asked_before(look, home):
    page = look()
    make(page, "lost phone", role="writer", days="")
    secret = page.get_by_role("textbox", name="The token").input_value()
    page.keyboard.press("Escape")
    expect(row(page, "lost phone")).to_contain_text("it is revoked")
    row(page, "lost phone").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert status(home.url, secret) == 200
    row(page, "lost phone").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(row(page, "lost phone")).to_contain_text("revoked")
    expect(row(page, "lost phone").get_by_role("button")).to_have_count(0)
    assert status(home.url, secret) == 401


def test_an_admin_of_a_part_gives_no_more_than_it_has(look, looking, home):
    looking.allowed.append("403")
    page = look(token=home.filled.part)
    assert "operator" not in page.locator(".tokens").inner_text(), "a token of the whole store is shown to a part"
    box = make(page, "wider", scope="household")
    expect(box.locator(".wrong")).to_contain_text("outside of what the token reaches")
    box.get_by_label("Scope").fill(f"{SCOPE}/tablet")
    box.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("textbox", name="The token")).to_have_value(re.compile("^mem_"))


@pytest.mark.parametrize("written", ["", "   "])
def test_a_scope_that_is_missing_is_an_error_and_never_a_wider_one(look, written):
    page = look()
    many = page.locator(".tokens tbody tr").count()
    box = make(page, "too wide", scope=written)
    if written:
        expect(box.locator(".wrong")).to_contain_text("a scope is needed")
    expect(box.get_by_role("button", name="Make it")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    settled(page)
    assert page.locator(".tokens tbody tr").count() == many


def test_the_whole_store_has_to_be_ticked_and_only_by_who_reaches_it(look, home):
    page = look()
    page.get_by_role("button", name="Make a token").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Name").fill("operations")
    box.get_by_label("It reaches the whole store").check()
    expect(box.get_by_label("Scope", exact=True)).to_be_disabled()
    box.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("textbox", name="The token")).to_be_visible()
    page.keyboard.press("Escape")
    expect(row(page, "operations")).to_contain_text("every scope")
    page = look(token=home.filled.part)
    page.get_by_role("button", name="Make a token").click()
    assert page.get_by_label("It reaches the whole store").count() == 0


def test_what_was_made_with_a_revoked_token_goes_with_it_and_that_is_told(look):
    page = look()
    made = asked(page, "POST", "tokens", {"name": "parent", "role": "admin", "scope": SCOPE}, scope="")
    asked(page, "POST", "tokens", {"name": "child", "role": "reader", "scope": SCOPE}, token=made["secret"])
    page.reload()
    settled(page)
    row(page, "parent").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("with 1 token that it had made")


@pytest.mark.parametrize("who", ["reader", "writer"])
def test_who_is_no_admin_sees_no_tokens_and_why(look, home, who):
    page = look(token=getattr(home.filled, who))
    assert page.locator(".tokens").count() == 0
    assert page.get_by_role("button", name="Make a token").count() == 0
    assert "made by admins" in page.locator(".why-absent").inner_text()


def test_the_snippets_have_the_address_of_this_very_server_and_work(look, home):
    page = look()
    told = page.locator(".snippets").inner_text()
    assert f'memoranda.connect("{home.url}"' in told
    assert f"{home.url}/v1/recall?scope={SCOPE}" in told
    assert f"{home.url}/mcp?scope={SCOPE}" in told
    make(page, "program")
    page.get_by_text("How a program uses it").click()
    code = page.get_by_role("dialog").locator("pre", has_text="memoranda.connect").inner_text()
    printed = io.StringIO()
    ran = {}
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, ran)  # as somebody would paste it
    finally:
        if "memory" in ran:
            ran["memory"].close()
    assert "Anna prefers short answers." in printed.getvalue()


def test_with_the_keyboard_alone_a_token_is_made(look):
    page = look("timeline")
    page.keyboard.press("g")
    page.keyboard.press("a")
    at(page, "Access")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.textContent.includes('Make a token')"):
            break
    page.keyboard.press("Enter")
    page.get_by_label("Name").focus()
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="The token")).to_be_visible()
    page.keyboard.press("Escape")
    expect(row(page, "by keyboard")).to_have_count(1)


@needs_attacks
def test_hostile_texts_stay_texts_in_the_names_of_tokens(look, home):
    page = look()
    texts = [text[:100] for text in hostile()]
    for text in texts:
        asked(page, "POST", "tokens", {"name": text, "role": "reader", "scope": SCOPE}, scope="")
    page.reload()
    settled(page)
    told = page.locator(".tokens").inner_text()
    assert [text for text in texts if text not in told] == []
    page.get_by_role("button", name=f"Revoke {texts[0]}", exact=True).click()
    assert texts[0] in page.get_by_role("dialog").inner_text()
    assert page.locator(":is(main, dialog) :is(script, img, iframe, style, object, embed)").count() == 0
    key = asked(page, "POST", "tokens", {"name": texts[1], "role": "admin", "scope": SCOPE}, scope="")["secret"]
    page = look(token=key)
    assert texts[1] in page.locator(".panel").first.inner_text()
    assert texts[1] in page.locator(".me").inner_text()
