"""The only place that opens a SQLite file: its settings, its readers, its one writer.

Between processes the wait is short and random, so that nobody starves.
"""

import errno
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import apsw

from memoranda.domain.errors import LedgerDamaged, LedgerError, LedgerFull, LedgerLocked, NotFound
from memoranda.domain.keys import Key
from memoranda.ledger.database import Database, Job, Ticket, closed, make_folder
from memoranda.ledger.dialect import SQLITE
from memoranda.ledger.locking import held
from memoranda.ledger.moved import moved
from memoranda.ledger.sealing import refusal, unlock

T = TypeVar("T")
C = TypeVar("C", bound="SqliteConnection")

_CLOSING_SECONDS = 2.0
_READ_FLAGS = apsw.SQLITE_OPEN_READONLY
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE
_READ_ONLY_HINT = "To look only, open it with read_only=True; on the command line, set MEMORANDA_READ_ONLY=1."
# Nobody but who closes the store touches the connection of another thread.
_ENDED = (apsw.InterruptError, apsw.ConnectionClosedError, apsw.CursorClosedError, apsw.ThreadingViolationError)


class SqliteConnection(apsw.Connection):
    """A connection that knows what it speaks."""

    dialect = SQLITE


class _Reader(SqliteConnection):
    """One that knows what was asked of it and not read to its end: that would keep its view open after the view."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._unread: WeakSet[apsw.Cursor] = WeakSet()
        self.cursor_factory = _noted

    def end_view(self) -> None:
        """Let go of everything that was seen. Whoever reads on is told that it is too late."""
        for cursor in list(self._unread):
            cursor.close(True)
        self._unread.clear()
        if self.in_transaction:
            self.execute("rollback")


def _noted(reader: apsw.Connection) -> apsw.Cursor:
    assert isinstance(reader, _Reader)
    cursor = apsw.Cursor(reader)
    reader._unread.add(cursor)
    return cursor


class SqliteDatabase(Database):
    """One SQLite file: a reader for each thread, and one writer."""

    dialect = SQLITE

    def __init__(
        self,
        path: Path,
        *,
        durable: bool,
        busy_seconds: float = 30.0,
        page_size: int = 4096,
        check: Callable[[SqliteConnection], object] | None = None,
        key: Key | None = None,
        read_only: bool = False,
    ) -> None:
        """`check` may refuse the file by raising, before a byte of it is changed. With a key it is encrypted. To be
        read only, it has to be there."""
        super().__init__()
        self.read_only = read_only
        self.path = path
        self._key = key
        self._durable = durable
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._readers: dict[int, tuple[threading.Thread, _Reader]] = {}
        self._readers_lock = threading.Lock()
        self._waited = False
        if read_only:
            _refuse_missing(path)
        else:
            _create_private(path)
        with self._translated():
            self._writer = self._connect(SqliteConnection, _READ_FLAGS if read_only else _WRITE_FLAGS)
            try:
                if check is not None:
                    check(self._writer)
                if not read_only:
                    self._prepare(page_size)
            except BaseException:
                self._writer.close()
                raise

    def _prepare(self, page_size: int) -> None:
        self._writer.execute(f"pragma page_size = {page_size:d}").fetchall()
        mode = self._in_wal()
        if mode is None or mode[0] != "wal":
            raise LedgerError(
                f"{self.path.name} cannot be kept in WAL mode here",
                hint="Move the store to a local disk; network drives do not support it.",
            )

    def _in_wal(self) -> Any:
        """Several processes may make the same file at once; SQLite does not wait for that one by itself."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                return self._writer.execute("pragma journal_mode = wal").fetchone()
            except apsw.BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(random.uniform(0.002, 0.02))  # noqa: S311

    # -- connections --

    def _connect(self, kind: type[C], flags: int) -> C:
        connection = kind(str(self.path), flags=flags)
        if self._key is not None:
            unlock(connection, self._key)
        connection.set_busy_handler(_patience(self._busy_seconds, self._noticed))
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.execute(
            f"""
            pragma synchronous = {"full" if self._durable else "normal"};
            pragma secure_delete = on;
            pragma foreign_keys = on;
            pragma trusted_schema = off;
            pragma cell_size_check = on;
            pragma temp_store = memory;
            pragma cache_size = -16384;
            pragma mmap_size = 0;
            pragma journal_size_limit = 16777216;
            """
        ).fetchall()  # a pragma that answers stops the script until its row is read
        return connection

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path, self._key)

    def _noticed(self) -> None:
        self._waited = True

    def _reader(self) -> _Reader:
        self._check_usable()
        connection: _Reader | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect(_Reader, _READ_FLAGS)
            thread = threading.current_thread()
            with self._readers_lock:
                for ident, (owner, old) in list(self._readers.items()):
                    if not owner.is_alive():
                        old.close()
                        del self._readers[ident]
                self._readers[id(thread)] = (thread, connection)
            self._local.connection = connection
        return connection

    # -- reading --

    @contextmanager
    def read(self) -> Iterator[SqliteConnection]:
        """A consistent view: everything read inside belongs to one moment."""
        with self._translated():
            connection = self._reader()
            if connection.in_transaction:  # nested: the outer view goes on
                yield connection
                return
            connection.execute("begin")
            try:
                yield connection
            finally:
                connection.end_view()

    def version(self) -> int:
        """A number that changes whenever anybody commits. Costs microseconds."""
        with self._translated():
            row = self._reader().execute("pragma data_version").fetchone()
            return int(row[0]) if row else 0

    # -- writing --

    def _alone(self, job: Job[T]) -> T:
        return job(self._writer)

    def _transaction(self, group: "list[Ticket[Any]]") -> None:
        connection = self._writer
        if self._waited:
            # Somebody else writes too: step back once, so that they get their turn.
            self._waited = False
            time.sleep(random.uniform(0.0002, 0.001))  # noqa: S311
        connection.execute("begin immediate")
        try:
            self._run_all(connection, group)
            connection.execute("commit")
        except BaseException:
            # On a full disk SQLite has rolled back by itself; a blind rollback would hide the real error.
            if connection.in_transaction:
                connection.execute("rollback")
            raise

    def _is_own_fault(self, error: Exception) -> bool:
        return not isinstance(error, apsw.Error) or isinstance(error, apsw.ConstraintError)

    # -- between processes --

    def hold(self, name: str, *, patience: float = 0.0) -> AbstractContextManager[None]:
        self._check_usable()
        return held(self.path.with_name(f"{self.path.name}-{name}"), patience=patience)

    # -- upkeep --

    def checkpoint(self, *, patience: float = 2.0) -> bool:
        """Move the WAL into the file and cut it to nothing. False when a reader kept it pinned."""
        deadline = time.monotonic() + patience
        while True:
            with self._writing, self._translated():
                self._check_usable()
                # Not the usual patience: whoever waits for a reader in here keeps all writers out.
                self._writer.set_busy_handler(_patience(0.1, self._noticed))
                try:
                    row = self._writer.execute("pragma wal_checkpoint(truncate)").fetchone()
                except apsw.BusyError:
                    row = (1,)
                finally:
                    self._writer.set_busy_handler(_patience(self._busy_seconds, self._noticed))
            if row is not None and row[0] == 0:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)

    def scrub(self) -> str:
        self.refuse_read_only()
        held = "another process is reading the store; run `memoranda maintain` when it has ended"
        return "" if self.checkpoint() else held

    def vacuum(self) -> None:
        """Write the whole file anew."""
        self.refuse_read_only()
        with self._writing, self._translated():
            self._check_usable()
            self._writer.execute("vacuum")

    def integrity(self) -> list[str]:
        """What SQLite's own check finds wrong; empty when well."""
        with self.read() as connection:
            found = [str(row[0]) for row in connection.execute("pragma integrity_check(20)")]
            found += [f"foreign key broken in {row[0]}" for row in connection.execute("pragma foreign_key_check")]
        return [line for line in found if line != "ok"]

    def free_and_all_bytes(self) -> tuple[int, int]:
        with self.read() as connection:
            free, pages, size = (
                int(connection.execute(f"pragma {name}").fetchone()[0])  # type: ignore[index]
                for name in ("freelist_count", "page_count", "page_size")
            )
        return free * size, pages * size

    def engine_version(self) -> str:
        return version()

    def files(self) -> tuple[str, ...]:
        """The files that exist now."""
        names = (self.path, *(self.path.with_name(self.path.name + suffix) for suffix in ("-wal", "-shm")))
        return tuple(str(name) for name in names if name.exists())

    def close(self) -> None:
        """Close every connection; who reads still is told that the store is closed. May be called twice."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            if os.getpid() != self._pid:
                return
            try:
                with self._readers_lock:
                    readers = [connection for _, connection in self._readers.values()]
                    self._readers.clear()
                _close_all(readers)
            finally:
                self._writer.close()


def version() -> str:
    """Of what files are kept with, for people."""
    cipher = getattr(apsw, "mc_version", None)
    return f"SQLite {apsw.sqlite_lib_version()}, {cipher or 'which cannot encrypt'}"


def _close_all(readers: Sequence[SqliteConnection]) -> None:
    """Those that are in use are interrupted. Who does not stop soon keeps a connection that its thread lets go of."""
    deadline = time.monotonic() + _CLOSING_SECONDS
    left = list(readers)
    while left:
        for connection in left:
            connection.interrupt()
        left = [connection for connection in left if not _is_closed(connection)]
        if time.monotonic() >= deadline:
            return
        if left:
            time.sleep(0.005)


def _is_closed(connection: SqliteConnection) -> bool:
    try:
        connection.close()
    except apsw.ThreadingViolationError:  # another thread is inside of it this very moment
        return False
    return True


def _patience(seconds: float, noticed: Callable[[], None]) -> Callable[[int], bool]:
    """A busy handler: waits a short random time, again and again, up to a limit."""
    began = 0.0

    def wait(tries: int) -> bool:
        nonlocal began
        noticed()
        if tries == 0:
            began = time.monotonic()
        if time.monotonic() - began > seconds:
            return False
        time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311
        return True

    return wait


@contextmanager
def translated(path: Path, key: Key | None) -> Iterator[None]:
    """The engine's errors as ours, each with its way out."""
    try:
        yield
    except (apsw.BusyError, apsw.ProtocolError) as error:
        raise LedgerLocked(f"{path.name} is locked by another process") from error
    except _ENDED as error:
        raise closed() from error
    except apsw.ConstraintError as error:
        gone = moved(str(error))
        if gone is None:
            raise
        raise gone from error
    except apsw.FullError as error:
        raise LedgerFull(f"no space left for {path.name}") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
        # A key that does not fit is no damage: nobody may throw the file away for it.
        refused = refusal(path, key) if isinstance(error, apsw.NotADBError) else None
        if refused is not None:
            raise refused from error
        raise LedgerDamaged(f"{path.name} is damaged or not a ledger ({error})") from error
    except apsw.IOError as error:
        # ENOSPC, EFBIG and EDQUOT may reach us as a failed write.
        if "disk" in str(error).casefold() and _is_full(path):
            raise LedgerFull(f"no space left for {path.name}") from error
        raise LedgerError(
            f"the disk failed under {path.name} ({error})",
            hint="Check the disk; acknowledged writes are safe.",
        ) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise LedgerError(
            f"{path} cannot be opened ({error})",
            hint="Check that the folder exists and that you may write to it: SQLite keeps files beside a store, also "
            "while it is only read. Or copy the store to a folder of your own.",
        ) from error


def _is_full(path: Path) -> bool:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit != resource.RLIM_INFINITY:
            return True
    except ImportError:  # not on Windows
        pass
    stat = os.statvfs(path.parent) if hasattr(os, "statvfs") else None
    return stat is not None and stat.f_bavail * stat.f_frsize < 1 << 20


def _refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise NotFound(f"there is no store at {path}", hint="To be read only, it has to be there: check the path.")


def _create_private(path: Path) -> None:
    """The file with mode 0600 before its first byte; SQLite gives its WAL the same mode."""
    try:
        make_folder(path.parent)
        if not path.exists():
            # Never an existing one: to close it would give up the locks of whoever has it open in this process.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        elif path.is_dir():
            raise LedgerError(f"{path} is a folder", hint="Give the path of a file, such as memoranda.db.")
        elif not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        elif path.stat().st_size == 0:
            with suppress(PermissionError):  # another's, who lets us write to it
                path.chmod(0o600)
    except OSError as error:
        readable = os.access(path, os.R_OK)
        raise LedgerError(
            f"{path} cannot be opened for writing ({error.strerror})",
            hint=_READ_ONLY_HINT if readable else "Check that the folder exists and that you may write to it.",
        ) from error
