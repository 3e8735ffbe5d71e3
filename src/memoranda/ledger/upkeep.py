"""What upkeep leaves in the ledger: a line about each, in numbers; and what it looks at in the file."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memoranda.domain.clock import Clock
from memoranda.domain.health import UpkeepReceipt
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database

_KEPT = 100


class UpkeepBook:
    """The lines of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def note(self, *, seconds: float, trouble: str = "", counts: Mapping[str, int] | None = None) -> None:
        """One more; of the oldest there are no more than a hundred."""
        values = {
            "at": self._clock.now(),
            "seconds": round(seconds, 3),
            "trouble": trouble,
            "receipt": json.dumps(dict(counts or {}), sort_keys=True),
            "kept": _KEPT,
        }

        def job(connection: Connection) -> None:
            connection.execute(
                "insert into upkeep (at, seconds, trouble, receipt) values (:at, :seconds, :trouble, :receipt)", values
            )
            connection.execute("delete from upkeep where number <= (select max(number) from upkeep) - :kept", values)

        self._database.write(job)

    def newest(self, limit: int) -> tuple[UpkeepReceipt, ...]:
        """The last ones, newest first."""
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(
                "select at, seconds, trouble, receipt from upkeep order by number desc limit :limit", {"limit": limit}
            ).fetchall()
        return tuple(
            UpkeepReceipt(int(at), float(seconds), str(trouble), MappingProxyType(json.loads(str(receipt))))
            for at, seconds, trouble, receipt in rows
        )

    def first_and_last_moment(self) -> tuple[int, int] | None:
        """When the first thing happened in this store, and when the last; None when nothing has."""
        with self._database.read() as connection:
            row = connection.execute(
                "select (select at from event order by seq limit 1), (select at from event order by seq desc limit 1)"
            ).fetchone()
        return None if row is None or row[0] is None else (int(row[0]), int(row[1]))

    def free_and_all_bytes(self) -> tuple[int, int]:
        """How much of what the ledger takes is free, and how much it takes."""
        return self._database.free_and_all_bytes()

    def migrations(self) -> tuple[str, ...]:
        """The steps of the schema that this file has."""
        with self._database.read() as connection:
            return tuple(str(row[0]) for row in connection.execute("select name from migration order by name"))

    def forget_probe(self, scopes: tuple[str, ...]) -> None:
        """Nothing is left of a probe but lines of history: its tombstones would only fill the table."""

        def job(connection: Connection) -> None:
            for scope in scopes:
                connection.execute("delete from tombstone where scope = :scope", {"scope": scope})

        self._database.write(job)
