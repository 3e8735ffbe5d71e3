"""Where a store is copied to: a new file, or a new schema. How far it is stands in the target itself.

Until it is whole, nobody else uses it: references between tables are looked at again when everything is there. What
is written and how far it reaches are committed together, so that a copy which was killed goes on where it was.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock
from memoranda.domain.errors import Conflict
from memoranda.domain.keys import Key as SecretKey
from memoranda.ledger import backup
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying import contents, count
from memoranda.ledger.copying_tables import MOVED, Key, Row, Table, tables
from memoranda.ledger.moved import ARRIVING
from memoranda.ledger.schema import migrate, refuse_foreign

_HARMLESS = frozenset(("store", "upkeep", "counter", "space", "answer"))
"""What a store has in which nothing was ever kept."""
RESTORING = "restoring"
"""The token of a copy out of a file, which is not gone on with."""
_BUSY_MS = 10_000


class Arrival(NamedTuple):
    """How far a copy is: of which store, up to which of its notes, and each table up to which key."""

    store: str
    token: str
    upto: int = 0
    tables: dict[str, list[Any] | None] = {}  # noqa: RUF012 never changed; None: all of it
    aside: dict[str, list[str]] = {}  # noqa: RUF012 never changed
    """Statements that make what was put aside: by when."""

    def moved_on(self, table: Table, after: Key | None) -> "Arrival":
        return self._replace(tables={**self.tables, table.name: None if after is None else table.written(after)})

    def has(self, table: Table) -> bool:
        """Whether all of a table was copied."""
        return table.name in self.tables and self.tables[table.name] is None

    def reached(self, table: Table) -> Key | None:
        """The last key that was copied; None before the first."""
        said = self.tables.get(table.name)
        return None if said is None else table.read(said)

    def covers(self, table: Table, key: Key) -> bool:
        """Whether a row with this key would have been copied."""
        reached = self.reached(table)
        return self.has(table) or (reached is not None and key <= reached)


class Target(ABC):
    """One store that is being filled. Nobody else writes to it."""

    connection: Connection
    shown: str

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it is written, or nothing."""
        self.connection.execute("begin")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
            raise
        self.connection.execute("commit")

    def contents(self) -> str:
        """The digest of everything that is not forgotten."""
        with self.transaction():
            return contents(self.connection)

    @abstractmethod
    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """Write rows that are not there."""

    @abstractmethod
    def prepare(self) -> dict[str, list[str]]:
        """Put aside what would be in the way. Gives the statements by which it comes back, by when."""

    @abstractmethod
    def number_from(self, last: dict[str, int]) -> None:
        """Let the engine count on from these numbers, by table."""

    @abstractmethod
    def complete(self, arrival: Arrival) -> None:
        """What was put aside comes back, and the store is whole: others may open it."""

    @abstractmethod
    def size(self) -> int:
        """How many bytes it takes."""

    @abstractmethod
    def close(self) -> None: ...

    # -- how far it is --

    def arrival(self) -> Arrival | None:
        """How far it is; None when nothing was ever copied into it."""
        row = self.connection.execute("select value from store where key = :key", {"key": ARRIVING}).fetchone()
        return None if row is None else Arrival(**json.loads(str(row[0])))

    def note(self, arrival: Arrival) -> None:
        """Write down how far it is, inside of a transaction."""
        self.connection.execute(
            "insert into store (key, value) values (:key, :value) "
            "on conflict (key) do update set value = excluded.value",
            {"key": ARRIVING, "value": json.dumps(arrival._asdict())},
        )

    def forget_arrival(self) -> None:
        """Empty a store that another restore has begun to fill, and nobody has finished."""
        found = self.arrival()
        if found is None or found.token != RESTORING:
            return
        with self.transaction():
            for table in reversed(tables()):
                self.connection.execute(f"delete from {table.name}")  # noqa: S608
            for statement in found.aside.get("whole", ()):
                self.connection.execute(statement)

    def refuse_used(self) -> None:
        """Raise Conflict when something was ever kept in it."""
        used = [table.name for table in tables() if table.name not in _HARMLESS and count(self.connection, table)]
        gone = self.connection.execute("select 1 from store where key = :key", {"key": MOVED}).fetchone()
        if used or gone is not None:
            raise Conflict(
                f"{self.shown} is a store with something in it",
                hint="Name a new file, or a new schema (?schema=NAME). Nothing was changed.",
            )

    def begin(self, arrival: Arrival) -> Arrival:
        """Make room in a store in which nothing was ever kept."""
        with self.transaction():
            for table in reversed(tables()):
                self.connection.execute(f"delete from {table.name}")  # noqa: S608
            arrival = arrival._replace(aside=self.prepare())
            self.note(arrival)
        return arrival


class SqliteTarget(Target):
    """A file, which may be encrypted."""

    def __init__(self, path: Path, *, clock: Clock, key: SecretKey | None) -> None:
        """The file is there, and empty or a ledger."""
        self.shown = str(path)
        self._path = path
        self._stack = ExitStack()
        try:
            opened = self._stack.enter_context(backup.opened(path, key, write=True))
            self._own = opened
            refuse_foreign(opened)
            opened.set_busy_timeout(_BUSY_MS)
            opened.execute(
                "pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -65536"
            ).fetchall()
            migrate(opened, clock)
        except BaseException:
            self._stack.close()
            raise
        self.connection = opened

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        names = ", ".join(f'"{name}"' for name in table.columns)
        marks = ", ".join("?" * len(table.columns))
        self._own.executemany(f"insert into {table.name} ({names}) values ({marks})", rows)  # noqa: S608

    def prepare(self) -> dict[str, list[str]]:
        """References are not looked at by this connection: it does not ask for it."""
        return {}

    def number_from(self, last: dict[str, int]) -> None:
        self.connection.execute("delete from sqlite_sequence")
        for name, number in last.items():
            self.connection.execute(
                "insert into sqlite_sequence (name, seq) values (:name, :number)", {"name": name, "number": number}
            )

    def complete(self, arrival: Arrival) -> None:
        with self.transaction():
            self.connection.execute("delete from store where key = :key", {"key": ARRIVING})
        self._own.execute("pragma wal_checkpoint(truncate)").fetchall()
        backup.sync(self._path)

    def size(self) -> int:
        return sum(
            path.stat().st_size
            for suffix in ("", "-wal")
            if (path := self._path.with_name(self._path.name + suffix)).exists()
        )

    def close(self) -> None:
        self._stack.close()


def has_key(connection: Connection) -> bool:
    """Whether it was ever opened as a store."""
    return connection.execute("select 1 from store where key = 'key'").fetchone() is not None


def numbered(connection: Connection) -> dict[str, int]:
    """The last number that was ever given in each table that counts."""
    if connection.dialect.name == "sqlite":
        rows = connection.execute("select name, seq from sqlite_sequence").fetchall()
        ours = {table.name for table in tables()}
        return {str(name): int(number) for name, number in rows if name in ours}
    found: dict[str, int] = {}
    for table in tables():
        if table.numbered:
            row = connection.execute(
                "select pg_sequence_last_value(cast(pg_get_serial_sequence(:name, :column) as regclass))",
                {"name": table.name, "column": table.key[0]},
            ).fetchone()
            if row[0] is not None:
                found[table.name] = int(row[0])
    return found
