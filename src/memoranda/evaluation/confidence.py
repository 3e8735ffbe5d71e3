"""How sure a mean is: bootstrap intervals from a fixed seed, so that two runs say the same."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

SEED = 20261116
_RESAMPLES = 1_000
_SHARE = 0.95


class Estimate(NamedTuple):
    """A mean and the interval in which 95 % of its resamples lie."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 6) for name, value in self._asdict().items()}

    @property
    def sure(self) -> bool:
        """For a difference: whether zero is outside the interval."""
        return self.low > 0 or self.high < 0


def estimates(rows: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """An estimate for each metric of these rows, one row for each question.

    The same questions are drawn for every metric, and for every call with as many rows: differences of paired rows
    are as sure as they can be.
    """
    if not rows:
        return {}
    import numpy as np

    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
    count = len(rows)
    random = np.random.default_rng(SEED)
    # How often each question is drawn is all that a mean needs to know of a resample.
    weights = random.multinomial(count, np.full(count, 1 / count), size=_RESAMPLES) / count
    drawn = weights @ values
    edge = (1 - _SHARE) / 2
    low, high = np.quantile(drawn, (edge, 1 - edge), axis=0)
    middle = values.mean(axis=0)
    return {name: Estimate(float(middle[at]), float(low[at]), float(high[at])) for at, name in enumerate(names)}


def differences(ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Estimates of ours minus theirs, question by question: the rows belong together in pairs."""
    paired = [{name: mine[name] - other[name] for name in mine} for mine, other in zip(ours, theirs, strict=True)]
    return estimates(paired)
