"""Writing tables anew, so that what was deleted leaves their files; and reading all that they hold, to prove it.

PostgreSQL keeps a deleted row in its page until the page is used again; an ordinary vacuum does not wipe it. What the
server's log of changes, its standbys and its backups hold is theirs, and is not reached from here.

The planner's statistics are copies of values, too, which no vacuum removes: of columns with words there are none.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from psycopg import errors

from memoranda.domain.address import Address
from memoranda.domain.errors import LedgerError
from memoranda.ledger.connection import Connection
from memoranda.ledger.postgres.connection import PostgresConnection, connected
from memoranda.ledger.postgres.horizon import holders, moment, older_views, wait
from memoranda.ledger.postgres.troubles import translated

# Longer than the server takes to notice that only its own tidying is in the way, which it then ends.
_LOCK_MS = 1_500
_PAUSE_SECONDS = 0.1
_USED_SECONDS = 6.0
LATER = "run `memoranda maintain` when it has ended"
LOOKS = "has an older view of the database, which keeps what was deleted"
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


def awaited(address: Address, *, patience: float) -> str:
    """Wait until nobody looks at what was deleted before now; else who does."""
    with session(address) as connection:
        since = moment(connection)
        return wait(lambda: older_views(connection, since), time.monotonic() + patience)


def written_anew(address: Address, tables: Sequence[str], *, patience: float) -> str:
    """Write the tables anew without what was deleted before; else why some are not.

    One table at a time, and nobody else reads or writes that one meanwhile. One that is gone has nothing in it.
    Whoever waits for a table keeps others from it, so that the wait is short, begins again, and is given up sooner.
    """
    began = time.monotonic()
    deadline = began + patience
    with session(address) as connection:
        since = moment(connection)
        left, why = _parts(connection, tables), ""
        while left:
            try:
                left, why = _left(connection, left, since)
            except _Used as used:
                left, why = used.left, str(used)
                if time.monotonic() - began >= _USED_SECONDS:
                    break
            if not left or time.monotonic() >= deadline:
                break
            # Who waits for the table has it now. And nothing is locked while somebody looks: it would be in vain.
            time.sleep(_PAUSE_SECONDS)
            wait(lambda: older_views(connection, since), deadline)
        return why


class _Used(Exception):
    """Somebody uses a table for longer than we wait."""

    def __init__(self, name: str, who: str, left: Sequence[str]) -> None:
        super().__init__(f"{who or 'another session'} uses the table {_shown(name)}; {LATER}")
        self.left = list(left)


def _left(connection: PostgresConnection, tables: Sequence[str], since: str) -> tuple[list[str], str]:
    """Of these tables, from the first that could not be done: which are to do, and why."""
    for done, name in enumerate(tables):
        try:
            before = _file_of(connection, name)
            connection.execute(f"vacuum (full) {name}")
        except errors.UndefinedTable:  # an index that was replaced meanwhile
            continue
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            raise _Used(name, holders(connection, name), tables[done:]) from None
        if (after := _file_of(connection, name)) is not None and after == before:
            raise LedgerError(
                f"the role may not write the table {_shown(name)} anew",
                hint="Connect as the role that owns the tables, or let that one grant `maintain` on them.",
            )
        if not _is_clean(connection, name, since):
            who = older_views(connection, since) or "another session"
            return list(tables[done:]), f"{who} {LOOKS}; {LATER}"
    return [], ""


def _parts(connection: PostgresConnection, tables: Sequence[str]) -> list[str]:
    """The tables themselves; of one that is spread, its parts. Not those in which nothing ever was since they were
    last made: an index that had an entry keeps a page for it, also when the table was cut to nothing."""
    rows = connection.execute(
        """
        select c.oid::regclass::text
        from unnest(cast(:names as text[])) with ordinality as given (name, place)
        left join lateral pg_partition_tree(to_regclass(given.name)) as part on true
        join pg_class c on c.oid = coalesce(part.relid, to_regclass(given.name))
        where c.relkind = 'r' and (
            pg_relation_size(c.oid) > 0 or (c.reltoastrelid <> 0 and pg_relation_size(c.reltoastrelid) > 0)
            or exists (select 1 from pg_index i where i.indrelid in (c.oid, c.reltoastrelid)
                       and pg_relation_size(i.indexrelid) > current_setting('block_size')::integer))
        order by given.place, 1
        """,
        {"names": list(tables)},
    )
    return [str(row[0]) for row in rows]


def _file_of(connection: PostgresConnection, table: str) -> int | None:
    """The number of its file: another one when it was written anew. None when the table is gone."""
    (row,) = connection.execute("select pg_relation_filenode(to_regclass(:name))", {"name": table}).fetchall()
    return None if row[0] is None else int(row[0])


def _is_clean(connection: PostgresConnection, table: str, since: str) -> bool:
    """Whether nothing is in it that was deleted before that moment.

    Who writes a table anew notes in it before which transaction everything is settled: what was deleted by an older
    one was left behind. What others have deleted since is no business of ours.
    """
    row = connection.execute(
        "select age(relfrozenxid) <= age(cast(cast(:since as xid8) as xid)) from pg_class "
        "where oid = to_regclass(:name)",
        {"since": since, "name": table},
    ).fetchone()
    return row is None or bool(row[0])


def _shown(table: str) -> str:
    return table.rpartition(".")[2]


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
