"""Many callers of one handle: they share commits, and each gets its own answer."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import memoranda
from memoranda import Draft, Refused, Settings
from memoranda.index.embedded import EmbeddedIndex


def test_sixteen_threads_share_one_handle(opened):
    memory = opened(embedder="hashed:words", follow=True)
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        kept = list(pool.map(lambda n: [memory.remember(f"thread{n} keeps item{i}").id for i in range(50)], range(16)))
    took = time.monotonic() - began
    ids = [each for some in kept for each in some]
    assert len(set(ids)) == 800
    assert memory.stats().total == 800
    assert {each.id for each in memory.list(limit=1000)} == set(ids)
    assert memory.admin.verify().ok
    print(f"\n16 threads: 800 durable writes, {800 / took:.0f}/s")


def test_writers_that_wait_together_share_a_commit(memory, monkeypatch):
    database = memory._engine.ledger.database
    groups = []
    commit = database._commit
    monkeypatch.setattr(database, "_commit", lambda group: (groups.append(len(group)), commit(group))[1])
    with ThreadPoolExecutor(8) as pool:
        with database._writing:  # somebody is at it; the others queue up
            waiting = [pool.submit(memory.remember, f"waiting {number}") for number in range(8)]
            while len(database._queue) < 8:
                time.sleep(0.001)
        for future in waiting:
            future.result()
    assert groups == [8]
    assert memory.stats().total == 8


def test_one_refusal_in_a_shared_commit_is_nobody_elses(memory):
    memory.erase(memory.remember("erased long ago"))
    database = memory._engine.ledger.database
    texts = [f"fine {number}" for number in range(6)]
    texts.insert(3, "erased long ago")
    with ThreadPoolExecutor(8) as pool:
        with database._writing:
            waiting = [pool.submit(memory.remember, text) for text in texts]
            while len(database._queue) < len(texts):
                time.sleep(0.001)
        outcomes = [future.exception() for future in waiting]
    assert isinstance(outcomes[3], Refused)
    assert [error for error in outcomes if error is not None] == [outcomes[3]]
    assert memory.stats().total == 6


def test_the_async_face_serves_many_tasks_at_once(path):
    async def work():
        settings = Settings(embedder="hashed:words")
        async with memoranda.aio.open(path, scope="home/anna", settings=settings) as memory:
            began = time.monotonic()
            kept = await asyncio.gather(*(memory.remember(f"task{number} keeps this") for number in range(200)))
            took = time.monotonic() - began
            found = await asyncio.gather(*(memory.recall(f"task{number}", limit=1) for number in (0, 99, 199)))
            assert [each[0].id for each in found] == [kept[number].id for number in (0, 99, 199)]
            assert (await memory.stats()).total == 200
            assert (await memory.admin.verify()).ok
            print(f"\nasync: 200 durable writes, {200 / took:.0f}/s")

    asyncio.run(work())


def test_every_thread_recalls_what_was_just_remembered(opened):
    memory = opened(embedder="hashed:words")
    for number in range(6):
        kept = memory.remember(f"lamp{number} stands in the hall")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(memory.recall, f"lamp{number}").result()[0].id == kept.id


def test_readers_and_writers_go_on_while_the_index_is_rebuilt(opened):
    memory = opened(embedder="hashed:words", follow=True)
    memory.remember_many([Draft(f"lamp{number} stands in the hall") for number in range(50)])
    over = threading.Event()

    def ask():
        asked = 0
        while not over.is_set():
            assert memory.recall("lamp7 in the hall", limit=3)
            asked += 1
        return asked

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        try:
            for number in range(8):
                memory.remember(f"meanwhile{number} something is kept")
                memory.admin.rebuild()
                assert memory.recall(f"meanwhile{number}")
        finally:
            over.set()
        assert all(future.result() > 0 for future in asking)


def test_a_recall_in_the_middle_of_its_search_survives_that_the_index_is_swapped(opened, monkeypatch):
    memory = opened(embedder="hashed:words")
    kept = memory.remember("the reading lamp stands in the hall")
    memory.recall("lamp")
    search = EmbeddedIndex.search
    rebuilt = []

    def slow_search(index, query):
        if not rebuilt:
            rebuilt.append(True)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(memory.admin.rebuild).result()
        return search(index, query)

    monkeypatch.setattr(EmbeddedIndex, "search", slow_search)
    assert [hit.id for hit in memory.recall("reading lamp")] == [kept.id]


def test_closing_twice_is_fine_and_afterwards_it_says_closed(opened):
    memory = opened(embedder="hashed:words", follow=True)
    memory.remember("the lamp")
    memory.close()
    memory.close()
    with pytest.raises(memoranda.LedgerError, match="closed"):
        memory.remember("too late")
    with pytest.raises(memoranda.LedgerError, match="closed"):
        memory.recall("lamp")
    with pytest.raises(memoranda.LedgerError, match="closed"):
        memory.list()
