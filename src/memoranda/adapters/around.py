"""`Turns`: a memory around the turns of an agent. A pack before the model answers, capture after it has.

Fails open: an agent answers without its memory when the store does not. What went wrong is logged, without any text.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from memoranda.aio import AsyncMemory
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.errors import MemorandaError
from memoranda.domain.message import Message
from memoranda.domain.results import Captured
from memoranda.service.memory import LongTermMemory

R = TypeVar("R")
_LOG = logging.getLogger("memoranda.adapters")
_NOBODY = "0~nobody"  # no name of anybody's: none has a ~ there
Store = LongTermMemory | AsyncMemory
"""What an adapter is given: a memory that was opened, or one of a server; or the async face of either."""


def facade(memory: Store) -> LongTermMemory:
    """The facade behind what was given."""
    return memory.sync if isinstance(memory, AsyncMemory) else memory


async def awaited(call: Callable[..., R], *args: Any, **kwargs: Any) -> R:
    """A verb of the facade in a thread: no store blocks an event loop."""
    return await asyncio.to_thread(call, *args, **kwargs)


class Turns:
    """What goes before and after the turns of one agent, in one scope."""

    def __init__(self, memory: Store, *, budget: int = 800, mode: CaptureMode | None = None, speaker: str = "") -> None:
        self.memory = facade(memory)
        self._budget = budget
        self._mode = mode
        self._speaker = speaker

    def within(self, scope: str) -> "Turns":
        """The same in a scope below this one."""
        return Turns(self.memory.within(scope), budget=self._budget, mode=self._mode, speaker=self._speaker)

    def nobodys(self) -> "Turns":
        """The same for turns without a user, beside those of users: who is above them would be seen by all."""
        return self.within(f"{self.memory.scope}/{_NOBODY}")

    def before(self, query: str, *, conversation: str = "") -> str:
        """What the model should see of memory; empty when nothing bears on the query, or when the store fails."""
        if not query.strip():
            return ""
        try:
            pack = self.memory.pack(
                query[:4_000], budget=self._budget, conversation=conversation, prefer_speaker=self._speaker
            )
        except (MemorandaError, OSError) as error:
            _LOG.warning("memory was left out of a turn: %s", type(error).__name__)
            return ""
        return pack.text

    def after(self, messages: Sequence[Message | Mapping[str, Any]], *, conversation: str = "") -> Captured | None:
        """Keep what a turn shows should be kept. Pass the whole history: what was seen before is not looked at."""
        if not messages or self._mode == "off":
            return None
        try:
            return self.memory.capture(messages, conversation=conversation, speaker=self._speaker, mode=self._mode)
        except (MemorandaError, OSError) as error:
            _LOG.warning("nothing was captured of a turn: %s", type(error).__name__)
            return None
