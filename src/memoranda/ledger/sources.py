"""Sources of documents: what a scope has registered. The one part of documents that cannot be made anew."""

import json
from collections.abc import Sequence
from typing import Any

from memoranda.domain.clock import Clock
from memoranda.domain.document import Source
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders
from memoranda.ledger.fence import lifted

_SELECT = "select name, scope, root, patterns, trust, fixed from source"


class RealPath(str):
    """A path without links that has to stay so. A root that was named by somebody who may not go everywhere is one:
    what was allowed is the place, not whatever a link leads to later."""

    __slots__ = ()


class Sources:
    """The sources of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, source: Source) -> bool:
        """Register a source, or give the one of this name other words. False when it was so before."""

        def job(connection: Connection) -> bool:
            row = connection.execute(
                f"{_SELECT} where scope = :scope and name = :name", {"scope": source.scope, "name": source.name}
            ).fetchone()
            if row is not None and _to_source(row) == source and bool(row[-1]) is _is_real(source):
                return False
            connection.execute(
                """
                insert into source (scope, name, root, patterns, trust, fixed, added_at)
                values (:scope, :name, :root, :patterns, :trust, :fixed, :at)
                on conflict (scope, name) do update
                set root = excluded.root, patterns = excluded.patterns, trust = excluded.trust, fixed = excluded.fixed
                """,
                {
                    **source._asdict(),
                    "root": str(source.root),
                    "patterns": json.dumps(list(source.patterns)),
                    "fixed": int(_is_real(source)),
                    "at": self._clock.now(),
                },
            )
            return True

        return self._database.write(job)

    def seen_from(self, scope: Scope) -> tuple[Source, ...]:
        """The sources of a scope and of those above it, nearest first."""
        listed, values = placeholders("scope", scope.chain())
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} where scope in ({listed}) order by scope desc, name", values)
            return tuple(_to_source(row) for row in rows)

    @lifted()
    def everywhere(self) -> tuple[Source, ...]:
        """The sources of all scopes."""
        with self._database.read() as connection:
            return tuple(_to_source(row) for row in connection.execute(f"{_SELECT} order by scope, name"))

    def remove(self, source: Source) -> bool:
        """Let go of a source; False when it was not there."""

        def job(connection: Connection) -> bool:
            connection.execute(
                "delete from source where scope = :scope and name = :name",
                {"scope": source.scope, "name": source.name},
            )
            return connection.changes() > 0

        return self._database.write(job)


def _is_real(source: Source) -> bool:
    return isinstance(source.root, RealPath)


def _to_source(row: Sequence[Any]) -> Source:
    name, scope, root, patterns, trust, fixed = row
    place = RealPath(root) if fixed else str(root)
    return Source(str(name), str(scope), place, tuple(json.loads(patterns)), trust)
