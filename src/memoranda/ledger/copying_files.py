"""A store in PostgreSQL as one file, for a backup; and a file as a store in PostgreSQL, when one is restored."""

from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.domain.address import Address
from memoranda.domain.clock import Clock
from memoranda.domain.keys import Key
from memoranda.domain.ports import Progress
from memoranda.ledger import backup
from memoranda.ledger import copying_tracking as tracking
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying_run import copy_all, counts
from memoranda.ledger.copying_targets import RESTORING, Arrival, SqliteTarget, Target
from memoranda.ledger.opening import opened_server
from memoranda.ledger.schema import migrate

if TYPE_CHECKING:
    from memoranda.ledger.copying_postgres import PostgresTarget


def to_file(
    connection: Connection, path: Path, *, clock: Clock, key: Key | None, progress: Progress | None = None
) -> None:
    """Everything that one connection sees, as a ledger in an empty file. Compared row by row."""
    target = SqliteTarget(path, clock=clock, key=key)
    try:
        _filled(connection, target, progress)
    finally:
        target.close()


def to_server(
    path: Path,
    key: Key | None,
    address: Address,
    local: Path,
    *,
    clock: Clock,
    busy_seconds: float,
    progress: Progress | None = None,
) -> None:
    """A ledger in a file of our own as a store in PostgreSQL, where there is none or an empty one. Compared row by row.

    Raises Busy when somebody else fills that one.
    """
    target = server_target(address, local, clock=clock, busy_seconds=busy_seconds)
    try:
        with target.alone(), backup.opened(path, key, write=True) as connection:
            migrate(connection, clock)  # a file may be older than the tables of the target
            connection.execute("begin")
            target.forget_arrival()
            _filled(connection, target, progress)
    finally:
        target.close()


def server_target(address: Address, local: Path, *, clock: Clock, busy_seconds: float) -> "PostgresTarget":
    """A schema to copy into, which is made when there is none."""
    database = opened_server(address, local, clock, busy_seconds=busy_seconds, pool_size=1)
    from memoranda.ledger.copying_postgres import PostgresTarget

    return PostgresTarget(address, database)


def as_usual(path: Path, key: Key | None) -> bool:
    """Take out of a copy what tells that its store is being moved, or was; whether there was any of it."""
    with backup.opened(path, key, write=True) as connection:
        if tracking.token(connection) is None and tracking.moved(connection) is None:
            return False
        connection.execute("begin immediate")
        tracking.reopen(connection)
        connection.execute("commit")
    return True


def _filled(connection: Connection, target: Target, progress: Progress | None) -> None:
    total = 2 * sum(counts(connection).values())
    done = 0

    def told(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, total), total)

    copy_all(connection, target, Arrival(backup.store_of(connection), token=RESTORING), told=told)
