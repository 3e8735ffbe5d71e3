"""Sessions that stay open: hearing of what other processes commit, and holding a name; and how the others stand.

Nothing depends on what is heard but how soon something is noticed: whoever needs to be right asks for the pulse.
"""

import hashlib
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import NamedTuple

import psycopg

from memoranda.domain.errors import MemorandaError
from memoranda.ledger.postgres.connection import PostgresConnection, connected
from memoranda.ledger.postgres.database import PostgresDatabase

_WAIT_SECONDS = 0.5
_AGAIN_SECONDS = 1.0
_LOOK_SECONDS = 5.0
_CONNECT_MS = 5_000


class Listener:
    """A thread with a session of its own, from `start` to `close`. `heard` is called after others have written.

    A session that is lost is made anew. As long as there is none, the pulse is looked at now and then.
    """

    def __init__(
        self, database: PostgresDatabase, heard: Callable[[], None], *, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._database = database
        self._heard = heard
        self._look_seconds = look_seconds
        self._stop = threading.Event()
        self._pulse = -1
        self._thread = threading.Thread(target=self._run, name="memoranda-listener", daemon=True)
        self.listening = False
        """Whether the server tells us of commits at this moment."""

    def start(self) -> "Listener":
        self._thread.start()
        return self

    def close(self) -> None:
        """Hear nothing more. The session ends within a second; nobody waits for it. May be called twice."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            with suppress(psycopg.Error):
                self._listen()
            self.listening = False
            self._stop.wait(_AGAIN_SECONDS)
            self._look()

    def _listen(self) -> None:
        address = self._database.address
        session = connected(address.url, schema=address.schema, patience_ms=_CONNECT_MS, name="memoranda listener")
        with closing(session.raw) as raw:
            session.together(f"listen {self._database.channel}")
            self.listening = True
            self._tell()  # what was committed before we listened
            waited = 0.0
            while not self._stop.is_set():
                if any(True for _ in raw.notifies(timeout=_WAIT_SECONDS, stop_after=1)):
                    self._tell()
                    waited = 0.0
                    continue
                waited += _WAIT_SECONDS
                if waited >= self._look_seconds:  # also shows whether the session is still there
                    session.together("select 1")
                    waited = 0.0

    def _look(self) -> None:
        if self._stop.is_set():
            return
        with suppress(MemorandaError):
            pulse = self._database.version()
            if pulse != self._pulse:
                self._pulse = pulse
                self._tell()

    def _tell(self) -> None:
        if not self._stop.is_set():
            self._heard()


class HeldName:
    """A name that a session of its own holds: it is let go of when that ends, however it does."""

    def __init__(self, session: PostgresConnection) -> None:
        self._session = session

    def is_ours(self) -> bool:
        """Whether the session is still there, and the name with it."""
        try:
            self._session.together("select 1")
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        """Let go of it. May be called twice."""
        with suppress(psycopg.Error):
            self._session.raw.close()


def taken_in(database: PostgresDatabase, name: str) -> HeldName | None:
    """The name, if it could be had at once; not when the server is away either."""
    address = database.address
    digest = hashlib.blake2b(f"{address.schema}\n{name}".encode(), digest_size=7, person=b"held").digest()
    try:
        session = connected(address.url, schema=address.schema, patience_ms=_CONNECT_MS, name="memoranda holder")
        with suppress(psycopg.Error):
            asked = session.execute("select pg_try_advisory_lock(:lock)", {"lock": int.from_bytes(digest)})
            if asked.fetchall()[0][0]:
                return HeldName(session)
        session.raw.close()
    except psycopg.Error:
        pass
    return None


class Pool(NamedTuple):
    """The reading connections of one process."""

    connections: int
    idle: int
    waiting: int
    """Threads that wait for one."""


def pool_of(database: PostgresDatabase) -> Pool:
    """How the readers of a store stand now."""
    told = database._pool.get_stats()
    return Pool(told.get("pool_size", 0), told.get("pool_available", 0), told.get("requests_waiting", 0))
