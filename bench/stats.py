"""Numbers from lists of nanoseconds."""

from collections.abc import Sequence


def at(values: Sequence[float], share: float) -> float:
    """The value below which this share of all lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def summary(values: Sequence[float]) -> dict[str, float]:
    """p50 and p95 in milliseconds, and of how many."""
    return {"p50_ms": at(values, 0.5) / 1e6, "p95_ms": at(values, 0.95) / 1e6, "n": len(values)}
