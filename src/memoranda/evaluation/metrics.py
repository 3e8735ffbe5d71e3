"""Numbers from rankings. Pure; each function is one metric as the literature defines it.

A ranking is what came back, best first, each thing once; gold is what should have come back.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2

DEPTH = 10
"""How far down a ranking any metric of the public sets looks."""

RANKING = ("R@5", "R@10", "any@5", "any@10", "all@5", "all@10", "N@10", "MRR")
"""The metrics of one ranking, in the order in which they are shown."""


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """R@k: the fraction of the gold that is among the first k."""
    return len(set(ranking[:k]) & set(gold)) / len(gold)


def any_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """any@k, also called hit@k: 1 when at least one of the gold is among the first k."""
    return float(not set(gold).isdisjoint(ranking[:k]))


def all_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """all@k: 1 when the whole gold is among the first k."""
    return float(set(gold) <= set(ranking[:k]))


def ndcg_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """N@k: NDCG with gain 1 for gold, discount log2(rank + 1), against the best possible order of this gold."""
    gained = sum(1 / log2(rank + 1) for rank, each in enumerate(ranking[:k], 1) if each in gold)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))
    return gained / best


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str], k: int = DEPTH) -> float:
    """One over the rank of the first gold, 0 when there is none among the first k. Its mean is MRR."""
    return next((1 / rank for rank, each in enumerate(ranking[:k], 1) if each in gold), 0.0)


def ranking_metrics(ranking: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Every metric of one ranking, by name."""
    wanted = frozenset(gold)
    return {
        "R@5": recall_at(ranking, wanted, 5),
        "R@10": recall_at(ranking, wanted, 10),
        "any@5": any_at(ranking, wanted, 5),
        "any@10": any_at(ranking, wanted, 10),
        "all@5": all_at(ranking, wanted, 5),
        "all@10": all_at(ranking, wanted, 10),
        "N@10": ndcg_at(ranking, wanted, DEPTH),
        "MRR": reciprocal_rank(ranking, wanted),
    }


def first_of_each(things: Iterable[str]) -> list[str]:
    """A ranking in which each thing stands where it first appeared: the best part counts, not the sum of parts."""
    return list(dict.fromkeys(things))


def mean(values: Collection[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over rows that have the same metrics."""
    return {name: mean([row[name] for row in rows]) for name in rows[0]} if rows else {}


def percentile(values: Collection[float], share: float) -> float:
    """The value below which this share of all lies; the nearest one that was measured."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))] if ordered else 0.0


class Stopwatch:
    """Collects milliseconds."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def add(self, nanoseconds: int) -> None:
        self.taken.append(nanoseconds / 1e6)

    def summary(self) -> dict[str, float]:
        """The median and the 95th percentile, by name."""
        return {"p50_ms": percentile(self.taken, 0.5), "p95_ms": percentile(self.taken, 0.95)}
