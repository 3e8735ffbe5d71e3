"""One relevance from 0 to 1 out of what the lanes say. The parts add up to the score."""

from memoranda.domain.ports import Candidate

LEXICAL = 0.55
SEMANTIC = 0.45
# Unrelated sentences of the bundled embedder lie about the lower figure, paraphrases about the upper one.
COSINE_NOTHING = 0.15
COSINE_SAME = 0.80


def relevance(candidate: Candidate, *, semantic: bool) -> float:
    """How much it bears on the query."""
    words = candidate.coverage if candidate.coverage < 1.0 else 1.0
    if not semantic:
        return words
    return LEXICAL * words + SEMANTIC * _likeness(candidate.cosine)


def parts_of(candidate: Candidate, *, semantic: bool) -> dict[str, float]:
    """What each lane gave, as a receipt shows it. With one lane only, that lane is the whole scale."""
    words = candidate.coverage if candidate.coverage < 1.0 else 1.0
    if not semantic:
        return {"lexical": round(words, 6)}
    return {"lexical": round(LEXICAL * words, 6), "semantic": round(SEMANTIC * _likeness(candidate.cosine), 6)}


def _likeness(cosine: float | None) -> float:
    if cosine is None or cosine <= COSINE_NOTHING:
        return 0.0
    return 1.0 if cosine >= COSINE_SAME else (cosine - COSINE_NOTHING) / (COSINE_SAME - COSINE_NOTHING)
