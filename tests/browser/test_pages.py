"""Every page opens, in light, in dark and on a phone, says what it is, and does nothing that it must not."""

import re
from pathlib import Path

import pytest
from watching import at, go, shot, unfold

import memoranda.http.console as shipped

FOLDER = Path(shipped.__file__).parent
SOURCES = sorted(path for path in FOLDER.rglob("*") if path.suffix in {".js", ".html", ".css", ".svg"})
LAMP = "which lamp does anna read by"
PAGES = {
    "search": ("search", "Search"),
    "search-hits": (f"search?q={LAMP}", "Search"),
    "search-pack": (f"search?q={LAMP}&show=pack", "Search"),
    "search-nothing": ("search?q=how tall is the lighthouse in Gdansk", "Search"),
    "browse": ("browse", "Browse"),
    "profile": ("profile", "Profile"),
    "facts": ("facts", "Facts"),
    "preferences": ("preferences", "Preferences"),
    "review": ("review", "Review"),
    "receipts": ("receipts", "Receipts"),
    "conversations": ("conversations", "Conversations"),
    "conversation": ("conversation?conversation=kitchen tap", "Conversation"),
    "documents": ("documents", "Documents"),
    "document": ("document?source=notes&path=boiler.md", "Document"),
    "timeline": ("timeline", "Timeline"),
    "health": ("health", "Health"),
    "access": ("access", "Access"),
}
FORBIDDEN = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "srcdoc", "eval(", "new Function",
    'setAttribute("style"', "style=",
)  # fmt: skip
LOOKS = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (320, 640, "light")}


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_opens_has_its_heading_and_fits_the_screen(console, served, look):
    width, height, scheme = LOOKS[look]
    page = console(width=width, height=height, scheme=scheme)
    for name, (path, title) in {**PAGES, "memory": (f"memory/{served.filled.old_lamp}", "Memory")}.items():
        go(page, path)
        assert page.title() == f"{title} · Memoranda"
        assert page.locator("h1").inner_text()
        assert page.locator(".wrong").count() == 0, page.locator(".wrong").first.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the screen"
        page.evaluate("scrollTo(0, 0)")
        shot(page, f"{name}-{look}")


def test_what_is_not_a_page_says_so_and_offers_the_others(console):
    page = console()
    go(page, "nowhere")
    assert "there is no such page" in page.locator(".wrong").inner_text()
    page.get_by_role("link", name="Browse").click()
    at(page, "Browse")


def test_the_theme_is_switched_and_kept(console):
    page = console()
    dark = "getComputedStyle(document.documentElement).colorScheme"
    assert page.evaluate(dark) == "light dark"
    switch = page.get_by_role("button", name="Theme")
    switch.click()
    switch.click()
    assert page.evaluate(dark) == "dark"
    page.reload()
    assert page.evaluate(dark) == "dark"
    assert "Dark" in page.get_by_role("button", name="Theme").inner_text()


def test_on_a_phone_the_pages_are_behind_the_menu_and_escape_closes_it(console):
    page = console(width=320, height=640)
    link = page.get_by_role("link", name="Preferences")
    assert link.count() == 0
    page.get_by_role("button", name="Menu").click()
    link.wait_for()
    page.keyboard.press("Escape")
    link.wait_for(state="hidden")
    page.get_by_role("button", name="Menu").click()
    link.click()
    at(page, "Preferences")
    link.wait_for(state="hidden")


CONTRAST = """
() => {
  const colour = (text) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => [r, g, b].map((c) => linear(c / 255))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = colour(getComputedStyle(each).backgroundColor);
      if (found[3] === 255) return found;
    }
    return colour(getComputedStyle(document.documentElement).backgroundColor);
  };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const style = getComputedStyle(element);
    const unread = element.closest(":disabled, .off, script, noscript, option");
    if (!walk.currentNode.data.trim() || !element.checkVisibility() || unread) continue;
    const pair = [light(colour(style.color)), light(behind(element))].sort();
    const ratio = (pair[1] + 0.05) / (pair[0] + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    const told = `${ratio.toFixed(2)} ${element.className} ${walk.currentNode.data.slice(0, 30)}`;
    if (ratio < (large ? 3 : 4.5)) poor.push(told);
  }
  return [...new Set(poor)];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(console, served, scheme):
    page = console(scheme=scheme)
    for path in (*(path for path, _ in PAGES.values()), f"memory/{served.filled.forgotten}"):
        go(page, path)
        unfold(page)
        assert page.evaluate(CONTRAST) == [], path


UNNAMED = """
() => [...document.querySelectorAll("button, a[href], input, select, textarea, summary, dialog, nav, table, svg")]
  .filter((each) => each.checkVisibility() && !each.closest("[aria-hidden=true]"))
  .filter((each) => !(each.ariaLabel || each.labels?.length || each.getAttribute("aria-labelledby")))
  .filter((each) => !each.textContent.trim())
  .map((each) => each.outerHTML.slice(0, 120))
"""


def test_everything_that_can_be_used_has_a_name_for_a_screen_reader(console, served):
    page = console()
    for path in (*(path for path, _ in PAGES.values()), f"memory/{served.filled.lamp}"):
        go(page, path)
        unfold(page)
        assert page.evaluate(UNNAMED) == [], path
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids)), path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_no_file_parses_markup_runs_text_or_reaches_out(path):
    text = path.read_text(encoding="utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "srcdoc",
        "eval(",
        "new Function",
    ):
        assert word not in text, word
    addresses = re.findall(r"\b(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)
    assert [each for each in addresses if "www.w3.org" not in each] == []


def test_the_page_is_sent_with_a_policy_that_runs_only_its_own_scripts(console, served):
    console.allowed.append("401")
    page = console(token="")
    with page.expect_response(f"{served.url}/") as answer:
        page.reload()
    policy = answer.value.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy
    assert "unsafe" not in policy
