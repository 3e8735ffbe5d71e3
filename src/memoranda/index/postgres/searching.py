"""Searching an index in PostgreSQL: small scopes as a whole, in memory; of large ones the engine proposes rows."""

from collections.abc import Collection

import numpy as np

from memoranda.domain.ports import IndexAnswer, IndexQuery
from memoranda.index.lexical import Statistics, norms
from memoranda.index.postgres.asking import Asking, Numbers, Postings
from memoranda.index.postgres.blocks import Blocks
from memoranda.index.postgres.frequent import Frequent, Place
from memoranda.index.postgres.rows import fetch
from memoranda.index.postgres.scopes import scopes_of
from memoranda.index.postgres.tables import Tables
from memoranda.index.proposals import Asked, best
from memoranda.index.search import Told, overlaid, search
from memoranda.ledger.connection import Connection

CROWD = 8_192
"""When more rows than this have words of a query, the common ones among its words propose none, once they are known."""
LOADED = 4_096
"""So many rows that alone are allowed are loaded without being chosen."""
_NEAR = 2
"""How many times the pool the nearest are asked for: distances there are nearly exact."""


def answered(
    connection: Connection, tables: Tables, blocks: Blocks, frequent: Frequent, query: IndexQuery
) -> IndexAnswer:
    """What a query finds."""
    scopes = scopes_of(connection, tables, query.scopes)
    large = [scope for scope in scopes if scope.large]
    views = blocks.views(connection, tables, [scope for scope in scopes if not scope.large])
    if not large:
        return search(overlaid(views, query) if query.tail or query.hidden else views, query)
    asked = Asked.of(query, views)
    # What was counted holds for what is eligible in the same way.
    place = (tuple(scope.id for scope in large), asked.states, query.now is None)
    return _Proposing(Asking(connection, tables, large, asked), asked, frequent, place).answer()


class _Proposing:
    """One query to large scopes."""

    def __init__(self, engine: Asking, asked: Asked, frequent: Frequent, place: Place) -> None:
        self._engine = engine
        self._asked = asked
        self._frequent = frequent
        self._place = place

    def answer(self) -> IndexAnswer:
        asked, engine = self._asked, self._engine
        totals = engine.totals(allowed=False)
        narrow = totals if asked.query.allow is None else engine.totals(allowed=True)
        postings, often = self._postings(totals.entries)
        statistics = Statistics(totals.entries, totals.words, often)
        began = engine.began() if asked.counts_conversations else {}
        told = Told(statistics, narrow.entries, narrow.vectors, began)
        rows = asked.ranked(told, engine.rows(self._proposed(told, postings)))
        rows += engine.beside(asked.standing_beside(rows), [row.number for row in rows])
        return asked.answer(told, rows)

    def _postings(self, entries: int) -> tuple[Postings, tuple[int, ...]]:
        """The rows that have the words of the query, and how many have each form."""
        terms = self._asked.terms
        # Among a few that are allowed, a common word may be rare.
        known = self._frequent.known(self._place, entries, terms) if self._asked.query.allow is None else {}
        wanted = [place for place in range(len(terms)) if place not in known]
        crowd = 0
        for place in sorted(known, key=lambda place: max(known[place])):
            crowd += max(known[place])
            if crowd <= CROWD:
                wanted.append(place)
        postings = self._engine.postings(wanted)
        if len(postings.numbers) < self._asked.query.pool and len(wanted) < len(terms):  # the common ones must do
            wanted = list(range(len(terms)))
            postings = self._engine.postings(wanted)
        counted = postings.often(terms)
        self._frequent.note(self._place, entries, {terms[place].hashes: counted[place] for place in wanted})
        skipped = known.keys() - wanted
        often = [known[place] if place in skipped else counted[place] for place in range(len(terms))]
        return postings, tuple(each for forms in often for each in forms)

    def _proposed(self, told: Told, postings: Postings) -> Collection[int]:
        """The numbers of what each lane should look at."""
        asked, query = self._asked, self._asked.query
        if query.allow is not None and len(query.allow) <= LOADED:
            return query.allow
        worths = self._worths(told.statistics, postings)
        found: set[int] = set()
        numbers, scores = postings.numbers, worths
        if query.allow is not None:
            there = np.isin(numbers, np.fromiter(query.allow, np.int64, len(query.allow)))
            numbers, scores = numbers[there], scores[there]
        found.update(best(numbers, scores, asked.room).tolist())
        if asked.vector is not None:
            found.update(self._engine.nearest(asked.vector, query.pool * _NEAR))
        structured = self._engine.structured(asked.meant(told.began) if asked.counts_conversations else ())
        found.update(_best_of(structured, postings, worths, asked.room).tolist())
        return found

    def _worths(self, statistics: Statistics, postings: Postings) -> "np.ndarray":
        """What each posting is worth if its row has each form once: all but exact, and enough to choose by."""
        if not len(postings.numbers):
            return np.empty(0, np.float64)
        average = max(statistics.words / max(statistics.entries, 1), 1.0)
        worths = postings.worths(self._asked.terms, self._asked.worths(statistics))
        return worths / (1.0 + norms(postings.lengths, average))


def _best_of(wanted: Numbers, postings: Postings, worths: "np.ndarray", room: int) -> Numbers:
    """Of these rows those with the most of the query's words, then in order."""
    there = np.isin(postings.numbers, wanted)
    return best(
        np.concatenate([wanted, postings.numbers[there]]),
        np.concatenate([np.zeros(len(wanted)), worths[there]]),
        room,
    )


def extent(connection: Connection, tables: Tables, paths: Collection[str]) -> tuple[int, int] | None:
    """When the oldest and the newest happened."""
    ids = [scope.id for scope in scopes_of(connection, tables, paths)]
    rows = fetch(
        connection,
        f"""
        select min(first), max(last) from unnest(cast(:ids as bigint[])) as wanted (id)
        cross join lateral (
            select min(occurred) as first, max(occurred) as last from {tables.entry}
            where scope = wanted.id and occurred > 0
        ) as found
        """,  # noqa: S608
        {"ids": ids},
    )
    first, last = rows[0]
    return None if first is None else (int(first), int(last))
