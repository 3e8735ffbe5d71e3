"""The workroom: a folder beside the store for text that lies in clear on its way out of the store, or into it.

Each piece of work has a desk there, a folder for its owner alone that is held as long as the work lasts. A desk that
nobody holds was left by somebody who was killed: it is overwritten and removed when the store is next opened, kept up,
examined or erased from. What has to be written elsewhere, beside its target, is noted on a desk by its path.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from memoranda.domain.errors import LedgerError, LedgerFull, MemorandaError
from memoranda.ledger.database import make_folder
from memoranda.ledger.locking import Busy, held
from memoranda.ledger.replacing import shred, shred_database

SUFFIX = "-work"
_LOCK = "lock"
_NOTE = "beside"
_FILES = "files"
_PART = ".memoranda-part"
_BACKUP_PART = ".part"
"""How the names end of what is written beside its target. Nothing else is ever removed because of a note."""
_PATIENCE_SECONDS = 30.0
_LONGEST_NOTE = 16_384


class Workroom:
    """That of one store. Made when it is first needed; looked at without the store being open."""

    def __init__(self, store: Path) -> None:
        self.folder = store.with_name(store.name + SUFFIX)

    @contextmanager
    def desk(self) -> Iterator[Path]:
        """A new folder for text in clear. Nothing of it is left at the end, however that comes about."""
        with self._held() as desk:
            folder = desk / _FILES
            with _written(self.folder):
                folder.mkdir(mode=0o700)
            yield folder

    @contextmanager
    def noted(self, path: Path) -> Iterator[None]:
        """While a file is written somewhere else: whoever is killed meanwhile leaves word of it here."""
        with self._held() as desk:
            with _written(self.folder), _made(desk / _NOTE) as note:
                note.write(os.fsencode(path.absolute()))
                note.flush()
                os.fsync(note.fileno())
            yield

    @contextmanager
    def beside(self, target: Path) -> Iterator[IO[bytes]]:
        """A new file beside a target, for its owner alone; gone at the end unless it was moved to its place."""
        part = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}{_PART}")
        with self.noted(part):
            try:
                with _made(part) as file:
                    yield file
            finally:
                shred(part)

    @contextmanager
    def holding(self, name: str, content: bytes) -> Iterator[Path]:
        """A file with this content, on a desk of its own."""
        with self.desk() as folder:
            with _written(self.folder), _made(folder / name) as file:
                file.write(content)
            yield folder / name

    # -- what was left --

    def files(self) -> list[Path]:
        """Everything that lies here or is noted here, also of work that is under way."""
        return [each for desk in self._desks() for each in (*_files_in(desk), *_noted_at(desk))]

    def left(self) -> list[Path]:
        """What somebody left behind who was killed."""
        return [each for desk in self._desks() if not _is_held(desk) for each in (desk, *_noted_at(desk))]

    def clear(self) -> int:
        """Overwrite and remove what was left; of how many pieces of work. Nothing, when somebody else is at it."""
        if not any(self._desks()):
            return 0
        cleared = 0
        with suppress(Busy, OSError), held(self.folder / _LOCK):
            for desk in self._desks():
                with suppress(Busy, OSError), held(desk / _LOCK):
                    for part in _noted_at(desk):
                        shred_database(part)
                    _cleared(desk)
                    cleared += 1
        return cleared

    # -- desks --

    def _desks(self) -> list[Path]:
        if self.folder.is_symlink() or not self.folder.is_dir():
            return []
        with suppress(OSError):
            return sorted(each for each in self.folder.iterdir() if each.is_dir() and not each.is_symlink())
        return []

    @contextmanager
    def _held(self) -> Iterator[Path]:
        """A new desk, held meanwhile."""
        desk, lock = self._taken()
        try:
            yield desk
        finally:
            _cleared(desk)
            os.close(lock)

    def _taken(self) -> tuple[Path, int]:
        """A new desk and what holds it. Nobody clears the room between the two."""
        with _written(self.folder):
            make_folder(self.folder)
            try:
                with held(self.folder / _LOCK, patience=_PATIENCE_SECONDS):
                    desk = self.folder / os.urandom(8).hex()
                    desk.mkdir(mode=0o700)
                    return desk, _hold(desk / _LOCK)
            except Busy as error:
                raise LedgerError(
                    f"{self.folder.name} is being cleared by another process", hint="Try again in a moment."
                ) from error


def _made(path: Path) -> IO[bytes]:
    """A new file for its owner alone, from its first byte on."""
    return open(path, "x+b", opener=lambda name, flags: os.open(name, flags, 0o600))


def _hold(path: Path) -> int:
    """Lock a file that is new, until the descriptor is closed or the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        import fcntl
    except ImportError:
        return descriptor
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _is_held(desk: Path) -> bool:
    try:
        with held(desk / _LOCK):
            return False
    except (Busy, OSError):
        return True


def _files_in(desk: Path) -> list[Path]:
    return sorted(each for each in desk.rglob("*") if each.is_file() and not each.is_symlink())


def _noted_at(desk: Path) -> list[Path]:
    """What is noted there and is still where it was, with what SQLite puts beside it."""
    try:
        with open(desk / _NOTE, "rb") as file:
            path = Path(os.fsdecode(file.read(_LONGEST_NOTE)))
        if not path.is_absolute() or not path.name.startswith(".") or not path.name.endswith((_PART, _BACKUP_PART)):
            return []
        beside = [path.with_name(path.name + suffix) for suffix in ("", "-journal", "-wal", "-shm")]
        return [each for each in beside if each.is_file() and not each.is_symlink()]
    except (OSError, ValueError):
        return []


def _cleared(desk: Path) -> None:
    """The lock goes last: a desk without one belongs to nobody."""
    lock = desk / _LOCK
    with suppress(OSError):
        for each in sorted(desk.rglob("*"), reverse=True):
            if each.is_dir() and not each.is_symlink():
                each.rmdir()
            elif each != lock:
                shred(each)
        lock.unlink(missing_ok=True)
        desk.rmdir()


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, MemorandaError):
            raise
        kind = LedgerFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else LedgerError
        raise kind(
            f"{folder} cannot be written ({error.strerror or error})",
            hint="Check that there is space and that you may write there; nothing was left behind.",
        ) from error
