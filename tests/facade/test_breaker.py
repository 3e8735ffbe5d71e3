"""An embedder that failed is left alone for a while, by every process, and then tried once."""

import json
import threading

import pytest

from memoranda.service import breaker as module
from memoranda.service.breaker import Breaker, digest_of, give_up, is_breakable
from memoranda.testing.servers import EmbeddingServer
from support import files_of

TEXT = "the boiler manual is in the cellar"


@pytest.fixture
def make(path, clock):
    return lambda seconds=60.0: Breaker(path, seconds=seconds, clock=clock)


@pytest.fixture
def server():
    with EmbeddingServer(dimensions=48) as running:
        yield running


@pytest.fixture
def remote(opened, server, clock):
    """Opens the store with an embedder behind HTTP that is asked once, without retries."""

    def opener(**settings):
        memory = opened(embedder="compatible:some-model", embedder_url=server.openai_url, clock=clock, **settings)
        memory._engine.embedders.configured()._tries = 1
        return memory

    return opener


# --- the breaker alone


def test_what_failed_is_left_alone_until_its_time_is_over(make, clock):
    breaker = make()
    assert breaker.until("a") == 0
    breaker.failed("a")
    assert breaker.until("a") == clock.now() + 60_000
    assert breaker.until("b") == 0
    clock.advance(ms=59_999)
    assert breaker.until("a")
    clock.advance(ms=1)
    assert breaker.until("a") == 0


def test_the_next_process_knows_and_an_answer_is_known_to_it_too(make):
    make().failed("a")
    assert make().until("a")
    assert make().answered("a")
    assert make().until("a") == 0
    assert not make().answered("a")


def test_afterwards_one_may_try_and_the_others_wait_for_what_it_finds(make, clock):
    make().failed("a")
    clock.advance(ms=60_000)
    with make().asking("a") as first, make().asking("a") as second:
        assert (first, second) == (True, False)
        assert make().until("a")
    # It was neither said to answer nor to fail, as if it had been killed: still nobody else asks.
    assert make().until("a")


def test_only_one_of_many_threads_tries(make, clock):
    breaker = make()
    breaker.failed("a")
    clock.advance(ms=60_000)
    start = threading.Barrier(8)
    allowed = []

    def ask():
        start.wait()
        with breaker.asking("a") as may_ask:
            allowed.append(may_ask)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(allowed) == [False] * 7 + [True]


def test_who_is_asked_when_the_process_gives_up_has_failed(make):
    breaker = make()
    with breaker.asking("a"):
        give_up()
    assert breaker.until("a")
    assert not breaker.until("b")
    assert not module._waiting


def test_without_a_time_there_is_no_breaker(make, path):
    breaker = make(0.0)
    breaker.failed("a")
    with breaker.asking("a") as may_ask:
        give_up()
        assert may_ask
    assert breaker.until("a") == 0
    assert not breaker.path.exists()


@pytest.mark.parametrize("content", [b"", b"no", b"[]", b'{"a": "soon"}', b'{"a": 99999999999999999}', b"[" * 99_999])
def test_a_file_that_says_nothing_sensible_leaves_nobody_alone(make, content):
    breaker = make()
    breaker.path.write_bytes(content)
    assert breaker.until("a") == 0
    breaker.failed("a")
    assert make().until("a")


def test_where_it_cannot_be_written_this_process_knows(make, monkeypatch):
    def refuse(*_):
        raise PermissionError

    breaker = make()
    monkeypatch.setattr("memoranda.service.beside.os.replace", refuse)
    breaker.failed("a")
    assert breaker.until("a")
    assert not make().until("a")
    assert not [file for file in breaker.path.parent.iterdir() if "-breaker" in file.name]


def test_the_file_has_no_name_no_address_and_is_private(make):
    breaker = make()
    breaker.failed(digest_of("compatible:some-model", "compatible:some-model|1|48", "http://127.0.0.1:9/v1"))
    content = breaker.path.read_text(encoding="utf-8")
    assert "compatible" not in content
    assert "127" not in content.split(":")[0]
    assert breaker.path.stat().st_mode & 0o077 == 0


def test_the_bundled_embedder_has_no_breaker():
    assert not is_breakable("use:m3")
    assert is_breakable("compatible:some-model")


# --- around an embedder


def test_an_embedder_that_fails_is_not_asked_again_by_the_next_process_either(remote, server, clock):
    first = remote()
    first.remember(TEXT)
    server.fail("server_error", times=9)
    assert first.recall("boiler manual").receipt.degraded
    asked = len(server.requests)
    assert asked == 1
    first.close()

    second = remote()
    found = second.recall("boiler manual")
    assert [hit.memory.text for hit in found] == [TEXT]
    assert found.receipt.lanes == ("lexical",)
    assert any("left alone until 2026-01-01T00:01:00" in line for line in found.receipt.degraded)
    assert len(server.requests) == asked
    assert "boiler" not in json.dumps(found.receipt.degraded)


def test_when_the_time_is_over_it_is_tried_once_and_serves_again(remote, server, clock):
    memory = remote()
    memory.remember(TEXT)
    server.fail("server_error")
    memory.recall("boiler manual")
    clock.advance(ms=60_000)
    memory.close()
    memory = remote()
    found = memory.recall("boiler manual")
    assert found.receipt.degraded == ()
    assert found[0].receipt.semantic_rank == 1
    assert not memory._engine.breaker.path.exists()


def test_a_process_that_stays_open_makes_the_missing_vectors_when_it_serves_again(remote, server, clock):
    memory = remote()
    memory.remember(TEXT)
    server.fail("server_error")
    memory.recall("boiler manual")
    clock.advance(ms=60_000)
    memory._engine.embedders.configured()._cold = None  # the embedder's own pause is over by then, too
    memory.recall("boiler manual")
    assert memory.recall("boiler manual").receipt.degraded == ()
    assert memory.admin.index_status().semantic_rows == 1


def test_a_text_that_is_refused_says_nothing_about_the_service(remote, server):
    memory = remote()
    memory.remember(TEXT)
    server.fail("too_long")
    memory.recall("boiler manual")
    assert not memory._engine.breaker.path.exists()
    assert "left alone" not in str(memory.recall("another manual").receipt.degraded)


def test_another_address_is_another_embedder(remote, server, opened, clock):
    memory = remote()
    memory.remember(TEXT)
    server.fail("server_error")
    memory.recall("boiler manual")
    memory.close()
    with EmbeddingServer(dimensions=48) as other:
        again = opened(embedder="compatible:some-model", embedder_url=other.openai_url, clock=clock)
        assert again.recall("boiler manual").receipt.degraded == ()


def test_upkeep_asks_for_itself(remote, server):
    memory = remote()
    memory.remember(TEXT)
    server.fail("server_error")
    memory.recall("boiler manual")
    memory.close()
    assert remote().admin.maintain().vectors_made == 1


def test_what_the_breaker_keeps_has_nothing_of_a_memory(remote, server, path):
    memory = remote()
    memory.remember("zanzibar is an island")
    server.fail("server_error")
    memory.recall("where is zanzibar?")
    (kept,) = (file for file in files_of(path) if file.name.endswith("-breaker"))
    assert b"zanzibar" not in kept.read_bytes()


def test_the_bundled_embedder_costs_no_look_at_the_file(opened, model_cache, monkeypatch):
    memory = opened(embedder="auto", cache=model_cache)
    memory.remember(TEXT)

    def never(*_):
        raise AssertionError("the breaker was asked")

    for verb in ("until", "asking", "answered", "failed"):
        monkeypatch.setattr(Breaker, verb, never)
    assert memory.recall("boiler manual").receipt.lanes == ("lexical", "semantic")


def test_its_state_can_be_shown(remote, server, clock):
    memory = remote()
    engine = memory._engine
    memory.remember(TEXT)
    assert (
        str(engine.embedders.breaker_state(engine.embedders.configured()))
        == "closed: compatible:some-model may be asked"
    )
    server.fail("server_error")
    memory.recall("boiler manual")
    state = engine.embedders.breaker_state(engine.embedders.configured())
    assert state.open
    assert state.until == clock.now() + 60_000
    assert "compatible:some-model did not answer" in str(state)
