"""Asking the facade, and how long it took. The columns that every measurement has beside one another."""

import inspect
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any, Literal, NamedTuple

from memoranda.domain.results import Recall
from memoranda.service.memory import LongTermMemory

Policy = Literal["strict", "balanced", "broad"]
POLICIES: tuple[Policy, ...] = ("strict", "balanced", "broad")

COLUMNS: dict[str, tuple[str, ...]] = {
    "lexical": ("lexical",),
    "semantic": ("semantic",),
    "hybrid": ("lexical", "semantic", "structured"),
}
"""By name, the lanes that it asks. Words alone are the floor; hybrid is what a user gets."""


class Answer(NamedTuple):
    """What came back, best first."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]
    scopes: tuple[str, ...]
    nanoseconds: int
    degraded: tuple[str, ...] = ()
    """Why it is not the answer that it could be, as the receipt says."""

    @property
    def best(self) -> float:
        """The score of the best hit; 0 when there is none."""
        return self.scores[0] if self.scores else 0.0


def ask(
    memory: LongTermMemory,
    query: str,
    *,
    column: str,
    policy: Policy,
    limit: int,
    filters: Mapping[str, Any] | None = None,
) -> Answer:
    """One question to one view of a store."""
    given = {"lanes": COLUMNS[column], "policy": policy, **(filters or {})}
    known = inspect.signature(memory.recall).parameters
    started = perf_counter_ns()
    found: Recall = memory.recall(query, limit=limit, **{name: value for name, value in given.items() if name in known})
    taken = perf_counter_ns() - started
    return Answer(
        tuple(hit.id for hit in found),
        tuple(hit.score for hit in found),
        tuple(hit.memory.scope for hit in found),
        taken,
        found.receipt.degraded,
    )
