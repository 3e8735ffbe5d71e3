"""What is made at its first use is made once, however many threads are the first."""

import threading
import time

import pytest

from memoranda import Settings
from memoranda.service.once import once
from memoranda.service.store import Store

THREADS = 8


class Slow:
    def __init__(self):
        self.opening = threading.RLock()
        self.made = 0

    @once
    def part(self):
        """What it is."""
        self.made += 1
        time.sleep(0.05)
        return object()

    @once
    def whole(self):
        return [self.part]


def _at_once(work):
    barrier, found = threading.Barrier(THREADS), []

    def run():
        barrier.wait()
        found.append(work())

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    assert len(found) == THREADS
    return found


def test_many_threads_are_given_the_same_part():
    slow = Slow()
    found = _at_once(lambda: slow.part)
    assert slow.made == 1
    assert len(set(map(id, found))) == 1
    assert slow.whole == [found[0]], "a part may be made of another"


@pytest.mark.parametrize("name", ["tokens", "answers"])
def test_a_store_has_one_book_of_tokens_and_of_answers(path, name):
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        assert isinstance(vars(Store)[name], once)
        assert len({id(each) for each in _at_once(lambda: getattr(store, name))}) == 1


@pytest.mark.parametrize("name", ["transcripts", "messages", "mirrors", "sources"])
def test_an_engine_has_one_of_each_part(path, name):
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        engine = store._engine
        assert isinstance(vars(type(engine))[name], once)
        assert len({id(each) for each in _at_once(lambda: getattr(engine, name))}) == 1


def test_first_writes_with_a_key_in_many_threads_all_find_one_presence(path):
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        keys = iter(range(THREADS))
        lock = threading.Lock()

        def begin():
            with lock:
                key = str(next(keys))
            return store.answers.begin("token", key, b"request", "boot").outcome

        assert _at_once(begin) == ["new"] * THREADS
