"""Folders that a store was mirrored into: an erasure must reach every one of them."""

from memoranda.domain.clock import Clock
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database


class Mirrors:
    """The mirrors of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def paths(self) -> tuple[str, ...]:
        """Absolute paths, in order."""
        with self._database.read() as connection:
            return tuple(str(row[0]) for row in connection.execute("select path from mirror order by path"))

    def scope_of(self, path: str) -> Scope | None:
        """The scope that this mirror was first written from; None when the store does not know of it."""
        with self._database.read() as connection:
            row = connection.execute("select scope from mirror where path = :path", {"path": path}).fetchone()
        return None if row is None else Scope(str(row[0]))

    def note(self, path: str, scope: Scope) -> None:
        """The store knows of this mirror from now on."""
        if path in self.paths():
            return

        def job(connection: Connection) -> None:
            connection.execute(
                "insert into mirror (path, scope, noted_at) values (:path, :scope, :at) on conflict do nothing",
                {"path": path, "scope": scope.path, "at": self._clock.now()},
            )

        self._database.write(job)

    def drop(self, path: str) -> None:
        """The store knows of it no longer."""

        def job(connection: Connection) -> None:
            connection.execute("delete from mirror where path = :path", {"path": path})

        if path in self.paths():
            self._database.write(job)
