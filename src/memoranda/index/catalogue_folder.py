"""The folder of the catalogue: which generation serves now, and who may write.

A generation is a catalogue and its index. The next one is made beside it, then a pointer is swapped. What a rebuild
that was killed left behind is taken up by the next rebuild, or removed by the next sync that was asked for.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoranda.domain.errors import Conflict, LedgerDamaged, LedgerError, LedgerLocked
from memoranda.domain.keys import Key
from memoranda.index.catalogue import Catalogue
from memoranda.ledger.locking import Busy, held

_CURRENT = "CURRENT"
_POINTER = re.compile(r"generation-([1-9]\d{0,8})\n?")
# Nothing else in the folder is ever removed: names that only we give.
_OURS = re.compile(r"(?:catalogue-(\d+)\.db(?:-wal|-shm)?|index-(\d+))")


class CatalogueFolder:
    """`<ledger>-documents/` beside the ledger."""

    def __init__(self, path: Path, *, busy_seconds: float, key: Key | None = None) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._key = key

    # -- which one serves --

    def mark(self) -> tuple[int, int]:
        """Changes when another generation begins to serve, or the folder was removed."""
        try:
            stat = os.stat(self.path / _CURRENT)
        except (FileNotFoundError, NotADirectoryError):
            return (0, 0)
        return (stat.st_ino, stat.st_mtime_ns)

    def exists(self) -> bool:
        """Whether a generation serves."""
        return self._current() > 0

    def open(self) -> tuple[int, Catalogue]:
        """The generation that serves; an empty one when there is none, or when it turns out to be damaged."""
        self.make()
        number = self._current()
        if not number:
            number = 1
            self._point_to(number)
        try:
            return number, self.catalogue(number)
        except LedgerDamaged:
            following = number + 1
            self._remove(following)
            fresh = self.catalogue(following)
            self._point_to(following)
            self._remove(number)
            return following, fresh

    def catalogue(self, number: int) -> Catalogue:
        """One generation's, made when it is not there."""
        return Catalogue(self.path / f"catalogue-{number}.db", busy_seconds=self._busy_seconds, key=self._key)

    def index_path(self, number: int) -> Path:
        """Where the index of a generation lies."""
        return self.path / f"index-{number}"

    def begin(self, *, resumable: str) -> tuple[int, Catalogue]:
        """The generation after the one that serves. What an interrupted rebuild left is gone on with when it was made
        in the same way, else removed."""
        self.make()
        following = self._current() + 1
        self.tidy(keep=following)
        try:
            catalogue = self.catalogue(following)
            if catalogue.meta("made") in ("", resumable):
                catalogue.set_meta("made", resumable)
                return following, catalogue
            catalogue.close()
        except LedgerDamaged:
            pass
        self._remove(following)
        catalogue = self.catalogue(following)
        catalogue.set_meta("made", resumable)
        return following, catalogue

    def swap_to(self, number: int) -> None:
        """Let this generation serve from now on, and remove the others."""
        self._point_to(number)
        self.tidy()

    def discard(self) -> None:
        """Throw away what serves now: it turned out to be damaged."""
        current = self._current()
        if current:
            self._remove(current + 1)
            self._point_to(current + 1)
            self._remove(current)

    def tidy_if_idle(self) -> None:
        """Remove what does not serve, unless somebody is rebuilding just now."""
        try:
            with self.rebuilding():
                self.tidy()
        except Conflict:
            return

    def tidy(self, *, keep: int = 0) -> None:
        """Remove what an interrupted rebuild or swap left behind."""
        current = self._current()
        if not current:
            return
        for name in os.listdir(self.path):
            found = _OURS.fullmatch(name)
            if found and int(found[1] or found[2]) not in (current, keep):
                self._remove(int(found[1] or found[2]))

    def files(self) -> tuple[str, ...]:
        """Every file in the folder, whatever it is."""
        if not self.path.is_dir():
            return ()
        return tuple(sorted(str(path) for path in self.path.rglob("*") if path.is_file()))

    # -- who may write --

    @contextmanager
    def rebuilding(self) -> Iterator[int]:
        """Only one process rebuilds at a time; another is told so at once. Gives the time as `syncing` does."""
        self.make()
        try:
            with _held(self.path / "REBUILDING", 0.0) as now_ns:
                yield now_ns
        except Busy as error:
            raise Conflict(
                "another process is making the documents anew", hint="Wait until it is done; search goes on."
            ) from error

    @contextmanager
    def syncing(self, *, patience: float) -> Iterator[int]:
        """Only one sync at a time. Gives the time by the clock of the disk, in nanoseconds."""
        self.make()
        try:
            with _held(self.path / "SYNCING", patience) as now_ns:
                yield now_ns
        except Busy as error:
            raise LedgerLocked(
                "another process is reading the documents", hint="Search what there is, or try again."
            ) from error

    # -- files --

    def make(self) -> None:
        """Make the folder."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"the folder {self.path.name} cannot be made ({error.strerror})",
                hint="Remove what stands in its place, and check that you may write there. The ledger is untouched.",
            ) from error

    def _current(self) -> int:
        try:
            found = _POINTER.fullmatch((self.path / _CURRENT).read_text(encoding="ascii"))
        except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
            return 0
        return int(found[1]) if found else 0

    def _point_to(self, number: int) -> None:
        draft = self.path / f"{_CURRENT}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(f"generation-{number}\n")
        draft.replace(self.path / _CURRENT)

    def _remove(self, number: int) -> None:
        for suffix in ("", "-wal", "-shm"):
            (self.path / f"catalogue-{number}.db{suffix}").unlink(missing_ok=True)
        shutil.rmtree(self.index_path(number), ignore_errors=True)


@contextmanager
def _held(path: Path, patience: float) -> Iterator[int]:
    """A lock that goes with its holder. Gives the time of the disk."""
    with held(path, patience=patience):
        os.utime(path)
        yield os.stat(path).st_mtime_ns
