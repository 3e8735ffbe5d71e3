"""A store from before there were tokens is opened as it is, and has them from then on."""

import apsw

from memoranda import Settings
from memoranda.ledger.schema import MIGRATIONS, migrate
from memoranda.service.store import Store
from support import open_store

TEXT = "The boiler manual is in the blue folder."


def _tables(path):
    connection = apsw.Connection(str(path))
    found = {tuple(row) for row in connection.execute("select name, sql from sqlite_schema where sql is not null")}
    connection.close()
    return found


def _taken_back(path):
    """As a store was before tokens, with everything in it that it has."""
    connection = apsw.Connection(str(path))
    connection.execute("drop table token; drop table answer; alter table source drop column fixed")
    for table in ("operation", "tag", "grading", "miss", "dismissal", "import_run", "upkeep"):
        connection.execute(f"drop table {table}")
    connection.execute("drop index event_scope")
    connection.execute("delete from migration where name >= 'm004'")
    connection.close()


def test_an_older_store_is_migrated_and_keeps_what_it_has(path, tmp_path, clock):
    with open_store(path, clock=clock) as memory:
        kept = memory.remember(TEXT)
    now = _tables(path)
    _taken_back(path)
    connection = apsw.Connection(str(tmp_path / "older.db"))
    migrate(connection, clock, steps=tuple(step for step in MIGRATIONS if step.name < "m004"))
    connection.close()
    assert _tables(path) == _tables(tmp_path / "older.db"), "it is what an older version would have made"
    with Store.open(path, settings=Settings(embedder="none", follow=False), clock=clock) as store:
        made = store.tokens.create(role="reader", scope="home/anna")
        by = store.tokens.principal(made.secret)
        memory = store.memory(by.scope_for(""))
        assert [(each.id, each.text) for each in memory.list()] == [(kept.id, TEXT)]
        assert memory.admin.verify().ok
    assert _tables(path) == now
