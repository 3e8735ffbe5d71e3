"""The plugin in the real LangBot: installed as a package, driven by LangBot's own HTTP API, with a model that obeys.

One test: the stack is started once, and what happens in it happens in order. What fails is told by its name.
"""

import traceback

import pytest

from hosts.langbot import scenes
from hosts.langbot.stack import NotPossible, Stack
from hosts.places import installed

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(900)]


@pytest.fixture
def langbot(tmp_path):
    folder = installed("langbot")
    try:
        stack = Stack(folder, tmp_path)
    except NotPossible as error:
        pytest.skip(f"langbot: {error}")
    try:
        stack.boot()
        yield stack
    finally:
        stack.close()


def test_the_plugin_does_in_langbot_what_it_promises(langbot):
    failed = []
    for scene in scenes.IN_ORDER:
        try:
            scene(langbot)
        except Exception:
            failed.append(f"{scene.__name__}\n{traceback.format_exc()}")
    assert not failed, "\n".join([f"{len(failed)} of {len(scenes.IN_ORDER)} failed", *failed])
