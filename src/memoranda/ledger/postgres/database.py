"""`PostgresDatabase`: one store in a schema of a PostgreSQL database, shared by processes on many machines.

One transaction writes at a time, whoever's it is: the store's advisory lock is taken first. So sequences are in the
order of their commits, and every job sees all that was before it: serial by construction, not by luck. A commit
whose answer was lost is looked for: it took place or it did not, and it is never made twice.
"""

import hashlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed

from memoranda.domain.address import Address
from memoranda.domain.clock import Clock, SystemClock
from memoranda.domain.errors import LedgerError, LedgerLocked, LedgerNewer, LedgerUnavailable
from memoranda.ledger.database import Database, Job, Ticket, make_folder
from memoranda.ledger.dialect import POSTGRES
from memoranda.ledger.fence import current, told_on
from memoranda.ledger.locking import Busy
from memoranda.ledger.postgres.connection import PostgresConnection, connected, defaults, prepare
from memoranda.ledger.postgres.migrations import TABLES, lock_of, migrate
from memoranda.ledger.postgres.replicas import Replicas
from memoranda.ledger.postgres.rewriting import (
    LATER,
    LOOKS,
    all_tables,
    awaited,
    contents,
    session,
    size_of,
    written_anew,
)
from memoranda.ledger.postgres.troubles import OF_ONE_STATEMENT, is_lost, is_passing, translated
from memoranda.ledger.schema import MIGRATIONS

T = TypeVar("T")

_LOOK_AGAIN_SECONDS = 0.02
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_MOST_TRIES = 20
_VIEW_SECONDS = 12.0
_WRITE_SECONDS = 12.0
_SCRUBBED_BYTES = 256 << 20
_WRITERS_KEPT_MS = 7 * 86_400_000
_WRITE = "begin isolation level read committed read write"
_READ = "begin isolation level repeatable read read only"
# One statement: nothing is told of a transaction that has written nothing.
_TELL = """
    with told as (
        insert into writer (name, last, at)
        select :name, :last, :at where pg_current_xact_id_if_assigned() is not null
        on conflict (name) do update set last = excluded.last, at = excluded.at returning 1
    )
    update pulse set number = number + 1 where exists (select 1 from told)
    returning (select count(*) from migration)
"""


class PostgresDatabase(Database):
    """The tables of one schema."""

    dialect = POSTGRES

    def __init__(
        self,
        address: Address,
        path: Path,
        *,
        busy_seconds: float = 30.0,
        pool_size: int = 8,
        clock: Clock | None = None,
    ) -> None:
        """`path` is for what is kept beside it on this machine; nothing of the ledger is there."""
        super().__init__()
        self.address = address
        self.path = path
        self._clock = clock or SystemClock()
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._name = os.urandom(8).hex()
        self._commits = 0
        self._replicas: Replicas | None = None
        self._begin = f"{_WRITE}; select pg_advisory_xact_lock({lock_of(address):d})"
        self.channel = f"memoranda_{lock_of(address):014x}"
        """Where commits are told of, for whoever listens."""
        try:
            make_folder(path.parent)
        except OSError as error:
            raise LedgerError(
                f"{path.parent} cannot be made ({error.strerror})", hint="Name another folder: local_folder."
            ) from error
        with self._translated():
            self._writer = self._patiently(self._opened)
            try:
                migrate(self._writer, address, self._clock)
            except BaseException:
                self._writer.raw.close()
                raise
        self._pool = ConnectionPool(
            address.url,
            min_size=1,
            max_size=max(pool_size, 1),
            kwargs={"autocommit": True, **defaults(address.url, "memoranda reader")},
            configure=lambda raw: prepare(raw, address.schema, self._patience_ms),
            open=True,
            timeout=busy_seconds,
            reconnect_timeout=busy_seconds,
            name="memoranda",
        )

    # -- connections --

    @property
    def _patience_ms(self) -> int:
        return max(int(self._busy_seconds * 1000), 1)

    def _opened(self) -> PostgresConnection:
        return connected(self.address.url, schema=self.address.schema, patience_ms=self._patience_ms)

    def _patiently(self, attempt: Callable[[], T]) -> T:
        """Try until the server is there; it may be starting, or another is taking its place."""
        deadline = time.monotonic() + self._busy_seconds
        pause = _FIRST_PAUSE
        while True:
            try:
                return attempt()
            except psycopg.Error as error:
                if self._closed or not is_lost(error) or time.monotonic() >= deadline:
                    raise
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.address, lambda: self._closed)

    # -- reading --

    @contextmanager
    def read(self) -> Iterator[PostgresConnection]:
        with self._translated():
            self._check_usable()
            outer = self._outer()
            if outer is not None:  # nested: the outer view goes on
                with told_on(outer, current()):
                    yield outer
                return
            replicas = self._replicas
            away = None
            if replicas is not None:
                away = replicas.begun(_READ, current(), pulse=self._patiently(self._pulse_now))
            connection = away or self._patiently(self._begun)
            self._local.reader = connection
            try:
                yield connection
            finally:
                self._local.reader = None
                if replicas is not None and away is not None:
                    replicas.give_back(away)
                else:
                    self._give_back(connection)

    def read_from(self, addresses: Sequence[Address]) -> None:
        """Let these standbys answer from now on, whenever they are as fresh as the primary."""
        with self.read() as connection:
            store = connection.execute("select value from store where key = 'key'").fetchall()[0][0]
        self._replicas = Replicas(
            addresses,
            store=str(store),
            schema=self.address.schema,
            patience_ms=self._patience_ms,
            most_idle=self._pool.max_size,
        )

    def _outer(self) -> PostgresConnection | None:
        """The view that this thread is in. One that somebody else has ended is none."""
        outer: PostgresConnection | None = getattr(self._local, "reader", None)
        return outer if outer is not None and outer.in_transaction else None

    def _begun(self) -> PostgresConnection:
        """A session inside of a view. One whose server has gone meanwhile is thrown away here, before it was used."""
        connection = self._pooled()
        try:
            connection.begin(_READ, current())
        except BaseException:
            self._give_back(connection)
            raise
        return connection

    def _pooled(self) -> PostgresConnection:
        return PostgresConnection(self._pool.getconn())

    def _give_back(self, connection: PostgresConnection) -> None:
        with suppress(psycopg.Error):
            if connection.in_transaction:
                connection.together("rollback")
        with suppress(PoolClosed):
            self._pool.putconn(connection.raw)

    def version(self) -> int:
        """The pulse: costs a round trip."""
        with self._translated():
            self._check_usable()
            outer = self._outer()
            return _pulse(outer) if outer is not None else self._patiently(self._pulse_now)

    def _pulse_now(self) -> int:
        """Without a transaction around it: one round trip."""
        connection = self._pooled()
        try:
            return _pulse(connection)
        finally:
            self._give_back(connection)

    # -- writing --

    def _alone(self, job: Job[T]) -> T:
        self._patiently(self._answering)
        return job(self._writer)

    def _answering(self) -> None:
        """The writer's session is there; another one when it is not."""
        try:
            self._writer.together("select 1")
        except psycopg.Error:
            self._reconnect()
            raise

    def _transaction(self, group: "list[Ticket[Any]]") -> None:
        """Until it is committed: a passing trouble is waited for, and a lost answer looked for."""
        deadline = time.monotonic() + self._busy_seconds
        pause = _FIRST_PAUSE
        for attempt in range(1, _MOST_TRIES + 1):
            number = self._commits = self._commits + 1
            try:
                self._try(group, number)
            except psycopg.Error as error:
                lost = is_lost(error)
                if lost and self._found_committed(number):
                    return
                if not (lost or is_passing(error)) or attempt == _MOST_TRIES or time.monotonic() >= deadline:
                    raise
            else:
                return
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _try(self, group: "list[Ticket[Any]]", number: int) -> None:
        connection = self._writer
        try:
            connection.begin(self._begin, group[0].fence)
            self._run_all(connection, group)
            values = {"name": self._name, "last": number, "at": self._clock.now()}
            told = connection.execute(_TELL, values).fetchone()
            if told is not None and int(told[0]) > len(MIGRATIONS):
                raise LedgerNewer(f"{self.address.shown} was brought up to date by a newer Memoranda meanwhile")
            connection.together("commit" if told is None else f"notify {self.channel}; commit")
        except BaseException:
            with suppress(psycopg.Error):
                if connection.in_transaction:
                    connection.together("rollback")
            raise

    def _is_own_fault(self, error: Exception) -> bool:
        return not isinstance(error, psycopg.Error) or isinstance(error, OF_ONE_STATEMENT)

    def _found_committed(self, number: int) -> bool:
        """Whether a commit whose answer was lost was made."""
        try:
            return self._patiently(lambda: self._took_place(number))
        except psycopg.Error as error:
            raise LedgerUnavailable(
                f"{self.address.shown} was lost while it was asked to commit, and does not come back",
                hint="It may have been done: look before you do it again. What was acknowledged before is safe.",
            ) from error

    def _took_place(self, number: int) -> bool:
        """Asked inside of the lock: whoever made it has ended.

        A standby that is not yet promoted knows nothing. And what the primary has may not be safe yet: a commit of
        our own comes back when all before it are.
        """
        self._reconnect()
        writer, values = self._writer, {"name": self._name, "at": self._clock.now()}
        writer.together(self._begin)
        if writer.execute("select pg_is_in_recovery()").fetchall() != [(0,)]:
            raise psycopg.OperationalError("this server is a standby")
        found = writer.execute("update writer set at = :at where name = :name returning last", values).fetchone()
        writer.together("commit")
        return found is not None and int(found[0]) == number

    def _reconnect(self) -> None:
        with suppress(psycopg.Error):
            self._writer.raw.close()
        self._writer = self._opened()

    # -- between processes --

    @contextmanager
    def hold(self, name: str, *, patience: float = 0.0) -> Iterator[None]:
        """A lock of a session of its own: the server lets go of it when that session ends, however it does."""
        self._check_usable()
        digest = hashlib.blake2b(f"{self.address.schema}\n{name}".encode(), digest_size=7, person=b"hold").digest()
        values = {"lock": int.from_bytes(digest)}
        with self._translated():
            connection = self._patiently(self._opened)
        try:
            deadline = time.monotonic() + patience
            with self._translated():
                while not connection.execute("select pg_try_advisory_lock(:lock)", values).fetchall()[0][0]:
                    if time.monotonic() >= deadline:
                        raise Busy
                    time.sleep(_LOOK_AGAIN_SECONDS)
            yield
        finally:
            # Let go of by name: the server notices the end of a session later than we go on.
            with suppress(psycopg.Error):
                connection.together("select pg_advisory_unlock_all()")
            with suppress(psycopg.Error):
                connection.raw.close()

    # -- upkeep --

    def checkpoint(self, *, patience: float = 2.0) -> bool:
        """The server does that by itself, and nobody who reads is in its way."""
        return True

    def await_views(self) -> str:
        """Nothing is locked meanwhile, so that nobody waits for the one who looks."""
        self._check_usable()
        held = awaited(self.address, patience=min(_VIEW_SECONDS, self._busy_seconds))
        return f"{held} {LOOKS}; {LATER}" if held else ""

    def older_view(self) -> str:
        """Who sees just now what was deleted before, if anybody does."""
        return awaited(self.address, patience=0.0)

    def scrub(self) -> str:
        """The tables of the ledger are written anew, unless they are so large that others would wait for long."""
        with self.read() as connection:
            if size_of(connection, TABLES) > _SCRUBBED_BYTES:
                return "the tables are large; run `memoranda optimize` when nobody needs the store"
        return written_anew(self.address, TABLES, patience=_WRITE_SECONDS)

    @contextmanager
    def contents(self) -> Iterator[Iterator[tuple[str, Iterator[bytes]]]]:
        with session(self.address) as connection:
            yield ((f"{self.address.schema}.{name}", contents(connection, name)) for name in all_tables(connection))

    def vacuum(self) -> None:
        """Every table is written anew, however large: nobody else reads or writes it meanwhile."""
        with self.read() as connection:
            tables = all_tables(connection)
        if why := written_anew(self.address, tables, patience=_VIEW_SECONDS):
            raise LedgerLocked(f"{self.address.shown} was not written anew: {why}")

    def integrity(self) -> list[str]:
        """What the server says of its own pages: broken references; a page with a wrong checksum cannot be read."""
        return []

    def free_and_all_bytes(self) -> tuple[int, int]:
        """Of the tables, with what hangs on them."""
        with self.read() as connection:
            row = connection.execute(
                """
                select coalesce(sum(pg_total_relation_size(c.oid)), 0),
                       coalesce(sum(pg_relation_size(c.oid) * s.n_dead_tup / nullif(s.n_dead_tup + s.n_live_tup, 0)), 0)
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
                     join pg_stat_all_tables s on s.relid = c.oid
                where n.nspname = :schema and c.relkind in ('r', 'p')
                """,
                {"schema": self.address.schema},
            ).fetchone()
        return (int(row[1]), int(row[0])) if row else (0, 0)

    def engine_version(self) -> str:
        with self.read() as connection:
            return f"PostgreSQL {connection.execute('show server_version').fetchall()[0][0]}"

    def files(self) -> tuple[str, ...]:
        """None: they are the server's."""
        return ()

    def close(self) -> None:
        with self._writing:
            if self._closed:
                return
            self._closed = True
            if os.getpid() != self._pid:
                return
            with suppress(psycopg.Error):
                old = self._clock.now() - _WRITERS_KEPT_MS
                self._writer.execute(
                    "delete from writer where name = :name or at < :old", {"name": self._name, "old": old}
                )
            if self._replicas is not None:
                self._replicas.close()
            self._pool.close(timeout=2.0)
            with suppress(psycopg.Error):
                self._writer.raw.close()


def _pulse(connection: PostgresConnection) -> int:
    row = connection.execute("select number from pulse").fetchone()
    return int(row[0]) if row else 0
