import asyncio
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from memoranda.tools import Tools

MODES = ("legacy", "auto")
COMMAND = str(Path(sys.executable).parent / "memoranda")


@pytest.fixture
def tools(memory):
    """The default tools, bound as a host does that asked the user."""
    return Tools(memory, source="user", toolset="default")


@pytest.fixture
def agent(memory):
    """The default tools, bound as a host does that asked nobody."""
    return Tools(memory, toolset="default")


@pytest.fixture
def run(home, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""

    return in_process


def environment(model_cache, **more):
    """What a client hands to the server that it starts: nothing of this machine's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    return {**kept, "MEMORANDA_CACHE": str(model_cache), **more}


@pytest.fixture
def started(path, model_cache):
    """A client of the real command on standard input, in one of the modes of the SDK."""

    def start(*options, mode="auto", embedder="none", **more):
        arguments = ["mcp", "--store", str(path), "--scope", "home/anna", "--embedder", embedder, *options]
        given = StdioServerParameters(command=COMMAND, args=arguments, env=environment(model_cache, **more))
        return Client(given, mode=mode)

    return start


def drive(story, *clients):
    """Run a story with clients that are connected while it lasts; what it returns."""

    async def play():
        if not clients:
            return await story()
        async with clients[0] as first:
            if len(clients) == 1:
                return await story(first)
            async with clients[1] as second:
                return await story(first, second)

    return asyncio.run(play())


def text_of(result):
    """What a model reads of a result."""
    (only,) = result.content
    return only.text
