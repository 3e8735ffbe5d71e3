"""What was erased leaves the files of the server and the planner's statistics; and upkeep finishes what had to wait."""

import threading
import time

import psycopg
import pytest

import faces
import memoranda
import postgres
from memoranda import user
from memoranda.domain.address import address_of
from memoranda.http.metrics import Metrics, Standing
from memoranda.http.upkeep import Unfinished
from memoranda.ledger.postgres import database as postgres_database
from memoranda.ledger.postgres import rewriting
from memoranda.ledger.postgres.connection import connected
from memoranda.ledger.postgres.horizon import older_views
from memoranda.ledger.postgres.rewriting import awaited, contents, written_anew
from memoranda.service.store import Store
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
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def address(memory, path):
    return address_of(faces.place(path))


@pytest.fixture
def visitor(address):
    """Another session of the same server, outside of any program of ours."""
    with psycopg.connect(address.url, application_name="a visitor") as session:
        session.execute("set transaction isolation level repeatable read")
        yield session


@pytest.fixture
def hasty(monkeypatch):
    """Whoever stays is not waited for, until this is called: then everybody is."""

    def wait(seconds):
        monkeypatch.setattr(postgres_database, "_VIEW_SECONDS", seconds)
        monkeypatch.setattr(postgres_database, "_WRITE_SECONDS", seconds)
        monkeypatch.setattr("memoranda.index.postgres.index._PATIENCE", seconds)

    wait(0.2)
    return lambda: wait(60.0)


def _plant(memory):
    kept = memory.remember(f"{SECRET} is the word that opens the cellar", about="cellar")
    memory.remember_many([f"harmless fact {number} of the house" for number in range(30)])
    memory.recall("which word opens the cellar?")
    return kept


def _line(found, name):
    return next(each for each in found.checks if each.name == name)


class _Told:
    """What a server writes into its log."""

    def __init__(self):
        self.events = []

    def event(self, what, **_):
        self.events.append(what)

    def trouble(self, what, error):
        raise AssertionError(what) from error


def _files(schema):
    """The names of the files of all tables: one that was written anew has another."""
    return postgres.shared().sql(
        "select relname, relfilenode from pg_class where relnamespace = %s::regnamespace and relkind = 'r' "
        "order by relname",
        (schema,),
    )


def test_an_older_view_is_waited_for_and_then_it_is_purged(memory, path, visitor, monkeypatch):
    kept = _plant(memory)
    visitor.execute("select 1")
    waited = threading.Event()
    looked = postgres_database.awaited

    def noticed(*args, **options):
        waited.set()
        return looked(*args, **options)

    def leave():
        waited.wait(60)
        visitor.rollback()

    monkeypatch.setattr(postgres_database, "awaited", noticed)
    leaving = threading.Thread(target=leave)
    leaving.start()
    try:
        erased = memory.erase(kept.id)
    finally:
        leaving.join()
    assert erased.purged, erased.receipt.pending
    assert not occurrences(path, SECRET)


def test_upkeep_finishes_an_erasure_that_an_older_view_had_kept_from_it(memory, path, visitor, hasty):
    kept = _plant(memory)
    visitor.execute("select 1")
    erased = memory.erase(kept.id)
    assert not erased.purged
    assert f"the session {visitor.info.backend_pid} (a visitor, idle in transaction" in erased.receipt.pending
    assert "maintain" in erased.receipt.pending
    assert occurrences(path, SECRET), "the older view keeps the deleted rows"
    visitor.rollback()
    hasty()

    done = memory.admin.maintain()

    assert done.pending == ""
    assert not occurrences(path, SECRET)
    assert memory.admin.maintain().pending == ""


def test_whoever_holds_a_table_without_a_view_is_named_too(memory, path, address, visitor, monkeypatch):
    monkeypatch.setattr(postgres_database, "_WRITE_SECONDS", 0.2)
    kept = _plant(memory)
    visitor.rollback()
    visitor.execute("set session characteristics as transaction isolation level read committed")
    visitor.commit()
    visitor.execute(f"select count(*) from {address.schema}.memory")
    told = memory.erase(kept.id).receipt.pending
    assert f"the session {visitor.info.backend_pid} (a visitor" in told
    assert "the table memory" in told
    visitor.rollback()
    monkeypatch.setattr(postgres_database, "_WRITE_SECONDS", 60.0)
    assert memory.admin.maintain().pending == ""
    assert not occurrences(path, SECRET)


def test_a_view_of_another_database_of_the_server_is_not_waited_for(memory, path, address):
    kept = _plant(memory)
    parameters = psycopg.conninfo.make_conninfo(address.url, dbname="postgres", user="postgres")
    with psycopg.connect(parameters) as elsewhere:
        elsewhere.execute("set transaction isolation level repeatable read")
        elsewhere.execute("select 1")
        assert awaited(address, patience=60.0) == ""
        assert memory.erase(kept.id).purged
        assert not occurrences(path, SECRET)


def test_a_transaction_that_writes_in_another_database_is_waited_for_and_named(memory, address):
    _plant(memory)
    parameters = psycopg.conninfo.make_conninfo(address.url, dbname="postgres", user="postgres")
    with psycopg.connect(parameters, application_name="a batch") as elsewhere:
        elsewhere.execute("create temporary table batch (n int)")
        memory.remember("something later")
        assert f"the session {elsewhere.info.backend_pid} (a batch" in awaited(address, patience=0.0)
        assert "a batch" in written_anew(address, ["memory"], patience=0.0)
        elsewhere.rollback()
    assert written_anew(address, ["memory"], patience=60.0) == ""


def test_what_others_change_meanwhile_is_no_business_of_an_erasure(memory, path, address, visitor, monkeypatch):
    """A view that began after an erasure keeps what was changed after it, and nothing of what was erased."""
    kept = _plant(memory)
    database = memory._engine.ledger.database
    database.write(lambda connection: connection.execute("delete from memory where id = :id", {"id": kept.id}))
    begun = rewriting.moment

    def then_others_come(connection):
        found = begun(connection)
        while True:  # in another database of the server somebody may be writing: no view is newer than that
            visitor.execute("select 1")
            if not older_views(connection, found):
                break
            visitor.rollback()
            visitor.execute("set transaction isolation level repeatable read")
        database.write(lambda connection: connection.execute("update memory set lang = 'xx'"))
        return found

    monkeypatch.setattr(rewriting, "moment", then_others_come)
    assert written_anew(address, ["memory"], patience=60.0) == ""
    (table,) = [content for name, content in faces.tables_of(path) if name == "memory"]
    assert SECRET.encode() not in table
    assert table.count(b"harmless fact") == 60, "each of them twice: before and after the change"


def test_upkeep_tells_what_it_could_not_finish_and_does_the_rest(memory, path, address, visitor, hasty):
    kept = _plant(memory)
    visitor.execute("select 1")
    memory.erase(kept.id)
    visitor.execute(f"select count(*) from {address.schema}.memory")
    done = memory.admin.maintain()
    assert "older view" in done.pending
    assert done.as_json()["pending"] == done.pending
    visitor.rollback()
    hasty()
    assert memory.admin.maintain().pending == ""
    assert not occurrences(path, SECRET)


def test_doctor_names_what_is_unfinished_and_finishes_it_when_told(memory, path, visitor, hasty):
    kept = _plant(memory)
    assert _line(memory.admin.doctor(), "erased bytes").ok
    visitor.execute("select 1")
    memory.erase(kept.id)
    line = _line(memory.admin.doctor(fix=True), "erased bytes")
    assert not line.ok
    assert f"the session {visitor.info.backend_pid} (a visitor" in line.detail
    assert "maintain" in line.fix
    visitor.rollback()
    hasty()
    assert _line(memory.admin.doctor(fix=True), "erased bytes").ok
    assert not occurrences(path, SECRET)


def test_a_server_goes_on_with_it_and_its_metrics_tell(memory, path, visitor, hasty):
    kept = _plant(memory)
    visitor.execute("select 1")
    memory.erase(kept.id)
    store = Store(memory._engine)
    metrics = Metrics(lambda: Standing(*store.standing(), bool(store.owed())))
    told = _Told()
    unfinished = Unfinished(store, told)
    assert b"memoranda_erasure_unfinished 1.0" in metrics.shown()[0]
    unfinished.look(now=0)
    assert told.events == [], "somebody may be at it still"
    unfinished.look(now=100)
    assert told.events == ["erasures are not finished"]
    visitor.rollback()
    hasty()
    unfinished.look(now=101)
    assert told.events == ["erasures are not finished"], "not at once"
    unfinished.look(now=1_000)
    assert told.events[1:] == ["erasures are finished"]
    assert b"memoranda_erasure_unfinished 0.0" in metrics.shown()[0]
    assert not occurrences(path, SECRET)


def test_a_role_that_may_not_write_tables_anew_never_says_purged(memory, path, address):
    server = postgres.shared()
    kept = _plant(memory)
    guest = f"guest_{address.schema[:20]}"
    secret = psycopg.conninfo.conninfo_to_dict(address.url)["password"]
    server.sql(f"create role {guest} login password '{secret}'")
    try:
        server.sql(f"grant usage on schema {address.schema} to {guest}")
        server.sql(f"grant select, insert, update, delete on all tables in schema {address.schema} to {guest}")
        server.sql(f"grant all on all sequences in schema {address.schema} to {guest}")
        lent = server.address(address.schema, user=guest)
        settings = memory._engine.settings._replace(store=lent, local_folder=str(path.with_name("guest")))
        with memoranda.open(lent, scope="home/anna", settings=settings) as borrowed:
            erased = borrowed.erase(kept.id)
            assert not erased.purged
            assert "the role may not write the table" in erased.receipt.pending
            assert "the role may not" in borrowed.admin.maintain().pending
    finally:
        server.sql(f"drop owned by {guest}")
        server.sql(f"drop role {guest}")
    assert memory.admin.maintain().pending == ""
    assert not occurrences(path, SECRET)


def test_upkeep_writes_nothing_anew_when_nothing_was_erased(memory, address):
    kept = _plant(memory)
    memory.remember("the cellar opens without a word", supersedes=kept)
    memory.recall("cellar")
    before = _files(address.schema)
    memory.admin.maintain()
    assert _files(address.schema) == before


def test_tidying_up_finishes_an_erasure_as_well(memory, path, visitor, hasty):
    kept = _plant(memory)
    visitor.execute("select 1")
    assert not memory.erase(kept.id).purged
    visitor.rollback()
    hasty()
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
    assert "uses the table memory" in written_anew(address, ["memory"], patience=0.0)
    visitor.rollback()
    assert not written_anew(address, ["memory"], patience=60.0)


def test_a_table_that_was_emptied_is_written_anew_and_one_that_was_never_filled_is_not(memory, path, address):
    _plant(memory)
    server = postgres.shared()
    server.sql(f"create table {address.schema}.emptied (word text primary key)")
    server.sql(f"create table {address.schema}.bare (word text primary key)")
    server.sql(f"insert into {address.schema}.emptied values ('{SECRET} was here')")
    server.sql(f"delete from {address.schema}.emptied")
    for _ in range(600):  # until nobody sees it any more
        server.sql(f"vacuum (truncate) {address.schema}.emptied")
        if server.sql(f"select pg_relation_size('{address.schema}.emptied')") == [(0,)]:
            break
        time.sleep(0.1)
    assert [name for name, content in faces.tables_of(path) if SECRET.encode() in content and "emptied" in name]
    server.sql(f"alter table {address.schema}.emptied owner to memoranda")
    before = dict(_files(address.schema))
    assert written_anew(address, ["emptied", "bare"], patience=60.0) == ""
    after = dict(_files(address.schema))
    assert before["bare"] == after["bare"]
    assert before["emptied"] != after["emptied"]
    assert not [name for name, content in faces.tables_of(path) if SECRET.encode() in content and "emptied" in name]


def test_a_table_that_is_gone_meanwhile_is_passed_over(memory, address):
    assert not written_anew(address, ["index_memories_999_body", "memory"], patience=60.0)
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
