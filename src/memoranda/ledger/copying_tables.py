"""The tables that hold a store, as its migrations make them: columns, keys, and an order that fits their references.

Derived, never listed by hand: a table that a new migration makes is copied without anybody thinking of it.
"""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from memoranda.domain.clock import SystemClock
from memoranda.ledger.moved import ARRIVING
from memoranda.ledger.schema import migrate
from memoranda.ledger.sqlite import SqliteConnection

Key = tuple[Any, ...]
"""The values of a row's key columns."""
Row = tuple[Any, ...]

MOVING = "moving"
"""In `store`, and the name of a table: which rows were changed is noted, because the store is being copied."""
MOVED = "moved_to"
"""In `store`: where everything is now. Nothing is written here any more."""
_OF_THE_COPY = (ARRIVING, MOVING, MOVED)
_OF_THE_ENGINE = frozenset(("migration",))
"""What each engine writes for itself."""


class Table(NamedTuple):
    """One table. `condition` leaves out rows that tell of the copying itself."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    blobs: frozenset[str]
    numbered: bool
    """Whether the engine gives the key, counting upward."""
    condition: str = "1 = 1"

    def key_of(self, row: Row) -> Key:
        """The key of a row that has all columns."""
        return tuple(row[self.columns.index(name)] for name in self.key)

    def written(self, key: Key) -> list[Any]:
        """A key as it stands in JSON."""
        return [value.hex() if isinstance(value, bytes) else value for value in key]

    def read(self, said: list[Any]) -> Key:
        """A key out of JSON."""
        return tuple(
            bytes.fromhex(value) if name in self.blobs else value for name, value in zip(self.key, said, strict=True)
        )

    def is_own(self, key: Key) -> bool:
        """Whether a row with this key belongs to the store, and not to the copying."""
        return self.name != "store" or key[0] not in _OF_THE_COPY


@functools.cache
def tables() -> tuple[Table, ...]:
    """All of them; what refers to another stands behind it."""
    connection = SqliteConnection(":memory:")
    try:
        migrate(connection, SystemClock())
        found = connection.execute("select name, sql from sqlite_schema where type = 'table' order by rowid").fetchall()
        named = {str(name): _table(connection, str(name), str(sql)) for name, sql in found if _is_copied(str(name))}
        needs = {name: _referred(connection, name) - {name} for name in named}
    finally:
        connection.close()
    return tuple(named[name] for name in _in_order(needs))


def table_named(name: str) -> Table:
    """One of them."""
    return next(table for table in tables() if table.name == name)


def _is_copied(name: str) -> bool:
    return name not in _OF_THE_ENGINE and not name.startswith("sqlite_")


def _table(connection: SqliteConnection, name: str, sql: str) -> Table:
    described: list[Any] = connection.execute(f"pragma table_info({name})").fetchall()
    keys = sorted((place, column) for _, column, _, _, _, place in described if place)
    listed = ", ".join(f"'{each}'" for each in _OF_THE_COPY)
    return Table(
        name,
        columns=tuple(each[1] for each in described),
        key=tuple(column for _, column in keys),
        blobs=frozenset(each[1] for each in described if each[2].casefold() == "blob"),
        numbered="autoincrement" in sql,
        condition=f"key not in ({listed})" if name == "store" else "1 = 1",
    )


def _referred(connection: SqliteConnection, name: str) -> set[str]:
    rows: list[Any] = connection.execute(f"pragma foreign_key_list({name})").fetchall()
    return {str(row[2]) for row in rows}


def _in_order(needs: Mapping[str, set[str]]) -> list[str]:
    done: list[str] = []
    while len(done) < len(needs):
        done += [name for name, needed in needs.items() if name not in done and needed <= set(done)]
    return done
