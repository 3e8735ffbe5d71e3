"""Read replicas: they answer when they are as fresh as the primary, and nobody notices when they are not."""

import hashlib
import time

import pytest

import memoranda
import postgres
from memoranda import Settings
from memoranda.domain.errors import ConfigError
from memoranda.domain.scope import Scope
from memoranda.ledger.fence import fenced
from memoranda.ledger.postgres import replicas


@pytest.fixture(scope="module")
def primary():
    with postgres.Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def standby(primary):
    return primary.standby(synchronous=False)


@pytest.fixture
def opened(primary, standby, tmp_path):
    handles = []
    usual = "s_" + hashlib.blake2b(str(tmp_path).encode(), digest_size=8).hexdigest()

    def opener(scope="home/anna", *, schema=usual, replicas=None):
        listed = (standby.address(),) if replicas is None else replicas
        chosen = Settings(
            embedder="none", follow=False, local_folder=str(tmp_path), index_home="embedded", replicas=listed
        )
        handles.append(memoranda.open(primary.address(schema), scope=scope, settings=chosen))
        return handles[-1]

    yield opener
    for handle in reversed(handles):
        handle.close()


def port_of(memory, *, scope="home/anna"):
    """Which server answers who reads now."""
    with fenced(Scope(scope)), memory._engine.ledger.database.read() as connection:
        return connection.execute("select inet_server_port(), pg_is_in_recovery(), count(*) from memory").fetchone()


def until(condition, *, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_reads_go_to_the_standby_and_what_was_written_is_read(opened, standby, primary):
    memory = opened()
    for number in range(5):
        memory.remember(f"Memory {number} is here.")
        # Whoever answers: the writer finds it at once.
        assert len(memory.list()) == number + 1
    until(lambda: port_of(memory)[0] == standby.port)
    assert port_of(memory) == (standby.port, 1, 5)
    assert memory.recall("which memory is here?")
    sessions = standby.sql("select count(*) from pg_stat_activity where application_name = 'memoranda replica reader'")
    assert sessions[0][0] >= 1


def test_a_standby_that_is_behind_is_not_asked(opened, standby, primary):
    memory = opened()
    memory.remember("Before.")
    until(lambda: port_of(memory)[0] == standby.port)
    standby.sql("select pg_wal_replay_pause()")
    try:
        until(lambda: standby.sql("select pg_get_wal_replay_pause_state()")[0][0] == "paused")
        memory.remember("After.")
        assert port_of(memory)[::2] == (primary.port, 2)
        assert {each.text for each in memory.list()} == {"Before.", "After."}
    finally:
        standby.sql("select pg_wal_replay_resume()")
    until(lambda: port_of(memory)[0] == standby.port)
    assert port_of(memory)[2] == 2


def test_a_standby_that_is_killed_is_left_alone_and_comes_back(opened, standby, primary, monkeypatch):
    monkeypatch.setattr(replicas, "_DOWN_SECONDS", 1.0)
    memory = opened()
    memory.remember("Here.")
    until(lambda: port_of(memory)[0] == standby.port)
    standby.kill()
    assert [each.text for each in memory.list()] == ["Here."]
    assert port_of(memory)[0] == primary.port
    began = time.monotonic()
    for _ in range(20):
        memory.list()
    assert time.monotonic() - began < 5
    standby.start()
    until(lambda: port_of(memory)[0] == standby.port)


def test_the_fence_holds_on_a_standby(opened, standby):
    memory = opened()
    memory.remember("Mine.")
    opened("other").remember("Theirs.")
    until(lambda: port_of(memory)[0] == standby.port)
    assert port_of(memory)[2] == 1
    assert port_of(memory, scope="other")[2] == 1
    assert port_of(memory, scope="nobody")[2] == 0


def test_a_server_that_is_no_standby_or_has_another_store_is_never_read(opened, primary, standby, tmp_path):
    elsewhere = opened(schema="elsewhere")
    elsewhere.remember("Another store.")
    with postgres.Cluster() as stranger:
        chosen = Settings(embedder="none", follow=False, local_folder=str(tmp_path), index_home="embedded")
        memoranda.open(stranger.address("s_mine"), scope="home", settings=chosen).close()
        memory = opened(schema="s_mine", replicas=(stranger.address(), primary.address()))
        memory.remember("Mine.")
        for _ in range(5):
            assert port_of(memory)[0] == primary.port


def test_replicas_of_a_file_are_refused(tmp_path):
    chosen = Settings(embedder="none", replicas=("postgresql://host/db",))
    with pytest.raises(ConfigError, match="is a file"):
        memoranda.open(tmp_path / "store.db", scope="home", settings=chosen)
