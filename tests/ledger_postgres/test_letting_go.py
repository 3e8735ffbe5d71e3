"""What was erased leaves the files of the server and the planner's statistics; and upkeep finishes what had to wait."""

import psycopg
import pytest

import faces
import postgres
from memoranda import user
from memoranda.domain.address import address_of
from memoranda.ledger.postgres.connection import connected
from memoranda.ledger.postgres.rewriting import contents, written_anew
from support import occurrences, open_store

pytestmark = pytest.mark.postgres

SECRET = "Zanzibarquux"


@pytest.fixture(autouse=True)
def _in_postgres():
    with faces.on("postgres"):
        yield


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def memory(path):
    with open_store(path, busy_seconds=5.0) as opened:
        yield opened


@pytest.fixture
def address(memory, path):
    return address_of(faces.place(path))


@pytest.fixture
def visitor(address):
    """Another session of the same server, outside of any program of ours."""
    with psycopg.connect(address.url) as session:
        session.execute("set transaction isolation level repeatable read")
        yield session


def _plant(memory):
    kept = memory.remember(f"{SECRET} is the word that opens the cellar", about="cellar")
    memory.remember_many([f"harmless fact {number} of the house" for number in range(30)])
    memory.recall("which word opens the cellar?")
    return kept


def _files(schema):
    """The names of the files of all tables: one that was written anew has another."""
    return postgres.shared().sql(
        "select relname, relfilenode from pg_class where relnamespace = %s::regnamespace and relkind = 'r' "
        "order by relname",
        (schema,),
    )


def test_upkeep_finishes_an_erasure_that_an_older_view_had_kept_from_it(memory, path, visitor):
    kept = _plant(memory)
    visitor.execute("select 1")
    erased = memory.erase(kept.id)
    assert not erased.purged
    assert "maintain" in erased.receipt.pending
    assert occurrences(path, SECRET), "the older view keeps the deleted rows"
    visitor.rollback()

    done = memory.admin.maintain()

    assert done.pending == ""
    assert not occurrences(path, SECRET)
    assert memory.admin.maintain().pending == ""


def test_upkeep_tells_what_it_could_not_finish_and_does_the_rest(memory, path, address, visitor):
    kept = _plant(memory)
    visitor.execute("select 1")
    memory.erase(kept.id)
    visitor.execute(f"select count(*) from {address.schema}.memory")
    done = memory.admin.maintain()
    assert "reading" in done.pending
    assert done.as_json()["pending"] == done.pending
    visitor.rollback()
    assert memory.admin.maintain().pending == ""
    assert not occurrences(path, SECRET)


def test_upkeep_writes_nothing_anew_when_nothing_was_erased(memory, address):
    kept = _plant(memory)
    memory.remember("the cellar opens without a word", supersedes=kept)
    memory.recall("cellar")
    before = _files(address.schema)
    memory.admin.maintain()
    assert _files(address.schema) == before


def test_tidying_up_finishes_an_erasure_as_well(memory, path, visitor):
    kept = _plant(memory)
    visitor.execute("select 1")
    assert not memory.erase(kept.id).purged
    visitor.rollback()
    memory.admin.optimize()
    assert not occurrences(path, SECRET)


def test_no_word_of_anybody_gets_into_the_statistics_of_the_planner(memory, address):
    kept = _plant(memory)
    memory.conversations.append([user(f"{SECRET} again")], conversation="talk")
    tables = [name for name, _ in _files(address.schema)]
    for name in tables:
        postgres.shared().sql(f"analyze {address.schema}.{name}")
    sampled = (
        "select tablename, attname from pg_stats where schemaname = %s "
        "and concat(most_common_vals, histogram_bounds, most_common_elems) like %s"
    )
    assert postgres.shared().sql(sampled, (address.schema, "%live%")), "the planner does sample what it may"
    assert not postgres.shared().sql(sampled, (address.schema, f"%{SECRET}%"))
    assert not postgres.shared().sql(
        "select tablename, attname from pg_stats where schemaname = %s and attname in ('body', 'terms', 'vector')",
        (address.schema,),
    )
    assert memory.erase(kept.id).purged


def test_a_table_that_somebody_reads_is_not_written_anew_and_nothing_is_raised(memory, address, visitor):
    _plant(memory)
    visitor.execute(f"select count(*) from {address.schema}.memory")
    assert not written_anew(address, ["memory"], patience=0.0)
    visitor.rollback()
    assert written_anew(address, ["memory"], patience=0.0)


def test_a_table_that_is_gone_meanwhile_is_passed_over(memory, address):
    assert written_anew(address, ["index_memories_999_body", "memory"], patience=0.0)
    connection = connected(address.url, schema=address.schema, patience_ms=1_000)
    try:
        assert list(contents(connection, "index_memories_999_body")) == []
        assert b"".join(contents(connection, "migration"))
    finally:
        connection.raw.close()


def test_the_receipt_says_what_was_looked_at_and_what_was_not(memory):
    notes = memory.erase(_plant(memory).id).receipt.notes
    assert any("every row of every table" in note and "not the server's files" in note for note in notes)
    assert any("standbys" in note for note in notes)
