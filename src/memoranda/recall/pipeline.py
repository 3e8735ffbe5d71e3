"""Recall, step by step: search -> fuse -> dispose -> abstain -> trim, and the receipt as it goes.

1. The index proposes numbers of both lanes, inside the scope.
2. The proposals are fused into one relevance.
3. The ledger disposes: rows are loaded and scope, state and validity are checked again.
4. What does not clear the bar is dropped; nothing left is an answer, too.
5. The best remain; of equals, the older.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memoranda.domain.memory import Memory, State
from memoranda.domain.ports import IndexAnswer
from memoranda.domain.receipt import HitReceipt, RecallReceipt
from memoranda.domain.results import Hit, Recall
from memoranda.domain.scope import Scope
from memoranda.recall.fusion import parts_of, relevance

BAR = 0.15
RECEIPT_HITS = 10
_SPARE = 4


class Plan(NamedTuple):
    """What is asked, and under which circumstances."""

    scope: Scope
    limit: int
    now: int
    states: frozenset[State]
    as_of: int | None
    bar: float
    sequence: int
    embedder: str
    semantic: bool
    degraded: tuple[str, ...]
    empty_query: bool = False


def recall(plan: Plan, answer: IndexAnswer, load: Callable[[Sequence[int]], dict[int, Memory]]) -> Recall:
    """From proposals to hits."""
    scored = [(-relevance(each, semantic=plan.semantic), each.number, each) for each in answer.candidates]
    scored.sort()
    cleared = [entry for entry in scored if -entry[0] >= plan.bar]
    dropped: Counter[str] = Counter()
    if len(cleared) < len(scored):
        dropped["below the bar"] = len(scored) - len(cleared)
    hits: list[Hit] = []
    looked_at = 0
    # Best first, and no more rows than are needed: a row costs more than a score.
    while looked_at < len(cleared) and len(hits) < plan.limit:
        some = cleared[looked_at : looked_at + plan.limit - len(hits) + _SPARE]
        rows = load([number for _, number, _ in some])
        for _, number, candidate in some:
            if len(hits) == plan.limit:
                break
            looked_at += 1
            memory = rows.get(number)
            reason = "gone" if memory is None else _objection(plan, memory)
            if memory is None or reason:
                dropped[reason] += 1
                continue
            parts = parts_of(candidate, semantic=plan.semantic)
            score = round(sum(parts.values()), 6)
            ranks = (candidate.lexical_rank, candidate.semantic_rank)
            hits.append(Hit(memory, score, HitReceipt(memory.id, memory.scope, score, *ranks, parts)))
    if looked_at < len(cleared):
        dropped["beyond the limit"] = len(cleared) - looked_at
    return Recall(tuple(hits), _receipt(plan, answer, hits, dropped))


def _objection(plan: Plan, memory: Memory) -> str:
    """Why the ledger does not let this one pass; empty when it does."""
    if not plan.scope.sees(memory.scope):
        return "other scope"
    if memory.state not in plan.states:
        return memory.state
    if not memory.holds_at(plan.now):
        return "not valid then"
    return "quarantined" if memory.trust == "quarantined" else ""


def _receipt(plan: Plan, answer: IndexAnswer, hits: Sequence[Hit], dropped: Counter[str]) -> RecallReceipt:
    abstained = ""
    if plan.empty_query:
        abstained = "no query"
    elif not hits:
        abstained = "nothing to search" if not answer.searched else "nothing cleared the bar"
    return RecallReceipt(
        sequence=plan.sequence,
        scopes=plan.scope.chain(),
        lanes=("lexical", "semantic") if plan.semantic else ("lexical",),
        embedder=plan.embedder,
        searched=answer.searched,
        with_vector=answer.with_vector,
        proposed=len(answer.candidates),
        dropped=dict(sorted(dropped.items())),
        returned=len(hits),
        bar=plan.bar,
        abstained=abstained,
        degraded=plan.degraded,
        as_of=plan.as_of,
        hits=tuple(hit.receipt for hit in hits[:RECEIPT_HITS]),
    )
