"""What a store knows of being one of several: the list that it belongs to, and the roots that it keeps."""

import json

from memoranda.domain.shards import ShardNote, root_of
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.fence import lifted

_KEY = "shards"
# Not tombstones: a root that was moved away leaves those of all that it had.
_HOLDERS = ("memory", "conversation", "source")


class ShardNotes:
    """The note of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self) -> ShardNote | None:
        """The list that it belongs to; None for a store that stands alone."""
        with self._database.read() as connection:
            row = connection.execute("select value from store where key = :key", {"key": _KEY}).fetchone()
        return None if row is None else ShardNote(**json.loads(row[0]))

    def take(self, note: ShardNote) -> None:
        """It belongs to this list from now on."""

        def job(connection: Connection) -> None:
            connection.execute(
                "insert into store (key, value) values (:key, :value) "
                "on conflict (key) do update set value = excluded.value",
                {"key": _KEY, "value": json.dumps(note._asdict())},
            )

        self._database.write(job)

    def roots(self) -> frozenset[str]:
        """The roots of every scope that it keeps anything of."""
        each = " union ".join(f"select scope from {table} group by scope" for table in _HOLDERS)  # noqa: S608
        with lifted(), self._database.read() as connection:
            return frozenset(root_of(str(row[0])) for row in connection.execute(each))
