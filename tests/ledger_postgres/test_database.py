"""The database in PostgreSQL: one writer at a time, lost answers, servers that go and come, locks between processes."""

import threading
import time
from itertools import pairwise

import psycopg
import pytest

import postgres
from memoranda import LedgerError, LedgerLocked, LedgerNewer, LedgerUnavailable
from memoranda.domain.address import address_of
from memoranda.domain.errors import Conflict, LedgerDamaged
from memoranda.ledger.locking import Busy
from memoranda.ledger.postgres.connection import PostgresConnection
from memoranda.ledger.postgres.database import PostgresDatabase

pytestmark = pytest.mark.postgres


@pytest.fixture
def schema(request):
    name = f"d_{abs(hash(request.node.nodeid)) % 10**12}"
    yield name
    postgres.shared().sql(f"drop schema if exists {name} cascade")


@pytest.fixture
def opened(schema, tmp_path):
    made = []

    def one_more(**options):
        address = address_of(postgres.shared().address(schema))
        made.append(PostgresDatabase(address, tmp_path / "local" / "store", **{"busy_seconds": 5.0, **options}))
        return made[-1]

    yield one_more
    for database in made:
        database.close()


def put(key):
    def job(connection):
        connection.execute("insert into store (key, value) values (:key, '1')", {"key": key})

    return job


def keys(database):
    with database.read() as connection:
        return [row[0] for row in connection.execute("select key from store where key <> 'key' order by key")]


def backend(database):
    return database._writer.raw.info.backend_pid


def end(pid):
    postgres.shared().sql("select pg_terminate_backend(%s)", (pid,))


def test_what_is_written_is_seen_by_another_opening(opened):
    one, other = opened(), opened()
    before = other.version()
    one.write(put("a"))
    assert keys(other) == ["a"]
    assert other.version() != before


def test_a_job_that_writes_nothing_tells_nobody(opened):
    one, other = opened(), opened()
    before = other.version()
    one.write(lambda connection: connection.execute("select 1").fetchall())
    assert other.version() == before


def test_a_view_is_of_one_moment(opened):
    one, other = opened(), opened()
    one.write(put("a"))
    with one.read():
        assert keys(one) == ["a"]
        other.write(put("b"))
        assert keys(one) == ["a"]
    assert keys(one) == ["a", "b"]


def test_a_writer_whose_session_was_ended_writes_all_the_same(opened):
    one = opened()
    one.write(put("a"))
    end(backend(one))
    one.write(put("b"))
    assert keys(one) == ["a", "b"]


def test_a_job_whose_session_is_ended_in_the_middle_is_done_once(opened):
    one = opened()
    ended = []

    def job(connection):
        put("a")(connection)
        if not ended:
            ended.append(backend(one))
            end(backend(one))
        put("b")(connection)

    one.write(job)
    assert keys(one) == ["a", "b"]


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_job_that_the_server_asks_to_try_again_is_done_once(opened, state):
    one = opened()
    tries = []

    def job(connection):
        tries.append(state)
        put("a")(connection)
        if len(tries) < 4:
            connection.execute(f"do $$ begin raise exception using errcode = '{state}'; end $$")

    one.write(job)
    assert len(tries) == 4
    assert keys(one) == ["a"]


def test_of_two_that_wait_for_each_other_the_one_that_is_broken_off_tries_again(opened, schema):
    """Somebody who works in the tables by hand, and takes no lock of ours."""
    one = opened(busy_seconds=60.0)
    one.write(put("a"))
    one.write(put("b"))
    tries, taken = [], threading.Event()

    def job(connection):
        tries.append(1)
        connection.execute("update store set value = value || 'x' where key = 'a'")
        taken.set()
        connection.execute("update store set value = value || 'x' where key = 'b'")

    with psycopg.connect(postgres.shared().address(schema, user="postgres").partition("?")[0]) as by_hand:
        by_hand.execute("set deadlock_timeout = '60s'")  # it is ours that is broken off
        by_hand.execute(f"update {schema}.store set value = value || 'y' where key = 'b'")
        writing = threading.Thread(target=one.write, args=(job,))
        writing.start()
        assert taken.wait(60)
        by_hand.execute(f"update {schema}.store set value = value || 'y' where key = 'a'")
        by_hand.commit()
        writing.join(60)
        assert not writing.is_alive()
    assert len(tries) == 2
    with one.read() as connection:
        rows = connection.execute("select key, value from store where key in ('a', 'b') order by key").fetchall()
    assert rows == [("a", "1yx"), ("b", "1yx")]


@pytest.mark.parametrize("took_place", [True, False])
def test_a_commit_whose_answer_was_lost_is_made_once(opened, monkeypatch, took_place):
    one = opened()
    whole = PostgresConnection.together
    lost = []

    def together(self, script):
        if script.endswith("commit") and not lost:
            lost.append(script)
            if took_place:
                whole(self, script)
            end(self.raw.info.backend_pid)
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        whole(self, script)

    monkeypatch.setattr(PostgresConnection, "together", together)
    ran = []

    def job(connection):
        ran.append(1)
        connection.execute(
            "insert into store (key, value) values ('n', '1') on conflict (key) do update set value = 'twice'"
        )

    one.write(job)
    assert lost
    assert len(ran) == (1 if took_place else 2)
    with one.read() as connection:
        assert connection.execute("select value from store where key = 'n'").fetchone() == ("1",)


def test_a_reader_whose_idle_sessions_were_ended_reads_all_the_same(opened):
    one = opened(pool_size=3)
    one.write(put("a"))
    assert keys(one) == ["a"]
    postgres.shared().sql(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where datname = current_database() and application_name = 'memoranda reader'"
    )
    assert keys(one) == ["a"]
    assert one.version() > 0


def test_sequences_are_in_the_order_of_commits_whoever_writes(opened):
    """A follower that has read up to a sequence never misses one before it."""
    databases = [opened() for _ in range(3)]
    seen, stop = [], threading.Event()

    def follow():
        reader = opened()
        while not stop.is_set():
            with reader.read() as connection:
                rows = connection.execute("select number from upkeep order by number").fetchall()
            seen.append([row[0] for row in rows])

    def write(database):
        for _ in range(40):
            database.write(
                lambda connection: connection.execute(
                    "insert into upkeep (at, seconds) values (1, 1.0) returning number"
                )
            )

    follower = threading.Thread(target=follow)
    follower.start()
    writers = [threading.Thread(target=write, args=(database,)) for database in databases for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    time.sleep(0.05)
    stop.set()
    follower.join()
    assert len(seen[-1]) == 240
    for before, after in pairwise(seen):
        assert after[: len(before)] == before


def test_who_is_refused_in_a_group_takes_nothing_of_the_others_along(opened):
    one = opened()
    gate = threading.Event()

    def slow(connection):
        gate.wait(5)
        put("slow")(connection)

    def refused(connection):
        put("refused")(connection)
        raise Conflict("no")

    outcomes = {}

    def run(name, job):
        try:
            one.write(job)
            outcomes[name] = "kept"
        except Conflict:
            outcomes[name] = "refused"

    threads = [threading.Thread(target=run, args=("slow", slow))]
    threads[0].start()
    time.sleep(0.1)
    threads += [
        threading.Thread(target=run, args=(name, refused if name == "refused" else put(name)))
        for name in ("a", "refused", "b")
    ]
    for thread in threads[1:]:
        thread.start()
    time.sleep(0.2)
    gate.set()
    for thread in threads:
        thread.join()
    assert outcomes == {"slow": "kept", "a": "kept", "refused": "refused", "b": "kept"}
    assert keys(one) == ["a", "b", "slow"]


def test_whoever_waits_too_long_for_another_writer_is_told_so(opened):
    one, other = opened(), opened(busy_seconds=0.3)
    holding, done = threading.Event(), threading.Event()

    def long(connection):
        holding.set()
        done.wait(10)

    thread = threading.Thread(target=one.write, args=(long,))
    thread.start()
    holding.wait(5)
    try:
        with pytest.raises(LedgerLocked):
            other.write(put("a"))
    finally:
        done.set()
        thread.join()
    other.write(put("a"))


def test_a_name_is_held_by_one_at_a_time_and_let_go_of_when_its_session_ends(opened):
    one, other = opened(), opened()
    with one.hold("upkeep"):
        with pytest.raises(Busy), other.hold("upkeep"):
            pass
        with other.hold("something else"):
            pass
    with other.hold("upkeep"):
        pass
    with one.hold("leader"):
        postgres.shared().sql(
            "select pg_terminate_backend(l.pid) from pg_locks l where locktype = 'advisory' "
            "and database in (select oid from pg_database where datname = current_database())"
        )
        with other.hold("leader", patience=5.0):
            pass


def test_two_schemas_of_one_database_do_not_wait_for_each_other(opened, tmp_path, schema):
    one = opened()
    address = address_of(postgres.shared().address(f"{schema}_b"))
    other = PostgresDatabase(address, tmp_path / "b" / "store", busy_seconds=2.0)
    try:
        one.write(lambda _: other.write(put("inside")))
        assert keys(other) == ["inside"]
    finally:
        other.close()
        postgres.shared().sql(f"drop schema if exists {schema}_b cascade")


def test_what_is_not_a_store_is_refused_and_left_alone(opened, schema):
    postgres.shared().sql(f"create schema {schema} authorization memoranda")
    postgres.shared().sql(f"create table {schema}.cars (name text)")
    with pytest.raises(LedgerDamaged) as caught:
        opened()
    assert "schema" in caught.value.hint


def test_a_store_of_a_newer_version_is_refused_and_left_alone(opened, schema):
    one = opened()
    postgres.shared().sql(f"insert into {schema}.migration values ('m999_later', 1)")
    with pytest.raises(LedgerNewer):
        opened()
    with pytest.raises(LedgerNewer):  # who runs already does not write by the old tables, either
        one.write(put("a"))
    assert keys(one) == []


def test_a_server_that_is_no_primary_is_not_believed(opened, monkeypatch):
    """A standby that is not promoted yet has not seen the commit: what it says of it is worth nothing."""
    one = opened()
    whole, execute = PostgresConnection.together, PostgresConnection.execute
    lost, asked = [], []

    def together(self, script):
        if script.endswith("commit") and not lost:
            lost.append(script)
            whole(self, script)
            end(self.raw.info.backend_pid)
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        whole(self, script)

    def executed(self, statement, *values):
        if "pg_is_in_recovery" in statement:
            asked.append(statement)
            if len(asked) < 3:
                return execute(self, "select true")
        return execute(self, statement, *values)

    monkeypatch.setattr(PostgresConnection, "together", together)
    monkeypatch.setattr(PostgresConnection, "execute", executed)
    one.write(put("a"))
    assert len(asked) == 3
    assert keys(one) == ["a"]


def test_an_unknown_outcome_is_called_unknown(opened, monkeypatch):
    one = opened(busy_seconds=0.5)
    whole = PostgresConnection.together

    def together(self, script):
        if script.endswith("commit"):
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        whole(self, script)

    monkeypatch.setattr(PostgresConnection, "together", together)
    with pytest.raises(LedgerUnavailable) as caught:
        one.write(put("a"))
    assert "look before you do it again" in caught.value.hint


def test_one_whose_values_are_refused_by_the_server_takes_nobody_along(opened):
    one = opened()
    gate, outcomes = threading.Event(), {}

    def run(name, job):
        try:
            one.write(job)
            outcomes[name] = "kept"
        except Exception as error:
            outcomes[name] = type(error).__name__

    def slow(connection):
        gate.wait(5)
        put("slow")(connection)

    jobs = {"slow": slow, "good": put("good"), "nul": put("a\0b"), "twice": put("slow"), "fine": put("fine")}
    threads = [threading.Thread(target=run, args=each) for each in jobs.items()]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    gate.set()
    for thread in threads:
        thread.join()
    assert outcomes == {
        "slow": "kept", "good": "kept", "nul": "InvalidInput", "twice": "UniqueViolation", "fine": "kept",
    }  # fmt: skip
    assert keys(one) == ["fine", "good", "slow"]


@pytest.fixture
def guest(schema, tmp_path):
    """A role of its own, that owns the schema and nothing else."""
    server = postgres.shared()
    server.sql(f"create role g{schema} login password 'guest'")
    server.sql(f"create schema {schema} authorization g{schema}")
    hosts = server.address(schema).partition("@")[2]
    databases = []

    def opening():
        address = address_of(f"postgresql://g{schema}:guest@{hosts}")
        databases.append(PostgresDatabase(address, tmp_path / "guest" / "store", busy_seconds=5.0))
        return databases[-1]

    yield opening
    for database in databases:
        database.close()
    server.sql(f"drop schema {schema} cascade")
    server.sql(f"drop role g{schema}")


def test_a_role_that_may_make_no_schema_uses_the_one_that_it_was_given(guest):
    one = guest()
    one.write(put("a"))
    assert keys(one) == ["a"]


def test_what_is_acknowledged_is_durable_whatever_the_role_is_set_to(guest, schema):
    postgres.shared().sql(f"alter role g{schema} set synchronous_commit = off")
    with guest().read() as connection:
        assert connection.execute("show synchronous_commit").fetchone() == ("on",)


def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path):
    address = address_of("postgresql://anna:verysecret@127.0.0.1:1/agents")
    with pytest.raises(LedgerUnavailable) as caught:
        PostgresDatabase(address, tmp_path / "store", busy_seconds=0.3)
    assert "verysecret" not in f"{caught.value} {caught.value.hint}"
    assert "127.0.0.1" in str(caught.value)


def test_a_wrong_password_is_told_at_once(tmp_path, schema):
    address = address_of(postgres.shared().address(schema))
    wrong = address._replace(url=address.url.replace("memoranda:", "memoranda:x", 1))
    began = time.monotonic()
    with pytest.raises(LedgerError) as caught:
        PostgresDatabase(wrong, tmp_path / "store", busy_seconds=20.0)
    assert time.monotonic() - began < 10
    assert "password" in caught.value.hint


def test_several_processes_make_a_new_store_at_once(opened):
    failures = []

    def make():
        try:
            opened()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_whoever_comes_after_the_end_is_told_so(opened):
    one = opened()
    one.close()
    one.close()
    for late in (one.version, lambda: one.write(put("a")), lambda: keys(one)):
        with pytest.raises(LedgerError, match="closed"):
            late()


def test_glob_means_the_same_as_in_a_file(opened, tmp_path):
    import apsw

    file = apsw.Connection(":memory:")
    one = opened()
    patterns = ["*ą*", "*[ąĄ][bB]*", "a?c", "[[]x]", "*[*]*", "a.c", "(a)+", "^$", "*", "", "[a-c]x", "ż*ć", "a\\b"]
    values = ["ąB", "xĄbz", "abc", "a.c", "[x]", "5*3", "(a)+", "^$", "", "bx", "żółć", "a\\b", "ABC", "a\nc"]
    with one.read() as connection:
        for pattern in patterns:
            for value in values:
                asked = {"pattern": pattern, "value": value}
                expected = file.execute("select glob(:pattern, :value)", asked).fetchone()[0]
                found = connection.execute("select glob(:pattern, :value)", asked).fetchone()[0]
                assert found == expected, (pattern, value)
