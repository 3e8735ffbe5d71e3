"""Rows outside of the fence are neither seen nor written, also by a statement that names no scope."""

import os
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memoranda
import postgres
from memoranda import Settings
from memoranda.domain.errors import LedgerError
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.fence import fenced, lifted
from memoranda.ledger.postgres import policies
from memoranda.testing.fakes import FixedClock

EXEMPT = {"token", "mirror"}
"""Tables with a scope that are not fenced; policies.py says why."""


def counts(database, *tables):
    with database.read() as connection:
        return {table: connection.execute(f"select count(*) from {table}").fetchone()[0] for table in tables}


@pytest.fixture(scope="module")
def inhabitant(tmp_path_factory):
    """One of two tenants whose names begin alike, with something in every table that has a fence."""
    chosen = Settings(
        embedder="none", follow=False, local_folder=str(tmp_path_factory.mktemp("local")), index_home="embedded"
    )
    schema = f"f_{os.getpid()}_inhabited"
    address = postgres.shared().address(schema)
    for root in ("bot-10", "bot-1"):
        memory = memoranda.open(address, scope=f"{root}/anna", settings=chosen)
        first = memory.remember(f"{root} drinks tea.", about="drink", attribute="morning")
        memory.remember(f"{root} drinks coffee.", supersedes=first)
        memory.remember(f"{root} was wrong.")
        memory.erase(memory.list(limit=1)[0])
        memory.within(f"{root}/anna/phone").remember(f"{root} is below.")
        memory.capture([memoranda.user(f"Remember that {root} leaves at seven.")], conversation="turns")
        memory.conversations.append([memoranda.user(f"{root} says hello.")], conversation="talk")
        memory.conversations.keep_private("secret")
        memory.tag("before")
        memory.grade(memory.list(limit=1)[0], 0.8)
        memory.recall("where is the submarine?")
        memory.governance.drift()
        if root == "bot-10":
            memory.close()
    yield memory
    memory.close()
    postgres.shared().sql(f"drop schema {schema} cascade")


@pytest.fixture
def filled(inhabitant):
    """What holds the rows of both."""
    return inhabitant._engine.ledger.database


def test_every_table_with_a_scope_has_a_fence_or_a_reason(server, filled):
    rows = server.sql(
        "select table_name from information_schema.columns where column_name = 'scope' and table_schema = %s "
        "and table_name in (select tablename from pg_tables where schemaname = %s)",
        (filled.address.schema, filled.address.schema),
    )
    indexes = {name for (name,) in rows if name.startswith("index")}
    assert {name for (name,) in rows} - indexes == {*policies.SCOPED, *EXEMPT}


def test_without_a_scope_in_the_statement_only_ones_own_rows_are_seen(filled):
    with filled.read() as connection:
        scopes = {row[0] for row in connection.execute("select scope from memory")}
    assert scopes == {"bot-1/anna", "bot-1/anna/phone", "bot-10/anna", "bot-10/anna/phone"}
    for table in policies.SCOPED:
        with fenced(Scope("bot-1/anna")), filled.read() as connection:
            seen = {row[0] for row in connection.execute(f"select scope from {table}")}
        assert all(scope == "" or scope.split("/")[0] == "bot-1" for scope in seen), table


def test_what_hangs_on_a_row_is_seen_with_it_alone(filled):
    tables = tuple(policies.HANGING)
    whole = counts(filled, *tables)
    parts = []
    for scope in ("bot-1", "bot-10"):
        with fenced(Scope(scope)):
            parts.append(counts(filled, *tables))
    for table in tables:
        assert parts[0][table] + parts[1][table] == whole[table], table
        assert parts[0][table] == parts[1][table], table
    assert whole["revision"] >= 8
    assert whole["message"] == 2
    assert whole["grading"] >= 2


def test_above_is_seen_as_far_as_it_may_and_siblings_are_not(opened):
    for scope in ("bot-1", "bot-1/anna", "bot-1/anna/phone", "bot-1/ben", "bot-10"):
        opened(scope).remember(f"Kept in {scope}.")
    database = opened("bot-1")._engine.ledger.database

    def seen(scope):
        with fenced(scope), database.read() as connection:
            return [row[0] for row in connection.execute("select scope from memory order by scope")]

    assert seen(Scope("bot-1/anna")) == ["bot-1", "bot-1/anna", "bot-1/anna/phone"]
    assert seen(Scope("bot-1/anna", top="bot-1/anna")) == ["bot-1/anna", "bot-1/anna/phone"]
    assert seen(Scope("bot-1")) == ["bot-1", "bot-1/anna", "bot-1/anna/phone", "bot-1/ben"]
    assert seen(Scope("bot")) == []


@pytest.mark.parametrize("scope", ["bot-10/anna", "bot-1", "bot-1/ben"])
def test_nothing_is_put_outside_of_the_fence(filled, scope):
    """Neither beside nor above: what is above is read from here, and not written."""

    def job(connection):
        connection.execute("insert into tag (scope, name, seq, at) values (:scope, 'planted', 1, 1)", {"scope": scope})

    with fenced(Scope("bot-1/anna")), pytest.raises(LedgerError, match="row-level security"):
        filled.write(job)
    with filled.read() as connection:
        assert not connection.execute("select 1 from tag where name = 'planted'").fetchall()


def test_nothing_outside_is_changed_moved_or_deleted(filled):
    before = counts(filled, *policies.SCOPED, *policies.HANGING)

    def job(connection):
        connection.execute("update memory set text = 'changed' where scope like 'bot-10%'")
        changed = connection.changes()
        connection.execute("delete from memory where scope like 'bot-10%'")
        connection.execute("delete from event where scope like 'bot-10%'")
        return changed + connection.changes()

    with fenced(Scope("bot-1/anna")):
        assert filled.write(job) == 0
    assert counts(filled, *policies.SCOPED, *policies.HANGING) == before

    def move(connection):
        connection.execute("update memory set scope = 'bot-10/anna'")

    with fenced(Scope("bot-1/anna")), pytest.raises(LedgerError, match="row-level security"):
        filled.write(move)


def test_a_read_whose_condition_was_lost_shows_nothing_of_others(opened, monkeypatch):
    """The bug that the fence is for: here it is put in on purpose."""
    for root in ("bot-1", "bot-10"):
        opened(f"{root}/anna").remember(f"{root} hides the key under the mat.")
    memory = opened("bot-1/anna")
    assert len(memory.list()) == 1
    original = memories.browse

    def careless(connection, scope, wanted, **page):
        rows = connection.execute(
            f"select {memories.SELECTED} from memory m order by m.number desc limit 100"
        ).fetchall()
        assert rows, "it did look"
        found = [memories.from_row(row)[1] for row in rows]
        return found, len(found)

    monkeypatch.setattr(memories, "browse", careless)
    leaked = {each.scope for each in memory.list()}
    assert leaked == {"bot-1/anna"}
    with lifted():
        everything = memory._engine.ledger.browse(memories.Filter(), scope=Scope("bot-1/anna"), limit=9, offset=0)
    assert {each.scope for each in everything} == {"bot-1/anna", "bot-10/anna"}, "the bug is there"
    monkeypatch.setattr(memories, "browse", original)


def test_jobs_of_several_scopes_in_one_commit_each_have_their_own_fence(opened, address):
    """Group commit: one thread runs the jobs of all that wait."""
    memory = opened("bot-1/anna")
    database = memory._engine.ledger.database
    seen, begun = {}, threading.Event()

    def slow(connection):
        begun.set()
        deadline.wait(5)
        return []

    deadline = threading.Event()
    first = threading.Thread(target=lambda: database.write(slow))
    first.start()
    begun.wait(5)

    def look(scope):
        def job(connection):
            connection.execute("insert into tag (scope, name, seq, at) values (:scope, 'mine', 1, 1)", {"scope": scope})
            return [row[0] for row in connection.execute("select scope from tag")]

        with fenced(Scope(scope)):
            seen[scope] = database.write(job)

    scopes = [f"bot-{number}" for number in range(6)]
    threads = [threading.Thread(target=look, args=(scope,)) for scope in scopes]
    for thread in threads:
        thread.start()
    while len(database._queue) < len(scopes):
        time.sleep(0.001)
    deadline.set()
    for thread in (first, *threads):
        thread.join()
    assert seen == {scope: [scope] for scope in scopes}


def test_a_session_that_goes_back_to_the_pool_takes_no_fence_along(opened):
    memory = opened("bot-1/anna", pool_size=1)
    opened("bot-2").remember("Others are here.")
    memory.remember("I am here.")
    memory.list()
    with memory._engine.ledger.database.read() as connection:
        assert connection.execute("select count(*) from memory").fetchone()[0] == 2


def test_a_view_inside_of_a_view_has_its_own_fence(filled):
    with fenced(Scope("bot-1/anna")), filled.read() as outer:
        inside = outer.execute("select count(*) from memory").fetchone()[0]
        with lifted(), filled.read() as inner:
            assert inner is outer
            assert inner.execute("select count(*) from memory").fetchone()[0] == 2 * inside
        assert outer.execute("select count(*) from memory").fetchone()[0] == inside


def test_the_newest_sequence_is_the_stores_whoever_asks(opened):
    memory = opened("bot-1")
    memory.remember("One.")
    opened("bot-2").remember("Two.")
    assert memory.stats().sequence == 2
    assert memory.remember("Three.").receipt.sequence == 3


WILD = st.text(alphabet="ab%_'\"\\$.:@+~-/0żα ", min_size=1, max_size=12)


@given(st.lists(WILD, min_size=1, max_size=4), st.sampled_from(["a", "a/b", "a-b", "a.b", "b"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_scope_that_begins_alike_is_ever_seen(opened, shared_store, others, fence):
    """Rows are put in by hand, with scopes that no memory could have: the fence is by bytes."""
    database = shared_store

    def job(connection):
        connection.execute("delete from tag")
        for scope in {*others, "a", "a/b", "a/b/c", "a-b", "a.b/c", "ab", "a0", "b", "A"}:
            connection.execute("insert into tag (scope, name, seq, at) values (:scope, 'x', 1, 1)", {"scope": scope})

    database.write(job)
    bound = Scope(fence)
    with fenced(bound), database.read() as connection:
        seen = {row[0] for row in connection.execute("select scope from tag")}
    with database.read() as connection:
        everything = {row[0] for row in connection.execute("select scope from tag")}
    assert seen == {scope for scope in everything if bound.sees(scope) or bound.contains(scope)}


@pytest.fixture
def shared_store(opened):
    return opened("any")._engine.ledger.database


def test_doctor_tells_whether_the_fence_holds_and_mends_it(filled, server, inhabitant):
    with filled.read() as connection:
        assert policies.check(connection).ok
    server.sql(f"alter table {filled.address.schema}.tag no force row level security")
    with filled.read() as connection:
        told = policies.check(connection)
    assert (told.ok, "tag" in told.detail) == (False, True)
    memory = inhabitant
    assert [each.name for each in memory.admin.doctor().checks if each.name == "fence" and not each.ok]
    assert "row-level security was made anew" in memory.admin.doctor(fix=True).repaired
    with filled.read() as connection:
        assert policies.check(connection).ok


def test_doctor_says_that_a_superuser_is_not_bound(server, address, chosen):
    above = server.address(address.rpartition("=")[2], user="postgres")
    with (
        memoranda.open(above, scope="bot-1", settings=chosen, clock=FixedClock()) as memory,
        memory._engine.ledger.database.read() as connection,
    ):
        told = policies.check(connection)
    assert not told.ok
    assert "nobypassrls" in told.fix


def test_the_planner_still_uses_the_indexes_of_the_scope(filled):
    def explained(statement):
        with fenced(Scope("bot-1/anna")), filled.read() as connection:
            connection.execute("set local enable_seqscan = off")
            return "\n".join(row[0] for row in connection.execute(f"explain {statement}"))

    plan = explained("select number from memory where scope in ('bot-1/anna', 'bot-1') and state = 'live'")
    assert "memory_scope" in plan
    assert "Index Cond: ((scope" in plan
    assert "Index Cond: ((number" in explained("select seq from revision where number = 1 and seq = 1")
