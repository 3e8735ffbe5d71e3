"""No table of a store is forgotten when it is copied."""

import pytest

import postgres
from memoranda.ledger.copying_tables import Table, tables
from memoranda.ledger.sqlite import SqliteConnection

OF_THE_ENGINE = {"migration"}  # each engine writes for itself which steps it has taken


def _made(path):
    connection = SqliteConnection(str(path))
    try:
        found = connection.execute("select name from sqlite_schema where type = 'table'").fetchall()
        return {name for (name,) in found if not name.startswith("sqlite_")}
    finally:
        connection.close()


def test_every_table_of_a_file_is_copied(opened, place, path):
    opened(str(path)).close()
    assert {table.name for table in tables()} == _made(path) - OF_THE_ENGINE


@pytest.mark.postgres
def test_every_table_of_a_server_is_copied_but_those_that_only_it_needs(opened, place):
    address = place("postgres", "whole")
    opened(address).close()
    schema = address.partition("schema=")[2]
    found = postgres.shared().sql(
        "select c.relname from pg_class c where c.relnamespace = cast(%s as regnamespace) and c.relkind in ('r', 'p')",
        [schema],
    )
    own = {"pulse", "writer"}  # they tell of commits on this server, and of nothing else
    assert {name for (name,) in found} - own - OF_THE_ENGINE == {table.name for table in tables()}


def test_a_table_stands_behind_those_that_it_refers_to(opened, path):
    opened(str(path)).close()
    connection = SqliteConnection(str(path))
    places = {table.name: place for place, table in enumerate(tables())}
    try:
        for table in tables():
            for row in connection.execute(f"pragma foreign_key_list({table.name})").fetchall():
                assert places[row[2]] <= places[table.name]
    finally:
        connection.close()


def test_every_table_has_a_key_and_the_columns_that_make_it():
    for table in tables():
        assert table.key
        assert set(table.key) <= set(table.columns)


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_a_key_comes_out_of_json_as_it_went_in(table: Table):
    key = tuple(b"\x00\xff" if name in table.blobs else "ą'\"" for name in table.key)
    assert table.read(table.written(key)) == key


def test_rows_that_tell_of_the_copying_are_not_of_the_store():
    store = next(table for table in tables() if table.name == "store")
    assert store.is_own(("key",))
    assert not any(store.is_own((name,)) for name in ("arriving", "moving", "moved_to"))
