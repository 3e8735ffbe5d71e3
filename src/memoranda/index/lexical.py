"""The lexical lane: exact BM25 over what the query may see, as a share of what it could have scored.

Its statistics are those of the eligible entries alone: nothing of another scope can be felt through a score, and
how the entries lie in parts makes no difference.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.index.segment import Mask, Part, counted, kept
from memoranda.index.tokens import Term

K1 = 0.9
# How much length counts against a row. In short messages it says little; among long texts, much.
B_SHORT, B_LONG = 0.4, 0.75
_SHORT, _LONG = 40, 200
_IMAGINED = 100

Scores = npt.NDArray[np.float64]


class Coverage(NamedTuple):
    """BM25 of every row, part by part; what each term that was asked for is worth; the average length in words."""

    scores: list[Scores]
    worth: dict[str, float]
    average: float


def coverage(parts: Sequence[Part], masks: Sequence[Mask | None], asked: Sequence[Term]) -> Coverage:
    """BM25 of every row, divided by what a row would score that has every term once."""
    forms = [form for term in asked for form in term.hashes]
    hashes = np.array(forms, np.uint64)
    found = []
    frequencies = np.zeros(len(forms), np.int64)
    for part, mask in zip(parts, masks, strict=True):
        rows, counts, which = part.postings(hashes)
        if mask is not None and len(rows):
            there: Any = mask[rows]
            rows, counts, which = rows[there], counts[there], which[there]
        frequencies += np.bincount(which, minlength=len(forms))
        found.append((rows, counts, which))
    total = sum(counted(part, mask) for part, mask in zip(parts, masks, strict=True))
    gains = _gains(asked, frequencies.tolist(), total)
    possible = sum(gains) or 1.0
    words = sum(int(kept(part.lengths, mask).sum(dtype=np.int64)) for part, mask in zip(parts, masks, strict=True))
    average = max(words / total, 1.0) if total else 1.0
    b = B_SHORT + (B_LONG - B_SHORT) * min(max((average - _SHORT) / (_LONG - _SHORT), 0.0), 1.0)
    share = np.array(gains, np.float64) * ((K1 + 1) / possible)
    scores: list[Scores] = []
    for part, (rows, counts, which) in zip(parts, found, strict=True):
        often = counts.astype(np.float64)
        norm = K1 * (1 - b) + (K1 * b / average) * part.lengths[rows]
        worth = share[which] * often / (often + norm)
        scores.append(np.bincount(rows, weights=worth, minlength=part.size).astype(np.float64, copy=False))
    ends = np.cumsum([len(term.hashes) for term in asked]).tolist()
    told = {term.text: sum(gains[end - len(term.hashes) : end]) for term, end in zip(asked, ends, strict=True)}
    return Coverage(scores, told, average)


def _gains(asked: Sequence[Term], frequencies: Sequence[int], total: int) -> list[float]:
    """What each form of each term is worth."""
    gains: list[float] = []
    for term in asked:
        here = frequencies[len(gains) : len(gains) + len(term.hashes)]
        broader = _inverse_frequency(total, 0)
        worth = []
        for weight, frequency in zip(reversed(term.weights), reversed(here), strict=True):
            # A form that nobody used says no more than the broader one that somebody did.
            broader = _inverse_frequency(total, frequency) if frequency else broader
            worth.append(weight * broader)
        gains += reversed(worth)
    return gains


def _inverse_frequency(total: int, frequency: int) -> float:
    """How much a term tells. A hundred imagined entries keep the first few real ones from distorting it."""
    return math.log(1.0 + (total + _IMAGINED - frequency + 0.5) / (frequency + 0.5))
