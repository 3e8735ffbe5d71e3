"""Evidence: what speaks for a candidate, part by part, and the one relevance from 0 to 1 that follows from it.

The parts add up. Each is absolute: it says how much of the query is met, not how much better than others, so that
"nothing here" can be told from "something here". What a chat adds (what stands beside, the conversation, who spoke,
when) counts only where a memory has it, and each can be switched off.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.domain.ports import Candidate
from memoranda.domain.request import PRIORS, Lane

NEIGHBOURS, CONVERSATION, SPEAKER, TIME = PRIORS

# How much words, meaning and closeness of words count: one vector says what a sentence means, but less and less of a
# longer text; in between, in between.
SHORT, LONG = 40, 200
LEXICAL_SHORT, LEXICAL_LONG = 0.40, 0.75
SEMANTIC_SHORT, SEMANTIC_LONG = 0.40, 0.15
CLOSENESS_SHORT, CLOSENESS_LONG = 0.20, 0.10
# The cosine at which two texts of the bundled embedder say the same for all that matters here.
COSINE_SAME = 0.60
NEIGHBOUR_WORDS = 0.30
NEIGHBOUR_MEANING = 0.15
NAMED = 0.12
TIMELY = 0.10
ABOUT = 0.15
# How far a memory is drawn towards the best one of its conversation.
TOGETHER = 1 / 3
# How many memories a scale is made for, and between which numbers it was measured.
_USUAL, _FEWEST, _MOST = 50, 20, 2_000


PARTS = (
    "lexical",
    "lexical around",
    "semantic",
    "semantic around",
    "closeness",
    "speaker",
    "time",
    "about",
    "conversation",
)


class Evidence(NamedTuple):
    """One candidate with what speaks for it, in the order of `PARTS`."""

    candidate: Candidate
    weights: tuple[float, ...]
    total: float

    @property
    def parts(self) -> dict[str, float]:
        """By name, what is not nothing."""
        return {name: round(weight, 6) for name, weight in zip(PARTS, self.weights, strict=False) if weight}


class Scale(NamedTuple):
    """Where evidence becomes relevance: the total that is worth one half, how steep it is there, and how much more is
    needed where there is more to choose from: of many, the best looks better by chance."""

    middle: float
    steepness: float
    per_fold: float

    def relevance(self, total: float, searched: int) -> float:
        """From 0 to 1, rising with the evidence."""
        crowd = math.log(min(max(searched, _FEWEST), _MOST) / _USUAL)
        return 1.0 / (1.0 + math.exp(-self.steepness * (total - self.middle - self.per_fold * crowd)))


class Shares(NamedTuple):
    """How much words, meaning and closeness of words count."""

    lexical: float
    semantic: float
    closeness: float

    @classmethod
    def at(cls, average_length: float) -> "Shares":
        """For texts of this average length in words."""
        long = min(max((average_length - SHORT) / (LONG - SHORT), 0.0), 1.0)
        return cls(
            LEXICAL_SHORT + long * (LEXICAL_LONG - LEXICAL_SHORT),
            SEMANTIC_SHORT + long * (SEMANTIC_LONG - SEMANTIC_SHORT),
            CLOSENESS_SHORT + long * (CLOSENESS_LONG - CLOSENESS_SHORT),
        )


def weighed(
    candidates: Sequence[Candidate], *, lanes: Sequence[Lane], priors: Sequence[str], average_length: float = 0.0
) -> list[Evidence]:
    """Everything that speaks for each candidate, in the order in which they came."""
    if "lexical" not in lanes or "semantic" not in lanes:
        return [_single(candidate, lanes) for candidate in candidates]
    shares = Shares.at(average_length)
    neighbours, named, timely = (prior in priors for prior in (NEIGHBOURS, SPEAKER, TIME))
    found = []
    for candidate in candidates:
        words, words_around, meaning, meaning_around, close = _met(candidate, shares, neighbours)
        spoken = NAMED if named and candidate.named else 0.0
        then = TIMELY if timely and candidate.timely else 0.0
        about = ABOUT if candidate.subject else 0.0
        weights = (words, words_around, meaning, meaning_around, close, spoken, then, about)
        found.append(Evidence(candidate, weights, sum(weights)))
    return _together(found) if CONVERSATION in priors else found


def _single(candidate: Candidate, lanes: Sequence[Lane]) -> Evidence:
    """With one lane only, that lane is the whole scale."""
    if "semantic" in lanes:
        meaning = _likeness(candidate.cosine or 0.0)
        return Evidence(candidate, (0.0, 0.0, meaning), meaning)
    words, about = min(candidate.coverage, 1.0), ABOUT if candidate.subject else 0.0
    return Evidence(candidate, (words, *[0.0] * (PARTS.index("about") - 1), about), words + about)


def _met(candidate: Candidate, shares: Shares, neighbours: bool) -> tuple[float, float, float, float, float]:
    """How much of the query the candidate meets: by words, by meaning, each with what stands beside, and closely."""
    words, cosine, around = candidate.coverage, candidate.cosine, candidate.around
    if cosine is None:
        # Not embedded yet: words are all there is to go by.
        return min(words, 1.0), 0.0, 0.0, 0.0, 0.0
    meaning = shares.semantic * _likeness(cosine)
    close = shares.closeness * (candidate.closeness or 0.0)
    if around is None or not neighbours:
        return shares.lexical * words, 0.0, meaning, 0.0, close
    smooth = (cosine + NEIGHBOUR_MEANING * around.cosine) / (1 + NEIGHBOUR_MEANING)
    return (
        shares.lexical * words,
        shares.lexical * NEIGHBOUR_WORDS * around.coverage,
        meaning,
        shares.semantic * _likeness(smooth) - meaning,
        close,
    )


def _likeness(cosine: float) -> float:
    return min(max(cosine / COSINE_SAME, 0.0), 1.0)


def _together(found: list[Evidence]) -> list[Evidence]:
    """What belongs to a conversation that answers well is drawn towards its best."""
    best: dict[int, float] = {}
    for candidate, _, total in found:
        if candidate.conversation:
            best[candidate.conversation] = max(total, best.get(candidate.conversation, 0.0))
    if not best:
        return found
    drawn = []
    for evidence in found:
        candidate, weights, total = evidence
        pull = TOGETHER * (best[candidate.conversation] - total) if candidate.conversation else 0.0
        drawn.append(Evidence(candidate, (*weights, pull), total + pull) if pull else evidence)
    return drawn
