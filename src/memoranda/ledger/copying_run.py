"""A copy of a store under way: everything in bites, then what was changed meanwhile, then compared.

Each step sees one moment of the source. After each, the target holds rows of that very moment and no others: all of
them, or those up to where the copy is. So nothing that a table forbids can be met on the way.
"""

import time
from collections.abc import Callable

from memoranda.ledger import copying_tracking as tracking
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying import Tally, bites, compare, count, delete, refuse_different, with_keys
from memoranda.ledger.copying_tables import Key, Row, Table, tables
from memoranda.ledger.copying_targets import Arrival, Target, numbered

Told = Callable[[int], None]
"""Called with how many rows were done."""


class Copy:
    """What is written to one target, and what was found equal there."""

    def __init__(self, target: Target, arrival: Arrival, *, told: Told) -> None:
        self.target = target
        self.arrival = arrival
        self.tallies: dict[str, Tally] = {}
        """Of each table, once it was compared; kept up with what is changed after that."""
        self._told = told

    @property
    def filled(self) -> bool:
        """Whether all of every table was copied once."""
        return all(self.arrival.has(table) for table in tables())

    def fill(self, connection: Connection, *, seconds: float) -> None:
        """Copy on from where it was, until all is there or the time is over."""
        until = time.monotonic() + seconds
        for table in tables():
            if self.arrival.has(table):
                continue
            for rows in bites(connection, table, self.arrival.reached(table)):
                self._keep(table, rows, self.arrival.moved_on(table, table.key_of(rows[-1])))
                if time.monotonic() >= until:
                    return
            self._keep(table, [], self.arrival.moved_on(table, None))

    def _keep(self, table: Table, rows: list[Row], arrival: Arrival) -> None:
        with self.target.transaction():
            if rows:
                self.target.insert(table, rows)
            self.target.note(arrival)
        self.arrival = arrival
        self._told(len(rows))

    def follow(self, connection: Connection, *, last: bool = False) -> int:
        """Copy what the source has noted as changed; how many rows. The last time, also up to where it has counted."""
        found = tracking.changes(connection, after=self.arrival.upto)
        arrival = self.arrival._replace(upto=found.upto)
        tallies = dict(self.tallies)
        due = {
            table: [key for key in found.keys[table.name] if arrival.covers(table, key)]
            for table in tables()
            if table.name in found.keys
        }
        with self.target.transaction():
            for table in reversed(due):
                self._take_out(table, due[table], tallies)
            for table, keys in due.items():
                self._put_in(connection, table, keys, tallies)
            if last:
                self.target.number_from(numbered(connection))
            self.target.note(arrival)
        self.arrival, self.tallies = arrival, tallies
        return sum(map(len, due.values()))

    def _take_out(self, table: Table, keys: list[Key], tallies: dict[str, Tally]) -> None:
        if table.name in tallies:
            old = with_keys(self.target.connection, table, keys)
            tallies[table.name] = tallies[table.name].minus(table, old)
        delete(self.target.connection, table, keys)

    def _put_in(self, connection: Connection, table: Table, keys: list[Key], tallies: dict[str, Tally]) -> None:
        rows = with_keys(connection, table, keys)
        if rows:
            self.target.insert(table, rows)
        refuse_different(table, rows, with_keys(self.target.connection, table, keys))
        if table.name in tallies:
            tallies[table.name] = tallies[table.name].plus(table, rows)

    def compare(self, connection: Connection) -> None:
        """Read everything on both sides. Raises LedgerDamaged at the first row that differs."""
        for table in tables():
            tally = Tally()
            for tally in compare(connection, self.target.connection, table):
                self._told(tally.rows - self.tallies.get(table.name, Tally()).rows)
                self.tallies[table.name] = tally
            self.tallies[table.name] = tally


def counts(connection: Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {table.name: count(connection, table) for table in tables()}


def copy_all(connection: Connection, target: Target, arrival: Arrival, *, told: Told) -> dict[str, Tally]:
    """Copy one moment of a store into a new one, and compare. For a copy that nobody goes on with when it is killed."""
    target.refuse_used()
    copy = Copy(target, target.begin(arrival), told=told)
    copy.fill(connection, seconds=float("inf"))
    copy.compare(connection)
    with target.transaction():
        target.number_from(numbered(connection))
    target.complete(copy.arrival)
    return copy.tallies
