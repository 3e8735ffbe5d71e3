"""`Guest`: on whose behalf a request is served. Made by whoever opened the door, never out of what a client sends."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from memoranda.domain.memory import Source
from memoranda.service.memory import LongTermMemory

_TOLD_OF = frozenset({"recall", "pack", "capture"})


def _to_nobody(told: object) -> None:
    """Nobody counts."""


class Guest(NamedTuple):
    """A memory, and what may be done with it."""

    memory: LongTermMemory
    may_write: bool = True
    """Whether tools that change something are offered and done."""
    name: str = ""
    """Written into events: who did it. Empty leaves that to the settings."""
    source: Source = "assistant"
    """Who vouches for what is written. What a model writes is not trusted, unless a person approves each call."""
    speaker: str = ""
    """Who speaks to the model, where that is known."""
    called: Callable[[str], None] = _to_nobody
    """Told of the tool that is called, for those who count."""


GuestOf = Callable[[Mapping[str, Any] | None], Guest]
"""Who a request comes from, by its ASGI scope; None on standard input. May take its time: it runs in a thread."""


def watched(memory: LongTermMemory, tell: Callable[[object], None]) -> LongTermMemory:
    """The same memory; `tell` is called with the receipt of each recall, pack and capture, for those who count."""
    return cast(LongTermMemory, _Watched(memory, tell))


class _Watched:
    def __init__(self, memory: LongTermMemory, tell: Callable[[object], None]) -> None:
        self._memory = memory
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._memory, name)
        return self._telling(found) if name in _TOLD_OF else found

    def within(self, scope: str) -> LongTermMemory:
        """As the memory's own; it is watched as well."""
        return watched(self._memory.within(scope), self._tell)

    def _telling(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            result = verb(*args, **kwargs)
            self._tell(result.receipt)
            return result

        return called
