"""Going back in time: tags, what was done together, what a way back did, and how two moments differ."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory
from memoranda.domain.row import Row

TravelMode = Literal["now", "preview"]
DifferenceKind = Literal["added", "gone", "changed", "erased"]
DIFFERENCE_KINDS: tuple[DifferenceKind, ...] = ("added", "gone", "changed", "erased")

AUTOMATIC = "auto-"
"""How the names of tags begin that the store makes by itself."""
_TIMES = frozenset({"valid_from", "valid_until"})
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,64}")


class Tag(NamedTuple):
    """A name for a sequence: what was there when it was made."""

    name: str
    scope: str
    sequence: int
    at: int
    actor: str = ""
    note: str = ""
    automatic: bool = False

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": iso(self.at)}


class Operation(NamedTuple):
    """What was done together, and can be undone together: one event, one commit, or several commits of one batch."""

    first: int
    """The sequence of its first event; that of any of its events names it as well."""
    last: int
    name: str
    scope: str
    at: int
    actor: str
    batch: str
    memories: int
    """How many it touched that were not erased since."""
    undone: bool
    undoes: int | None
    """The operation that it took back."""
    ids: tuple[str, ...] = ()
    """Of the first few of them."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": iso(self.at), "ids": list(self.ids)}


class OperationPage(Row[Operation]):
    """One page of operations, newest first. `next` is the `before` of the page after it; None when there is none."""

    __slots__ = ("next",)
    next: int | None

    def __init__(self, items: tuple[Operation, ...], next: int | None) -> None:  # noqa: A002 the word users know
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "next", next)

    def as_json(self) -> dict[str, Any]:
        return {"operations": [each.as_json() for each in self], "next": self.next}


class TravelReceipt(NamedTuple):
    """What a way back did to how many memories. Ids of some of them, never what they say."""

    action: Literal["undo", "rollback"]
    scope: str
    below: bool
    target: int
    """The first sequence of the operation that was undone, or the sequence that was gone back to."""
    name: str
    """What was undone, or the tag."""
    memories: int
    """How many were changed; the next three add up to it."""
    brought_back: int = 0
    """Forgotten, and now again what they were."""
    taken_away: int = 0
    """Forgotten now: they were not there."""
    revised: int = 0
    """Changed in another way."""
    erased: int = 0
    """Were there, and stay erased; also those whose grace period is over."""
    left: int = 0
    """Left as they are, since somebody else changed them while this was done."""
    ids: tuple[str, ...] = ()
    """Of the first that were changed."""
    first: int = 0
    last: int = 0

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "ids": list(self.ids)}


class RolledBack(NamedTuple):
    """What an undo or a rollback did, or would do. `before` is the automatic tag of what was there."""

    preview: bool
    before: Tag | None
    receipt: TravelReceipt

    def as_json(self) -> dict[str, Any]:
        before = None if self.before is None else self.before.as_json()
        return {"preview": self.preview, "before": before, "receipt": self.receipt.as_json()}


class FieldChange(NamedTuple):
    """One field of a memory, before and after."""

    name: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "before": _plain(self.name, self.before), "after": _plain(self.name, self.after)}


class Differing(NamedTuple):
    """One memory that differs: as it is at the newer moment, or as it was when it is gone. Erased, it is an id."""

    kind: DifferenceKind
    id: str
    scope: str
    memory: Memory | None = None
    fields: tuple[FieldChange, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "id": self.id,
            "scope": self.scope,
            "memory": None if self.memory is None else self.memory.as_json(),
            "fields": [each.as_json() for each in self.fields],
        }


class Difference(Row[Differing]):
    """One page of what differs between two sequences, the oldest memory first. The counts are of all pages."""

    __slots__ = ("counts", "newer", "older")
    older: int
    newer: int
    counts: Mapping[str, int]

    def __init__(self, items: tuple[Differing, ...], *, older: int, newer: int, counts: Mapping[str, int]) -> None:
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "older", older)
        object.__setattr__(self, "newer", newer)
        object.__setattr__(self, "counts", counts)

    @property
    def total(self) -> int:
        """How many differ in all."""
        return sum(self.counts.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "older": self.older,
            "newer": self.newer,
            **{name: self.counts[name] for name in DIFFERENCE_KINDS},
            "items": [each.as_json() for each in self],
        }


def _plain(name: str, value: Any) -> Any:
    if name in _TIMES:
        return None if value is None else iso(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


class TagPage(Row[Tag]):
    """One page of tags, newest first. `total` counts all of them."""

    __slots__ = ("total",)
    total: int

    def __init__(self, items: tuple[Tag, ...], total: int) -> None:
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "total", total)

    def as_json(self) -> dict[str, Any]:
        return {"items": [each.as_json() for each in self], "total": self.total}


def checked_tag_name(name: str) -> str:
    """A name that people may give."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"not a name for a tag: {str(name)[:80]!r}",
            hint="Use 1 to 64 ASCII letters, digits and . _ -, such as before-the-move.",
        )
    if name.isdigit():
        raise InvalidInput(f"{name} would be a sequence, not a name", hint="Put a letter into it, such as day-5.")
    if name.startswith(AUTOMATIC):
        raise InvalidInput(
            f"names that begin with {AUTOMATIC} are the store's own", hint="Choose another name for the tag."
        )
    return name
