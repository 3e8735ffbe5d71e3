"""The folder of an index: which file serves now. Rebuilding writes the next file beside it, then swaps.

A file that is damaged or of an older format is thrown away and made anew from the ledger: it is derived.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memoranda.domain.errors import Conflict, LedgerDamaged, LedgerError
from memoranda.domain.keys import Key
from memoranda.index.embedded import EmbeddedIndex
from memoranda.index.home import ServedIndex
from memoranda.ledger.locking import Busy, held

_CURRENT = "CURRENT"


class IndexFolder:
    """`<ledger>-index/` beside the ledger."""

    def __init__(self, path: Path, *, busy_seconds: float, key: Key | None = None) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._key = key

    def mark(self) -> tuple[int, int]:
        """Changes when another file begins to serve, or the folder was removed."""
        try:
            stat = os.stat(self.path / _CURRENT)
        except (FileNotFoundError, NotADirectoryError):
            return (0, 0)
        return (stat.st_ino, stat.st_mtime_ns)

    def open(self, fingerprint: str) -> EmbeddedIndex:
        """The index that serves; an empty one with this fingerprint when there is none."""
        self._make()
        current = self._current()
        if current is None:
            current = "index-1.db"
            self._point_to(current)
        try:
            return self._opened(current, fingerprint)
        except LedgerDamaged:
            following = self._following(current)
            self._point_to(following)
            self._remove(current)
            return self._opened(following, fingerprint)

    def _opened(self, name: str, fingerprint: str) -> EmbeddedIndex:
        path = self.path / name
        return EmbeddedIndex(path, fingerprint=fingerprint, busy_seconds=self._busy_seconds, key=self._key)

    def _make(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"the index folder {self.path.name} cannot be made ({error.strerror})",
                hint="Remove what stands in its place, and check that you may write there. The ledger is untouched.",
            ) from error

    def discard(self) -> None:
        """Throw away what serves now: it turned out to be damaged."""
        current = self._current()
        if current is not None:
            self._point_to(self._following(current))
            self._remove(current)

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Only one process rebuilds at a time; another is told so at once."""
        self._make()
        try:
            with held(self.path / "REBUILDING"):
                yield
        except Busy as error:
            raise Conflict("another process is rebuilding this index", hint="Wait until it is done.") from error

    def begin(self, fingerprint: str) -> EmbeddedIndex:
        """A new, empty index that does not serve yet. What an earlier, interrupted rebuild left is removed."""
        self._make()
        following = self._following(self._current() or "index-0.db")
        self._remove(following)
        return self._opened(following, fingerprint)

    def swap_to(self, index: ServedIndex) -> None:
        """Let this one serve from now on, and remove the one before."""
        assert isinstance(index, EmbeddedIndex)
        before = self._current()
        self._point_to(index.path.name)
        if before is not None and before != index.path.name:
            self._remove(before)

    def tidy_if_idle(self) -> None:
        """Tidy, unless somebody is rebuilding just now: that one tidies up after itself."""
        with suppress(Conflict), self.rebuilding():
            self.tidy()

    def tidy(self) -> None:
        """Remove what an interrupted rebuild or swap left behind: files of ours that do not serve."""
        current = self._current()
        if current is not None:
            for path in self.path.glob("index-*.db"):
                if path.name != current:
                    self._remove(path.name)

    def files(self) -> tuple[str, ...]:
        """Every file in the folder, whatever it is."""
        if not self.path.is_dir():
            return ()
        return tuple(sorted(str(path) for path in self.path.rglob("*") if path.is_file()))

    def _current(self) -> str | None:
        try:
            name = (self.path / _CURRENT).read_text(encoding="ascii").strip()
        except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
            return None
        # A name of ours and nothing else: the file could have been tampered with.
        number = name.removeprefix("index-").removesuffix(".db")
        return name if number.isdigit() and name == f"index-{number}.db" else None

    def _point_to(self, name: str) -> None:
        draft = self.path / f"{_CURRENT}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(name + "\n")
        draft.replace(self.path / _CURRENT)

    @staticmethod
    def _following(name: str) -> str:
        number = int(name.removeprefix("index-").removesuffix(".db"))
        return f"index-{number + 1}.db"

    def _remove(self, name: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            (self.path / (name + suffix)).unlink(missing_ok=True)
