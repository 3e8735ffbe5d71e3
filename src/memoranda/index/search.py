"""Searching parts: exact BM25 over what the query may see, and exact cosine, both filtered before any limit.

The statistics of BM25 are those of the visible, eligible entries alone: nothing of another scope can be felt
through a score, and how the entries lie in segments makes no difference.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import simsimd

from memoranda.domain.memory import STATES
from memoranda.domain.ports import Candidate, IndexAnswer, IndexQuery
from memoranda.index.segment import F32, Packed, Part, Segment, Tail, quantised
from memoranda.index.tokens import QueryTerm, query_terms

K1 = 0.9
B = 0.4
# From this size on, a segment is first looked through by the signs of its vectors alone.
SIGNS_FROM = 32_768
_SIGNS_KEPT = 1 / 16

_IMAGINED = 100

Mask = npt.NDArray[np.bool_]


class View(NamedTuple):
    """One part and which of its rows are alive (not replaced by a later entry)."""

    part: Part
    alive: Mask


def overlaid(views: Sequence[View], query: IndexQuery) -> list[View]:
    """The views without what was changed or erased since, and with what is new."""
    replaced = {entry.number for entry in query.tail} | query.hidden
    numbers = np.fromiter(replaced, np.int64, len(replaced))
    seen = [View(view.part, view.alive & ~np.isin(view.part.numbers, numbers)) for view in views]
    fresh = Tail([Packed.of(entry) for entry in query.tail if entry.scope in query.scopes])
    return [*seen, View(fresh, np.ones(fresh.size, np.bool_))]


def search(views: Sequence[View], query: IndexQuery) -> IndexAnswer:
    """Propose the best of both lanes."""
    masks = [_eligible(view, query) for view in views]
    allowed = [mask if query.allow is None else mask & _listed(view.part, query.allow)
               for view, mask in zip(views, masks, strict=True)]  # fmt: skip
    parts = [view.part for view in views]
    coverage = _coverage(parts, masks, query_terms(query.text)) if query.text else None
    lexical = [] if coverage is None else _top(parts, coverage, allowed, query.pool, above=0.0)
    semantic: list[tuple[int, int]] = []
    if query.vector is not None:
        vector = np.asarray(query.vector, np.float32)
        cosines = [_cosines(part, mask, vector) for part, mask in zip(parts, allowed, strict=True)]
        semantic = _top(parts, cosines, allowed, query.pool, above=-1.0)
    return IndexAnswer(
        candidates=_gathered(parts, query, coverage, lexical, semantic),
        searched=sum(int(mask.sum()) for mask in allowed),
        with_vector=sum(int((mask & (part.scales > 0)).sum()) for part, mask in zip(parts, allowed, strict=True)),
    )


def _eligible(view: View, query: IndexQuery) -> Mask:
    part = view.part
    mask = view.alive.copy()
    if query.now is not None:
        mask &= (part.valid_from <= query.now) & (query.now < part.valid_until)
    if len(query.states) < len(STATES):
        wanted = np.zeros(len(STATES), np.bool_)
        wanted[[STATES.index(state) for state in query.states]] = True
        mask &= wanted[part.states]
    return mask


def _listed(part: Part, allow: object) -> Mask:
    numbers = np.fromiter(allow, np.int64) if not isinstance(allow, np.ndarray) else allow  # type: ignore[call-overload]
    return np.isin(part.numbers, numbers)


def _coverage(parts: Sequence[Part], masks: Sequence[Mask], asked: Sequence[QueryTerm]) -> list[F32]:
    """BM25 of every row, divided by what a row would score that has every term once."""
    scores = [np.zeros(part.size, np.float32) for part in parts]
    total = sum(int(mask.sum()) for mask in masks)
    if not total:
        return scores
    average = sum(int(part.lengths[mask].sum(dtype=np.int64)) for part, mask in zip(parts, masks, strict=True)) / total
    norms: list[F32 | None] = [None] * len(parts)
    possible = 0.0
    for term in asked:
        broader = _inverse_frequency(total, 0)
        for form, weight in reversed(term.forms):
            found = []
            frequency = 0
            for place, part in enumerate(parts):
                rows, counts = part.matches(form)
                if len(rows):
                    there = masks[place][rows]
                    rows, counts = rows[there], counts[there]
                    frequency += len(rows)
                    found.append((place, rows, counts))
            # A form that nobody used says no more than the broader one that somebody did.
            broader = _inverse_frequency(total, frequency) if frequency else broader
            gain = weight * broader
            possible += gain
            for place, rows, counts in found:
                norm = norms[place]
                if norm is None:
                    lengths = parts[place].lengths.astype(np.float32)
                    norm = norms[place] = K1 * (1 - B + B * lengths / np.float32(average))
                tf = counts.astype(np.float32)
                scores[place][rows] += np.float32(gain * (K1 + 1)) * tf / (tf + norm[rows])
    if possible:
        for score in scores:
            score /= np.float32(possible)
    return scores


def _inverse_frequency(total: int, frequency: int) -> float:
    """How much a term tells. A hundred imagined entries keep the first few real ones from distorting it."""
    return math.log(1.0 + (total + _IMAGINED - frequency + 0.5) / (frequency + 0.5))


def _cosines(part: Part, mask: Mask, vector: F32) -> F32:
    """Cosine of every row that has a vector; -2 for the rest."""
    cosines = np.full(part.size, -2.0, np.float32)
    if not part.size or part.vectors.shape[1] != len(vector):
        return cosines
    usable = mask & (part.scales > 0)
    scale, small = quantised(vector)
    rows: npt.NDArray[np.intp] | slice = slice(None)
    matrix = part.vectors
    if isinstance(part, Segment) and part.size >= SIGNS_FROM:
        near = _nearest_by_sign(part, usable, vector)
        if near is not None:
            rows, matrix = near, part.vectors[near]
    elif int(usable.sum()) * 4 < part.size:
        rows = np.flatnonzero(usable)
        matrix = part.vectors[rows]
    if len(matrix):
        products = np.asarray(simsimd.cdist(small[None, :], matrix, metric="dot"), dtype=np.float32).ravel()
        cosines[rows] = products * part.scales[rows] * np.float32(scale)
        cosines[~usable] = -2.0
    return cosines


def _nearest_by_sign(part: Segment, usable: Mask, vector: F32) -> npt.NDArray[np.intp] | None:
    """The rows whose vectors point the same way in most dimensions.

    Making the signs costs more than one whole scan, so that it waits for the second search.
    """
    part.searches += 1
    if part.signs is None:
        if part.searches < 2:
            return None
        part.signs = np.packbits(part.vectors > 0, axis=1)
    mine = np.packbits(vector > 0)[None, :]
    distances = np.asarray(simsimd.cdist(mine, part.signs, metric="hamming", dtype="bin8"), dtype=np.float32).ravel()
    distances[~usable] = np.inf
    keep = max(4_096, int(part.size * _SIGNS_KEPT))
    return np.argpartition(distances, keep)[:keep] if keep < part.size else None


def _top(
    parts: Sequence[Part], scores: Sequence[F32], masks: Sequence[Mask], pool: int, *, above: float
) -> list[tuple[int, int]]:
    """(place, row) of the best, best first; equal scores in order of number."""
    found: list[tuple[float, int, int, int]] = []
    for place, (part, score, mask) in enumerate(zip(parts, scores, masks, strict=True)):
        rows = np.flatnonzero(mask & (score > above))
        if len(rows) > pool:
            values = score[rows]
            least = np.partition(values, len(values) - pool)[len(values) - pool]
            rows = rows[values >= least]
            rows = rows[np.lexsort((part.numbers[rows], -score[rows]))[:pool]]
        found += [(-float(score[row]), int(part.numbers[row]), place, int(row)) for row in rows]
    found.sort()
    return [(place, row) for _, _, place, row in found[:pool]]


def _gathered(
    parts: Sequence[Part],
    query: IndexQuery,
    coverage: Sequence[F32] | None,
    lexical: Sequence[tuple[int, int]],
    semantic: Sequence[tuple[int, int]],
) -> tuple[Candidate, ...]:
    """Both lanes together; each candidate with what either lane says of it."""
    lexical_rank = {key: rank for rank, key in enumerate(lexical, start=1)}
    semantic_rank = {key: rank for rank, key in enumerate(semantic, start=1)}
    keys = list(dict.fromkeys((*lexical, *semantic)))
    cosines = _exact(parts, keys, query)
    return tuple(
        Candidate(
            number=int(parts[place].numbers[row]),
            coverage=0.0 if coverage is None else float(coverage[place][row]),
            cosine=cosines.get((place, row)),
            lexical_rank=lexical_rank.get((place, row)),
            semantic_rank=semantic_rank.get((place, row)),
        )
        for place, row in keys
    )


def _exact(parts: Sequence[Part], keys: Sequence[tuple[int, int]], query: IndexQuery) -> dict[tuple[int, int], float]:
    """Cosines again with the query unrounded, for the few that are proposed."""
    if query.vector is None:
        return {}
    vector = np.asarray(query.vector, np.float32)
    exact: dict[tuple[int, int], float] = {}
    for place, part in enumerate(parts):
        rows = [row for at, row in keys if at == place and part.scales[row] > 0]
        if rows and part.vectors.shape[1] == len(vector):
            # einsum, not a matrix product: a row's value must not depend on how many rows stand beside it.
            values = np.einsum("ij,j->i", part.vectors[rows].astype(np.float32), vector) * part.scales[rows]
            exact.update(((place, row), float(value)) for row, value in zip(rows, values, strict=True))
    return exact
