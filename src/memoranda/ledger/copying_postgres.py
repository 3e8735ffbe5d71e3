"""A schema of a PostgreSQL database as the target of a copy: rows come in by COPY."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import psycopg

from memoranda.domain.address import Address
from memoranda.domain.errors import InvalidInput
from memoranda.ledger.copying_tables import Row, Table, tables
from memoranda.ledger.copying_targets import Arrival, Target
from memoranda.ledger.database import Database
from memoranda.ledger.moved import ARRIVING
from memoranda.ledger.postgres.connection import connected
from memoranda.ledger.postgres.troubles import translated

_PATIENCE_MS = 60_000
# References, and the fence of rows: a table that has one takes no COPY.
_REFERENCES = """
    select cast(conrelid as regclass), conname, pg_get_constraintdef(oid) from pg_constraint
    where contype = 'f' and connamespace = cast(current_schema() as regnamespace) order by 1, 2
"""
_FENCED = """
    select relname from pg_class
    where relnamespace = cast(current_schema() as regnamespace) and relforcerowsecurity order by 1
"""
_SIZE = """
    select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
    where relnamespace = cast(current_schema() as regnamespace) and relkind in ('r', 'p', 'm')
"""


class PostgresTarget(Target):
    """A schema with the tables of a store."""

    def __init__(self, address: Address, database: Database) -> None:
        """The database has made the tables, and keeps others out; rows go through a session of their own."""
        self.shown = address.shown
        self._address = address
        self._database = database
        try:
            with self._told():
                self._own = connected(
                    address.url, schema=address.schema, patience_ms=_PATIENCE_MS, name="memoranda migrate"
                )
        except BaseException:
            database.close()
            raise
        self.connection = self._own

    def alone(self) -> AbstractContextManager[None]:
        """Nobody else fills it meanwhile. Raises Busy."""
        return self._database.hold("arriving")

    @contextmanager
    def _told(self) -> Iterator[None]:
        with translated(self._address, lambda: False):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._told(), super().transaction():
            yield

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        names = ", ".join(f'"{name}"' for name in table.columns)
        try:
            with self._own.raw.cursor() as cursor, cursor.copy(f"copy {table.name} ({names}) from stdin") as copying:
                for row in rows:
                    copying.write_row(row)
        except psycopg.DataError as error:
            odd = next((row for row in rows if any(isinstance(each, str) and "\0" in each for each in row)), None)
            if odd is None:
                raise
            raise InvalidInput(
                f"PostgreSQL keeps no NUL character: one is in {table.name}, key {table.written(table.key_of(odd))}",
                hint="Remember it anew without, or erase it; then start again.",
            ) from error

    def prepare(self) -> dict[str, list[str]]:
        references = self._own.execute(_REFERENCES).fetchall()
        fenced = self._own.execute(_FENCED).fetchall()
        for table, name, _ in references:
            self._own.execute(f'alter table {table} drop constraint "{name}"')
        for (table,) in fenced:
            self._own.execute(f'alter table "{table}" no force row level security')
        return {
            "whole": [
                *(f'alter table {table} add constraint "{name}" {said} not valid' for table, name, said in references),
                *(f'alter table "{table}" force row level security' for (table,) in fenced),
            ],
            # These only read: others may use the store meanwhile.
            "later": [f'alter table {table} validate constraint "{name}"' for table, name, _ in references],
        }

    def number_from(self, last: dict[str, int]) -> None:
        for table in tables():
            if table.numbered:
                number = last.get(table.name, 0)
                given = "" if number else ", false"
                self._own.execute(
                    f"select setval(cast(pg_get_serial_sequence(:name, :column) as regclass), :number{given})",
                    {"name": table.name, "column": table.key[0], "number": max(number, 1)},
                )

    def complete(self, arrival: Arrival) -> None:
        with self.transaction():
            for statement in arrival.aside.get("whole", ()):
                self._own.execute(statement)
            self._own.execute("delete from store where key = :key", {"key": ARRIVING})
            self._own.execute("update pulse set number = number + 1")
        with self._told():
            for statement in arrival.aside.get("later", ()):
                self._own.execute(statement)
            for table in tables():
                self._own.execute(f"analyze {table.name}")

    def size(self) -> int:
        with self._told():
            return int(self._own.execute(_SIZE).fetchall()[0][0])

    def close(self) -> None:
        self._own.raw.close()
        self._database.close()
