"""A SQLite file of another program: read, never changed, and believed in nothing.

A file in write-ahead mode is read without locks when nothing waits in its log; otherwise SQLite would put two files
beside it. Its schema may not call functions, and only plain tables are read, never views or virtual tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from memoranda.domain.errors import InvalidInput

_MAGIC = b"SQLite format 3\0"
_WRITE_AHEAD = 2
_LONGEST_VALUE = 64 << 20
_HINT = "Close the program that owns it, and give the file itself or a copy of it that is complete."


class Opened(NamedTuple):
    """A file that is open, and its plain tables: their names, and the names of their columns."""

    connection: apsw.Connection
    tables: Mapping[str, frozenset[str]]
    path: Path

    def rows(self, statement: str) -> Iterator[dict[str, Any]]:
        """What a statement gives, each row by the names of its columns."""
        try:
            cursor = self.connection.execute(statement)
            for row in cursor:
                yield dict(zip((column[0] for column in cursor.get_description()), row, strict=True))
        except apsw.Error as error:
            raise InvalidInput(f"{self.path.name} is damaged", hint=_HINT) from error

    def check(self, table: str, columns: Sequence[str], *, of: str) -> None:
        """Raises an error that says what is not there."""
        if table not in self.tables:
            raise InvalidInput(
                f"{self.path.name} has no table {table}: it is no store of {of}",
                hint="Check the path and the name of the format.",
            )
        if missing := sorted(frozenset(columns) - self.tables[table]):
            raise InvalidInput(
                f"{self.path.name}: {table} has no column {', '.join(missing)}; this version of {of} is not known here",
                hint="Export it as JSON with the program itself, and import that.",
            )


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite files do."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """A file of another program, for reading."""
    try:
        connection = apsw.Connection(_address(path), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except (apsw.Error, OSError) as error:
        raise InvalidInput(f"{path.name} cannot be opened", hint=_HINT) from error
    try:
        yield Opened(connection, _tables(connection, path), path)
    finally:
        connection.close()


def has_table(path: Path, name: str, columns: Sequence[str]) -> bool:
    """Whether this is a SQLite file that has such a table. Never raises."""
    if not is_sqlite(path):
        return False
    try:
        with opened(path) as file:
            return file.tables.get(name, frozenset()) >= frozenset(columns)
    except InvalidInput:
        return False


def _address(path: Path) -> str:
    given = path.resolve()
    with path.open("rb") as stream:
        head = stream.read(20)
    log = given.with_name(given.name + "-wal")
    quiet = len(head) == 20 and _WRITE_AHEAD in head[18:20] and not (log.exists() and log.stat().st_size)
    return f"{given.as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"


def _tables(connection: apsw.Connection, path: Path) -> dict[str, frozenset[str]]:
    try:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.set_busy_timeout(2_000)
        connection.execute("pragma temp_store = memory")
        listed = connection.execute("select name from pragma_table_list where schema = 'main' and type = 'table'")
        names = [str(name) for (name,) in listed]
        columns = "select name from pragma_table_info(?)"
        return {name: frozenset(str(each) for (each,) in connection.execute(columns, (name,))) for name in names}
    except apsw.Error as error:
        raise InvalidInput(f"{path.name} cannot be read as a SQLite file", hint=_HINT) from error
