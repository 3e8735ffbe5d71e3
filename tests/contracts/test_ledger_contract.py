"""The contract of a ledger, on every engine: SQLite, encrypted SQLite, PostgreSQL."""

import secrets

import pytest

import postgres
from memoranda.domain.address import address_of
from memoranda.domain.keys import Key
from memoranda.ledger.ledger import Ledger
from memoranda.testing.contracts import LedgerContract


class TestSqlite(LedgerContract):
    key = None

    @pytest.fixture
    def open_ledger(self, path, clock):
        opened = []

        def opener():
            opened.append(Ledger(path, clock=clock, busy_seconds=20.0, key=self.key))
            return opened[-1]

        yield opener
        for ledger in opened:
            ledger.close()

    def table_names(self, connection):
        rows = connection.execute("select name from sqlite_schema where type = 'table'").fetchall()
        return [name for (name,) in rows]

    def place(self, ledger):
        return {"path": str(ledger.path), "key": self.key.raw.hex() if self.key else ""}


class TestEncryptedSqlite(TestSqlite):
    key = Key(bytes(range(32)))


@pytest.mark.postgres
class TestPostgres(LedgerContract):
    @pytest.fixture
    def open_ledger(self, path, clock):
        schema = f"contract_{secrets.token_hex(6)}"
        server = postgres.shared()
        address = address_of(server.address(schema))
        opened = []

        def opener():
            opened.append(Ledger(path, clock=clock, busy_seconds=20.0, address=address))
            return opened[-1]

        yield opener
        for ledger in opened:
            ledger.close()
        server.sql(f"drop schema if exists {schema} cascade")

    def table_names(self, connection):
        rows = connection.execute(
            "select table_name from information_schema.tables "
            "where table_schema = current_schema() and table_type = 'BASE TABLE'"
        ).fetchall()
        return [name for (name,) in rows]

    def place(self, ledger):
        address = ledger.database.address
        joint = "&" if "?" in address.url else "?"
        return {"path": str(ledger.path), "address": f"{address.url}{joint}schema={address.schema}"}
