"""Opening what holds the tables, and bringing its schema up to date."""

from collections.abc import Callable, Sequence
from pathlib import Path

from memoranda.domain.address import Address, address_of
from memoranda.domain.clock import Clock
from memoranda.domain.errors import ConfigError, ProviderMissing, Refused
from memoranda.domain.keys import Key
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.schema import migrate, refuse_foreign
from memoranda.ledger.sqlite import SqliteDatabase


def opened_file(path: Path, clock: Clock, *, busy_seconds: float, key: Key | None, read_only: bool = False) -> Database:
    """A SQLite file, which is made when there is none, unless it is only to be read."""
    check: Callable[[Connection], object] = _refuse_outdated if read_only else refuse_foreign
    database = SqliteDatabase(path, durable=True, busy_seconds=busy_seconds, check=check, key=key, read_only=read_only)
    if read_only:
        return database
    try:
        database.write_alone(lambda connection: migrate(connection, clock))
    except BaseException:
        database.close()
        raise
    return database


def _refuse_outdated(connection: Connection) -> None:
    if refuse_foreign(connection):
        raise Refused(
            "this store was made by an older Memoranda, and is not brought up to date for reading only",
            hint="Open it once for writing, such as with `memoranda verify`.",
        )


def opened_server(
    address: Address, path: Path, clock: Clock, *, busy_seconds: float, pool_size: int, read_only: bool = False
) -> Database:
    """A schema of a PostgreSQL database, which is made when there is none. The database has to be there."""
    try:
        from memoranda.ledger.postgres.database import PostgresDatabase
    except ImportError as error:
        if "psycopg" not in str(error):
            raise
        raise ProviderMissing(
            "a store in PostgreSQL needs packages that are not installed", hint='pip install "memoranda[postgres]"'
        ) from error
    database = PostgresDatabase(address, path, busy_seconds=busy_seconds, pool_size=pool_size, clock=clock)
    database.read_only = read_only
    return database


def read_from(database: Database, replicas: Sequence[str]) -> None:
    """Let these standbys of the store's server answer who reads; else the store is closed, and it is told why."""
    try:
        if database.dialect.name != "postgres":
            raise ConfigError("replicas are set, and the store is a file", hint="Take the setting `replicas` away.")
        from memoranda.ledger.postgres.database import PostgresDatabase

        assert isinstance(database, PostgresDatabase)
        database.read_from([address_of(each) for each in replicas])
    except BaseException:
        database.close()
        raise
