"""Everything that a memory, a name or an address contains is untrusted: it is shown, and does nothing."""

import json
from contextlib import suppress

import pytest
from filling import SETTINGS, Filled
from household import ATTACKS, needs_attacks
from watching import Looking, Served, go, serving, settled, unfold

from memoranda.domain.draft import Draft
from memoranda.domain.errors import MemorandaError
from memoranda.domain.scope import Scope
from memoranda.service.store import Store

HOSTILE = "hostile/one"
OURS = [
    "<script>window.__pwned = 1; alert(1)</script>",
    '"><img src=x onerror="alert(1)">',
    "javascript:alert(1)",
    "https://evil.example/beacon.png",
    "${alert(1)} {{constructor.constructor('alert(1)')()}}",
    "left \u202egnp.exe\u202c right",
    "zero\u200bwidth\u2060\ufeff and \u00ad soft \U000e0041\U000e0042 tags",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "é\u0301" * 40,
    "👩\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم",
]
HIDDEN = r"""() => {
  const joined = /(\p{Extended_Pictographic}\uFE0F?)\u200D(?=\p{Extended_Pictographic})/gu;
  const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/u;
  const hidden = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/u;
  const text = document.body.textContent.replace(joined, "$1");
  return (control.exec(text) ?? hidden.exec(text))?.[0].codePointAt(0).toString(16) ?? "";
}"""
GROWN = r"""() => {
  const all = [...document.body.querySelectorAll("*")];
  const loading = all.filter((each) => each.matches("script, img, iframe, object, embed, style, link, [action]"));
  const odd = ({name, value}) => name.startsWith("on") || (name === "style" && !/^--share: [\d.e-]+;$/.test(value));
  const handling = all.filter((each) => [...each.attributes].some(odd));
  const leading = all.filter((each) => each.matches("[href]") && !/^(#|blob:)/.test(each.getAttribute("href")));
  return [...loading, ...handling, ...leading].map((each) => each.tagName + each.getAttribute("href"));
}"""
GLOBALS = "Object.getOwnPropertyNames(window).sort()"


def attack_texts():
    cases = json.loads(ATTACKS.read_text(encoding="utf-8"))["cases"] if ATTACKS.exists() else []
    wanted = ("xss_console", "unicode", "delimiter_breakout", "sql_fts")
    return [case["input"] for case in cases if case["class"] in wanted and isinstance(case["input"], str)]


def keep_everywhere(memory, text, number):
    """The text in every field that takes it; what a rule of the store refuses is left out, one by one."""
    short = text[:60]
    with suppress(MemorandaError):
        memory.remember(text)
    drafts = [
        Draft(f"subject {number}", kind="entity", about=short, speaker=short, conversation=short),
        Draft(f"slot {number}", kind="fact", about=f"thing-{number}", attribute=short, value=text),
        Draft(f"reference {number}", source="web", source_ref=short, lang=short[:10], tags=[short]),
        Draft(f"metadata {number}", metadata={short: text, "review": {"why": text, "supersedes": short}}),
        Draft(f"nested {number}", kind="fact", about="deep", attribute=f"a{number}", value={text: [text]}),
    ]
    for draft in drafts:
        with suppress(MemorandaError):
            memory.remember_many([draft])
    for act in (
        lambda: memory.profile.add("traits", text),
        lambda: memory.profile.add("preferences", text, speaker=short),
        lambda: memory.facts.add(short, short, text),
        lambda: memory.preferences.set(short, short, text),
        lambda: memory.forget(memory.remember(f"forgotten {number}"), reason=text),
        lambda: memory.capture([{"role": "user", "content": f"Remember that {text}"}], mode="review"),
    ):
        with suppress(MemorandaError):
            act()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A server whose store is full of attacks, and the ids of what was kept."""
    folder = tmp_path_factory.mktemp("hostile")
    with Store.open(folder / "store.db", settings=SETTINGS) as store:
        memory = store.memory(Scope(HOSTILE))
        for number, text in enumerate([*OURS, *attack_texts()]):
            keep_everywhere(memory, text, number)
        ids = [each.id for each in memory.list(states=[], limit=1000)]
        memory.profile.set("name", OURS[0])
        secret = store.tokens.create(name=OURS[1][:40], role="admin", scope="").secret
    with serving(folder / "store.db") as url:
        yield Served(url, Filled(secret, "", "", "", "", ""), folder / "store.db"), ids


@pytest.fixture
def look(chromium, hostile):
    looking = Looking(chromium, hostile[0])
    yield looking
    assert looking.close() == []


def is_harmless(page):
    unfold(page)
    assert page.evaluate(GROWN) == []
    assert page.evaluate(HIDDEN) == ""


@needs_attacks
def test_stored_attacks_are_shown_on_every_page_and_do_nothing(look, hostile):
    page = look("search", scope=HOSTILE)
    before = page.evaluate(GLOBALS)
    pages = ["profile", "facts", "preferences", "review", "timeline", "receipts", "access", "health"]
    searches = [f"search?q=subject {number}&limit=50&policy=broad" for number in (0, 1)]
    for path in (*pages, *searches, "search?q=subject slot reference&show=pack&budget=5000"):
        go(page, path, scope=HOSTILE)
        is_harmless(page)
    offset = 0
    seen = ""
    while True:
        go(page, f"browse?states=live&states=forgotten&offset={offset}", scope=HOSTILE)
        is_harmless(page)
        seen += page.locator("main").inner_text()
        offset += 25
        if not page.get_by_role("link", name="Older page").count():
            break
    assert page.evaluate(GLOBALS) == before
    for text in OURS[:5]:
        assert text in seen, "an attack is not shown as what it is"
    assert "left ⟨U+202E⟩gnp.exe⟨U+202C⟩ right" in seen
    assert "zero⟨U+200B⟩width⟨U+2060⟩⟨U+FEFF⟩" in seen
    assert OURS[-1] in seen, "an honest emoji or an honest Persian word was taken apart"


@needs_attacks
def test_each_hostile_memory_can_be_looked_at_and_let_go(look, hostile):
    page = look("browse", scope=HOSTILE)
    _, ids = hostile
    assert len(ids) > 100
    for identity in ids[:: len(ids) // 40]:
        go(page, f"memory/{identity}", scope=HOSTILE)
        is_harmless(page)
    page.get_by_role("button", name="Erase").click()
    page.locator("dialog .entries").wait_for()
    is_harmless(page)


@pytest.mark.parametrize("text", OURS[:4])
def test_what_is_written_into_a_field_is_a_text_wherever_it_comes_back(look, text):
    look.allowed += ["404", "422"]
    page = look("browse", scope=HOSTILE)
    page.get_by_role("button", name="Remember", exact=True).click()
    dialog = page.locator("dialog")
    dialog.get_by_label("What is to be remembered").fill(f"typed {text}")
    for name in ("About", "Tags"):
        dialog.get_by_label(name).fill(text)
    dialog.get_by_role("button", name="Remember").click()
    page.locator(".whole-text").wait_for()
    assert page.locator(".whole-text").inner_text() == f"typed {text}"
    is_harmless(page)
    go(page, "search", scope=HOSTILE)
    page.get_by_label("Question").fill(text)
    page.keyboard.press("Enter")
    page.locator(".results .told, .results .wrong").first.wait_for()
    is_harmless(page)


@pytest.mark.parametrize(
    "path",
    [
        "search?q=%3Cimg src=x onerror=alert(1)%3E&why=%3Cscript%3Ealert(1)%3C/script%3E",
        "memory/%3Csvg%2Fonload=alert(1)%3E",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "browse?kind=%3Cimg%3E&offset=javascript:alert(1)&text=%3Cb%3E",
        "profile?speaker=%22%3E%3Cimg src=x onerror=alert(1)%3E",
        "memory/..%2F..%2Ftokens",
        "facts?about=%E2%80%AEabc&q=",
        "__proto__",
        "constructor",
        "memory/%E0%A4%A",
    ],
)
def test_an_address_that_somebody_else_wrote_does_nothing(look, path):
    look.allowed += ["404", "422", "400"]
    page = look(scope=HOSTILE)
    go(page, path, scope=HOSTILE)
    is_harmless(page)
    go(page, "search", scope="%3Cimg src=x onerror=alert(1)%3E")
    settled(page)
    is_harmless(page)


def test_a_token_is_not_taken_from_an_address_that_has_a_page_behind_it(look, hostile):
    """Only the address that the server prints signs in; and a memory can have no link to it."""
    look.allowed.append("401")
    page = look(token="")
    page.goto(f"{hostile[0].url}/#/search?token=mem_x&in={HOSTILE}")
    page.get_by_label("Token").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
