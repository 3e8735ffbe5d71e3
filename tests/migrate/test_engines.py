"""What an engine itself keeps of a copy: triggers on the source, references and fences of the target."""

import pytest

import postgres
from memoranda.domain.errors import Conflict
from memoranda.ledger import copying
from memoranda.ledger.copying import Tally
from memoranda.ledger.copying_tables import table_named
from memoranda.service.migrating import migrate
from migrate.conftest import ENGINES


@pytest.fixture
def schema_of(opened):
    """Everything that is not a row: tables, indexes, triggers, policies, functions; and notes of a migration."""

    def look(address):
        with opened(address) as memory, memory._engine.ledger.database.read() as connection:
            marks = connection.execute(
                "select key from store where key in ('moving', 'arriving', 'moved_to')"
            ).fetchall()
        if "://" not in address:
            with opened(address) as memory, memory._engine.ledger.database.read() as connection:
                found = connection.execute("select type, name, sql from sqlite_schema order by 1, 2").fetchall()
            return [each for each in found if each[1] != "sqlite_stat1"], marks
        schema = address.partition("schema=")[2]
        sql = postgres.shared().sql
        return [
            sql(statement, [schema])
            for statement in (
                "select c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity from pg_class c "
                "where c.relnamespace = cast(%s as regnamespace) order by 1",
                "select conname, contype, convalidated, condeferrable from pg_constraint "
                "where connamespace = cast(%s as regnamespace) and contype <> 'n' order by 1, 2",
                "select policyname, tablename from pg_policies where schemaname = %s order by 1, 2",
                "select proname from pg_proc where pronamespace = cast(%s as regnamespace) order by 1",
                "select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid "
                "where c.relnamespace = cast(%s as regnamespace) and not t.tgisinternal order by 1",
            )
        ], marks

    return look


@pytest.mark.parametrize("engine", ENGINES)
def test_a_target_is_made_as_any_store_is(engine, place, filled, opened, schema_of, chosen):
    source, target, fresh = place("sqlite", "source"), place(engine, "target"), place(engine, "fresh")
    filled(source)
    migrate(source, target, settings=chosen())
    opened(fresh).close()
    assert schema_of(target) == schema_of(fresh)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_in_a_source_that_stays_open(engine, place, opened, schema_of, chosen):
    source, fresh = place(engine, "source"), place(engine, "fresh")
    with opened(source) as memory:
        memory.remember("One thing.")
    opened(fresh).close()
    migrate(source, place("sqlite", "target"), settings=chosen(), leave_open=True)
    assert schema_of(source) == schema_of(fresh)


def test_a_source_notes_nothing_when_its_target_is_refused(place, filled, opened, schema_of, chosen):
    source, used = place("sqlite", "source"), place("sqlite", "used")
    filled(source)
    before = schema_of(source)
    with opened(used) as memory:
        memory.remember("This one is in use.")
    with pytest.raises(Conflict):
        migrate(source, used, settings=chosen())
    assert schema_of(source) == before


def test_a_digest_knows_rows_and_not_their_order():
    table = table_named("counter")
    rows = [("a", 1, "kept", 2), ("b", 1, "kept", 2)]
    assert Tally().plus(table, rows) == Tally().plus(table, rows[::-1])
    assert Tally().plus(table, rows).minus(table, rows[:1]) == Tally().plus(table, rows[1:])
    assert Tally().plus(table, rows) != Tally().plus(table, [("a", 1, "kept", 2), ("b", 1, "kept", 3)])
    assert Tally().plus(table, rows[:1]) != Tally().plus(table_named("source"), rows[:1])
    assert Tally().plus(table, [("a", 1, "kept", 2.0)]) != Tally().plus(table, [("a", 1, "kept", 2)])


def test_bites_meet_at_their_borders(place, filled, opened, monkeypatch):
    monkeypatch.setattr(copying, "AT_ONCE", 5)
    source = place("sqlite", "source")
    filled(source)
    with opened(source) as memory, memory._engine.ledger.database.read() as connection:
        for name in ("memory", "revision", "vector", "message"):
            table = table_named(name)
            found = [row for rows in copying.bites(connection, table) for row in rows]
            assert len(found) == copying.count(connection, table) > 5
            assert found == sorted(found, key=table.key_of)
