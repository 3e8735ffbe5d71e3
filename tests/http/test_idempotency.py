"""Idempotency keys: the same request is done once, however often it comes and whatever happens between."""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import loopback

from memoranda.domain.errors import LedgerLocked
from memoranda.ledger.answers import Answers
from memoranda.service.memory import LongTermMemory
from support import occurrences

SCOPE = "home/anna"
LINE = f"/v1/memories?scope={SCOPE}"


@pytest.fixture
def server(path):
    with loopback(path) as made:
        yield made


def _texts(server):
    return [each["text"] for each in server.get(f"{LINE}&limit=1000").json()["memories"]]


def _keyed(key):
    return {"idempotency-key": key}


def test_the_same_key_and_request_is_done_once_and_answered_alike(server):
    first = server.post(LINE, {"text": "Anna reads by the lamp."}, headers=_keyed("k1"))
    again = server.post(LINE, {"text": "Anna reads by the lamp."}, headers=_keyed("k1"))
    assert (first.status, first.body) == (again.status, again.body)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    identity = first.json()["memory"]["id"]
    assert len(server.get(f"/v1/memories/{identity}/history?scope={SCOPE}").json()["items"]) == 1


def test_without_a_key_it_is_done_again(server):
    outcomes = [server.post(LINE, {"text": "Anna reads."}).json()["receipt"]["outcome"] for _ in range(2)]
    assert outcomes == ["created", "reinforced"]


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (LINE, {"text": "Something else."}),
        (f"{LINE}/ben", {"text": "Anna reads."}),
        (f"/v1/memories/batch?scope={SCOPE}", {"drafts": ["Anna reads."]}),
    ],
)
def test_the_same_key_for_another_request_is_refused_and_nothing_is_done(server, line, body):
    server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
    before = server.store.standing()
    answer = server.post(line, body, headers=_keyed("k1"))
    assert answer.status == 422
    assert answer.problem["type"] == "urn:memoranda:key-used"
    assert server.store.standing() == before


def test_the_same_key_of_two_callers_is_two_keys(server):
    one, two = server.token(SCOPE), server.token(SCOPE)
    first = server.post(LINE, {"text": "One."}, token=one, headers=_keyed("k1"))
    second = server.post(LINE, {"text": "Two."}, token=two, headers=_keyed("k1"))
    assert (first.status, second.status) == (200, 200)
    assert set(_texts(server)) == {"One.", "Two."}


def test_at_the_same_time_it_is_done_once_and_the_rest_wait_or_are_given_the_answer(server):
    def ask(number):
        return server.caller().post(LINE, {"text": "Anna reads at night."}, headers=_keyed("together"))

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(48)))
    good = [each for each in answers if each.status == 200]
    assert {each.status for each in answers} <= {200, 409}
    assert good
    assert len({each.body for each in good}) == 1
    assert sum("idempotent-replayed" not in each.headers for each in good) == 1
    for each in answers:
        if each.status == 409:
            assert each.problem["type"] == "urn:memoranda:key-busy"
            assert each.headers["retry-after"] == "1"


def test_while_it_is_worked_on_the_same_key_is_told_to_wait(server, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    real = LongTermMemory.remember

    @functools.wraps(real)  # a door is made from the signature
    def slow(self, *args, **kwargs):
        begun.set()
        assert go_on.wait(20)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(LongTermMemory, "remember", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.caller().post, LINE, {"text": "Slowly."}, headers=_keyed("slow"))
        assert begun.wait(20)
        busy = server.post(LINE, {"text": "Slowly."}, headers=_keyed("slow"))
        go_on.set()
        assert (busy.status, first.result(20).status) == (409, 200)
    again = server.post(LINE, {"text": "Slowly."}, headers=_keyed("slow"))
    assert again.headers["idempotent-replayed"] == "true"


def test_across_a_restart_the_answer_is_the_same(path):
    with loopback(path) as server:
        first = server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
    with loopback(path) as server:
        again = server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
        assert again.body == first.body
        assert again.headers["idempotent-replayed"] == "true"
        assert server.post(LINE, {"text": "Other."}, headers=_keyed("k1")).status == 422


def test_a_refusal_of_the_facade_is_an_answer_too(server):
    first = server.post(LINE, {"text": "   "}, headers=_keyed("k1"))
    again = server.post(LINE, {"text": "   "}, headers=_keyed("k1"))
    assert (first.status, again.status) == (422, 422)
    assert again.body == first.body


def test_what_failed_on_our_side_may_be_asked_for_again(server, monkeypatch):
    real = LongTermMemory.remember

    @functools.wraps(real)
    def broken(self, *args, **kwargs):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(LongTermMemory, "remember", broken)
    failed = server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
    assert failed.status == 500
    assert "a fault of ours" not in failed.said.decode()
    assert "a fault of ours" not in server.log.getvalue()
    assert failed.problem["type"] == "urn:memoranda:our-fault"
    monkeypatch.setattr(LongTermMemory, "remember", real)
    assert server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1")).status == 200


def test_an_answer_does_not_outlive_an_erasure(server, path):
    word = "quetzalcoatlus"
    body = {"text": f"Anna keeps a {word}."}
    identity = server.post(LINE, body, headers=_keyed("k1")).json()["memory"]["id"]
    assert occurrences(path, word)
    erased = server.post(f"/v1/memories/erase?scope={SCOPE}", {"reference": identity})
    assert erased.json()["receipt"]["state"] == "purged"
    assert occurrences(path, word) == []
    again = server.post(LINE, body, headers=_keyed("k1"))
    assert (again.status, again.problem["type"]) == (409, "urn:memoranda:key-done")
    assert "idempotent-replayed" not in again.headers
    assert occurrences(path, word) == []


def test_an_erasure_by_anybody_lets_nothing_be_done_twice(server):
    """What was said without ids of its own would be kept twice."""
    line = "/v1/conversations/append?scope=bot-1"
    body = {"messages": [{"role": "user", "content": "hello once"}], "conversation": "talk"}
    other = server.post("/v1/memories?scope=bot-2", {"text": "Something of bot-2."}).json()["memory"]["id"]
    assert server.post(line, body, headers=_keyed("k1")).status == 200
    assert server.post("/v1/memories/erase?scope=bot-2", {"reference": other}).status == 200
    again = server.post(line, body, headers=_keyed("k1"))
    assert (again.status, again.problem["type"]) == (409, "urn:memoranda:key-done")
    kept = server.get("/v1/conversations/messages?scope=bot-1&conversation=talk").json()["items"]
    assert [each["text"] for each in kept] == ["hello once"]


def test_what_was_refused_before_an_erasure_may_be_tried_again_with_the_same_key(server):
    missing = "/v1/conversations/archive?scope=bot-1"
    assert server.post(missing, {"conversation": "talk"}, headers=_keyed("k1")).status == 404
    other = server.post(LINE, {"text": "Something."}).json()["memory"]["id"]
    server.post(f"/v1/memories/erase?scope={SCOPE}", {"reference": other})
    server.post(
        "/v1/conversations/append?scope=bot-1", {"messages": [{"role": "user", "content": "a"}], "conversation": "talk"}
    )
    assert server.post(missing, {"conversation": "talk"}, headers=_keyed("k1")).status == 200


def test_an_answer_that_cannot_be_kept_is_given_all_the_same_and_the_key_is_free(server, monkeypatch):
    def locked(self, *args, **kwargs):
        raise LedgerLocked("the store is locked")

    with monkeypatch.context() as patched:
        patched.setattr(Answers, "finish", locked)
        given = server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
    assert given.status == 200
    assert given.json()["receipt"]["outcome"] == "created"
    again = server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1"))
    assert (again.status, again.json()["receipt"]["outcome"]) == (200, "reinforced")


def test_what_must_not_be_done_twice_is_not_when_its_answer_could_not_be_kept(server, monkeypatch):
    def locked(self, *args, **kwargs):
        raise LedgerLocked("the store is locked")

    line = "/v1/conversations/append?scope=bot-1"
    body = {"messages": [{"role": "user", "content": "hello once"}], "conversation": "talk"}
    with monkeypatch.context() as patched:
        patched.setattr(Answers, "finish", locked)
        assert server.post(line, body, headers=_keyed("k1")).status == 200
    again = server.post(line, body, headers=_keyed("k1"))
    assert (again.status, again.problem["type"]) == (409, "urn:memoranda:key-done")
    kept = server.get("/v1/conversations/messages?scope=bot-1&conversation=talk").json()["items"]
    assert [each["text"] for each in kept] == ["hello once"]


def test_a_request_that_another_server_has_taken_over_is_done_by_that_one(server, path, monkeypatch):
    """The first was not seen any more, as after a restart of the database, and had not written yet."""
    begun, go_on = threading.Event(), threading.Event()
    real = LongTermMemory.remember

    @functools.wraps(real)
    def slow_at_first(self, *args, **kwargs):
        if not begun.is_set():
            begun.set()
            assert go_on.wait(20)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(LongTermMemory, "remember", slow_at_first)
    with ThreadPoolExecutor(1) as pool, loopback(path) as other:
        first = pool.submit(server.caller().post, LINE, {"text": "Slowly."}, headers=_keyed("slow"))
        assert begun.wait(20)
        server.store.answers._presence.leave()
        done = other.post(LINE, {"text": "Slowly."}, headers=_keyed("slow"))
        assert (done.status, done.json()["receipt"]["outcome"]) == (200, "created")
        go_on.set()
        refused = first.result(20)
    assert (refused.status, refused.problem["type"]) == (409, "urn:memoranda:key-busy")
    assert refused.headers["retry-after"] == "1"
    again = server.post(LINE, {"text": "Slowly."}, headers=_keyed("slow"))
    assert (again.status, again.body, again.headers["idempotent-replayed"]) == (200, done.body, "true")
    identity = done.json()["memory"]["id"]
    assert len(server.get(f"/v1/memories/{identity}/history?scope={SCOPE}").json()["items"]) == 1


def test_neither_an_answer_nor_a_problem_is_lost_when_the_key_cannot_be_let_go_of(server, monkeypatch):
    def locked(self, *args, **kwargs):
        raise LedgerLocked("the store is locked")

    monkeypatch.setattr(Answers, "finish", locked)
    monkeypatch.setattr(Answers, "_delete", locked)
    assert server.post(LINE, {"text": "Anna reads."}, headers=_keyed("k1")).status == 200


def test_an_erasure_with_a_key_keeps_no_text_of_what_it_erased(server, path):
    word = "hallucigenia"
    server.post(LINE, {"text": f"Anna keeps a {word}.", "about": "pet"})
    body = {"about": "pet", "mode": "preview"}
    assert word in server.post(f"/v1/memories/erase?scope={SCOPE}", body, headers=_keyed("look")).body.decode()
    server.post(f"/v1/memories/erase?scope={SCOPE}", {"about": "pet"}, headers=_keyed("gone"))
    assert occurrences(path, word) == []


def test_what_makes_a_secret_is_never_kept_to_be_repeated(server, path):
    body = {"name": "bot", "role": "reader", "scope": SCOPE}
    secrets = [server.post("/v1/tokens", body, headers=_keyed("t1")).json()["secret"] for _ in range(2)]
    assert secrets[0] != secrets[1]
    assert occurrences(path, *secrets) == []


@pytest.mark.parametrize("key", ["a" * 256, "with space", "caf\u00e9", "tab\tbed"])
def test_a_key_that_is_none_is_refused(server, key):
    answer = server.post(LINE, {"text": "Anna reads."}, headers=_keyed(key))
    assert answer.status in (400, 422), answer
    assert _texts(server) == []


def test_keys_are_not_in_the_file(server, path):
    server.post(LINE, {"text": "Anna reads."}, headers=_keyed("a-key-that-somebody-made-of-a-name"))
    assert occurrences(path, "a-key-that-somebody-made-of-a-name") == []


def test_reading_takes_no_notice_of_a_key(server):
    for text in ("One.", "Two."):
        server.post(LINE, {"text": text})
        answer = server.get(LINE, headers=_keyed("read"))
        assert "idempotent-replayed" not in answer.headers
    assert answer.json()["total"] == 2
