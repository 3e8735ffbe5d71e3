"""Asking the facade, and how long it took. The columns that every measurement has beside one another."""

from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any, NamedTuple

from memoranda.domain.request import LANES, Lane, Policy
from memoranda.service.memory import LongTermMemory

COLUMNS: dict[str, tuple[Lane, ...]] = {"lexical": ("lexical",), "semantic": ("semantic",), "hybrid": LANES}
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
    started = perf_counter_ns()
    found = memory.recall(query, limit=limit, policy=policy, lanes=COLUMNS[column], **(filters or {}))
    taken = perf_counter_ns() - started
    return Answer(
        tuple(hit.id for hit in found),
        tuple(hit.score for hit in found),
        tuple(hit.memory.scope for hit in found),
        taken,
        found.receipt.degraded,
    )
