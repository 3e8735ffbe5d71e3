"""Evidence: what speaks for a candidate, part by part, and the one relevance from 0 to 1 that follows from it.

The parts add up. Each is absolute: it says how much of the query is met, not how much better than others, so that
"nothing here" can be told from "something here". What a chat adds (what stands beside, the conversation, who spoke,
when) counts only where a memory has it, and each can be switched off.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.domain.ports import Candidate
from memoranda.domain.request import Lane

NEIGHBOURS, CONVERSATION, SPEAKER, TIME = PRIORS = ("neighbours", "conversation", "speaker", "time")

LEXICAL, SEMANTIC, CLOSENESS = 0.40, 0.40, 0.20
# The cosine at which two texts of the bundled embedder say the same for all that matters here.
COSINE_SAME = 0.60
NEIGHBOUR_WORDS = 0.30
NEIGHBOUR_MEANING = 0.15
NAMED = 0.12
TIMELY = 0.10
# How far a memory is drawn towards the best one of its conversation.
TOGETHER = 1 / 3


class Evidence(NamedTuple):
    """One candidate with what speaks for it."""

    candidate: Candidate
    parts: dict[str, float]
    total: float


class Scale(NamedTuple):
    """Where evidence becomes relevance: the total that is worth one half, and how steep it is there."""

    middle: float
    steepness: float

    def relevance(self, total: float) -> float:
        """From 0 to 1, rising with the evidence."""
        return 1.0 / (1.0 + math.exp(-self.steepness * (total - self.middle)))


def weighed(candidates: Sequence[Candidate], *, lanes: Sequence[Lane], priors: Sequence[str]) -> list[Evidence]:
    """Everything that speaks for each candidate, in the order in which they came."""
    hybrid = "lexical" in lanes and "semantic" in lanes
    found = []
    for candidate in candidates:
        parts = _hybrid(candidate, priors) if hybrid else _single(candidate, lanes)
        if hybrid and candidate.named and SPEAKER in priors:
            parts["speaker"] = NAMED
        if hybrid and candidate.timely and TIME in priors:
            parts["time"] = TIMELY
        found.append(Evidence(candidate, parts, sum(parts.values())))
    return _together(found) if hybrid and CONVERSATION in priors else found


def _single(candidate: Candidate, lanes: Sequence[Lane]) -> dict[str, float]:
    if "semantic" in lanes:
        return {"semantic": _likeness(candidate.cosine or 0.0)}
    return {"lexical": min(candidate.coverage, 1.0)}


def _hybrid(candidate: Candidate, priors: Sequence[str]) -> dict[str, float]:
    if candidate.cosine is None:
        # Not embedded yet: words are all there is to go by.
        return {"lexical": min(candidate.coverage, 1.0)}
    words, cosine = candidate.coverage, candidate.cosine
    around = candidate.around if NEIGHBOURS in priors else None
    parts = {"lexical": LEXICAL * words, "semantic": SEMANTIC * _likeness(cosine)}
    if around is not None:
        parts["lexical around"] = LEXICAL * NEIGHBOUR_WORDS * around.coverage
        smooth = (cosine + NEIGHBOUR_MEANING * around.cosine) / (1 + NEIGHBOUR_MEANING)
        parts["semantic around"] = SEMANTIC * _likeness(smooth) - parts["semantic"]
    if candidate.closeness is not None:
        parts["closeness"] = CLOSENESS * candidate.closeness
    return parts


def _likeness(cosine: float) -> float:
    return min(max(cosine / COSINE_SAME, 0.0), 1.0)


def _together(found: list[Evidence]) -> list[Evidence]:
    """What belongs to a conversation that answers well is drawn towards its best."""
    best: dict[int, float] = {}
    for candidate, _, total in found:
        if candidate.conversation:
            best[candidate.conversation] = max(total, best.get(candidate.conversation, 0.0))
    drawn = []
    for evidence in found:
        conversation = evidence.candidate.conversation
        pull = TOGETHER * (best[conversation] - evidence.total) if conversation else 0.0
        if pull > 0.0:
            evidence.parts["conversation"] = pull
            evidence = evidence._replace(total=evidence.total + pull)
        drawn.append(evidence)
    return drawn
