"""Claims: what is written for a request with a key is written by whoever has the claim on it, and is marked as its."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import memoranda
from memoranda.domain.errors import Conflict, LedgerUnavailable
from memoranda.domain.scope import Scope
from memoranda.ledger import claims
from memoranda.ledger.answers import Claim, presences
from memoranda.ledger.ledger import Ledger

REQUEST = b"the request"


def _until(true):
    for _ in range(4000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it never was")


# -- whose work it is --


def test_in_a_shared_commit_each_request_is_marked_by_its_own_work(store, made):
    """The first in line runs the jobs of all of them, in its own thread."""
    here, heir = made(), made()
    database = store._engine.ledger.database
    begun, go_on, groups = threading.Event(), threading.Event(), []
    real = database._transaction

    def slow(connection):
        begun.set()
        assert go_on.wait(20)

    def work(key):
        def job(connection):
            groups[-1].append(key)
            if key.startswith("marks"):
                claims.done_now(connection)

        if key == "nobody's":
            database.write(job)
            return
        with here.working("token", key, "here"):
            database.write(job)

    def transaction(group):
        groups.append([])
        real(group)

    keys = ["marks 1", "leaves it", "marks 2", "nobody's", "marks 3"]
    for key in keys[:3] + keys[4:]:
        here.begin("token", key, REQUEST, "here")
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(database.write, slow)]
        assert begun.wait(20)
        database._transaction = transaction
        for place, key in enumerate(keys, 1):
            waiting.append(pool.submit(work, key))
            _until(lambda place=place: len(database._queue) == place)
        go_on.set()
        for each in waiting:
            each.result(20)
    del database._transaction
    assert groups == [keys], "they must have shared a commit"
    here.close()
    outcomes = {key: heir.begin("token", key, REQUEST, "heir").outcome for key in keys}
    assert outcomes == {
        "marks 1": "done",
        "leaves it": "lost",
        "marks 2": "done",
        "nobody's": "new",
        "marks 3": "done",
    }


def test_in_a_shared_commit_only_who_lost_the_claim_is_taken_back(store, made):
    here, heir = made(), made()
    memory = store.memory(Scope("bot-1"))
    database = store._engine.ledger.database
    for key in ("lost", "kept"):
        here.begin("token", key, REQUEST, "here")
    here.close()
    assert heir.begin("token", "lost", REQUEST, "heir").outcome == "lost"
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection):
        begun.set()
        assert go_on.wait(20)

    def work(key):
        with here.working("token", key, "here"):
            memory.remember(f"The heron is {key}.")

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(database.write, slow)
        assert begun.wait(20)
        lost, kept = pool.submit(work, "lost"), pool.submit(work, "kept")
        _until(lambda: len(database._queue) == 2)
        go_on.set()
        first.result(20)
        kept.result(20)
        with pytest.raises(Conflict, match="taken this request over"):
            lost.result(20)
    assert [each.text for each in memory.list()] == ["The heron is kept."]


_VERBS = {
    "remember": lambda memory: memory.remember("The lantern is in the cellar."),
    "forget": lambda memory: memory.forget(memory.list()[0].id),
    "append": lambda memory: memory.conversations.append([memoranda.user("Good morning.")], conversation="talk"),
    "undo": lambda memory: memory.undo(),
    "erase": lambda memory: memory.erase(memory.list()[0].id),
    "capture": lambda memory: memory.capture([memoranda.user("Remember that the heron is fed at noon.")]),
    "profile": lambda memory: memory.profile.update(name="Anna"),
}


@pytest.mark.parametrize("verb", _VERBS)
def test_whatever_is_written_for_a_claim_that_another_has_now_is_taken_back(store, made, verb):
    here, heir = made(), made()
    memory = store.memory(Scope("bot-1"))
    memory.remember("Anna reads at night.")
    here.begin("token", "key", REQUEST, "here")
    here.close()  # as when its session is lost: nobody sees it any more, and it goes on
    assert heir.begin("token", "key", REQUEST, "heir").outcome == "lost"
    before = _standing(store)
    with here.working("token", "key", "here") as taken_over:
        assert not taken_over.is_set()
        with pytest.raises(Conflict, match="taken this request over"):
            _VERBS[verb](memory)
        assert taken_over.is_set()
    assert _standing(store) == before
    with heir.working("token", "key", "heir") as taken_over:
        _VERBS[verb](memory)
    assert not taken_over.is_set()
    assert _standing(store) != before


def _standing(store):
    ledger = store._engine.ledger
    with ledger.database.read() as connection:
        return ledger.sequence(), connection.execute("select count(*) from message").fetchone()[0]


def test_who_has_the_claim_answers(made):
    here, heir = made(), made()
    here.begin("token", "key", REQUEST, "here")
    here.close()
    heir.begin("token", "key", REQUEST, "heir")
    here.finish("token", "key", 200, "of who lost it")
    assert heir.begin("token", "key", REQUEST, "heir").outcome == "busy"
    heir.finish("token", "key", 200, "of who has it")
    assert heir.begin("token", "key", REQUEST, "heir").body == "of who has it"


def test_what_is_kept_elsewhere_knows_nothing_of_a_claim(answers, tmp_path, clock):
    """Another shard, or an index of this machine."""
    other = Ledger(tmp_path / "other.db", clock=clock)
    answers.begin("token", "key", REQUEST, "boot")
    try:
        with answers.working("token", "key", "boot"):
            other.database.write(claims.done_now)
    finally:
        other.close()
    answers.drop("token", "key")
    assert answers.begin("token", "key", REQUEST, "boot").outcome == "new"


@pytest.mark.parametrize("later", [False, True])
def test_what_was_marked_as_done_stays_known_when_it_is_given_up(store, made, later):
    here, other = made(), made()
    for key in ("done", "not done"):
        here.begin("token", key, REQUEST, "here")
    with here.working("token", "done", "here"):
        store.memory(Scope("bot-1")).conversations.append([memoranda.user("Good morning.")], conversation="talk")
    for key in ("done", "not done"):
        here.drop("token", key, later=later)
    _until(lambda: not here._left)
    assert here.begin("token", "done", REQUEST, "here") == Claim("done", 200)
    assert other.begin("token", "done", REQUEST, "other") == Claim("done", 200)
    assert other.begin("token", "not done", REQUEST, "other") == Claim("new")


# -- when the store is away --


def test_who_cannot_be_seen_is_told_so_with_all_others_and_not_one_after_another(store, answers, monkeypatch):
    database = store._engine.ledger.database
    tried = []

    def away(name, *, patience=0.0):
        tried.append(name)
        time.sleep(0.5)
        raise LedgerUnavailable("the database does not answer", hint="Wait for it.")

    def ask(number):
        began = time.monotonic()
        with pytest.raises(LedgerUnavailable, match="does not answer") as caught:
            answers.begin("token", f"key-{number}", REQUEST, "boot")
        assert caught.value.hint == "Wait for it."
        return time.monotonic() - began

    with monkeypatch.context() as patched:
        patched.setattr(database, "hold", away)
        with ThreadPoolExecutor(8) as pool:
            waited = list(pool.map(ask, range(8)))
        assert len(tried) == 1
        assert max(waited) < 1.5, "one after another takes four seconds"
        assert ask(8) < 0.4, "it was away just now"
        monkeypatch.setattr("memoranda.ledger.answers._AGAIN_SECONDS", 0.0)
        ask(9)
        assert len(tried) == 2
    assert answers.begin("token", "key", REQUEST, "boot").outcome == "new"


def test_who_is_seen_waits_for_nobody_who_tries(store, made, monkeypatch):
    answers = made()
    database = store._engine.ledger.database
    begun, go_on = threading.Event(), threading.Event()
    real = database.hold
    answers.begin("token", "key", REQUEST, "seen")

    def slow(name, *, patience=0.0):
        begun.set()
        assert go_on.wait(20)
        return real(name, patience=patience)

    monkeypatch.setattr(database, "hold", slow)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(answers.begin, "token", "other", REQUEST, "another boot")
        assert begun.wait(20)
        assert answers.begin("token", "third", REQUEST, "seen").outcome == "new"
        answers.close()
        go_on.set()
        other.result(20)
    assert presences(database.path) == [], "who comes to hold a name after the end lets go of it"
