"""`LanceHome`: which table of LanceDB serves as the index of a corpus. A rebuild makes the next table beside it.

Which one serves is said in a small table of its own, so that every machine that shares an object store knows it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.domain.errors import ConfigError, Conflict, LedgerDamaged, LedgerLocked, ProviderMissing
from memoranda.ledger.locking import Busy

if TYPE_CHECKING:
    from memoranda.index.home import ServedIndex
    from memoranda.index.lancedb.index import Hold, LanceIndex
    from memoranda.index.lancedb.rows import Serving, Standing
    from memoranda.index.lancedb.tables import Table, Tables

_PATIENCE = 30.0
_CORPUS = re.compile(r"[a-z][a-z0-9_]{0,40}")
_SECRETS = ("secret", "password", "token", "access_key", "account_key")


def open_home(
    address: str,
    corpus: str,
    options: Mapping[str, str],
    *,
    local_path: Path,
    hold: "Hold",
    encrypted: bool = False,
) -> "LanceHome":
    """The home of a corpus in a folder, or in an object store (`s3://BUCKET/PREFIX`) with its storage options.

    Credentials come from the environment, as the engine reads them, never from a setting.
    """
    if find_spec("lancedb") is None:
        raise ProviderMissing("lancedb is not installed", hint='pip install "memoranda[lancedb]"')
    if not address or not _CORPUS.fullmatch(corpus):
        raise ConfigError("index_home names no place", hint="Use lancedb:FOLDER or lancedb:s3://BUCKET/PREFIX.")
    if encrypted:
        raise ConfigError(
            "the store is encrypted, and LanceDB cannot encrypt",
            hint="Set index_home to 'embedded': that index is encrypted with the store's key.",
        )
    if secret := [name for name in options if any(word in name.casefold() for word in _SECRETS)]:
        raise ConfigError(
            f"index_options has {secret[0][:80]!r}, which is a secret",
            hint="Give it to the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.",
        )
    return LanceHome(_tables(address, tuple(sorted(options.items()))), corpus, local_path=local_path, hold=hold)


@lru_cache(maxsize=8)
def _tables(address: str, options: tuple[tuple[str, str], ...]) -> "Tables":
    """One connection for each place: to make one costs more than a search."""
    from memoranda.index.lancedb.tables import Tables

    return Tables(address.rstrip("/"), dict(options))


class LanceHome:
    """The tables `<corpus>-1`, `<corpus>-2` ... of which one serves, and `<corpus>-home`, which says which."""

    def __init__(self, tables: "Tables", corpus: str, *, local_path: Path, hold: "Hold") -> None:
        self.path = local_path
        self._tables = tables
        self._corpus = corpus
        self._hold = hold
        self._pointer: Table | None = None

    def mark(self) -> tuple[int, int]:
        """Changes when another table begins to serve, or everything was removed."""
        pointer = self._pointing()
        if pointer is None:
            return (0, 0)
        folder = pointer.folder
        return pointer.version(), 0 if folder is None else folder.stat().st_ino

    def open(self, fingerprint: str) -> "LanceIndex":
        """The index that serves; an empty one with this fingerprint when there is none."""
        from memoranda.index.lancedb.index import LanceIndex
        from memoranda.index.lancedb.mending import mended

        current = self._current()
        if current:
            with suppress(LedgerDamaged):
                return self._opened(current)
        with self._changing():
            # Another process may have made it, or made it anew, while this one waited.
            now = self._serving()
            if now.generation and now.generation != current:
                return self._opened(now.generation)
            if now.generation and (whole := mended(self._tables, self._named(now.generation))) is not None:
                return LanceIndex(whole, hold=self._hold)
            if not now.generation:
                self._check_place()
            following = now.last + 1
            self._tables.drop(self._named(following))
            table = self._tables.create(self._named(following), _standing(fingerprint))
            self._point_to(following)
            if current:
                self._tables.drop(self._named(current))
        return LanceIndex(table, hold=self._hold)

    def _opened(self, generation: int) -> "LanceIndex":
        from memoranda.index.lancedb.index import opened

        return opened(self._tables.open(self._named(generation)), hold=self._hold)

    def _check_place(self) -> None:
        """An object store that lets two win who write the same thing would lose what one of them wrote."""
        if self._tables.remote and not self._tables.checked:
            from memoranda.index.lancedb.place import check_conditional_writes

            check_conditional_writes(self._tables)
            self._tables.checked = True

    def discard(self) -> None:
        """Throw away what serves now: it turned out to be damaged."""
        with self._changing():
            current = self._current()
            if current:
                self._point_to(0)
                self._tables.drop(self._named(current))

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Only one process rebuilds at a time; another is told so at once."""
        try:
            with self._hold(f"index-{self._corpus}-rebuilding"):
                yield
        except Busy as error:
            raise Conflict("another process is rebuilding this index", hint="Wait until it is done.") from error

    def begin(self, fingerprint: str) -> "LanceIndex":
        """A new, empty index that does not serve yet. What an earlier, interrupted rebuild left is removed."""
        from memoranda.index.lancedb.index import LanceIndex

        name = self._named(self._serving().last + 1)
        self._tables.drop(name)
        return LanceIndex(self._tables.create(name, _standing(fingerprint)), hold=self._hold)

    def swap_to(self, index: "ServedIndex") -> None:
        """Let this one serve from now on, and remove the one before."""
        from memoranda.index.lancedb.index import LanceIndex

        if not isinstance(index, LanceIndex):
            raise TypeError("an index of another engine cannot serve here")
        with self._changing():
            before = self._current()
            generation = int(index.name.rpartition("-")[2])
            self._point_to(generation)
            if before and before != generation:
                self._tables.drop(self._named(before))

    def tidy_if_idle(self) -> None:
        """Tidy, unless somebody is rebuilding just now: that one tidies up after itself."""
        with suppress(Conflict), self.rebuilding():
            self.tidy()

    def tidy(self) -> None:
        """Remove what an interrupted rebuild or swap left behind: tables of ours that do not serve."""
        current = self._current()
        if current:
            for name in self._tables.names():
                generation = name.removeprefix(f"{self._corpus}-")
                if name != generation and generation.isdigit() and int(generation) != current:
                    self._tables.drop(name)

    def files(self) -> tuple[str, ...]:
        """Every file of the tables of this corpus on this machine, whatever it is."""
        folder = self._tables.folder
        if folder is None or not folder.is_dir():
            return ()
        found = (path for each in folder.glob(f"{self._corpus}-*.lance") for path in each.rglob("*"))
        return tuple(sorted(str(path) for path in found if path.is_file()))

    # -- which one serves --

    def _named(self, generation: int) -> str:
        return f"{self._corpus}-{generation}"

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            with self._hold(f"index-{self._corpus}-home", patience=_PATIENCE):
                yield
        except Busy as error:
            raise LedgerLocked("another process changes which index serves") from error

    def _pointing(self) -> "Table | None":
        """The table that says which one serves; None when there is none (any more)."""
        pointer = self._pointer
        if pointer is not None and (pointer.folder is None or pointer.folder.is_dir()):
            return pointer
        self._pointer = self._tables.open(self._corpus + "-home")
        return self._pointer

    def _serving(self) -> "Serving":
        from memoranda.index.lancedb.rows import Serving

        pointer = self._pointing()
        if pointer is None:
            return Serving()
        pointer.version()
        return Serving.from_bytes(pointer.said())

    def _current(self) -> int:
        return self._serving().generation

    def _point_to(self, generation: int) -> None:
        from memoranda.index.lancedb.rows import to_table

        before = self._serving()
        serving = before._replace(generation=generation, last=max(before.last, generation))
        pointer = self._pointing()
        if pointer is None:
            self._pointer = self._tables.create(self._corpus + "-home", serving)
        else:
            pointer.merge(to_table((), serving))


def _standing(fingerprint: str) -> "Standing":
    from memoranda.index.lancedb.rows import Standing

    return Standing(fingerprint)
