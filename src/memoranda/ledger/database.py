"""`Database`: what holds the tables, whatever engine it is. Its writers queue up, and share a commit.

Writers of one process queue up and the first in line commits for all of them, so that many callers share one
wait for the disk.
"""

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from memoranda.domain.errors import LedgerError, Refused
from memoranda.ledger import claims
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import Dialect
from memoranda.ledger.fence import current, tell

T = TypeVar("T")
Job = Callable[[Connection], T]

_MAX_GROUP = 512


class Database(ABC):
    """One store's tables: readers that see one moment, and one writer at a time with group commit."""

    dialect: Dialect
    path: Path
    """Its file; of a store that has none, a name in the folder for what is kept beside it on this machine."""

    def __init__(self) -> None:
        self._queue: deque[Ticket[Any]] = deque()
        self._queue_lock = threading.Lock()
        self._writing = threading.Lock()
        self._closed = False
        self.read_only = False
        """Whether what is written is refused; an index that lies in the same place is derived, and may be."""
        self._pid = os.getpid()

    def _check_usable(self) -> None:
        if self._closed:
            raise closed()
        if os.getpid() != self._pid:
            raise LedgerError(
                "this store was opened before the process forked",
                hint="Open the store in the child process; a connection to it must not cross a fork.",
            )

    # -- reading --

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """A consistent view: everything read inside belongs to one moment."""

    @abstractmethod
    def version(self) -> int:
        """A number that changes whenever anybody commits."""

    # -- writing --

    def refuse_read_only(self) -> None:
        """Raise Refused for whoever is about to change something of a store that is only to be looked at."""
        if self.read_only:
            raise Refused(
                "this store is open for reading only, and nothing is changed",
                hint="Open it without read_only=True; on the command line, unset MEMORANDA_READ_ONLY.",
            )

    def write(self, job: Job[T], *, derived: bool = False) -> T:
        """Run the job inside a transaction and return when it is durable. Jobs that wait together share a commit.

        A job may be run again when its transaction could not be committed: it touches nothing but its connection.
        `derived` is for what is made from the ledger and may be made again.
        """
        self._check_usable()
        if not derived:
            self.refuse_read_only()
        ticket = Ticket(job, claims.current_in(self))
        with self._queue_lock:
            self._queue.append(ticket)
        with self._writing:
            if not ticket.settled:
                self._commit(self._next_group())
        return ticket.outcome()

    def write_alone(self, job: Job[T]) -> T:
        """Run a job that manages its own transactions (a migration)."""
        self.refuse_read_only()
        with self._writing, self._translated():
            self._check_usable()
            return self._alone(job)

    def _next_group(self) -> "list[Ticket[Any]]":
        with self._queue_lock:
            return [self._queue.popleft() for _ in range(min(len(self._queue), _MAX_GROUP))]

    def _commit(self, group: "list[Ticket[Any]]") -> None:
        try:
            with self._translated():
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

    @abstractmethod
    def _alone(self, job: Job[T]) -> T:
        """Hand the writer to the job."""

    @abstractmethod
    def _transaction(self, group: "list[Ticket[Any]]") -> None:
        """Run all of them in one transaction."""

    def _run_all(self, connection: Connection, group: "list[Ticket[Any]]") -> None:
        """Run the jobs of one transaction. Among several, one that fails by its own fault takes back its part only."""
        if len(group) == 1:
            group[0].run(connection)
            return
        for ticket in group:
            connection.execute("savepoint job")
            tell(connection, ticket.fence)
            try:
                ticket.run(connection)
            except Exception as error:
                if not self._is_own_fault(error):
                    raise
                connection.execute("rollback to job")
                ticket.fail(self._ours(error))
            connection.execute("release job")

    @abstractmethod
    def _is_own_fault(self, error: Exception) -> bool:
        """Whether only the job failed that raised it, and not what all of them share."""

    def _ours(self, error: Exception) -> Exception:
        """An engine's error as ours."""
        try:
            with self._translated():
                raise error
        except Exception as ours:  # noqa: BLE001 it is handed on
            return ours

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """The engine's errors as ours, each with its way out."""

    # -- between processes --

    @abstractmethod
    def hold(self, name: str, *, patience: float = 0.0) -> AbstractContextManager[None]:
        """Nobody else who has this store open holds this name meanwhile, on whatever machine.

        `Busy` when somebody does for longer than `patience` seconds. Let go of however the holder ends.
        """

    # -- upkeep --

    @abstractmethod
    def checkpoint(self, *, patience: float = 2.0) -> bool:
        """Bring everything to its final place. False when a reader kept it from that."""

    def await_views(self) -> str:
        """Wait for a while until nobody sees any more what was deleted before; else who does, if that keeps it."""
        return ""

    @abstractmethod
    def scrub(self) -> str:
        """Make what was deleted leave everything that it keeps; else why that cannot be done now."""

    @contextmanager
    def contents(self) -> Iterator[Iterator[tuple[str, Iterator[bytes]]]]:
        """What is kept in no file of this machine: the name of each table, and all of its bytes."""
        yield iter(())

    @abstractmethod
    def vacuum(self) -> None:
        """Write everything anew, without what was deleted."""

    @abstractmethod
    def integrity(self) -> list[str]:
        """What the engine's own check finds wrong; empty when well."""

    @abstractmethod
    def free_and_all_bytes(self) -> tuple[int, int]:
        """How much of what it takes is free, and how much it takes."""

    @abstractmethod
    def engine_version(self) -> str:
        """What it is kept with, for people."""

    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """The files on this machine that exist now."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection; who reads still is told that the store is closed. May be called twice."""


class Ticket(Generic[T]):
    """One job in the queue of the writer."""

    __slots__ = ("_claim", "_error", "_job", "_result", "fence", "settled")

    def __init__(self, job: Job[T], claim: claims.Working | None) -> None:
        self._job = job
        self._claim = claim
        self._result: T | None = None
        self._error: BaseException | None = None
        self.fence = current()
        """Of whoever waits for it, as the claim is: another thread may run it."""
        self.settled = False

    def run(self, connection: Connection) -> None:
        self._error = None
        self.settled = False
        with claims.working_on(self._claim):
            if self._claim is not None:
                self._claim.check(connection)
            self._result = self._job(connection)

    def fail(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error
        self.settled = True

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


def closed() -> LedgerError:
    """What a caller is told who comes too late."""
    return LedgerError("this store is closed", hint="Open it again with memoranda.open().")


@contextmanager
def nested(connection: Connection) -> Iterator[Connection]:
    """Inside of a view: the outer one goes on."""
    yield connection


def make_folder(path: Path) -> None:
    """A folder that is nobody else's, with the folders above it that are missing. Raises OSError."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
