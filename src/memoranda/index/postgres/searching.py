"""Searching an index in PostgreSQL: small scopes as a whole, in memory; of large ones the engine proposes rows."""

from collections.abc import Collection

import numpy as np

from memoranda.domain.ports import IndexAnswer, IndexQuery
from memoranda.index.lexical import Statistics, norms
from memoranda.index.postgres.asking import Asking, Numbers, Postings
from memoranda.index.postgres.blocks import Blocks
from memoranda.index.postgres.rows import fetch
from memoranda.index.postgres.scopes import scopes_of
from memoranda.index.postgres.tables import Tables
from memoranda.index.proposals import Asked, best
from memoranda.index.search import Told, overlaid, search
from memoranda.ledger.connection import Connection

ALL_WORDS_UP_TO = 200_000
"""In scopes with more entries than this, words are counted first, and the common ones propose nothing."""
LOADED = 4_096
"""So many rows that alone are allowed are loaded without being chosen."""
_NEAR = 2
"""How many times the pool the nearest are asked for: distances there are nearly exact."""


def answered(connection: Connection, tables: Tables, blocks: Blocks, query: IndexQuery) -> IndexAnswer:
    """What a query finds."""
    scopes = scopes_of(connection, tables, query.scopes)
    large = [scope for scope in scopes if scope.large]
    views = blocks.views(connection, tables, [scope for scope in scopes if not scope.large])
    if not large:
        return search(overlaid(views, query) if query.tail or query.hidden else views, query)
    asked = Asked.of(query, views)
    return _Proposing(Asking(connection, tables, large, asked), asked).answer()


class _Proposing:
    """One query to large scopes."""

    def __init__(self, engine: Asking, asked: Asked) -> None:
        self._engine = engine
        self._asked = asked

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
        every = range(len(self._asked.terms))
        if entries <= ALL_WORDS_UP_TO:
            postings = self._engine.postings(every)
            return postings, postings.often(self._asked.terms)
        often = self._engine.often()
        telling = self._asked.telling(Statistics(entries, 0, often))
        ends = np.cumsum([len(term.hashes) for term in self._asked.terms])
        told = [part.any() for part in np.split(telling, ends[:-1])] if len(ends) else []
        return self._engine.postings([place for place in every if told[place]]), often

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
