"""Searching parts by both lanes, with every filter applied before any limit."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.domain.ports import Candidate, IndexAnswer, IndexQuery
from memoranda.index.lexical import Scores, coverage
from memoranda.index.segment import F32, Mask, Packed, Part, Tail, counted, kept
from memoranda.index.semantic import exact, nearest
from memoranda.index.tokens import query_terms

_LIVE = frozenset({"live"})


class View(NamedTuple):
    """One part and which of its rows are alive (not replaced by a later entry); None means all."""

    part: Part
    alive: Mask | None


def overlaid(views: Sequence[View], query: IndexQuery) -> list[View]:
    """The views without what was changed or erased since, and with what is new."""
    replaced = {entry.number for entry in query.tail} | query.hidden
    seen = [View(view.part, _both(view.alive, ~_listed(view.part, replaced))) for view in views]
    fresh = Tail([Packed.of(entry) for entry in query.tail if entry.scope in query.scopes])
    return [*seen, View(fresh, None)]


def search(views: Sequence[View], query: IndexQuery) -> IndexAnswer:
    """Propose the best of both lanes."""
    parts = [view.part for view in views]
    masks = [_eligible(view, query) for view in views]
    allowed = masks
    if query.allow is not None:
        allowed = [_both(mask, _listed(part, query.allow)) for part, mask in zip(parts, masks, strict=True)]
    by_words = coverage(parts, masks, query_terms(query.text)) if query.text else None
    lexical: list[tuple[int, int]] = []
    if by_words is not None:
        lexical = _best(parts, [_scored(s, mask) for s, mask in zip(by_words, allowed, strict=True)], query.pool)
    semantic: list[tuple[int, int]] = []
    vector = None
    if query.vector is not None:
        vector = np.asarray(query.vector, np.float32)
        found = [nearest(part, mask, vector, query.pool) for part, mask in zip(parts, allowed, strict=True)]
        semantic = _best(parts, found, query.pool)
    return IndexAnswer(
        candidates=tuple(_gathered(parts, by_words, vector, lexical, semantic)),
        searched=sum(counted(part, mask) for part, mask in zip(parts, allowed, strict=True)),
        with_vector=sum(_with_vector(part, mask) for part, mask in zip(parts, allowed, strict=True)),
    )


def _eligible(view: View, query: IndexQuery) -> Mask | None:
    part = view.part
    mask = view.alive
    if query.now is not None and not part.timeless:
        mask = _both(mask, (part.valid_from <= query.now) & (query.now < part.valid_until))
    if len(query.states) < len(STATES) and not (query.states == _LIVE and part.all_live):
        wanted = np.zeros(len(STATES), np.bool_)
        wanted[[STATES.index(state) for state in query.states]] = True
        mask = _both(mask, wanted[part.states])
    return mask


def _both(one: Mask | None, other: Any) -> Mask:
    return np.asarray(other if one is None else one & other)


def _listed(part: Part, numbers: Collection[int]) -> Mask:
    return np.isin(part.numbers, np.fromiter(numbers, np.int64, len(numbers)))


def _with_vector(part: Part, mask: Mask | None) -> int:
    return counted(part, mask) if part.with_vector is None else int(kept(part.with_vector, mask).sum())


def _scored(scores: Scores, mask: Mask | None) -> tuple[npt.NDArray[np.intp], Any]:
    rows = np.flatnonzero(scores) if mask is None else np.flatnonzero((scores > 0) & mask)
    return rows, scores[rows]


def _best(parts: Sequence[Part], found: Sequence[tuple[Any, Any]], pool: int) -> list[tuple[int, int]]:
    """(place, row) of the best, best first; equal scores in order of number."""
    listed: list[tuple[float, int, int, int]] = []
    for place, (rows, scores) in enumerate(found):
        if len(rows) > pool:
            least = np.partition(scores, len(scores) - pool)[len(scores) - pool]
            enough = np.flatnonzero(scores >= least)
            order = np.lexsort((parts[place].numbers[rows[enough]], -scores[enough]))[:pool]
            rows, scores = rows[enough[order]], scores[enough[order]]
        numbers = parts[place].numbers[rows].tolist()
        listed += zip((-scores).tolist(), numbers, [place] * len(numbers), rows.tolist(), strict=True)
    listed.sort()
    return [(place, row) for _, _, place, row in listed[:pool]]


def _gathered(
    parts: Sequence[Part],
    by_words: Sequence[Scores] | None,
    vector: F32 | None,
    lexical: Sequence[tuple[int, int]],
    semantic: Sequence[tuple[int, int]],
) -> Iterator[Candidate]:
    """Both lanes together; each candidate with what either lane says of it."""
    lexical_rank = {key: rank for rank, key in enumerate(lexical, start=1)}
    semantic_rank = {key: rank for rank, key in enumerate(semantic, start=1)}
    keys = lexical_rank | semantic_rank
    told: dict[tuple[int, int], tuple[int, float, float | None]] = {}
    for place, part in enumerate(parts):
        rows = [row for at, row in keys if at == place]
        if rows:
            words = [0.0] * len(rows) if by_words is None else by_words[place][rows].tolist()
            cosines = [None] * len(rows) if vector is None else exact(part, rows, vector)
            values = zip(part.numbers[rows].tolist(), words, cosines, strict=True)
            told.update(zip(((place, row) for row in rows), values, strict=True))
    for key in keys:
        yield Candidate(*told[key], lexical_rank.get(key), semantic_rank.get(key))
