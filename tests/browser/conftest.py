"""Chromium before a real server. Whatever a page does that it must not do fails the test that looked at it."""

from pathlib import Path

import pytest
from household import house
from watching import CHROMIUM, Looking, Served, at, expect, filled_server, go, playwright, serving, settled, shot

__all__ = ["Looking", "Served", "at", "expect", "go", "serving", "settled", "shot"]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(120))
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """One server for all tests that do not disturb one another."""
    with filled_server(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture
def own_server(tmp_path):
    """A server for a test alone."""
    with filled_server(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A household with sixty days behind it, served for the tests of one module."""
    with house(tmp_path_factory.mktemp("home")) as found:
        yield found


@pytest.fixture
def looking(chromium, home):
    """Opens pages of that household."""
    found = Looking(chromium, home)
    yield found
    assert found.close() == []


@pytest.fixture(scope="session")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"], chromium_sandbox=False
        )
        yield browser
        browser.close()


@pytest.fixture
def console(chromium, served):
    """Opens pages: `console("browse?kind=fact", token=…, scope=…, width=…, scheme=…, server=…)`."""
    looking = Looking(chromium, served)
    yield looking
    assert looking.close() == []
