"""A note that bytes of erased rows may still be in files: on an engine where they leave only when tables are written
anew, which cannot always be done at once. Upkeep does it then; without the note it would keep everybody waiting for
nothing.
"""

import secrets

from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database

_KEY = "owed"


class Owing:
    """The note of one store. SQLite wipes what it deletes, and needs none."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._needed = database.dialect.name == "postgres"

    def note(self) -> str:
        """Something is erased: before, and again as soon as it is deleted. What is to be settled afterwards."""
        made = secrets.token_hex(8)

        def job(connection: Connection) -> None:
            connection.execute(
                "insert into store (key, value) values (:key, :made) "
                "on conflict (key) do update set value = excluded.value",
                {"key": _KEY, "made": made},
            )

        if self._needed:
            self._database.write(job)
        return made

    def noted(self) -> str:
        """What is to be settled; empty when nothing is."""
        if not self._needed:
            return ""
        with self._database.read() as connection:
            row = connection.execute("select value from store where key = :key", {"key": _KEY}).fetchone()
        return "" if row is None else str(row[0])

    def settle(self, noted: str) -> None:
        """Everything was written anew since. What somebody has noted meanwhile stays."""
        if self._needed and noted:
            values = {"key": _KEY, "noted": noted}
            self._database.write(
                lambda connection: connection.execute("delete from store where key = :key and value = :noted", values)
            )
