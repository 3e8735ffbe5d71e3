"""Why a recall gave what it gave, in lines for people: parts, factors, bars, and what differs from before.

It only words what receipts say; ids and numbers, never the text of a memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from memoranda.cli.output import SHORT_ID
from memoranda.domain.pack import PackReceipt
from memoranda.domain.receipt import HitReceipt, RecallReceipt
from memoranda.domain.results import Recall, WhyNot
from memoranda.domain.text import so_many

_INDENT = " " * (SHORT_ID + 2)

_ABSTAINED = {
    "nothing to search": "no memory that this scope sees fits; check --scope and the filters",
    "no query": "ask for something",
    "trivial prompt": "nothing is asked in it; ask a question",
    "only small words": "use a word that the memory would have",
    "nothing happened then": "name another time, or ask for the thing",
}
_NOT_RETURNED = {
    "scope": "check the id and --scope",
    "ledger": "--state or --as-of brings back what no longer holds",
    "trust": "name its trust with --trust, if you answer for it",
    "filter": "leave that filter out",
    "time": "name another time, or ask for the thing",
    "lanes": "use words that it has, or narrow with --about, --kind or --speaker",
    "bar": "--policy broad",
    "admission": "a larger --limit, --mode asked, or --trust untrusted",
    "limit": "a larger --limit",
}


def advice(receipt: RecallReceipt) -> str:
    """What to try when nothing came back."""
    if receipt.abstained in _ABSTAINED:
        return _ABSTAINED[receipt.abstained]
    if any(reason.endswith("nobody asked") for reason in receipt.dropped):
        return "--mode asked also shows what nobody may be given unasked"
    if receipt.request.get("policy", "balanced") == "broad":
        return "ask in other words, or with fewer filters"
    return "--policy broad shows what comes nearest"


def why_empty(pack: PackReceipt, receipt: RecallReceipt) -> str:
    """That nothing is printed for an empty pack, why it is empty, and what to try."""
    if not receipt.returned:
        reason = f"{receipt.abstained}; {advice(receipt)}"
    elif pack.abstained == "budget too small":
        reason = f"{pack.abstained}; try a larger --budget than {pack.budget}"
    else:
        reason = ", ".join(sorted({each.reason for each in pack.left_out}))
    # Whoever reads the form for programs gets no object here, and must know how to get one.
    also = "; --json instead of --format json always prints an object" if pack.format == "json" else ""
    return f"the pack is empty, so nothing is printed: {reason}{also}"


def why(found: Recall) -> Iterator[str]:
    """Each hit with what speaks for it; below, what was searched, dropped and left out."""
    for hit in found:
        yield from _why_this(hit.receipt)
    receipt = found.receipt
    yield (
        f"searched {so_many(receipt.searched, 'memory')} in {', '.join(receipt.scopes)} "
        f"({receipt.with_vector:,} with a vector, embedder {receipt.embedder}) at sequence {receipt.sequence}"
    )
    policy = receipt.request.get("policy", "balanced")
    reached = f", tier reached {receipt.tier}" if receipt.tier else ""
    yield (
        f"proposed {receipt.proposed} by {', '.join(receipt.lanes) or 'no lane'}, returned {receipt.returned}; "
        f"bar {receipt.bar:.2f} ({policy}){reached}"
    )
    for reason, count in receipt.dropped.items():
        yield f"not returned: {count} ({reason})"
    for trouble in receipt.degraded:
        yield f"degraded: {trouble}"


def _why_this(hit: HitReceipt) -> Iterator[str]:
    factors = "".join(f" × {name} {value:.2f}" for name, value in hit.factors.items())
    most = " (at most 1)" if hit.relevance * prod(hit.factors.values()) > 1 else ""
    yield f"{hit.id[:SHORT_ID]}  score {hit.score:.3f} = relevance {hit.relevance:.3f}{factors}{most}"
    yield f"{_INDENT}evidence {sum(hit.parts.values()):.3f} = {_added(hit.parts)}"
    lanes = {"words": hit.lexical_rank, "meaning": hit.semantic_rank, "time": hit.structured_rank}
    ranks = ", ".join(f"by {name} #{rank}" for name, rank in lanes.items() if rank is not None)
    yield f"{_INDENT}found {ranks or 'beside a hit of its conversation'}; tier {hit.tier}, {hit.trust}, in {hit.scope}"


def _added(parts: Mapping[str, float]) -> str:
    return " + ".join(f"{name} {value:.3f}" for name, value in parts.items())


def why_not(told: WhyNot) -> Iterator[str]:
    """The step at which it ended, the reason, the numbers, and what would bring it back."""
    yield f"{told.id[:SHORT_ID]}  {'returned' if told.returned else 'not returned'}: {told.reason} (step: {told.step})"
    parts = {name: value for name, value in told.numbers.items() if name not in ("relevance", "bar", "score")}
    compared = [f"{name} {told.numbers[name]:.3f}" for name in ("score", "relevance", "bar") if name in told.numbers]
    if compared:
        yield _INDENT + ", ".join(compared)
    if parts:
        yield f"{_INDENT}evidence {sum(parts.values()):.3f} = {_added(parts)}"
    next_move = _ABSTAINED.get(told.reason) or _NOT_RETURNED.get(told.step)
    if not told.returned and next_move:
        yield f"{_INDENT}try: {next_move}"


# -- what differs between a receipt and now --


class Place(NamedTuple):
    """Where a memory stood in an answer."""

    rank: int
    score: float


class Difference(NamedTuple):
    """One memory that stood elsewhere, or was not there. None: it is not in that answer."""

    id: str
    before: Place | None
    after: Place | None

    def __str__(self) -> str:
        return f"{self.id[:SHORT_ID]}  before {_at(self.before)}; now {_at(self.after)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "before": None if self.before is None else self.before._asdict(),
            "after": None if self.after is None else self.after._asdict(),
        }


def _at(place: Place | None) -> str:
    return "absent" if place is None else f"#{place.rank} with {place.score:.6f}"


def receipt_in(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    """The receipt of a recall in what a command printed: recall, pack, why-not, replay, or the receipt alone."""
    for name in ("receipt", "recall"):
        inner = shown.get(name)
        if isinstance(inner, Mapping) and "request" in inner:
            return inner
    return shown


def hits_in(shown: Mapping[str, Any]) -> dict[str, Place] | None:
    """Where each memory stood, as far as it is told; None when not all of them are told."""
    receipt = receipt_in(shown)
    listed = shown.get("hits", receipt.get("hits"))
    if not isinstance(listed, list) or receipt.get("returned") != len(listed):
        return None
    places = {}
    for rank, hit in enumerate(listed, start=1):
        if not isinstance(hit, Mapping) or not isinstance(hit.get("score"), int | float):
            return None
        memory = hit.get("memory")
        identity = memory.get("id") if isinstance(memory, Mapping) else hit.get("id")
        places[str(identity)] = Place(rank, float(hit["score"]))
    return places


def differences(before: Mapping[str, Place] | None, now: Recall) -> Sequence[Difference]:
    """Every memory that stands elsewhere or has another score; nothing when it is not known where they stood."""
    if before is None:
        return ()
    after = {hit.id: Place(rank, hit.score) for rank, hit in enumerate(now, start=1)}
    found = (Difference(each, before.get(each), after.get(each)) for each in {**before, **after})
    return [each for each in found if each.before != each.after]
