"""The contract of an index's home, on PostgreSQL, and what is peculiar to one: generations are tables."""

import secrets

import pytest

import postgres
from index_postgres.stores import FINGERPRINT, store_in
from memoranda.domain.errors import ConfigError, LedgerLocked
from memoranda.index.postgres import generations, tables
from memoranda.testing.contracts import IndexHomeContract
from memoranda.testing.index_entries import SENTENCES, ask, numbers


class TestPostgresHome(IndexHomeContract):
    @pytest.fixture
    def open_home(self, store):
        store.home().discard()
        return lambda: store.home()

    @pytest.fixture
    def other_home(self, store):
        store.home("messages").discard()
        return lambda: store.home("messages")


def _tables(store):
    rows = store.sql("select tablename from pg_tables where schemaname = %s and tablename like 'index\\_memories\\_%%'")
    return {row[0] for row in rows}


def test_of_two_generations_only_the_one_that_serves_keeps_its_tables(store):
    store.opener()()
    home = store.home()
    before = _tables(store)
    with home.rebuilding():
        begun = home.begin(FINGERPRINT)
        assert len(_tables(store)) == 2 * len(before)
        home.swap_to(begun)
    assert len(_tables(store)) == len(before)
    assert not _tables(store) & before


def test_who_has_an_index_open_that_was_replaced_is_told_to_ask_again(store):
    old = store.opener()()
    old.apply(put=SENTENCES, drop=(), sequence=4)
    home = store.home()
    home.swap_to(home.begin(FINGERPRINT))
    for use in (lambda: ask(old, "lamp"), lambda: old.sequence, lambda: old.apply(put=(), drop=[1], sequence=5)):
        with pytest.raises(LedgerLocked, match="replaced"):
            use()


def test_an_index_whose_tables_somebody_removed_is_made_anew(store):
    index = store.opener()()
    index.apply(put=SENTENCES, drop=(), sequence=4)
    store.sql(f"drop table {store.schema}.{index.tables.vector} cascade")
    again = store.home().open(FINGERPRINT)
    assert again.sequence == 0
    again.apply(put=SENTENCES, drop=(), sequence=4)
    assert numbers(ask(again, "boiler manual"))


def test_a_database_without_pgvector_needs_an_administrator_once(tmp_path):
    server, name = postgres.shared(), f"bare_{secrets.token_hex(4)}"
    server.sql(f"create database {name} owner {postgres.OWNER}")
    try:
        with store_in(tmp_path, database=name) as store:
            with pytest.raises(ConfigError, match="administrator") as refused:
                store.home().open(FINGERPRINT)
            assert "create extension vector schema public" in refused.value.hint
            server.sql("create extension vector schema public", database=name)
            made = store.home().open(FINGERPRINT)
            made.apply(put=SENTENCES, drop=(), sequence=4)
            assert numbers(ask(made, "boiler manual"))
    finally:
        server.sql(f"drop database {name} with (force)")


def test_a_server_with_an_older_pgvector_is_refused(store, monkeypatch):
    monkeypatch.setattr(tables, "_OLDEST", (99, 0))
    store.home().discard()
    with pytest.raises(ConfigError, match="newer, and this server has") as refused:
        store.home().open(FINGERPRINT)
    assert "embedded" in refused.value.hint


def _formats(store):
    return store.sql(
        f"select format, sequence from {store.schema}.index_generation where corpus = 'memories' order by 1"
    )


def test_two_formats_serve_side_by_side_until_the_newer_tidies_up_what_nobody_follows(store, monkeypatch):
    older = store.opener()()
    older.apply(put=SENTENCES, drop=(), sequence=4)
    ours = generations.FORMAT

    monkeypatch.setattr(generations, "FORMAT", "99.1")
    newer_home = store.home()
    newer = newer_home.open(FINGERPRINT)
    assert newer.sequence == 0
    newer.apply(put=SENTENCES[:1], drop=(), sequence=3)
    newer_home.tidy()
    assert _formats(store) == [(ours, 4), ("99.1", 3)], "an older program is at work still"

    monkeypatch.setattr(generations, "FORMAT", ours)
    home = store.home()
    assert numbers(ask(home.open(FINGERPRINT), "boiler manual")) == numbers(ask(older, "boiler manual"))
    home.swap_to(home.begin(FINGERPRINT))
    home.open(FINGERPRINT).apply(put=SENTENCES, drop=(), sequence=4)
    home.tidy()
    assert _formats(store) == [(ours, 4), ("99.1", 3)], "the newer one is not ours to remove"

    monkeypatch.setattr(generations, "FORMAT", "99.1")
    newer.apply(put=SENTENCES, drop=(), sequence=5)
    newer_home.tidy()
    assert _formats(store) == [("99.1", 5)]
    newer_home.discard()
