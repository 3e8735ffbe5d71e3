"""Receipts: what an operation did and why, in ids, counts and numbers. Never memory text.

Each is made by the work itself, and the same store at the same sequence gives the same receipt: times of the
clock are left out.
"""

from typing import Any, Literal, NamedTuple

from memoranda.domain.memory import State

RememberOutcome = Literal["created", "reinforced"]
EraseState = Literal["preview", "deleted", "purged"]


def _as_json(self: Any) -> dict[str, Any]:
    """The receipt for programs."""
    return {name: _plain(value) for name, value in self._asdict().items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _shown(self: Any) -> str:
    parts = [f"{name}={_brief(value)}" for name, value in self.as_json().items() if value not in (None, [], {}, "")]
    return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_brief(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(item)}" for key, item in value.items()) + "}"
    return str(value)


class RememberReceipt(NamedTuple):
    """One memory kept, or an old one reinforced."""

    outcome: RememberOutcome
    id: str
    scope: str
    sequence: int
    superseded: str | None = None
    trust: str = "trusted"

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class ChangeReceipt(NamedTuple):
    """A memory went from one state to another."""

    action: str
    id: str
    scope: str
    before: State
    after: State
    sequence: int
    erased_after: int | None = None

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class HitReceipt(NamedTuple):
    """Why one memory came back. The score is the sum of the parts."""

    id: str
    scope: str
    score: float
    lexical_rank: int | None
    semantic_rank: int | None
    parts: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class RecallReceipt(NamedTuple):
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

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class FileScan(NamedTuple):
    """One file that was read to the last byte."""

    file: str
    bytes: int
    found: int

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class EraseReceipt(NamedTuple):
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

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)
