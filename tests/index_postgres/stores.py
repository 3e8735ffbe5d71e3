"""Indexes in PostgreSQL for these tests: a schema of its own on the server of the run."""

import contextlib
import itertools
import secrets
from pathlib import Path

import postgres
from memoranda.domain.address import Address
from memoranda.index.postgres.home import PostgresHome
from memoranda.ledger.postgres.database import PostgresDatabase

FINGERPRINT = "hashed:words|1|64"
_OPENINGS = 3


class Store:
    """One store, opened three times, as three processes would have it: `database()` gives them in turn."""

    def __init__(self, folder, server, database):
        self._folder = folder
        self._server = server
        self._database = database
        self.schema = f"index_{secrets.token_hex(6)}"
        self._opened = []
        self._turn = itertools.cycle(range(_OPENINGS))

    def database(self):
        turn = next(self._turn)
        while len(self._opened) <= turn:
            address = Address(self._server.address(self.schema, database=self._database).partition("?")[0], self.schema)
            path = self._folder / self.schema / "store"
            self._opened.append(PostgresDatabase(address, path, busy_seconds=10.0, pool_size=4))
        return self._opened[turn]

    def home(self, corpus="memories", **options):
        return PostgresHome(self.database(), corpus, self._folder / "home", **options)

    def opener(self, corpus="memories", **options):
        """Opens the same index anew each time: one that is empty at first."""
        self.home(corpus).discard()

        def open_again():
            index = self.home(corpus, **options).open(FINGERPRINT)
            index.store = self
            return index

        return open_again

    def sql(self, statement):
        """Rows of a statement of the superuser; its one value is the name of the schema."""
        return self._server.sql(statement, (self.schema,) if "%s" in statement else None)

    def bytes(self):
        """What lies in the files of all tables of this store and of their indexes."""
        self._server.sql("checkpoint")
        folder = Path(self._server.sql("show data_directory")[0][0])
        found = self._server.sql(
            "select pg_relation_filepath(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace "
            "where n.nspname = %(schema)s or c.oid in ("
            "select t.reltoastrelid from pg_class t join pg_namespace m on m.oid = t.relnamespace "
            "where m.nspname = %(schema)s) or c.oid in (select i.indexrelid from pg_index i join pg_class t on "
            "t.reltoastrelid = i.indrelid join pg_namespace m on m.oid = t.relnamespace where m.nspname = %(schema)s)",
            {"schema": self.schema},
        )
        return b"".join((folder / row[0]).read_bytes() for row in found if row[0])

    def close(self):
        for each in self._opened:
            each.close()
        with contextlib.suppress(Exception):
            self._server.sql(f"drop schema {self.schema} cascade", database=self._database)


@contextlib.contextmanager
def store_in(folder, database=None):
    """A store for a while."""
    store = Store(folder, postgres.shared(), database)
    try:
        yield store
    finally:
        store.close()
