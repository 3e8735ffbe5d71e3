"""Results: what each verb gives back. Frozen, and each carries its receipt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from memoranda.domain.clock import iso
from memoranda.domain.memory import Memory
from memoranda.domain.receipt import ChangeReceipt, EraseReceipt, HitReceipt, RecallReceipt, RememberReceipt


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that was kept. May be passed wherever an id is asked for."""

    memory: Memory
    receipt: RememberReceipt

    @property
    def id(self) -> str:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory in its new state."""

    memory: Memory
    receipt: ChangeReceipt

    @property
    def id(self) -> str:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that came back, with its calibrated relevance from 0 to 1."""

    memory: Memory
    score: float
    receipt: HitReceipt

    @property
    def id(self) -> str:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Recall(Sequence[Hit]):
    """Hits, best first. Empty when nothing cleared the bar; the receipt says why."""

    hits: tuple[Hit, ...]
    receipt: RecallReceipt

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, position: int) -> Hit: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Hit]: ...
    def __getitem__(self, position: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[position]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class Listing(Sequence[Memory]):
    """One page of memories, newest first. `total` counts all that fit."""

    memories: tuple[Memory, ...]
    total: int

    def __len__(self) -> int:
        return len(self.memories)

    @overload
    def __getitem__(self, position: int) -> Memory: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Memory]: ...
    def __getitem__(self, position: int | slice) -> Memory | Sequence[Memory]:
        return self.memories[position]

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the ledger's history."""

    sequence: int
    at: int
    action: str
    memory_id: str
    scope: str
    actor: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "at": iso(self.at),
            "action": self.action,
            "memory_id": self.memory_id,
            "scope": self.scope,
            "actor": self.actor,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Revision:
    """A memory as it was after one event."""

    event: Event
    memory: Memory


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was, or would be, erased. `confirm` is what the second call must bring after a preview."""

    ids: tuple[str, ...]
    preview: tuple[Memory, ...]
    confirm: str
    receipt: EraseReceipt

    @property
    def purged(self) -> bool:
        """Whether it is proven gone from every file."""
        return self.receipt.state == "purged"


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what one scope can see."""

    scope: str
    total: int
    by_state: dict[str, int]
    by_kind: dict[str, int]
    by_scope: dict[str, int]
    by_trust: dict[str, int]
    by_grade: dict[str, int]
    oldest: int | None
    newest: int | None
    sequence: int

    def as_json(self) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("oldest", "newest"):
            shown[name] = None if shown[name] is None else iso(shown[name])
        return shown


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The truth about the index, counted."""

    memories: int
    lexical_rows: int
    semantic_rows: int
    vectors_missing: int
    lag: int
    bytes: int
    segments: int
    fingerprint: str
    configured: str
    rebuild_needed: bool
    self_test: str

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `verify` or `doctor`: what was looked at, whether it is well, and the way out if not."""

    name: str
    ok: bool
    detail: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Verification:
    """All the lines of a `verify` or a `doctor`."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)
