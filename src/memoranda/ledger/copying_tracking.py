"""What a store that is being copied notes of itself: the keys of rows that are changed, by triggers.

Triggers see every change, whoever makes it, from whatever process or host, and however little it says of itself in the
history. In a store that was moved they refuse to change anything.
"""

import json
import os
from contextlib import suppress
from typing import NamedTuple

from memoranda.domain.errors import LedgerLocked
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying_tables import MOVED, MOVING, Key, tables
from memoranda.ledger.copying_triggers import leavings, noting, refusing, silent
from memoranda.ledger.database import Database

_PATIENCE_MS = 1_000


class Changes(NamedTuple):
    """Keys of the rows that were changed, by table, up to a line of the notes."""

    upto: int
    keys: dict[str, list[Key]]


class Moved(NamedTuple):
    """Where a store went, and the token of that move."""

    to: str
    token: str


def begin(connection: Connection) -> str:
    """From now on changes are noted. The token of these notes: the same until they end."""
    known = _value(connection, MOVING)
    if known is not None:
        return known
    made = os.urandom(16).hex()
    engine = connection.dialect
    connection.execute(
        f"create table if not exists {MOVING} (number {engine.number}, name text not null, key text not null)"
    )
    for table in tables():
        for statement in noting(engine.name, table):
            connection.execute(statement)
    connection.execute("insert into store (key, value) values (:key, :value)", {"key": MOVING, "value": made})
    return made


def token(connection: Connection) -> str | None:
    """Of the notes that are being made; None when there are none."""
    return _value(connection, MOVING)


def newest(connection: Connection) -> int:
    """The last line of the notes."""
    return int(connection.execute(f"select coalesce(max(number), 0) from {MOVING}").fetchone()[0])  # noqa: S608


def changes(connection: Connection, *, after: int) -> Changes:
    """What was changed behind a line of the notes; each row once."""
    known = {table.name: table for table in tables()}
    found: dict[str, dict[Key, None]] = {}
    upto = after
    rows = connection.execute(
        f"select number, name, key from {MOVING} where number > :after order by number",  # noqa: S608
        {"after": after},
    )
    for number, name, key in rows:
        upto = int(number)
        table = known[str(name)]
        changed = table.read(json.loads(str(key)))
        if table.is_own(changed):
            found.setdefault(table.name, {})[changed] = None
    return Changes(upto, {name: list(keys) for name, keys in found.items()})


def end(connection: Connection) -> None:
    """Nothing is noted any more, and nothing is left of what was."""
    for table in tables():
        for statement in silent(connection.dialect.name, table):
            connection.execute(statement)
    connection.execute("delete from store where key = :key", {"key": MOVING})
    if connection.dialect.name == "sqlite":
        connection.execute(f"drop table if exists {MOVING}")
    elif connection.execute("select to_regclass(:name)", {"name": MOVING}).fetchone()[0] is not None:
        connection.execute(f"delete from {MOVING}")  # noqa: S608


def close(connection: Connection, moved: Moved) -> None:
    """The store was moved: it can be read, and refuses every change from now on."""
    end(connection)
    said = json.dumps({"to": moved.to, "token": moved.token})
    connection.execute("insert into store (key, value) values (:key, :value)", {"key": MOVED, "value": said})
    for table in tables():
        for statement in refusing(connection.dialect.name, table, moved.to):
            connection.execute(statement)


def reopen(connection: Connection) -> None:
    """A store that was moved, or was to be, is an ordinary one again."""
    end(connection)
    connection.execute("delete from store where key = :key", {"key": MOVED})


def tidy(database: Database) -> None:
    """Take away what is silent by now, table by table. What somebody is using stays, and does no harm."""
    engine = database.dialect.name
    if engine != "postgres":
        return

    def job(connection: Connection) -> None:
        # Whoever waits to lock a table keeps those out who come to read it.
        connection.execute(f"set lock_timeout = {_PATIENCE_MS:d}")
        try:
            for table in tables():
                for statement in leavings(engine, table):
                    connection.execute(statement)
            connection.execute(f"drop table if exists {MOVING}")
        finally:
            connection.execute("reset lock_timeout")

    with suppress(LedgerLocked):
        database.write_alone(job)


def moved(connection: Connection) -> Moved | None:
    """Where the store went; None when it is here."""
    said = _value(connection, MOVED)
    return None if said is None else Moved(**json.loads(said))


def _value(connection: Connection, key: str) -> str | None:
    row = connection.execute("select value from store where key = :key", {"key": key}).fetchone()
    return None if row is None else str(row[0])
