"""The facade on both faces: every shared behaviour runs on each."""

import asyncio

import pytest

import memoranda
from memoranda import (
    Settings,
)
from support import SCOPE

VERBS = (
    "remember",
    "remember_many",
    "recall",
    "pack",
    "why_not",
    "replay",
    "get",
    "list",
    "history",
    "stats",
    "archive",
    "forget",
    "restore",
    "erase",
)


class Awaited:
    """The async face, called as if it were the sync one: every shared behaviour below runs on both."""

    def __init__(self, runner, memory):
        self._runner = runner
        self._memory = memory
        self.scope = memory.scope

    def within(self, scope):
        return Awaited(self._runner, self._memory.within(scope))

    def __getattr__(self, verb):
        assert verb in VERBS
        return lambda *args, **kwargs: self._runner.run(getattr(self._memory, verb)(*args, **kwargs))


@pytest.fixture(params=["sync", "async"])
def face(request, path, clock):
    settings = Settings(embedder="none", follow=False)
    if request.param == "sync":
        with memoranda.open(path, scope=SCOPE, settings=settings, clock=clock) as memory:
            yield memory
        return
    with asyncio.Runner() as runner:

        async def opening():
            return await memoranda.aio.open(path, scope=SCOPE, settings=settings, clock=clock)

        memory = runner.run(opening())
        yield Awaited(runner, memory)
        runner.run(memory.close())
