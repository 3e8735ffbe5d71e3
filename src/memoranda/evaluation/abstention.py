"""Whether a score tells what can be answered from what cannot. Pure.

`right` are the best scores of questions asked where the answer is, `wrong` those of the same questions asked where
it is not. No hit at all is a score of 0.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

KEPT = (0.80, 0.90, 0.95)
"""The shares of right questions at which the wrong ones are counted."""

_POINTS = 60


class Point(NamedTuple):
    """One threshold: questions whose best score reaches it are answered."""

    threshold: float
    right_answered: float
    wrong_answered: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 6) for name, value in self._asdict().items()}


class Separation(NamedTuple):
    """How well the two kinds of question come apart."""

    auc: float
    at: tuple[Point, ...]
    """One point for each share in KEPT."""
    curve: tuple[Point, ...]


def separation(right: Sequence[float], wrong: Sequence[float]) -> Separation:
    """Everything that one pair of lists of scores tells."""
    return Separation(
        auc(right, wrong),
        tuple(at_threshold(threshold_keeping(right, share), right, wrong) for share in KEPT),
        curve(right, wrong),
    )


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The chance that a right question scores above a wrong one, equals counted half; 0.5 when one kind is missing."""
    if not right or not wrong:
        return 0.5
    ordered = sorted(wrong)
    below = sum(bisect_left(ordered, score) for score in right)
    not_above = sum(bisect_right(ordered, score) for score in right)
    return (below + not_above) / 2 / (len(right) * len(wrong))


def threshold_keeping(right: Sequence[float], share: float) -> float:
    """The highest threshold that still answers this share of the right questions."""
    ordered = sorted(right, reverse=True)
    # A share such as 0.9 of ten is nine, whatever binary fractions say.
    needed = ceil(round(share * len(ordered), 6))
    return ordered[max(needed, 1) - 1] if ordered else 0.0


def at_threshold(threshold: float, right: Sequence[float], wrong: Sequence[float]) -> Point:
    """What a threshold answers. A score of 0 is no hit and is never an answer."""
    return Point(threshold, _share(right, threshold), _share(wrong, threshold))


def curve(right: Sequence[float], wrong: Sequence[float]) -> tuple[Point, ...]:
    """Points from the strictest threshold to none, at most about sixty."""
    thresholds = sorted({*right, *wrong}, reverse=True)
    step = max(1, len(thresholds) // _POINTS)
    chosen = [*thresholds[::step], *thresholds[-1:]]
    return tuple(at_threshold(each, right, wrong) for each in dict.fromkeys(chosen))


def _share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold and score > 0 for score in scores) / len(scores) if scores else 0.0
