"""Looking at what is kept: what happened, how it grew, and where it is. Ids and counts, never what a memory says."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import GRADES, Grade, checked_choice
from memoranda.domain.results import Event
from memoranda.domain.row import Row

Order = Literal["newest", "oldest", "importance"]
Action = Literal[
    "remembered", "reinforced", "superseded", "archived", "forgotten", "restored", "expired", "erased",
    "graded", "trusted", "revised",
]  # fmt: skip

ORDERS: tuple[Order, ...] = get_args(Order)
ACTIONS: tuple[Action, ...] = get_args(Action)
MOST_DAYS = 3_650
MOST_EVENTS = 1 << 62


class Timeline(Row[Event]):
    """One page of what happened, newest first. `next` is the `before` of the page after it; None when there is none."""

    __slots__ = ("next",)
    next: int | None

    def __init__(self, events: tuple[Event, ...], next: int | None) -> None:  # noqa: A002 the word users know
        object.__setattr__(self, "_items", events)
        object.__setattr__(self, "next", next)

    def as_json(self) -> dict[str, Any]:
        return {"events": [event.as_json() for event in self], "next": self.next}


class Day(NamedTuple):
    """What happened on one day, UTC, and how many memories were live when it ended."""

    day: str
    """Such as 2026-03-01."""
    created: int = 0
    reinforced: int = 0
    superseded: int = 0
    forgotten: int = 0
    erased: int = 0
    live: int = 0
    unknown_share: float | None = None
    """Of what was created and is not erased since, the part whose importance was not known; None when there is none."""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class ScopeCount(NamedTuple):
    """What one scope holds itself, without those above and below it."""

    scope: str
    memories: int
    """In whatever state."""
    live: int
    conversations: int
    sources: int
    newest: int | None
    """When the newest memory was created."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "newest": None if self.newest is None else iso(self.newest)}


class ScopePage(Row[ScopeCount]):
    """One page of scopes that hold anything, by their paths. `total` counts all of them."""

    __slots__ = ("total",)
    total: int

    def __init__(self, items: tuple[ScopeCount, ...], total: int) -> None:
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "total", total)

    def as_json(self) -> dict[str, Any]:
        return {"items": [each.as_json() for each in self], "total": self.total}


def checked_grades(given: Grade | Sequence[Grade]) -> tuple[Grade, ...]:
    """One or several grades; none of them means all."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Sequence):
        raise InvalidInput("grade: a list is expected", hint=f"Use some of: {', '.join(GRADES)}.")
    return tuple(dict.fromkeys(checked_choice(each, GRADES, name="grade") for each in listed))


def checked_whole(number: int, *, name: str, most: int) -> int:
    """A whole number from 1."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InvalidInput(
            f"{name}: {str(number)[:40]!r} is not a whole number from 1 to {most}", hint=f"Give 1 to {most:,}."
        )
    return number
