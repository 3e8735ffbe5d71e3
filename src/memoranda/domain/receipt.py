"""Receipts: what an operation did and why, in ids, counts and numbers. Never memory text.

Each is made by the work itself, and the same store at the same sequence gives the same receipt: times of the
clock are left out.
"""

import hashlib
from collections.abc import Iterable
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
    """Why one memory came back. The parts add up to the evidence, of which relevance is the measure; relevance times
    the factors is the score. A rank is None when that lane did not propose it."""

    id: str
    scope: str
    score: float
    relevance: float
    lexical_rank: int | None
    semantic_rank: int | None
    structured_rank: int | None
    parts: dict[str, float]
    factors: dict[str, float]
    tier: str
    trust: str

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class LaneTops(NamedTuple):
    """The ids that each lane put first, and that were first when the lanes were put together."""

    lexical: tuple[str, ...]
    semantic: tuple[str, ...]
    structured: tuple[str, ...]
    fused: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


class RecallReceipt(NamedTuple):
    """What a recall was asked, searched, found, dropped and returned. Asked again at the same sequence, it gives the
    same digest."""

    sequence: int
    scopes: tuple[str, ...]
    request: dict[str, Any]
    lanes: tuple[str, ...]
    embedder: str
    searched: int
    with_vector: int
    proposed: int
    dropped: dict[str, int]
    returned: int
    bar: float
    tier: str
    tiers: dict[str, int]
    abstained: str
    degraded: tuple[str, ...]
    digest: str
    hits: tuple[HitReceipt, ...]
    tops: LaneTops | None = None

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self)


def hits_digest(hits: Iterable[tuple[str, float]]) -> str:
    """A short name for exactly these ids with these scores, in this order."""
    listed = "".join(f"{identity}:{score:.6f};" for identity, score in hits)
    return hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()


class CaptureReceipt(NamedTuple):
    """What a capture looked at and what became of it. `refused` counts, by reason, what was not kept."""

    scope: str
    mode: str
    messages: int
    new: int
    scanned: dict[str, int]
    candidates: int
    kept: tuple[str, ...]
    reinforced: tuple[str, ...]
    superseded: tuple[str, ...]
    waiting: tuple[str, ...]
    refused: dict[str, int]
    model: str = ""
    degraded: tuple[str, ...] = ()

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
    messages: int = 0
    """Messages of transcripts that said the same and were blanked, or went with their conversation."""
    conversations: int = 0
    summaries: int = 0
    """Summaries that were made anew, because they stand for such a message."""
    sources: int = 0
    """Sources of documents that are no longer looked at. Their files stay whose they are."""
    mirrored: int = 0
    """Files of mirrors that were rewritten."""
    notes: tuple[str, ...] = ()
    """What nobody here can do, such as to change what was committed elsewhere."""
    backups: int = 0
    """Backups that were written anew."""
    untouchable: tuple[str, ...] = ()
    """Copies that could not be changed, each with what to do; they are part of what is pending."""
    tokens: int = 0
    """Tokens of an erased scope that open nothing any more."""
    statement: dict[str, Any] | None = None
    """What was done, signed, to be kept and checked again; when it was asked for."""

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)

    def __repr__(self) -> str:
        return _shown(self._replace(statement=None))
