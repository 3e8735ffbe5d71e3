"""The lexical lane: exact BM25 over what the query may see, as a share of what it could have scored.

Its statistics are those of the eligible entries alone: nothing of another scope can be felt through a score, and
how the entries lie in parts makes no difference.
"""

import math
from collections.abc import Collection, Sequence
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


class Statistics(NamedTuple):
    """What BM25 has to know of entries: how many there are, their words, and how many of them have each form."""

    entries: int
    words: int
    frequencies: tuple[int, ...]


class Coverage(NamedTuple):
    """BM25 of every row, part by part; what each term that was asked for is worth; the average length in words."""

    scores: list[Scores]
    worth: dict[str, float]
    average: float


def coverage(
    parts: Sequence[Part],
    masks: Sequence[Mask | None],
    asked: Sequence[Term],
    *,
    told: Statistics | None = None,
    picked: Collection[int] = (),
) -> Coverage:
    """BM25 of every row, divided by what a row would score that has every term once.

    The parts at the places `picked` have only some of the eligible entries; `told` says what to know of all of those.
    """
    forms = [form for term in asked for form in term.hashes]
    hashes = np.array(forms, np.uint64)
    found = []
    total, words, frequencies = _begun(told, len(forms))
    for place, (part, mask) in enumerate(zip(parts, masks, strict=True)):
        rows, counts, which = part.postings(hashes)
        if mask is not None and len(rows):
            there: Any = mask[rows]
            rows, counts, which = rows[there], counts[there], which[there]
        found.append((rows, counts, which))
        if place not in picked:
            frequencies += np.bincount(which, minlength=len(forms))
            total += counted(part, mask)
            words += int(kept(part.lengths, mask).sum(dtype=np.int64))
    worths = gains(asked, frequencies.tolist(), total)
    possible = sum(worths) or 1.0
    average = max(words / total, 1.0) if total else 1.0
    share = np.array(worths, np.float64) * ((K1 + 1) / possible)
    scores: list[Scores] = []
    for part, (rows, counts, which) in zip(parts, found, strict=True):
        often = counts.astype(np.float64)
        worth = share[which] * often / (often + norms(part.lengths[rows], average))
        scores.append(np.bincount(rows, weights=worth, minlength=part.size).astype(np.float64, copy=False))
    ends = np.cumsum([len(term.hashes) for term in asked]).tolist()
    worth_of = {term.text: sum(worths[end - len(term.hashes) : end]) for term, end in zip(asked, ends, strict=True)}
    return Coverage(scores, worth_of, average)


def norms(lengths: npt.NDArray[Any], average: float) -> npt.NDArray[np.float64]:
    """How much its length counts against a row."""
    b = B_SHORT + (B_LONG - B_SHORT) * min(max((average - _SHORT) / (_LONG - _SHORT), 0.0), 1.0)
    return np.asarray(K1 * (1 - b) + (K1 * b / average) * lengths, np.float64)


def _begun(told: Statistics | None, forms: int) -> tuple[int, int, npt.NDArray[np.int64]]:
    if told is None:
        return 0, 0, np.zeros(forms, np.int64)
    return told.entries, told.words, np.array(told.frequencies, np.int64)


def gains(asked: Sequence[Term], frequencies: Sequence[int], total: int) -> list[float]:
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
