"""Diversity: of two memories that say nearly the same, the second gives way to something else."""

import re
from collections.abc import Sequence

from memoranda.domain.results import Hit

# How much relevance counts against newness.
RELEVANCE = 0.9
# Memories on one subject share words; only what shares more than this is a repetition.
_ALIKE_FROM = 0.5
_LOOKED_AT = 20
_COMPARED_CHARACTERS = 1_000
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:[._:/@-]+[^\W_]+)*")


def diverse(hits: Sequence[Hit], limit: int, *, relevance: float = RELEVANCE) -> list[Hit]:
    """At most so many, chosen one by one: relevant, and not what was chosen before. Best first."""
    if len(hits) <= limit or relevance >= 1.0:
        return list(hits[:limit])
    # Beyond a screenful nobody counts repetitions, and comparing all with all would.
    left = list(hits[: limit + _LOOKED_AT])
    place = {hit.id: at for at, hit in enumerate(left)}
    words = {hit.id: _words(hit.memory.text) for hit in left}
    chosen: list[Hit] = []
    alike = dict.fromkeys(words, 0.0)
    while left and len(chosen) < min(limit, _LOOKED_AT):
        best = max(left, key=lambda hit: relevance * hit.score - (1 - relevance) * alike[hit.id])
        left.remove(best)
        chosen.append(best)
        for hit in left:
            alike[hit.id] = max(alike[hit.id], _likeness(words[best.id], words[hit.id]))
    chosen += left[: limit - len(chosen)]
    return sorted(chosen, key=lambda hit: place[hit.id])


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """From 0 to 1. Another number or identifier is another thing, however like the rest is."""
    shared = len(one & other)
    share = shared / (len(one) + len(other) - shared or 1)
    if share <= _ALIKE_FROM or any(not word.isalpha() for word in one ^ other):
        return 0.0
    return (share - _ALIKE_FROM) / (1 - _ALIKE_FROM)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text[:_COMPARED_CHARACTERS].casefold()))
