"""Receipts: what an operation did and why, in ids, counts and numbers. Never memory text.

Each is made by the work itself, and the same store at the same sequence gives the same receipt: times of the
clock are left out.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from memoranda.domain.memory import State

RememberOutcome = Literal["created", "reinforced"]
EraseState = Literal["preview", "deleted", "purged"]


class _Shown:
    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """The receipt for programs."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]

    def __repr__(self) -> str:
        parts = []
        for name, value in self.as_json().items():
            if value not in (None, (), [], {}, ""):
                parts.append(f"{name}={_brief(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_brief(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(item)}" for key, item in value.items()) + "}"
    return str(value)


@dataclass(frozen=True, slots=True, repr=False)
class RememberReceipt(_Shown):
    """One memory kept, or an old one reinforced."""

    outcome: RememberOutcome
    id: str
    scope: str
    sequence: int
    superseded: str | None = None
    trust: str = "trusted"


@dataclass(frozen=True, slots=True, repr=False)
class ChangeReceipt(_Shown):
    """A memory went from one state to another."""

    action: str
    id: str
    scope: str
    before: State
    after: State
    sequence: int
    erased_after: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class HitReceipt(_Shown):
    """Why one memory came back. The score is the sum of the parts."""

    id: str
    scope: str
    score: float
    lexical_rank: int | None
    semantic_rank: int | None
    parts: dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class RecallReceipt(_Shown):
    """What a recall searched, found, dropped and returned."""

    sequence: int
    scopes: tuple[str, ...]
    lanes: tuple[str, ...]
    embedder: str
    searched: int
    with_vector: int
    proposed: int
    dropped: dict[str, int]
    returned: int
    bar: float
    abstained: str
    degraded: tuple[str, ...]
    as_of: int | None
    hits: tuple[HitReceipt, ...]


@dataclass(frozen=True, slots=True, repr=False)
class FileScan(_Shown):
    """One file that was read to the last byte."""

    file: str
    bytes: int
    found: int


@dataclass(frozen=True, slots=True, repr=False)
class EraseReceipt(_Shown):
    """What was erased, and the proof: every file of the store read, and what was still found in it."""

    state: EraseState
    ids: tuple[str, ...]
    sequence: int
    needles: int = 0
    shared: int = 0
    scanned: tuple[FileScan, ...] = ()
    found: int = 0
    rewritten: bool = False
    pending: str = ""
