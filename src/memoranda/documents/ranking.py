"""Which chunks answer a question, best first. Pure: from what the lanes say to what is shown, with the arithmetic.

1. What the words say and what the meaning says is weighed into a number from 0 to 1; without a vector the words count.
2. What is dated weighs less with each half-life, down to a floor; what is not dated does not age.
3. What is too weak is dropped; if everything is, and nobody named a bar, whatever has most of the words stays.
4. Of what says nearly the same, one is taken.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import InvalidInput

LIMIT = 6
MIN_SCORE = 0.35
VECTOR_WEIGHT = 0.7
TEXT_WEIGHT = 0.3
MMR = 0.7
HALF_LIFE_DAYS = 30.0
LEAST_RECENCY = 0.3
"""What age leaves at least: an old note is still found when it is what was asked for."""
STRONG_WORDS = 0.5
"""How much of what the words of a question could score makes a chunk an answer by its words alone."""
_LEAST_SHOWN = 0.005
"""Less than this would be shown as 0.00, which is no answer."""
_POOL = 4
_MOST_IN_POOL = 200
_COMPARED_CHARACTERS = 2_000
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_]+")


class Proposal(NamedTuple):
    """A chunk that some lane found."""

    path: str
    start_line: int
    end_line: int
    text: str
    coverage: float = 0.0
    """How much of what the words of the question could score it has, from 0 to 1; 0 when words did not find it."""
    cosine: float | None = None
    """How near its meaning is; None when it has no vector, or the question has none."""
    dated: int | None = None
    source: str = ""


class Ranked(NamedTuple):
    """A chunk with its score. `(vector + text) * recency` of its factors is the score."""

    proposal: Proposal
    score: float
    factors: tuple[tuple[str, float], ...]


def ranked(
    proposals: Sequence[Proposal],
    *,
    now: int,
    limit: int = LIMIT,
    min_score: float = MIN_SCORE,
    vector_weight: float = VECTOR_WEIGHT,
    text_weight: float = TEXT_WEIGHT,
    mmr: float | None = MMR,
    half_life_days: float | None = HALF_LIFE_DAYS,
    rescue: bool = True,
) -> tuple[Ranked, ...]:
    """At most so many, best first; of equal ones the newest, then by path and line.

    `mmr` is how much relevance counts against newness; with None, nothing gives way. With no half-life, nothing ages.
    `rescue`: what has the words stays when nothing clears the bar. Not for a bar that somebody named.
    """
    if limit < 1:
        raise InvalidInput(f"limit: {limit} is not a number of results", hint="Give 1 or more.")
    if min(vector_weight, text_weight) < 0 or not 0 < vector_weight + text_weight < math.inf:
        raise InvalidInput("the weights of vector and text make no sense", hint="Give two numbers from 0 to 1.")
    if half_life_days is not None and not half_life_days > 0:
        raise InvalidInput(f"half_life_days: {half_life_days} is not a time", hint="Give more than 0, or None.")
    if mmr is not None and not 0 <= mmr <= 1:
        raise InvalidInput(f"mmr: {mmr} is not a number from 0 to 1", hint="Give 0 to 1, or None.")
    share = vector_weight / (vector_weight + text_weight)
    scored = [_scored(each, share=share, now=now, half_life_days=half_life_days) for each in proposals]
    shown = [each for each in scored if each.score >= _LEAST_SHOWN]
    pool = sorted(shown, key=_order)[: pool_size(limit)]
    strong = [each for each in pool if each.score >= min_score]
    if rescue and not strong:
        # Words that are there are an answer, though the weights give them less than the bar asks for.
        strong = [each for each in pool if _clipped(each.proposal.coverage) >= STRONG_WORDS]
    return tuple(strong[:limit] if mmr is None else _diverse(strong, limit, mmr))


def pool_size(limit: int) -> int:
    """How many each lane should propose, so that there is something to choose from."""
    return max(limit, min(_POOL * limit, _MOST_IN_POOL))


def _scored(proposal: Proposal, *, share: float, now: int, half_life_days: float | None) -> Ranked:
    coverage = _clipped(proposal.coverage)
    if proposal.cosine is None:
        factors = {"text": coverage}
    else:
        factors = {"vector": share * _clipped(proposal.cosine), "text": (1 - share) * coverage}
    recency = _recency(proposal.dated, now=now, half_life_days=half_life_days)
    score = sum(factors.values()) * recency
    if recency != 1.0:
        factors["recency"] = recency
    return Ranked(proposal, score, tuple(factors.items()))


def _recency(dated: int | None, *, now: int, half_life_days: float | None) -> float:
    if dated is None or half_life_days is None:
        return 1.0
    return max(math.pow(0.5, max(now - dated, 0) / DAY_MS / half_life_days), LEAST_RECENCY)


def _order(each: Ranked) -> tuple[float, int, str, str, int, int]:
    found = each.proposal
    # Of notes that have faded to the floor, the newest is the one that is meant.
    return -each.score, -(found.dated or 0), found.path, found.source, found.start_line, found.end_line


def _diverse(hits: Sequence[Ranked], limit: int, relevance: float) -> list[Ranked]:
    """Chosen one by one: relevant, and not what was chosen before. Best first."""
    if len(hits) <= limit:
        return list(hits)
    words = [_words(hit.proposal.text) for hit in hits]
    alike = [0.0] * len(hits)
    left = list(range(len(hits)))
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda place: (relevance * hits[place].score - (1 - relevance) * alike[place], -place))
        left.remove(best)
        chosen.append(best)
        for place in left:
            alike[place] = max(alike[place], _likeness(words[best], words[place]))
    return [hits[place] for place in sorted(chosen)]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of both that both have."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared or 1)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text[:_COMPARED_CHARACTERS].casefold()))


def _clipped(value: float) -> float:
    """A number from 0 to 1; what is no number is nothing."""
    return min(max(value, 0.0), 1.0) if value == value else 0.0
