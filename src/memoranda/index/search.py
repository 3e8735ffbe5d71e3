"""Searching parts by every lane, with every filter applied before any limit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.domain.ports import Around, Candidate, IndexAnswer, IndexQuery
from memoranda.index.closeness import closeness
from memoranda.index.lexical import Coverage, Scores, Statistics, coverage
from memoranda.index.neighbours import Key, neighbours
from memoranda.index.segment import Mask, Packed, Part, Tail, counted, kept
from memoranda.index.semantic import exact, nearest
from memoranda.index.timing import Began, timely_masks
from memoranda.index.tokens import named_hashes, query_terms

_LIVE = frozenset({"live"})
_LEADING = 32
_FAR = 1 << 30


class View(NamedTuple):
    """One part and which of its rows are alive (not replaced by a later entry); None means all."""

    part: Part
    alive: Mask | None
    picked: bool = False
    """Whether its rows are only some of what could be searched, picked by whoever told of the rest."""


class Told(NamedTuple):
    """What an engine that picked rows says of all from which it picked.

    `statistics` is of what is eligible, `searched` and `with_vector` count what of it is allowed, too.
    """

    statistics: Statistics
    searched: int
    with_vector: int
    began: Began
    """When conversations began, of what is allowed; empty when the query does not ask for conversations."""


def overlaid(views: Sequence[View], query: IndexQuery) -> list[View]:
    """The views without what was changed or erased since, and with what is new."""
    replaced = {entry.number for entry in query.tail} | query.hidden
    seen = [View(view.part, _both(view.alive, ~_listed(view.part, replaced))) for view in views]
    fresh = Tail([Packed.of(entry) for entry in query.tail if entry.scope in query.scopes])
    return [*seen, View(fresh, None)]


def search(views: Sequence[View], query: IndexQuery, told: Told | None = None) -> IndexAnswer:
    """Propose the best of every lane. `told` is of the views whose rows were picked."""
    lanes = lanes_over(views, query, told)
    whole = [each for each, view in zip(lanes.searched(), views, strict=True) if not view.picked]
    return IndexAnswer(
        candidates=tuple(lanes.candidates()),
        searched=sum(counted(part, mask) for part, mask in whole) + (told.searched if told else 0),
        with_vector=sum(_with_vector(part, mask) for part, mask in whole) + (told.with_vector if told else 0),
        average_length=0.0 if lanes.words is None else lanes.words.average,
    )


def lanes_over(views: Sequence[View], query: IndexQuery, told: Told | None = None) -> "Lanes":
    """The lanes of a search, with every filter in place."""
    parts = [view.part for view in views]
    masks = [eligible(view, query) for view in views]
    allowed = [narrowed(part, mask, query) for part, mask in zip(parts, masks, strict=True)]
    lanes = Lanes(parts, allowed, query, None if told is None else told.began)
    if query.text:
        picked = [place for place, view in enumerate(views) if view.picked]
        known = None if told is None else told.statistics
        lanes.words = coverage(parts, masks, query_terms(query.text), told=known, picked=picked)
    return lanes


def extent(views: Sequence[View]) -> tuple[int, int] | None:
    """When the oldest and the newest row happened, of those that are alive."""
    moments = (kept(view.part.occurred, view.alive) for view in views)
    found = [timed for each in moments if (timed := each[each > 0]).size]
    return (min(int(each.min()) for each in found), max(int(each.max()) for each in found)) if found else None


class Lanes:
    """One search: what each lane proposes, and what is told of each proposal."""

    def __init__(
        self, parts: Sequence[Part], allowed: Sequence[Mask | None], query: IndexQuery, began: Began | None = None
    ) -> None:
        self._parts = parts
        self._allowed = allowed
        self._query = query
        self._began = began
        self._vector = None if query.vector is None else np.asarray(query.vector, np.float32)
        self.words: Coverage | None = None

    def searched(self) -> list[tuple[Part, Mask | None]]:
        """The parts, each with the rows that may be proposed."""
        return list(zip(self._parts, self._allowed, strict=True))

    def ranked(self) -> set[Key]:
        """What the lanes propose, without what stands beside it."""
        timely = timely_masks(self._parts, self._allowed, self._query.times, self._began)
        return {*self._lexical(), *self._semantic(), *self._structured(timely, self._subjects())}

    def candidates(self) -> Iterator[Candidate]:
        timely = timely_masks(self._parts, self._allowed, self._query.times, self._began)
        lexical = _ranked(self._lexical())
        semantic = _ranked(self._semantic())
        subjects = self._subjects()
        structured = _ranked(self._structured(timely, subjects))
        proposed = list(lexical | semantic | structured)
        # What stands beside a good proposal may be what was meant: an answer beside its question.
        leading = [key for key in proposed if min(lexical.get(key, _FAR), semantic.get(key, _FAR)) <= _LEADING]
        beside = neighbours(self._parts, self._allowed, leading)
        keys = list(dict.fromkeys([*proposed, *(each for found in beside.values() for each in found)]))
        around = neighbours(self._parts, self._allowed, keys)
        told = self._told(list(dict.fromkeys([*keys, *(each for found in around.values() for each in found)])))
        close = self._closeness(keys)
        circumstances = self._circumstances(keys, timely, subjects)
        for key in keys:
            number, conversation, named, then, about = circumstances[key]
            words, cosine = told[key]
            yield Candidate(
                number,
                words,
                cosine,
                lexical.get(key),
                semantic.get(key),
                structured.get(key),
                close.get(key),
                _around(around.get(key, ()), told),
                conversation,
                named,
                then,
                about,
            )

    def _circumstances(
        self, keys: Sequence[Key], timely: Sequence[Mask] | None, subjects: Sequence[Mask] | None
    ) -> dict[Key, tuple[int, int, bool, bool, bool]]:
        """Number, conversation, whether the speaker is named, whether it is of that time, and about that thing."""
        names = named_hashes(self._query.text)
        found: dict[Key, tuple[int, int, bool, bool, bool]] = {}
        for place, rows in _by_place(keys).items():
            part = self._parts[place]
            never = [False] * len(rows)
            columns = zip(
                part.numbers[rows].tolist(),
                part.conversations[rows].tolist(),
                [speaker in names for speaker in part.speakers[rows].tolist()],
                never if timely is None else timely[place][rows].tolist(),
                never if subjects is None else subjects[place][rows].tolist(),
                strict=True,
            )
            found.update(zip(((place, row) for row in rows), columns, strict=True))
        return found

    def _lexical(self) -> list[Key]:
        if self.words is None:
            return []
        found = [_scored(scores, mask) for scores, mask in zip(self.words.scores, self._allowed, strict=True)]
        return _best(self._parts, found, self._query.pool)

    def _semantic(self) -> list[Key]:
        if self._vector is None:
            return []
        pool = self._query.pool
        found = [nearest(part, mask, self._vector, pool) for part, mask in zip(self._parts, self._allowed, strict=True)]
        return _best(self._parts, found, pool)

    def _subjects(self) -> list[Mask] | None:
        """Of each part, the rows that are about what the query names; None when it names nothing."""
        if not self._query.subjects:
            return None
        listed = (_listed(part, self._query.subjects) for part in self._parts)
        return [_both(mask, about) for mask, about in zip(self._allowed, listed, strict=True)]

    def _structured(self, *wanted: Sequence[Mask] | None) -> list[Key]:
        """What happened then, or is about that; what has the most of the query's words first, then in order."""
        asked = [masks for masks in wanted if masks is not None]
        if not asked:
            return []
        found = []
        for place in range(len(self._parts)):
            rows = np.flatnonzero(np.logical_or.reduce([masks[place] for masks in asked]))
            scores = np.zeros(len(rows)) if self.words is None else self.words.scores[place][rows]
            found.append((rows, scores))
        return _best(self._parts, found, self._query.pool)

    def _told(self, keys: Sequence[Key]) -> dict[Key, tuple[float, float | None]]:
        """Coverage and cosine of each."""
        told: dict[Key, tuple[float, float | None]] = {}
        for place, rows in _by_place(keys).items():
            words = [0.0] * len(rows) if self.words is None else self.words.scores[place][rows].tolist()
            cosines = [None] * len(rows) if self._vector is None else exact(self._parts[place], rows, self._vector)
            told.update(zip(((place, row) for row in rows), zip(words, cosines, strict=True), strict=True))
        return told

    def _closeness(self, keys: Sequence[Key]) -> dict[Key, float | None]:
        query = self._query
        if query.vocabulary is None or self.words is None:
            return {}
        close: dict[Key, float | None] = {}
        for place, rows in _by_place(keys).items():
            values = closeness(self._parts[place], rows, query.text, query.vocabulary, self.words.worth)
            close.update(zip(((place, row) for row in rows), values, strict=True))
        return close


def _around(beside: Sequence[Key], told: Mapping[Key, tuple[float, float | None]]) -> Around | None:
    if not beside:
        return None
    words = meaning = 0.0
    for key in beside:
        coverage_there, cosine_there = told[key]
        words += coverage_there
        meaning += cosine_there or 0.0
    return Around(words, meaning)


def _ranked(keys: Sequence[Key]) -> dict[Key, int]:
    return {key: rank for rank, key in enumerate(keys, start=1)}


def _by_place(keys: Iterable[Key]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for place, row in keys:
        found.setdefault(place, []).append(row)
    return found


def eligible(view: View, query: IndexQuery) -> Mask | None:
    """Which rows a query may see by state and validity; None for all."""
    part = view.part
    mask = view.alive
    if query.now is not None and not part.timeless:
        mask = _both(mask, (part.valid_from <= query.now) & (query.now < part.valid_until))
    if len(query.states) < len(STATES) and not (query.states == _LIVE and part.all_live):
        wanted = np.zeros(len(STATES), np.bool_)
        wanted[[STATES.index(state) for state in query.states]] = True
        mask = _both(mask, wanted[part.states])
    return mask


def narrowed(part: Part, mask: Mask | None, query: IndexQuery) -> Mask | None:
    """Of these rows those that the query allows."""
    return mask if query.allow is None else _both(mask, _listed(part, query.allow))


def _both(one: Mask | None, other: Any) -> Mask:
    return np.asarray(other if one is None else one & other)


def _listed(part: Part, numbers: Collection[int]) -> Mask:
    return np.isin(part.numbers, np.fromiter(numbers, np.int64, len(numbers)))


def _with_vector(part: Part, mask: Mask | None) -> int:
    return counted(part, mask) if part.with_vector is None else int(kept(part.with_vector, mask).sum())


def _scored(scores: Scores, mask: Mask | None) -> tuple[npt.NDArray[np.intp], Any]:
    rows = np.flatnonzero(scores) if mask is None else np.flatnonzero((scores > 0) & mask)
    return rows, scores[rows]


def _best(parts: Sequence[Part], found: Sequence[tuple[Any, Any]], pool: int) -> list[Key]:
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
