"""Results: what each verb gives back. Frozen, and each carries its receipt."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.document import DocumentHit
from memoranda.domain.memory import Memory
from memoranda.domain.receipt import (
    CaptureReceipt,
    ChangeReceipt,
    EraseReceipt,
    HitReceipt,
    RecallReceipt,
    RememberReceipt,
)
from memoranda.domain.row import Row


class Remembered(NamedTuple):
    """A memory that was kept. May be passed wherever an id is asked for."""

    memory: Memory
    receipt: RememberReceipt

    @property
    def id(self) -> str:
        return self.memory.id


class Captured(NamedTuple):
    """What a turn left behind: memories that are new, that were said again, or that wait for a yes."""

    remembered: tuple[Remembered, ...]
    receipt: CaptureReceipt

    @property
    def kept(self) -> tuple[Memory, ...]:
        """What is new and may speak."""
        new = set(self.receipt.kept)
        return tuple(each.memory for each in self.remembered if each.id in new)

    def as_json(self) -> dict[str, Any]:
        return {
            "memories": [each.memory.as_json() for each in self.remembered],
            "receipt": self.receipt.as_json(),
        }


class Changed(NamedTuple):
    """A memory in its new state."""

    memory: Memory
    receipt: ChangeReceipt

    @property
    def id(self) -> str:
        return self.memory.id


class Hit(NamedTuple):
    """One memory that came back, with its calibrated relevance from 0 to 1."""

    memory: Memory
    score: float
    receipt: HitReceipt

    @property
    def id(self) -> str:
        return self.memory.id


class WhyNot(NamedTuple):
    """Why one memory did not come back: the step at which it ended, and the reason. `returned` when it did."""

    id: str
    returned: bool
    step: str
    reason: str
    numbers: dict[str, float]
    receipt: RecallReceipt

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "receipt": self.receipt.as_json()}


class Replay(NamedTuple):
    """A recall done again from its receipt. `same` when ids, scores and order are the same."""

    same: bool
    reason: str
    before: str
    after: str
    recall: "Recall"

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        shown["recall"] = self.recall.receipt.as_json()
        return shown


class Recall(Row[Hit]):
    """Hits, best first. Empty when nothing cleared the bar; the receipt says why."""

    __slots__ = ("documents", "receipt")
    receipt: RecallReceipt
    documents: tuple[DocumentHit, ...]
    """Passages of documents, when memories were few. They are no hits: nobody remembered them."""

    def __init__(self, hits: tuple[Hit, ...], receipt: RecallReceipt, documents: tuple[DocumentHit, ...] = ()) -> None:
        object.__setattr__(self, "_items", hits)
        object.__setattr__(self, "receipt", receipt)
        object.__setattr__(self, "documents", documents)

    def beside(self, documents: tuple[DocumentHit, ...]) -> "Recall":
        """The same with these passages."""
        return Recall(self._items, self.receipt, documents) if documents else self

    def with_standing(self, memories: Iterable[Memory]) -> "Recall":
        """The same, then these, which were not asked for: their score is their importance, and no lane found them."""
        there = {hit.id for hit in self._items}
        more = (_standing(memory) for memory in memories if memory.id not in there)
        return Recall((*self._items, *more), self.receipt, self.documents)


def _standing(memory: Memory) -> Hit:
    score = memory.importance or 0.0
    why = HitReceipt(memory.id, memory.scope, score, score, None, None, None, {}, {}, "standing", memory.trust)
    return Hit(memory, score, why)


class Listing(Row[Memory]):
    """One page of memories, newest first. `total` counts all that fit."""

    __slots__ = ("total",)
    total: int

    def __init__(self, memories: tuple[Memory, ...], total: int) -> None:
        object.__setattr__(self, "_items", memories)
        object.__setattr__(self, "total", total)


class Event(NamedTuple):
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


class Revision(NamedTuple):
    """A memory as it was after one event."""

    event: Event
    memory: Memory


class Erasure(NamedTuple):
    """What was, or would be, erased. `confirm` is what the second call must bring after a preview."""

    ids: tuple[str, ...]
    preview: tuple[Memory, ...]
    confirm: str
    receipt: EraseReceipt

    @property
    def purged(self) -> bool:
        """Whether it is proven gone from every file."""
        return self.receipt.state == "purged"

    @property
    def statement(self) -> dict[str, Any] | None:
        """What was done, signed; None when it was not asked for."""
        return self.receipt.statement


class Stats(NamedTuple):
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
    capture: dict[str, int]
    """What capture has seen, kept and refused, ever."""

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        for name in ("oldest", "newest"):
            shown[name] = None if shown[name] is None else iso(shown[name])
        return shown


class IndexStatus(NamedTuple):
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
        return self._asdict()


class Check(NamedTuple):
    """One line of `verify` or `doctor`: what was looked at, whether it is well, and the way out if not."""

    name: str
    ok: bool
    detail: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Verification(NamedTuple):
    """All the lines of a `verify` or a `doctor`, and what a `doctor` has mended."""

    checks: tuple[Check, ...]
    repaired: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)
