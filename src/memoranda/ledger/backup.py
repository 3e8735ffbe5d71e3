"""Copies of a ledger as one file: made while others write, counted, checked. What a copy says of itself is in a table.

A file that comes from elsewhere is not trusted: its schema has to be the one that its migrations make, so that no view
and no trigger of somebody else's runs here.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from memoranda.domain.backup import Figures, Manifest
from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.keys import Key
from memoranda.domain.memory import Memory
from memoranda.domain.ports import Progress
from memoranda.domain.results import Check
from memoranda.domain.text import so_many
from memoranda.ledger.connection import Connection
from memoranda.ledger.contents import digest_of, line, walk
from memoranda.ledger.feed import newest
from memoranda.ledger.rows import SELECTED, from_row
from memoranda.ledger.schema import MIGRATIONS, migrate, refuse_foreign
from memoranda.ledger.sealing import passed, unlock
from memoranda.ledger.sqlite import SqliteConnection, translated

_PAGES = 512
_STEPS = 20_000
_MANIFEST = "create table backup_manifest (key text primary key, value text not null)"
_COUNTED = {
    "memories": "memory",
    "revisions": "revision",
    "events": "event",
    "vectors": "vector",
    "tombstones": "tombstone",
    "conversations": "conversation",
    "messages": "message",
    "sources": "source",
    "mirrors": "mirror",
    "tokens": "token",
    "tags": "tag",
}
_NEVER_USED = ("events", "tombstones", "conversations", "messages", "sources", "mirrors", "tokens")


@contextmanager
def opened(path: Path, key: Key | None, *, write: bool = False) -> Iterator[SqliteConnection]:
    """One connection to a file that nobody else uses."""
    with translated(path, key):
        flags = apsw.SQLITE_OPEN_READWRITE if write else apsw.SQLITE_OPEN_READONLY
        connection = SqliteConnection(str(path), flags=flags | apsw.SQLITE_OPEN_URI)
        try:
            if key is not None:
                unlock(connection, key)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.execute(
                """
                pragma trusted_schema = off;
                pragma cell_size_check = on;
                pragma temp_store = memory;
                pragma secure_delete = on;
                pragma mmap_size = 0;
                """
            ).fetchall()
            yield connection
        finally:
            connection.close()


# -- copying --


def copy(
    source: Connection, source_key: Key | None, target: Path, key: Key | None, *, progress: Progress | None
) -> None:
    """Everything that one connection sees, as another file. Page by page; anew where one of the two is encrypted and
    the other is not, which cannot be done inside of a transaction. The target is empty, and not yet safe on the disk.
    """
    assert isinstance(source, SqliteConnection)
    if (source_key is None) == (key is None):
        _copy_pages(source, target, key, progress)
    else:
        _copy_rows(source, target, key, progress)


def _copy_pages(source: SqliteConnection, target: Path, key: Key | None, progress: Progress | None) -> None:
    page_size = _pragma(source, "page_size")
    connection = SqliteConnection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    with translated(target, key):
        try:
            if key is not None:
                unlock(connection, key)
            connection.execute(f"pragma page_size = {page_size:d}; pragma synchronous = off").fetchall()
            with connection.backup("main", source, "main") as copying:
                while not copying.done:
                    copying.step(_PAGES)
                    if progress is not None:
                        progress(copying.page_count - copying.remaining, copying.page_count)
            # The source has a log beside it; a copy is one file.
            connection.execute("pragma journal_mode = delete").fetchall()
        finally:
            connection.close()


def _copy_rows(source: SqliteConnection, target: Path, key: Key | None, progress: Progress | None) -> None:
    total = _pragma(source, "page_count") * _pragma(source, "page_size")

    def tell() -> bool:
        if progress is not None:
            progress(min(target.stat().st_size, total), total)
        return False

    source.set_progress_handler(tell, _STEPS)
    given = "" if key is None else f"cipher=chacha20&key={passed(key)}"
    try:
        with translated(target, key):
            source.execute("vacuum into :target", {"target": f"{target.absolute().as_uri()}?{given or 'key='}"})
    finally:
        source.set_progress_handler(None)


def settle(path: Path, key: Key | None, manifest: Manifest | None) -> None:
    """One file without a log, without free pages, with this manifest or none, safe on the disk."""
    with opened(path, key, write=True) as connection:
        connection.execute("pragma journal_mode = delete").fetchall()
        connection.execute("begin immediate; drop table if exists backup_manifest")
        if manifest is not None:
            connection.execute(_MANIFEST)
            said = manifest.as_json()
            for name, value in said.items():
                connection.execute(
                    "insert into backup_manifest (key, value) values (:key, :value)",
                    {"key": name, "value": json.dumps(value)},
                )
        connection.execute("commit")
        if _pragma(connection, "freelist_count"):
            connection.execute("vacuum")
    sync(path)


def sync(path: Path) -> None:
    """What was written to a file, or into a folder, survives a power cut."""
    with suppress(PermissionError):  # not for folders on Windows
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# -- looking --


def figures(connection: Connection, *, contents: str | None = None) -> Figures:
    """What is in there now. In a transaction all of it belongs to one moment. Contents that are given, also as nothing,
    are not digested: that takes the most time."""
    tables = _tables(connection)
    counts = {
        name: _number(connection, f"select count(*) from {table}")  # noqa: S608
        for name, table in _COUNTED.items()
        if table in tables
    }
    counts["scopes"] = _number(connection, "select count(distinct scope) from memory")
    return Figures(
        store=store_of(connection),
        schema=str(next(connection.execute("select max(name) from migration"))[0]),
        sequence=newest(connection),
        rows=_rows(connection, tables),
        contents=contents_of(connection) if contents is None else contents,
        counts=counts,
    )


def contents_of(connection: Connection) -> str:
    """The digest of everything that is not forgotten, in the whole store."""
    return digest_of(walk(connection, None, below=True))[1]


def _rows(connection: Connection, tables: set[str]) -> str:
    """Every row of every table, in whatever order they lie: a file that was written anew says the same."""
    total = 0
    for table in tables - {"backup_manifest"}:
        if not table.startswith("sqlite_"):
            person = hashlib.blake2b(table.encode(), digest_size=16).digest()
            for row in connection.execute(f'select * from "{table}"'):  # noqa: S608
                # ascii() and not repr(): what is printable differs from one Python to the next.
                digest = hashlib.blake2b(ascii(row).encode(), digest_size=32, person=person).digest()
                total += int.from_bytes(digest, "big")
    return f"{total % (1 << 256):064x}"


def store_of(connection: Connection) -> str:
    """Which store it is, or was made from: the same for a store and its backups, and for no other."""
    row = connection.execute("select value from store where key = 'key'").fetchone()
    key = bytes.fromhex(str(row[0])) if row else b""
    return hashlib.blake2b(b"store", key=key, digest_size=16, person=b"backup").hexdigest()


def is_unused(connection: Connection) -> bool:
    """Whether nothing was ever kept in it."""
    tables = _tables(connection)
    if not tables:
        return True
    refuse_foreign(connection)
    return not any(
        _number(connection, f"select exists (select 1 from {_COUNTED[name]})")  # noqa: S608
        for name in _NEVER_USED
        if _COUNTED[name] in tables
    )


def manifest_in(connection: Connection) -> Manifest | None:
    """What a backup says of itself; None when it is no backup."""
    if "backup_manifest" not in _tables(connection):
        return None
    rows = connection.execute("select key, value from backup_manifest")
    try:
        return Manifest.of({str(key): json.loads(str(value)) for key, value in rows})
    except (ValueError, RecursionError):
        return None


def check(connection: Connection, expected: Figures, *, contents: bool) -> tuple[Check, ...]:
    """Whether the file is sound, has our schema and nothing else, and holds what it should, row by row. `contents`
    digests the memories anew, too; for a copy whose rows are those of its origin that says nothing more."""
    try:
        found = [str(row[0]) for row in connection.execute("pragma integrity_check(20)")]
        found += [f"foreign key broken in {row[0]}" for row in connection.execute("pragma foreign_key_check")]
    except apsw.CorruptError as error:
        return (_checked("file", [str(error)], "sound"),)
    broken = [line for line in found if line != "ok"]
    foreign = _foreign(connection)
    checks = [_checked("file", broken, "sound"), _checked("schema", foreign, expected.schema)]
    if broken or foreign:
        return tuple(checks)
    counted = figures(connection, contents=None if contents else expected.contents)
    wrong = [
        f"{counted.counts.get(name, 0):,} {name} instead of {count:,}"
        for name, count in expected.counts.items()
        if counted.counts.get(name) != count
    ]
    differs = [
        name
        for name in ("store", "schema", "sequence", "rows", "contents")
        if getattr(counted, name) != getattr(expected, name)
    ]
    told = f"{so_many(counted.counts['memories'], 'memory')}, {so_many(counted.counts['events'], 'event')}"
    return (*checks, _checked("counts", wrong, told), _checked("contents", differs, counted.rows[:16]))


def _checked(name: str, troubles: list[str], well: str) -> Check:
    fix = "Take another backup; this one is not what was written." if troubles else ""
    return Check(name, not troubles, "; ".join(troubles[:3]) or well, fix)


def _foreign(connection: Connection) -> list[str]:
    """What is in the schema and should not be, or the other way round."""
    refuse_foreign(connection)
    applied = {str(row[0]) for row in connection.execute("select name from migration")}
    ours = SqliteConnection(":memory:")
    try:
        migrate(ours, SystemClock(), steps=tuple(step for step in MIGRATIONS if step.name in applied))
        wanted = _schema(ours)
        ours.execute(_MANIFEST)
        allowed = _schema(ours)
    finally:
        ours.close()
    there = _schema(connection)
    foreign = [f"{kind} {name} is not ours" for (kind, name), sql in there.items() if allowed.get((kind, name)) != sql]
    return foreign + [f"{kind} {name} is missing" for kind, name in sorted(wanted.keys() - there.keys())]


def _schema(connection: Connection) -> dict[tuple[str, str], str]:
    rows = connection.execute("select type, name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\'")
    return {(str(kind), str(name)): str(sql) for kind, name, sql in rows}


def lines(connection: Connection) -> dict[str, bytes]:
    """Everything that is not forgotten, as a digest by its id."""
    return {memory.id: hashlib.sha256(line(memory)).digest() for memory in walk(connection, None, below=True)}


def every(connection: Connection) -> list[tuple[int, Memory]]:
    """Every memory, in whatever state, with its number."""
    return [from_row(row) for row in connection.execute(f"select {SELECTED} from memory m")]  # noqa: S608


# -- what was erased elsewhere --


def tombstones(connection: Connection) -> list[tuple[bytes, str, int]]:
    """(digest, scope, moment) of everything that was erased."""
    rows = connection.execute("select digest, scope, at from tombstone")
    return [(bytes(digest), str(scope), int(at)) for digest, scope, at in rows]


def add_tombstones(connection: Connection, found: list[tuple[bytes, str, int]]) -> None:
    """What was erased in a newer store counts as erased in this one."""
    for digest, scope, at in found:
        connection.execute(
            "insert into tombstone (digest, scope, at) values (:digest, :scope, :at) on conflict do nothing",
            {"digest": digest, "scope": scope, "at": at},
        )


def _tables(connection: Connection) -> set[str]:
    return {str(row[0]) for row in connection.execute("select name from sqlite_schema where type = 'table'")}


def _pragma(connection: Connection, name: str) -> int:
    return _number(connection, f"pragma {name}")


def _number(connection: Connection, statement: str) -> int:
    row = connection.execute(statement).fetchone()
    if row is None:
        raise LedgerDamaged("the file does not answer")
    return int(row[0])
