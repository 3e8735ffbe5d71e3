"""Writing tables anew, so that what was deleted leaves their files; and reading all that they hold, to prove it.

PostgreSQL keeps a deleted row in its page until the page is used again; an ordinary vacuum does not wipe it. What the
server's log of changes, its standbys and its backups hold is theirs, and is not reached from here.

The planner's statistics are copies of values, too, which no vacuum removes: of columns with words there are none.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from psycopg import errors

from memoranda.domain.address import Address
from memoranda.ledger.connection import Connection
from memoranda.ledger.postgres.connection import PostgresConnection, connected
from memoranda.ledger.postgres.troubles import translated

_LOCK_MS = 2_000
_NUMBER = re.compile(r"\d+")
_COUNTED = (
    "scope", "id", "memory_id", "superseded_by",
    "kind", "state", "status", "action", "trust", "source", "basis", "role",
)  # fmt: skip
"""Columns of text of which the planner knows what is in them: names of scopes, ids, and words of ours."""


@contextmanager
def session(address: Address) -> Iterator[PostgresConnection]:
    """A session of its own, without a transaction."""
    with translated(address, lambda: False):
        connection = connected(address.url, schema=address.schema, patience_ms=_LOCK_MS, name="memoranda upkeep")
        try:
            yield connection
        finally:
            connection.raw.close()


def written_anew(address: Address, tables: Sequence[str], *, patience: float) -> bool:
    """Write the tables anew without what was deleted. False when somebody reads them, or an older view keeps some.

    Nobody else reads or writes the tables meanwhile. One that is gone has nothing in it.
    """
    deadline = time.monotonic() + patience
    while tables := _left_by_vacuum(address, tables):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def _left_by_vacuum(address: Address, tables: Sequence[str]) -> list[str]:
    """The tables in which dead rows had to stay, or which could not be had."""
    left: list[str] = []
    stayed: list[int] = []

    def heard(told: object) -> None:
        # The detail of a verbose vacuum begins with that number, in whatever language.
        found = _NUMBER.search(getattr(told, "message_detail", None) or "")
        if found is not None:
            stayed.append(int(found[0]))

    with session(address) as connection:
        connection.raw.add_notice_handler(heard)
        for name in tables:
            stayed.clear()
            try:
                connection.execute(f"vacuum (full, verbose) {name}")
            except errors.UndefinedTable:  # an index that was replaced meanwhile
                continue
            except errors.LockNotAvailable:
                left.append(name)
            if sum(stayed):
                left.append(name)
    return left


def quiet_columns(connection: PostgresConnection) -> None:
    """Let the planner keep no samples of what people say. For tables that were just made: there are none yet."""
    rows = connection.execute(
        """
        select c.oid::regclass::text, quote_ident(a.attname)
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0
              and not a.attisdropped and a.atttypid in ('text'::regtype, 'bytea'::regtype)
              and a.attstattarget is distinct from 0 and a.attname <> all(cast(:counted as text[]))
        """,
        {"counted": list(_COUNTED)},
    ).fetchall()
    quiet(connection, [(str(table), str(column)) for table, column in rows])


def quiet(connection: PostgresConnection, columns: Sequence[tuple[str, str]]) -> None:
    """The same for these columns, each with its table; of a table with parts, for the parts, too."""
    if columns:
        told = (f"alter table {table} alter column {column} set statistics 0" for table, column in columns)
        connection.together("; ".join(told))


def size_of(connection: Connection, tables: Sequence[str]) -> int:
    """Bytes of the tables with their parts and indexes."""
    (row,) = connection.execute(
        """
        with recursive part as (
            select to_regclass(name)::oid as id from unnest(cast(:names as text[])) as name
            union all select inhrelid from pg_inherits join part on inhparent = part.id
        )
        select coalesce(sum(pg_total_relation_size(id)), 0) from part
        """,
        {"names": list(tables)},
    ).fetchall()
    return int(row[0])


def all_tables(connection: Connection) -> list[str]:
    """Every table of the store: of the ledger, and of indexes that live beside it."""
    rows = connection.execute(
        "select c.oid::regclass::text from pg_class c where c.relnamespace = current_schema()::regnamespace "
        "and c.relkind = 'r' order by c.relname"
    )
    return [str(row[0]) for row in rows]


def contents(connection: PostgresConnection, table: str) -> Iterator[bytes]:
    """All that a table holds, as the server writes it: text and bytes as they are. Nothing if it is gone."""
    with (
        suppress(errors.UndefinedTable),
        connection.raw.cursor() as cursor,
        cursor.copy(f"copy {table} to stdout (format binary)".encode()) as rows,
    ):
        yield from (bytes(part) for part in rows)
