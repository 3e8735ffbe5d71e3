"""What an index shares whose rows lie in a foreign engine: the engine proposes rows, our lanes score them exactly.

A query becomes what is `asked` of the engine. The engine tells of everything that is eligible (`Told`), proposes rows
for each lane and what stands beside them, all with scope, state, validity and `allow` inside its own query, before
any limit. From the packed rows the `answer` is made by the same code that the embedded index runs: no score of the
engine is in it. Nothing here speaks to an engine.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexAnswer, IndexQuery
from memoranda.index.lexical import Statistics, gains
from memoranda.index.search import Told, View, eligible, lanes_over, narrowed, overlaid, search
from memoranda.index.segment import F32, FOREVER, Packed, Tail
from memoranda.index.timing import Began, began, meant
from memoranda.index.tokens import Term, query_terms

MARGIN = 4
"""How many times the pool an engine proposes for each lane: it does not know the exact order."""
COMMON = 8
"""In large scopes a form that more than one entry in so many has proposes nothing, if a rarer one can."""
FAR = 2
"""How many rows before and after a proposal are needed: a neighbour is told of with its own neighbours."""

_SIGN = 1 << 63


class Asked(NamedTuple):
    """One query, as an engine is asked it."""

    query: IndexQuery
    terms: tuple[Term, ...]
    """What is asked for, each with its forms; none when the query has no text."""
    hashes: tuple[int, ...]
    """Every form of every term, in the order in which `Told` has its frequencies."""
    vector: F32 | None
    room: int
    """How many rows the engine should propose for each lane."""
    replaced: frozenset[int]
    """Numbers that the engine must neither count nor propose: they were changed or erased since."""
    whole: tuple[View, ...]
    """What is searched here as a whole: small scopes, and what the engine has not followed yet."""

    @classmethod
    def of(cls, query: IndexQuery, views: Sequence[View] = ()) -> "Asked":
        """`views` are of scopes that are at hand: the engine is not asked for those."""
        terms = tuple(query_terms(query.text)) if query.text else ()
        return cls(
            query=query,
            terms=terms,
            hashes=tuple(form for term in terms for form in term.hashes),
            vector=None if query.vector is None else np.asarray(query.vector, np.float32),
            room=query.pool * MARGIN,
            replaced=frozenset(entry.number for entry in query.tail) | query.hidden,
            whole=tuple(overlaid(views, query)) if query.tail or query.hidden else tuple(views),
        )

    @property
    def states(self) -> tuple[int, ...]:
        """The codes of the states that may be found."""
        return tuple(sorted(STATES.index(state) for state in self.query.states))

    @property
    def any_state(self) -> bool:
        return len(self.query.states) == len(STATES)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Spans of time whose rows are to be proposed, half-open. What has no time is in none."""
        times = self.query.times
        return () if times is None else tuple((max(start, 1), until) for start, until in times.spans)

    @property
    def counts_conversations(self) -> bool:
        """Whether the engine has to tell when each conversation began."""
        return self.query.times is not None and bool(self.query.times.conversations)

    def meant(self, told: Began) -> frozenset[int]:
        """The conversations that the query means by their ordinals; their rows are to be proposed."""
        if self.query.times is None:
            return frozenset()
        parts = [view.part for view in self.whole]
        masks = [narrowed(view.part, eligible(view, self.query), self.query) for view in self.whole]
        return frozenset(meant(self.query.times, (told, began(parts, masks))))

    def worths(self, statistics: Statistics) -> npt.NDArray[np.float64]:
        """What each form is worth, for choosing rows."""
        return np.array(gains(self.terms, statistics.frequencies, statistics.entries), np.float64)

    def telling(self, statistics: Statistics) -> npt.NDArray[np.bool_]:
        """Which forms may propose rows. The common ones say little and cost most; alone, they must do."""
        often = np.array(statistics.frequencies, np.int64)
        rare = (often > 0) & (often * COMMON <= max(statistics.entries, 1))
        return rare if rare.any() else often > 0

    def ranked(self, told: Told, rows: Sequence[Packed]) -> list[Packed]:
        """Of these rows those that a lane proposes: what stands beside the others is of no interest."""
        lanes = lanes_over([View(Tail(rows), None, picked=True), *self.whole], self.query, told)
        return [rows[row] for place, row in sorted(lanes.ranked()) if place == 0]

    def standing_beside(self, rows: Iterable[Packed]) -> list[tuple[int, int]]:
        """(conversation, number) of what was proposed and of what is searched as a whole, as far as it was said in a
        conversation: the engine adds `FAR` rows on either side of each."""
        pairs = [(row.conversation, row.number) for row in rows]
        for view in self.whole:
            pairs += zip(view.part.conversations.tolist(), view.part.numbers.tolist(), strict=True)
        return [pair for pair in pairs if pair[0]]

    def answer(self, told: Told, rows: Sequence[Packed]) -> IndexAnswer:
        """Score what was proposed, beside what is searched as a whole. Filters are applied once more."""
        return search([View(Tail(rows), None, picked=True), *self.whole], self.query, told)


def best(numbers: npt.NDArray[np.int64], worths: npt.NDArray[np.float64], room: int) -> npt.NDArray[np.int64]:
    """The numbers of the rows that are worth most, of equals those with the lowest number.

    A row stands in `numbers` once for each form or word that it has, with what it is worth for that.
    """
    rows, places = np.unique(numbers, return_inverse=True)
    if len(rows) <= room:
        return rows
    worth = np.bincount(places, weights=worths, minlength=len(rows))
    return rows[np.lexsort((rows, -worth))[:room]]


def signed(value: int) -> int:
    """A hash of 64 bits as an engine with signed numbers holds it."""
    return value - (_SIGN << 1) if value >= _SIGN else value


def unsigned(value: int) -> int:
    """The other way round."""
    return value + (_SIGN << 1) if value < 0 else value


def is_timeless(row: Packed) -> bool:
    """Whether it is valid at any time."""
    return row.valid_from == 0 and row.valid_until == FOREVER
