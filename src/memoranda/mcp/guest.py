"""`Guest`: on whose behalf a request is served. Made by whoever opened the door, never out of what a client sends."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from memoranda.domain.memory import Source
from memoranda.service.memory import LongTermMemory


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


GuestOf = Callable[[Mapping[str, Any] | None], Guest]
"""Who a request comes from, by its ASGI scope; None on standard input. May take its time: it runs in a thread."""
