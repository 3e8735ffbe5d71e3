"""A real server, a page before it, and what the page must not do. Used by every test of the console."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from filling import ANNA, Filled, fill

playwright = pytest.importorskip("playwright.sync_api")
# Nothing may be waited for by a text that is run in the page: its policy forbids that, and rightly.
expect = playwright.expect
expect.set_options(timeout=20_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SHOTS = Path(os.environ.get("MEMORANDA_ARTIFACTS", Path(__file__).parents[2] / "artifacts")) / "screenshots"
READY = "main:not([aria-busy]) h1"
_WATCH = """
window.__told = [];
addEventListener("securitypolicyviolation", (event) => {
  __told.push(`policy: ${event.violatedDirective} ${event.blockedURI}`);
});
for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
  window[name] = () => { __told.push(`called ${name}`); };
}
"""


class Served(NamedTuple):
    """A server on a filled store."""

    url: str
    filled: Filled
    store: Path


@contextmanager
def serving(store: Path, *more: str) -> Iterator[str]:
    """`memoranda serve` on a store, until left; its address."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    command = [sys.executable, "-m", "memoranda", "--json", "--store", str(store), "--embedder", "none"]
    with (store.parent / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "serve", "--port", "0", "--no-mcp", *more],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**kept, "OPENBLAS_NUM_THREADS": "1"},
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (store.parent / "server.log").read_text()[-2000:]
        yield json.loads(line)["url"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


@contextmanager
def filled_server(folder: Path) -> Iterator[Served]:
    """A server on the store of `filling.py`."""
    filled = fill(folder / "store.db", folder / "notes")
    with serving(folder / "store.db", "--root", str(folder)) as url:
        yield Served(url, filled, folder / "store.db")


class Looking:
    """Opens pages of the console and watches them: errors, dialogs, requests elsewhere, breaches of the policy."""

    def __init__(self, browser, server) -> None:
        self._browser = browser
        self._contexts = []
        self._pages = []
        self.server = server
        self.troubles: list[str] = []
        self.allowed: list[str] = []
        """Parts of messages that a test expects, such as the one of a refused request."""

    def __call__(self, path="", *, token=None, scope=ANNA, width=1280, height=900, scheme="light", server=None):
        """A page of the console, signed in. `path` is what stands behind the #/, such as `browse?kind=fact`."""
        server = server or self.server
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("dialog", self._on_dialog)
        page.on("popup", lambda popup: self.troubles.append(f"opened {popup.url}"))
        page.on("request", lambda request: self._on_request(server, request))
        self._contexts.append(context)
        self._pages.append(page)
        if token == "":
            page.goto(f"{server.url}/")
            return page
        page.goto(f"{server.url}/#token={token or server.filled.admin}")
        page.wait_for_selector(READY)
        if path:
            go(page, path, scope=scope)
        return page

    def _on_console(self, message):
        if message.type in ("error", "warning") and not any(each in message.text for each in self.allowed):
            self.troubles.append(f"console {message.type}: {message.text}")

    def _on_dialog(self, dialog):
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_request(self, server, request):
        if not request.url.startswith((f"{server.url}/", "blob:", "data:")):
            self.troubles.append(f"asked {request.url}")

    def close(self) -> list[str]:
        """All that went wrong."""
        for page in self._pages:
            if not page.is_closed():
                self.troubles += page.evaluate("window.__told ?? []")
        for context in self._contexts:
            context.close()
        return self.troubles


def go(page, path, *, scope=ANNA):
    """To another page of the console, until it is there."""
    name, _, query = path.partition("?")
    origin = page.url.split("#")[0]
    joined = "&".join(part for part in (f"in={scope}" if scope else "", query) if part)
    page.evaluate("document.querySelector('main').setAttribute('aria-busy', 'true')")
    page.goto(f"{origin}#/{name}{'?' if joined else ''}{joined}")
    settled(page)


def settled(page):
    """Wait until the page is there and nothing in it loads."""
    page.wait_for_selector(READY)
    expect(page.locator("main .loading")).to_have_count(0)


def at(page, title):
    """Wait until the page with this heading is there."""
    expect(page.locator("h1")).to_have_text(title)
    settled(page)


def shot(page, name):
    """Keep a picture of the whole page."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"), full_page=True)


def unfold(page):
    """Open everything that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
