"""Read replicas: standbys that answer for the primary when they are as fresh as it is.

Before each view the primary is asked for its pulse, one tiny row; a standby whose own pulse, in the very view that is
read from, is not behind may answer. So whoever wrote something reads it back, whichever server answers. One that is
down is left alone for some seconds, one that is behind for an instant; the primary is always there instead.
"""

import itertools
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import psycopg

from memoranda.domain.address import Address
from memoranda.ledger.postgres.connection import PostgresConnection, connected

_DOWN_SECONDS = 5.0
_BEHIND_SECONDS = 0.05
_STORE = "select value from store where key = 'key'"
_PULSE = "select number from pulse where pg_is_in_recovery()"


class Replicas:
    """The standbys of one store."""

    def __init__(
        self, addresses: Sequence[Address], *, store: str, schema: str, patience_ms: int, most_idle: int
    ) -> None:
        """`store` is the key by which the store knows itself: another one is never read from."""
        self._all = [_Replica(each, store, schema, patience_ms, most_idle) for each in addresses]
        self._turns = itertools.count()

    def begun(self, script: str, fence: str, *, pulse: int) -> PostgresConnection | None:
        """A session inside of a view that is not behind this pulse, begun with this script; None when none has one."""
        first = next(self._turns)
        now = time.monotonic()
        for place in range(len(self._all)):
            replica = self._all[(first + place) % len(self._all)]
            if now >= replica.rests_until and (connection := replica.begun(script, fence, pulse)) is not None:
                return connection
        return None

    def give_back(self, connection: PostgresConnection) -> None:
        """The view has ended. A session that was lost meanwhile says that its server is down."""
        owner = next(each for each in self._all if each.holds(connection))
        owner.give_back(connection)

    def close(self) -> None:
        for replica in self._all:
            replica.close()


class _Replica:
    """One standby, and its sessions that nobody uses just now."""

    def __init__(self, address: Address, store: str, schema: str, patience_ms: int, most_idle: int) -> None:
        self.rests_until = 0.0
        self._address = address
        self._store = store
        self._schema = schema
        self._patience_ms = patience_ms
        self._idle: deque[PostgresConnection] = deque(maxlen=most_idle)
        self._used: set[int] = set()
        self._lock = threading.Lock()
        self._closed = False

    def begun(self, script: str, fence: str, pulse: int) -> PostgresConnection | None:
        connection: PostgresConnection | None = None
        try:
            connection = self._taken()
            connection.begin(script, fence)
            found = connection.execute(_PULSE).fetchone()
        except psycopg.Error:
            self._rest(_DOWN_SECONDS)
            if connection is not None:
                _end(connection)
            return None
        if found is None or int(found[0]) < pulse:
            self._rest(_BEHIND_SECONDS)
            self._put_away(connection)
            return None
        with self._lock:
            self._used.add(id(connection))
        return connection

    def _taken(self) -> PostgresConnection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = connected(
            self._address.url,
            schema=self._schema,
            patience_ms=self._patience_ms,
            name="memoranda replica reader",
            primary=False,
        )
        try:
            found = connection.execute(_STORE).fetchone()
        except BaseException:
            _end(connection)
            raise
        if found is None or str(found[0]) != self._store:
            _end(connection)
            raise psycopg.OperationalError("a replica of another store")
        return connection

    def holds(self, connection: PostgresConnection) -> bool:
        return id(connection) in self._used

    def give_back(self, connection: PostgresConnection) -> None:
        with self._lock:
            self._used.discard(id(connection))
        self._put_away(connection)

    def _put_away(self, connection: PostgresConnection) -> None:
        try:
            if connection.in_transaction:
                connection.together("rollback")
            connection.fence = ""
        except psycopg.Error:
            self._rest(_DOWN_SECONDS)
            _end(connection)
            return
        with self._lock:
            if not self._closed and len(self._idle) < (self._idle.maxlen or 0):
                self._idle.append(connection)
                return
        _end(connection)

    def _rest(self, seconds: float) -> None:
        self.rests_until = time.monotonic() + seconds

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle = list(self._idle)
            self._idle.clear()
        for connection in idle:
            _end(connection)


def _end(connection: PostgresConnection) -> None:
    with suppress(psycopg.Error):
        connection.raw.close()
