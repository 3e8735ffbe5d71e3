"""Upkeep of an index in PostgreSQL: graphs beside strangers' transactions, bytes that leave, remains of probes."""

import threading
import time

import pytest

import faces
from index_postgres.stores import FINGERPRINT
from memoranda.domain.errors import LedgerError
from memoranda.index.postgres import upkeep, writer
from memoranda.index.probe import LOWEST, SCOPE, probe
from memoranda.ledger.postgres.connection import connected
from memoranda.ledger.postgres.rewriting import contents
from memoranda.testing.index_entries import SENTENCES, entry, many
from support import open_store

pytestmark = pytest.mark.postgres

_STRANGER = "begin isolation level repeatable read; select txid_current()"


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(writer, "SMALL", 2)
    monkeypatch.setattr(upkeep, "GRAPH_FROM", 3)


@pytest.fixture
def stranger(store):
    """A session with a transaction that nobody ends."""
    address = store.database().address
    session = connected(address.url, schema=address.schema, patience_ms=1_000)
    session.together(_STRANGER)
    yield session
    session.raw.close()


def _graphs(store):
    """(name, whether it is complete) of each graph."""
    return store.sql(
        "select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid "
        "join pg_namespace n on n.oid = c.relnamespace where n.nspname = %s and c.relname like '%%\\_near\\_%%'"
    )


def _building(store):
    found = store.sql(
        "select pid from pg_stat_activity where query like 'create index concurrently%%' and wait_event_type = 'Lock' "
        "and query like '%%' || (select max(number) from " + f"{store.schema}.index_generation) || '%%'"
    )
    return [row[0] for row in found]


def _until(done):
    patience = time.monotonic() + 20
    while not done():
        assert time.monotonic() < patience
        time.sleep(0.05)


def test_a_graph_waits_for_strangers_as_long_as_it_takes(store, large, stranger):
    index = store.opener()()
    index.apply(put=many(40), drop=(), sequence=1)
    building = threading.Thread(target=index.optimize)
    building.start()
    building.join(2.5)
    assert building.is_alive(), "it waits for the older view, longer than for any lock"
    stranger.together("rollback")
    building.join(20)
    assert [complete for _, complete in _graphs(store)] == [True] * len(_graphs(store))
    assert _graphs(store)


def test_a_graph_that_could_not_be_completed_is_removed(store, large, stranger):
    index = store.opener()()
    index.apply(put=many(40), drop=(), sequence=1)
    failed = []

    def build():
        try:
            index.optimize()
        except LedgerError as error:
            failed.append(error)

    building = threading.Thread(target=build)
    building.start()
    _until(lambda: _building(store))
    assert [complete for _, complete in _graphs(store)] == [False]
    (pid,) = _building(store)
    store.sql(f"select pg_cancel_backend({pid})")
    building.join(20)
    assert failed
    assert not _graphs(store)


def test_a_vector_of_a_large_scope_is_recognised_in_what_the_server_sends(store, large):
    index, without = store.opener()(), store.opener("messages")()
    gone = [entry(99, "the violet canary sings in the cellar")]
    index.apply(put=[*many(40), *gone], drop=(), sequence=1)
    without.apply(put=many(40), drop=(), sequence=1)
    needles = [each for each in without.residues(gone) if len(each) == 64]
    address = store.database().address
    session = connected(address.url, schema=address.schema, patience_ms=1_000)
    try:
        sent = b"".join(contents(session, index.tables.vector))
        kept = b"".join(contents(session, without.tables.vector))
    finally:
        session.raw.close()
    assert any(each in sent for each in needles)
    assert not any(each in kept for each in needles)


def test_only_what_is_owed_is_written_anew(store):
    index = store.opener()()
    index.apply(put=SENTENCES, drop=(), sequence=4)
    file = f"select pg_relation_filenode('{store.schema}.{index.tables.body}')"
    first = store.sql(file)
    assert index.scrub()
    assert store.sql(file) == first
    index.apply(put=(), drop=[2], sequence=5)
    assert index.scrub()
    second = store.sql(file)
    assert second != first
    assert index.scrub()
    assert store.sql(file) == second


def test_a_scrub_returns_false_while_somebody_reads_and_owes_it_still(store, stranger, monkeypatch):
    monkeypatch.setattr("memoranda.index.postgres.index._PATIENCE", 0.2)
    index = store.opener()()
    index.apply(put=SENTENCES, drop=(), sequence=4)
    index.apply(put=(), drop=[2], sequence=5)
    stranger.execute(f"select count(*) from {index.tables.body}")
    assert not index.scrub()
    stranger.together("rollback")
    monkeypatch.setattr("memoranda.index.postgres.index._PATIENCE", 60.0)
    assert store.home().open(FINGERPRINT).scrub()


def test_a_probe_removes_what_an_interrupted_one_left_and_nothing_of_one_under_way(store):
    index = store.opener()()
    index.apply(put=SENTENCES, drop=(), sequence=4)
    long_ago = LOWEST + 1_700_000_000 * (1 << 28) + 5
    just_now = LOWEST + int(time.time() - 10) * (1 << 28) + 5
    for number in (long_ago, just_now):
        index.apply(put=[entry(number, "zq left", scope=SCOPE)], drop=(), sequence=None)
    probe(index)
    assert index.holds([long_ago, just_now, 1]) == {just_now, 1}


def test_following_inside_of_a_view_ends(tmp_path):
    with faces.on("postgres"), open_store(tmp_path / "store.db") as memory:
        memory.remember("one lamp")
        memory.recall("lamp")
        memory.remember("two lamps")
        engine = faces.engine_of(memory)

        standing = []

        def follow():
            with engine.ledger.database.read():
                standing.append(engine.memories.catch_up(seconds=0))

        following = threading.Thread(target=follow, daemon=True)
        following.start()
        following.join(10)
        assert not following.is_alive()
        assert [entry.text for entry in standing[0].tail] == ["two lamps"], "what its view lacks is searched exactly"
        assert len(memory.recall("lamp")) == 2
