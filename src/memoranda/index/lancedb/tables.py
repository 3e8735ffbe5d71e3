"""LanceDB itself: the tables of one folder or of one prefix in an object store, and what may go wrong with them."""

import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from memoranda.domain.errors import LedgerDamaged, LedgerError, LedgerFull, LedgerUnavailable
from memoranda.index.lancedb.filters import one_of
from memoranda.index.lancedb.rows import STANDING, Serving, Standing, schema, to_table

_ALL = (1 << 31) - 1
_MOST_TABLES = 10_000
_PART = 2_000
# What the engine says when something is not there or cannot be read; anything else may pass.
_BROKEN = ("not found", "does not exist", "corrupt", "invalid range", "magic", "failed to parse", "decod")
T = TypeVar("T")


class Tables:
    """The tables of one address."""

    def __init__(self, address: str, options: Mapping[str, str]) -> None:
        self.remote = "://" in address
        self.address = address
        self.folder = None if self.remote else Path(address).expanduser().absolute()
        self._options = dict(options)
        self._connected: Any = None
        self._queues: dict[str, Lock] = {}
        self.checked = False
        """Whether it is known to keep what several write at once."""

    @property
    def _database(self) -> Any:
        if self._connected is None:
            # It would write to the terminal of whoever asks, such as that a partition is empty.
            os.environ.setdefault("LANCEDB_LOG", "error")  # noqa: TID251 it is the engine's own, and read by it alone
            lancedb: Any = import_module("lancedb")
            if self.folder is not None:
                _make(self.folder)
            place = self.address if self.folder is None else str(self.folder)
            self._connected = self.asked(
                lambda: lancedb.connect(place, storage_options=self._options if self.remote else None)
            )
        return self._connected

    def queue(self, name: str) -> Lock:
        """Where the threads of this process wait that want to write a table: only one at a time asks for its lock."""
        return self._queues.setdefault(name, Lock())

    def names(self) -> list[str]:
        """Of every table that is there."""
        if self.folder is not None and not self.folder.is_dir():
            return []
        return list(self.asked(lambda: self._database.list_tables(limit=_MOST_TABLES).tables))

    def open(self, name: str) -> "Table | None":
        """A table; None when there is none of that name."""
        if name not in self.names():
            return None
        return Table(self, name, self.asked(lambda: self._database.open_table(name)))

    def create(self, name: str, standing: Standing | Serving) -> "Table":
        """A new, empty one. Whoever calls sees to it that nobody else makes it just now."""
        rows = to_table((), standing)
        return Table(self, name, self.asked(lambda: self._database.create_table(name, data=rows)))

    def overwrite(self, name: str, batches: Any, form: Any) -> Any:
        """Everything in it anew, in one step; what was before is still there as an older version."""
        return self.asked(
            lambda: self._database.create_table(
                name, data=batches, schema=form, mode="overwrite", on_bad_vectors="null"
            )
        )

    def drop(self, name: str) -> None:
        if self.folder is not None:
            # Also when it is so damaged that the engine does not see a table in it.
            shutil.rmtree(self.folder / f"{name}.lance", ignore_errors=True)
        elif name in self.names():
            self.asked(lambda: self._database.drop_table(name))

    def asked(self, job: Callable[[], T]) -> T:
        """What the engine answers; its errors are ours."""
        try:
            return job()
        except (RuntimeError, ValueError, OSError) as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> LedgerError:
        told = " ".join(str(error).split())[:300]
        if "No space left" in told:
            return LedgerFull(f"the index cannot be written: {told}")
        if self.remote and not any(word in told.casefold() for word in _BROKEN):
            return LedgerUnavailable(
                f"the object store of the index does not answer: {told}",
                hint="Check address, credentials and network; set index_home to 'embedded' to go on without it.",
            )
        return LedgerDamaged(f"the index cannot be read: {told}", hint="It is made anew from the ledger.")


class Table:
    """One table. Reads see its latest version as of the last `version()`."""

    def __init__(self, tables: Tables, name: str, handle: Any) -> None:
        self.tables = tables
        self.name = name
        self.handle = handle
        self.folder = None if tables.folder is None else tables.folder / f"{name}.lance"

    def version(self) -> int:
        """The latest version, whoever committed it; what is read from now on is that."""

        def job() -> int:
            self.handle.checkout_latest()
            return int(self.handle.version)

        return self.tables.asked(job)

    def asked(self, job: Callable[[Any], T]) -> T:
        """Ask the table. What it had in view may have been cleaned away meanwhile: then the latest is asked."""
        try:
            return job(self.handle)
        except (RuntimeError, ValueError, OSError):
            self.version()
            return self.tables.asked(lambda: job(self.handle))

    # -- reading --

    def rows(self, where: str, columns: Sequence[str], *, limit: int = _ALL) -> Any:
        """An Arrow table of the rows that fulfil a condition."""
        return self.asked(lambda handle: handle.search().where(where).select(list(columns)).limit(limit).to_arrow())

    def numbered(self, numbers: Collection[int], columns: Sequence[str], *, where: str = "") -> list[Any]:
        """The rows of these numbers, as Arrow tables."""
        listed = sorted(numbers)
        parts = [listed[start : start + _PART] for start in range(0, len(listed), _PART)]
        beside = f" AND ({where})" if where else ""
        return [self.rows(one_of("number", part) + beside, columns) for part in parts]

    def count(self, where: str) -> int:
        return self.asked(lambda handle: int(handle.count_rows(where)))

    def standing(self) -> Standing:
        return Standing.from_bytes(self.said())

    def said(self) -> bytes:
        """What the table says of itself."""
        bodies = self.rows(one_of("number", [STANDING]), ("body",))["body"].to_pylist()
        if len(bodies) != 1:
            raise LedgerDamaged("the index does not say how far it is")
        return bytes(bodies[0])

    def width(self) -> int:
        """Of the column of vectors; 0 when there is none."""
        form = self.asked(lambda handle: handle.schema)
        return int(form.field("vector").type.list_size) if "vector" in form.names else 0

    # -- writing: whoever calls holds the index --

    def merge(self, rows: Any, *, gone: Collection[int] = (), insert: bool = True) -> None:
        """Put rows in the place of those of the same number and take others away, in one step."""

        def job(handle: Any) -> None:
            step = handle.merge_insert("number").when_matched_update_all()
            if insert:
                step = step.when_not_matched_insert_all()
            if gone:
                step = step.when_not_matched_by_source_delete(one_of("number", gone))
            step.execute(rows, on_bad_vectors="null")  # an entry may have no vector (yet)

        self.version()
        self.tables.asked(lambda: job(self.handle))

    def copy_into_itself(self, width: int) -> None:
        """Every row that is alive into new files."""
        form = schema(width)
        batches = self.asked(lambda handle: handle.search().select(list(form.names)).limit(_ALL).to_batches(_PART))
        self.tables.overwrite(self.name, batches, form)
        self.version()

    def compact(self, *, older_than: timedelta, all_files: bool = False) -> None:
        """Join small files, take new rows into the engine's indexes, and remove versions that are older."""
        self.version()
        self.tables.asked(lambda: self.handle.optimize(cleanup_older_than=older_than, delete_unverified=all_files))
        self.version()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(
            f"the index folder {folder.name} cannot be made ({error.strerror})",
            hint="Remove what stands in its place, and check that you may write there. The ledger is untouched.",
        ) from error
