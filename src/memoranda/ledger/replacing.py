"""Putting a new file in the place of a ledger: only when nobody else has it open, and so that nothing is in between.

What the old file held is overwritten. That reaches the blocks of an ordinary disk; an SSD, or a file system that never
writes in place, may keep a copy of its own.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from memoranda.domain.errors import LedgerLocked
from memoranda.domain.keys import Key
from memoranda.ledger.backup import opened, sync
from memoranda.ledger.sqlite import SqliteConnection

DERIVED = ("-index", "-transcripts", "-documents")
"""Folders beside a ledger that are made anew from it, and from the documents."""
# Nothing else in these folders is ever removed: names that only we give.
_OURS = re.compile(r"(?:index-\d+\.db|catalogue-\d+\.db)(?:-wal|-shm)?|CURRENT(?:\.\d+)?|REBUILDING|SYNCING")
_ZEROS = bytes(1 << 20)
_PAGE = 4_096
_BUSY_MS = 2_000
_MARKS = (".", "-", "~")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""What lies behind a link is somebody else's."""


@contextmanager
def alone(path: Path, key: Key | None) -> Iterator[SqliteConnection]:
    """A connection to a ledger that nobody else has open, and nobody can open until it is let go of."""
    with opened(path, key, write=True) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        try:
            # Without its log it can be used by one connection at a time; that one keeps it.
            connection.execute("pragma locking_mode = exclusive").fetchall()
            mode = connection.execute("pragma journal_mode = delete").fetchone()
            connection.execute("begin exclusive; commit")
        except apsw.BusyError:
            mode = None
        if mode is None or mode[0] != "delete":
            raise LedgerLocked(f"{path.name} is in use", hint="Close every program that uses it, then try again.")
        yield connection


def replace(new: Path, path: Path) -> None:
    """Let a new file take the place of the old one, all at once. Whoever waited for the old one finds it overwritten,
    and cannot take it for a ledger; so nothing is written where nobody would look for it."""
    old = os.open(path, os.O_WRONLY | _NO_LINK)
    try:
        os.replace(new, path)
        sync(path.parent)
        _overwrite(old)
    finally:
        os.close(old)


def place(new: Path, path: Path) -> None:
    """Give a file its name, which nobody else has. Raises FileExistsError."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(path) from None
        os.rename(new, path)
    else:
        os.unlink(new)
    sync(path.parent)


def shred(path: Path) -> None:
    """Overwrite a file and remove it. One that is not there is gone already; of a link only the link goes, and of a
    file with a second name only this one: whoever was killed while he gave it its place meant the other to stay."""
    with suppress(FileNotFoundError):
        if path.is_symlink():
            path.unlink()
            return
        descriptor = os.open(path, os.O_WRONLY | _NO_LINK)
        try:
            if os.fstat(descriptor).st_nlink == 1:
                _overwrite(descriptor)
        finally:
            os.close(descriptor)
            path.unlink()  # whatever happens: what could not be overwritten does not have to lie there as well


def shred_database(path: Path) -> None:
    """The same for a file of SQLite, with what belongs to it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        shred(path.with_name(path.name + suffix))


def beside(path: Path) -> list[Path]:
    """Files whose names begin with that of this one: logs, an index, copies that somebody put aside. No links."""
    found: list[Path] = []
    for each in sorted(path.parent.iterdir()) if path.parent.is_dir() else ():
        if each.name.startswith(tuple(path.name + mark for mark in _MARKS)) and not each.is_symlink():
            found += sorted(each.rglob("*")) if each.is_dir() else [each]
    return [each for each in found if each.is_file() and not each.is_symlink()]


def drop_derived(ledger: Path) -> None:
    """Remove what is made anew from a ledger. Files of somebody else in these folders stay."""
    for suffix in DERIVED:
        folder = ledger.with_name(ledger.name + suffix)
        for inside in sorted(folder.rglob("*"), reverse=True):
            if inside.is_file() and not inside.is_symlink() and _OURS.fullmatch(inside.name):
                shred(inside)
        for below in (*sorted((each for each in folder.rglob("*") if each.is_dir()), reverse=True), folder):
            with suppress(OSError):  # not there, or not empty
                below.rmdir()


def _overwrite(descriptor: int) -> None:
    size, place = os.fstat(descriptor).st_size, 0
    while place < size:
        try:
            place += os.pwrite(descriptor, _ZEROS[: size - place], place)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            place += _PAGE  # a hole, for which a full disk has no block: there is nothing in it
    os.fsync(descriptor)
