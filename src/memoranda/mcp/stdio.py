"""The server on standard input and output, for a client that starts it as a process of its own.

The client waits for the first answer: nothing is opened before it is given. The store and its embedder are made ready
in the background meanwhile, or by the first call that needs them.
"""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self, cast

import anyio
from anyio import to_thread
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from memoranda.domain.errors import InvalidInput, MemorandaError
from memoranda.service.memory import LongTermMemory

MOST_BYTES = 4 << 20
"""Of one message. A memory is much shorter."""
_A_MOMENT = 0.3


class LateMemory:
    """A memory that is opened when it is first needed, or a moment after the start."""

    def __init__(self, open_memory: Callable[[], LongTermMemory], *, warm: bool = True) -> None:
        self._open = open_memory
        self._opening = threading.Lock()
        self._memory: LongTermMemory | None = None
        self._timer = threading.Timer(_A_MOMENT, self._get_ready)
        self._timer.daemon = True
        if warm:
            self._timer.start()

    def get(self) -> LongTermMemory:
        """The memory; who cannot open it is told why, and the next call tries again."""
        with self._opening:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def _get_ready(self) -> None:
        with suppress(MemorandaError, OSError):  # the first call meets the same trouble, and tells of it
            self.get().recall("hello", limit=1)

    def close(self) -> None:
        """Let go of it. May be called before it was ever opened."""
        self._timer.cancel()
        with self._opening:
            if self._memory is not None:
                self._memory.close()


class _Lines:
    """Standard input, line by line. One that is too long ends it: no client has that much to say at once."""

    def __init__(self) -> None:
        self.too_long = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line: bytes = await to_thread.run_sync(sys.stdin.buffer.readline, MOST_BYTES + 1, abandon_on_cancel=True)
        self.too_long = len(line) > MOST_BYTES
        if not line or self.too_long:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


def serve(server: Server[Any]) -> None:
    """Answer until the client closes the line."""
    lines = _Lines()
    anyio.run(_serve, server, lines)
    if lines.too_long:
        raise InvalidInput(f"a message has more than {MOST_BYTES:,} bytes", hint="Send less at once.")


async def _serve(server: Server[Any], lines: _Lines) -> None:
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
