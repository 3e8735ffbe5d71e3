"""One relevance from 0 to 1 out of what the lanes say. The parts add up to the score."""

from memoranda.domain.ports import Candidate

LEXICAL = 0.55
SEMANTIC = 0.45
# Unrelated sentences of the bundled embedder lie about the lower figure, paraphrases about the upper one.
COSINE_NOTHING = 0.15
COSINE_SAME = 0.80


def lanes_of(candidate: Candidate, *, semantic: bool) -> tuple[float, float]:
    """What the words give, and what the meaning gives. With one lane only, that lane is the whole scale."""
    coverage = min(1.0, max(0.0, candidate.coverage))
    if not semantic:
        return round(coverage, 6), 0.0
    likeness = 0.0
    if candidate.cosine is not None:
        likeness = min(1.0, max(0.0, (candidate.cosine - COSINE_NOTHING) / (COSINE_SAME - COSINE_NOTHING)))
    return round(LEXICAL * coverage, 6), round(SEMANTIC * likeness, 6)


def named(lanes: tuple[float, float], *, semantic: bool) -> dict[str, float]:
    """The parts of a score as a receipt shows them."""
    return {"lexical": lanes[0], "semantic": lanes[1]} if semantic else {"lexical": lanes[0]}


def score_of(lanes: tuple[float, float]) -> float:
    """The sum of the parts."""
    return round(lanes[0] + lanes[1], 6)
