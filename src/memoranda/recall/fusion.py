"""One relevance from 0 to 1 out of what the lanes say. The parts add up to the score."""

from memoranda.domain.ports import Candidate

LEXICAL = 0.55
SEMANTIC = 0.45
# Unrelated sentences of the bundled embedder lie about the lower figure, paraphrases about the upper one.
COSINE_NOTHING = 0.15
COSINE_SAME = 0.80


def parts_of(candidate: Candidate, *, semantic: bool) -> dict[str, float]:
    """What each lane gives. With one lane only, that lane is the whole scale."""
    coverage = min(1.0, max(0.0, candidate.coverage))
    if not semantic:
        return {"lexical": round(coverage, 6)}
    likeness = 0.0
    if candidate.cosine is not None:
        likeness = min(1.0, max(0.0, (candidate.cosine - COSINE_NOTHING) / (COSINE_SAME - COSINE_NOTHING)))
    return {"lexical": round(LEXICAL * coverage, 6), "semantic": round(SEMANTIC * likeness, 6)}


def score_of(parts: dict[str, float]) -> float:
    """The sum, as the receipt shows it."""
    return round(sum(parts.values()), 6)
