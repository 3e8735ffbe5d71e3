"""Closing a store while others use it: nobody is left hanging, nothing is raised at who closes it."""

import threading
import time

import pytest

from memoranda import LedgerError, Settings
from memoranda.domain.scope import Scope
from memoranda.service.store import Store

LONG = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000000) select count(*) from n"
STEPS = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000000) select i from n"


@pytest.fixture
def store(path):
    made = Store.open(path, settings=Settings(embedder="none", follow=False))
    made.memory(Scope("home")).remember("Anna reads at night.")
    yield made
    made.close()


@pytest.mark.parametrize("inside", [True, False], ids=["in one long step", "between short steps"])
def test_who_reads_when_the_store_is_closed_is_told_so_and_the_writer_is_closed(store, inside):
    database = store._engine.ledger.database
    reading, told = threading.Event(), []

    def read():
        try:
            with database.read() as connection:
                if inside:
                    reading.set()
                    connection.execute(LONG).fetchall()
                for _ in connection.execute(STEPS):
                    reading.set()
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert reading.wait(10)
    time.sleep(0.1)
    began = time.monotonic()
    store.close()
    assert time.monotonic() - began < 5
    thread.join(10)
    assert not thread.is_alive()
    assert [type(error) for error in told] == [LedgerError]
    assert "closed" in str(told[0])
    with pytest.raises(Exception, match="closed"):
        database._writer.execute("select 1")


def test_a_store_that_was_closed_under_its_readers_is_whole_when_it_is_opened_again(store, path):
    stop = threading.Event()

    def ask():
        memory = store.memory(Scope("home"))
        while not stop.is_set():
            try:
                memory.recall("who reads at night?")
                memory.list()
            except LedgerError:
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    time.sleep(0.3)
    store.close()
    stop.set()
    for each in threads:
        each.join(10)
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as again:
        memory = again.memory(Scope("home"))
        assert [each.text for each in memory.list()] == ["Anna reads at night."]
        assert memory.admin.verify().ok
