"""The only place that opens a SQLite file: its settings, its readers, its one writer with group commit.

Writers of one process queue up and the first in line commits for all of them, so that many callers share one
fsync. Between processes the wait is short and random, so that nobody starves.
"""

import errno
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from memoranda.domain.errors import LedgerDamaged, LedgerError, LedgerFull, LedgerLocked, MemorandaError

T = TypeVar("T")
Job = Callable[[apsw.Connection], T]

_MAX_GROUP = 512
_CLOSING_SECONDS = 2.0
_READ_FLAGS = apsw.SQLITE_OPEN_READONLY
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE
# Nobody but who closes the store touches the connection of another thread.
_ENDED = (apsw.InterruptError, apsw.ConnectionClosedError, apsw.CursorClosedError, apsw.ThreadingViolationError)


class Database:
    """One SQLite file: a reader for each thread, and one writer."""

    def __init__(
        self,
        path: Path,
        *,
        durable: bool,
        busy_seconds: float = 30.0,
        page_size: int = 4096,
        check: Callable[[apsw.Connection], None] | None = None,
    ) -> None:
        """`check` may refuse the file by raising, before a byte of it is changed."""
        self.path = path
        self._durable = durable
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._readers: dict[int, tuple[threading.Thread, apsw.Connection]] = {}
        self._readers_lock = threading.Lock()
        self._queue: deque[_Ticket[Any]] = deque()
        self._queue_lock = threading.Lock()
        self._writing = threading.Lock()
        self._waited = False
        self._closed = False
        self._pid = os.getpid()
        _create_private(path)
        with _translated(path):
            self._writer = self._connect(_WRITE_FLAGS)
            try:
                if check is not None:
                    check(self._writer)
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

    def _connect(self, flags: int) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags=flags)
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

    def _noticed(self) -> None:
        self._waited = True

    def _reader(self) -> apsw.Connection:
        self._check_usable()
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect(_READ_FLAGS)
            thread = threading.current_thread()
            with self._readers_lock:
                for ident, (owner, old) in list(self._readers.items()):
                    if not owner.is_alive():
                        old.close()
                        del self._readers[ident]
                self._readers[id(thread)] = (thread, connection)
            self._local.connection = connection
        return connection

    def _check_usable(self) -> None:
        if self._closed:
            raise _closed()
        if os.getpid() != self._pid:
            raise LedgerError(
                "this store was opened before the process forked",
                hint="Open the store in the child process; a SQLite connection must not cross a fork.",
            )

    # -- reading --

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """A consistent view: everything read inside belongs to one moment."""
        with _translated(self.path):
            connection = self._reader()
            if connection.in_transaction:  # nested: the outer view goes on
                yield connection
                return
            connection.execute("begin")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")

    def version(self) -> int:
        """A number that changes whenever anybody commits. Costs microseconds."""
        with _translated(self.path):
            row = self._reader().execute("pragma data_version").fetchone()
            return int(row[0]) if row else 0

    # -- writing --

    def write(self, job: Job[T]) -> T:
        """Run the job inside a transaction and return when it is durable. Jobs that wait together share a commit."""
        self._check_usable()
        ticket = _Ticket(job)
        with self._queue_lock:
            self._queue.append(ticket)
        with self._writing:
            if not ticket.settled:
                self._commit(self._next_group())
        return ticket.outcome()

    def write_alone(self, job: Job[T]) -> T:
        """Run a job that manages its own transactions (a migration)."""
        with self._writing, _translated(self.path):
            self._check_usable()
            return job(self._writer)

    def _next_group(self) -> "list[_Ticket[Any]]":
        with self._queue_lock:
            return [self._queue.popleft() for _ in range(min(len(self._queue), _MAX_GROUP))]

    def _commit(self, group: "list[_Ticket[Any]]") -> None:
        try:
            with _translated(self.path):
                self._check_usable()
                self._transaction(group)
        except BaseException as error:
            for ticket in group:
                ticket.fail(error)
            if not isinstance(error, Exception):
                raise
        else:
            for ticket in group:
                ticket.settled = True

    def _transaction(self, group: "list[_Ticket[Any]]") -> None:
        connection = self._writer
        if self._waited:
            # Somebody else writes too: step back once, so that they get their turn.
            self._waited = False
            time.sleep(random.uniform(0.0002, 0.001))  # noqa: S311
        connection.execute("begin immediate")
        try:
            if len(group) == 1:
                group[0].run(connection)
            else:
                for ticket in group:
                    self._run_apart(connection, ticket)
            connection.execute("commit")
        except BaseException:
            # On a full disk SQLite has rolled back by itself; a blind rollback would hide the real error.
            if connection.in_transaction:
                connection.execute("rollback")
            raise

    def _run_apart(self, connection: apsw.Connection, ticket: "_Ticket[Any]") -> None:
        connection.execute("savepoint job")
        try:
            ticket.run(connection)
        except MemorandaError as error:
            connection.execute("rollback to job")
            ticket.fail(error)
        connection.execute("release job")

    # -- upkeep --

    def checkpoint(self, *, patience: float = 2.0) -> bool:
        """Move the WAL into the file and cut it to nothing. False when a reader kept it pinned."""
        deadline = time.monotonic() + patience
        while True:
            with self._writing, _translated(self.path):
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

    def vacuum(self) -> None:
        """Write the whole file anew."""
        with self._writing, _translated(self.path):
            self._check_usable()
            self._writer.execute("vacuum")

    def integrity(self) -> list[str]:
        """What SQLite's own check finds wrong; empty when well."""
        with self.read() as connection:
            found = [str(row[0]) for row in connection.execute("pragma integrity_check(20)")]
            found += [f"foreign key broken in {row[0]}" for row in connection.execute("pragma foreign_key_check")]
        return [line for line in found if line != "ok"]

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


class _Ticket(Generic[T]):
    """One job in the queue of the writer."""

    __slots__ = ("_error", "_job", "_result", "settled")

    def __init__(self, job: Job[T]) -> None:
        self._job = job
        self._result: T | None = None
        self._error: BaseException | None = None
        self.settled = False

    def run(self, connection: apsw.Connection) -> None:
        self._result = self._job(connection)

    def fail(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error
        self.settled = True

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


def _close_all(readers: Sequence[apsw.Connection]) -> None:
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


def _is_closed(connection: apsw.Connection) -> bool:
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


def _closed() -> LedgerError:
    return LedgerError("this store is closed", hint="Open it again with memoranda.open().")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """The engine's errors as ours, each with its way out."""
    try:
        yield
    except apsw.BusyError as error:
        raise LedgerLocked(f"{path.name} is locked by another process") from error
    except _ENDED as error:
        raise _closed() from error
    except apsw.FullError as error:
        raise LedgerFull(f"no space left for {path.name}") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
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
            f"{path} cannot be opened for writing ({error})",
            hint="Check that the folder exists and that you may write to it.",
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


def _create_private(path: Path) -> None:
    """The file with mode 0600 before its first byte; SQLite gives its WAL the same mode."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700)
        if not path.exists():
            # Never an existing one: to close it would give up the locks of whoever has it open in this process.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        elif path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be opened for writing ({error.strerror})",
            hint="Check that the folder exists and that you may write to it.",
        ) from error
