"""Writing to an index in PostgreSQL: one transaction at a time, as the store's writer hands it out.

A scope that grows large gets terms and vectors for the engine's own indexes; until then it has packed rows alone.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memoranda.domain.ports import Meaning
from memoranda.index.postgres.generations import owe
from memoranda.index.postgres.rows import (
    BODY_COLUMNS,
    ENTRY_COLUMNS,
    VECTOR_COLUMNS,
    Counts,
    Scope,
    body_line,
    copy_in,
    counts_of,
    counts_of_row,
    entry_line,
    fetch,
    vector_line,
)
from memoranda.index.postgres.scopes import large_scopes, make_scopes, note_changes, scopes_by_id, set_large
from memoranda.index.postgres.tables import Tables, make_words
from memoranda.index.segment import FOREVER, Packed, packed_meaning
from memoranda.ledger.connection import Connection

SMALL = 4_096
"""A scope with more entries than this is large: its rows are proposed by the engine, not loaded as a whole."""
SHRUNK = 2
"""One that is left with a part of that is small again."""

Placed = tuple[str, Packed]


class Writer:
    """One transaction."""

    def __init__(self, connection: Connection, tables: Tables, *, owing: bool = True) -> None:
        """Unless `owing`, what it removes says nothing of anybody, and may stay in the files of the server."""
        self._connection = connection
        self._tables = tables
        self._stamp = self._next_stamp()
        self._changes: dict[int, Counts] = {}
        self._left: set[int] = set()
        self._owing = owing
        self._owes = False

    def _next_stamp(self) -> int:
        (row,) = self._connection.execute(
            "update index_generation set stamp = stamp + 1 where corpus = :corpus and number = :number returning stamp",
            {"corpus": self._tables.corpus, "number": self._tables.generation},
        ).fetchall()
        return int(row[0])

    def put(self, placed: Sequence[Placed]) -> None:
        """Take these in, instead of those with the same numbers. The last of several with one number counts."""
        # What was there before may have been taken out of a text.
        self._owes |= bool(self._put(placed))

    def _put(self, placed: Sequence[Placed]) -> dict[int, int]:
        """The same; of each that was there before, its scope."""
        if not placed:
            return {}
        latest = {row.number: (path, row) for path, row in placed}
        before = self._removed(latest)
        scopes = make_scopes(self._connection, self._tables, (path for path, _ in latest.values()), self._stamp)
        rows = [(scopes[path], row) for path, row in latest.values()]
        # What comes back to where it was has only changed.
        self._left.update(scope for number, scope in before.items() if scope != scopes[latest[number][0]].id)
        self._insert(rows)
        for scope, row in rows:
            self._note(scope.id, counts_of_row(row))
        return before

    def _insert(self, rows: Sequence[tuple[Scope, Packed]]) -> None:
        self._insert_filters(rows)
        bodies = (body_line(row, scope, self._stamp) for scope, row in rows)
        copy_in(self._connection, self._tables.body, BODY_COLUMNS, bodies)

    def _insert_filters(self, rows: Sequence[tuple[Scope, Packed]]) -> None:
        lines = (entry_line(row, scope) for scope, row in rows)
        copy_in(self._connection, self._tables.entry, ENTRY_COLUMNS, lines)
        vectors = (vector_line(row, scope) for scope, row in rows if scope.large and row.scale > 0)
        copy_in(self._connection, self._tables.vector, VECTOR_COLUMNS, vectors)

    def drop(self, numbers: Collection[int]) -> None:
        """Remove entries."""
        if numbers:
            gone = self._removed(numbers)
            self._left.update(gone.values())
            self._owes |= bool(gone)

    def _removed(self, numbers: Collection[int]) -> dict[int, int]:
        """Remove entries; of each that was there, its scope."""
        listed = list(numbers)
        gone = fetch(
            self._connection,
            f"delete from {self._tables.entry} where number = any(cast(:numbers as bigint[])) returning "  # noqa: S608
            "number, scope, state, length, dimensions, valid_from, valid_until",
            {"numbers": listed},
        )
        for _, scope, state, length, dimensions, valid_from, valid_until in gone:
            timeless = valid_from == 0 and valid_until == FOREVER
            counts = counts_of(state=state, length=length, has_vector=dimensions > 0, timeless=timeless)
            self._note(int(scope), counts, times=-1)
        for table in (self._tables.body, self._tables.vector) if gone else ():
            self._execute(f"delete from {table} where number = any(cast(:numbers as bigint[]))", {"numbers": listed})  # noqa: S608
        return {int(row[0]): int(row[1]) for row in gone}

    def add_meanings(self, meanings: Mapping[int, Meaning]) -> frozenset[int]:
        """Give entries their vectors and pieces; which got theirs."""
        found = fetch(
            self._connection,
            f"select number, scope, body from {self._tables.body} "  # noqa: S608
            "where number = any(cast(:numbers as bigint[]))",
            {"numbers": list(meanings)},
        )
        scopes = {
            scope.id: scope for scope in scopes_by_id(self._connection, self._tables, {int(row[1]) for row in found})
        }
        placed = []
        for number, scope, body in found:
            scale, vector, pieces = packed_meaning(meanings[number])
            row = Packed.from_bytes(int(number), bytes(body))
            placed.append((scopes[int(scope)].path, row._replace(scale=scale, vector=vector, pieces=pieces)))
        self._put(placed)  # they say what they said
        return frozenset(row.number for _, row in placed)

    def settle(self, *, with_words: bool) -> None:
        """Write down how scopes have changed, and let those grow up that have become large.

        With `with_words`, the index of terms is made as soon as there are any; a rebuild makes it at its end.
        """
        if self._owes and self._owing:
            owe(self._connection, self._tables.corpus, self._tables.generation)
        if self._changes:
            note_changes(self._connection, self._tables, self._changes, self._left, self._stamp)
        grown = [
            scope
            for scope in scopes_by_id(self._connection, self._tables, self._changes)
            if scope.entries > SMALL and not scope.large
        ]
        for scope in grown:
            self._rewrite(set_large(self._connection, self._tables, scope, large=True))
        if grown and with_words:
            make_words(self._connection, self._tables)

    def let_shrink(self) -> None:
        """Large scopes that have lost most of what they had become small."""
        for scope in large_scopes(self._connection, self._tables):
            if scope.entries * SHRUNK <= SMALL:
                self._execute(f"delete from {self._tables.vector} where scope = :scope", {"scope": scope.id})  # noqa: S608
                self._rewrite(set_large(self._connection, self._tables, scope, large=False))

    def _rewrite(self, scope: Scope) -> None:
        """Everything but the packed rows anew: they stay what they are."""
        self._execute(f"delete from {self._tables.entry} where scope = :scope", {"scope": scope.id})  # noqa: S608
        found = fetch(
            self._connection,
            f"select number, body from {self._tables.body} where scope = :scope",  # noqa: S608
            {"scope": scope.id},
        )
        self._insert_filters([(scope, Packed.from_bytes(int(number), bytes(body))) for number, body in found])

    def _note(self, scope: int, counts: Counts, times: int = 1) -> None:
        self._changes[scope] = self._changes.get(scope, Counts()).plus(counts, times)

    def _execute(self, statement: str, values: Mapping[str, Any]) -> None:
        self._connection.execute(statement, values)
