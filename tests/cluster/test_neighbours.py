"""What processes with one store know of one another: who is at work, who leads, what was written, what was done."""

import contextlib
import threading
import time

import pytest

import memoranda
import postgres
from memoranda import LedgerUnavailable, Settings
from memoranda.domain.scope import Scope
from memoranda.ledger import claims
from memoranda.ledger.answers import Claim
from memoranda.ledger.holding import keeping
from memoranda.ledger.locking import Busy
from memoranda.service.engine import Engine
from memoranda.service.leading import Leadership
from memoranda.service.shown import Shown
from memoranda.service.store import Store

from .servers import until

REQUEST = b"the request"


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request, tmp_path):
    """Where a store is: a file, or a schema of its own."""
    if request.param == "file":
        yield str(tmp_path / "store.db")
        return
    with _schema(request) as address:
        yield address


@pytest.fixture
def address(request):
    with _schema(request) as made:
        yield made


@contextlib.contextmanager
def _schema(request):
    schema = f"neighbours_{abs(hash(request.node.nodeid)) % 10**9}"
    try:
        yield postgres.shared().address(schema)
    finally:
        postgres.shared().sql(f"drop schema if exists {schema} cascade")


@pytest.fixture
def opened(tmp_path):
    """Opens a store as often as wanted, each as another process on another machine would have it."""
    with contextlib.ExitStack() as stack:

        def opener(place, **settings):
            number = len(list(tmp_path.glob("machine-*")))
            folder = tmp_path / f"machine-{number}"
            folder.mkdir()
            chosen = {"embedder": "none", "follow": False, "index_home": "embedded", **settings}
            made = Store.open(settings=Settings(store=place, local_folder=str(folder), **chosen))
            return stack.enter_context(made)

        yield opener


def cut_off(name):
    """End the sessions of this store that hold something, as when the network fails for a moment."""
    postgres.shared().sql(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where pid in "
        "(select pid from pg_locks where locktype = 'advisory' and granted) and query like %s",
        (f"%{name}%",),
    )


# -- answers --


def test_what_one_has_begun_is_busy_for_the_other_until_it_ends(place, opened):
    one, other = opened(place), opened(place)
    assert one.answers.begin("token", "key", REQUEST, "one").outcome == "new"
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "busy"
    one.close()
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "lost"
    other.answers.finish("token", "key", 200, "done")
    assert opened(place).answers.begin("token", "key", REQUEST, "third") == Claim("answered", 200, "done", {})


def test_what_must_not_be_done_twice_is_not_done_again_by_who_takes_over(place, opened):
    one, other = opened(place), opened(place)
    said = [memoranda.user("Good morning.")]
    one.answers.begin("token", "key", REQUEST, "one")
    with one.answers.working("token", "key", "one"):
        one.memory(Scope("bot-1")).conversations.append(said, conversation="talk")
    one.answers.clear()  # somebody erases something: the mark stays
    one.close()  # before it could keep its answer
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "done"
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "done"


def test_an_undo_is_not_done_twice_either(place, opened):
    one, other = opened(place), opened(place)
    memory = one.memory(Scope("bot-1"))
    for text in ("The heron is fed at noon.", "The lantern is in the cellar."):
        memory.remember(text)
    one.answers.begin("token", "key", REQUEST, "one")
    with one.answers.working("token", "key", "one"):
        memory.undo()
    one.close()
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "done"
    assert len(other.memory(Scope("bot-1")).list()) == 1


def test_what_had_not_come_to_its_commit_is_done_by_who_takes_over(place, opened):
    one, other = opened(place), opened(place)
    one.answers.begin("token", "key", REQUEST, "one")

    def job(connection):
        claims.done_now(connection)
        raise memoranda.Conflict("it is not to be", hint="Give up.")

    with one.answers.working("token", "key", "one"), pytest.raises(memoranda.Conflict):
        one._engine.ledger.database.write(job)
    one.close()
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "lost"


def test_who_lost_the_claim_meanwhile_writes_nothing_and_who_took_it_over_does_it_once(place, opened):
    one, other = opened(place), opened(place)
    said = [memoranda.user("Good morning.")]
    one.answers.begin("token", "key", REQUEST, "one")
    one.answers.close()  # nobody sees it any more, as when its session is lost; it goes on all the same
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "lost"
    with one.answers.working("token", "key", "one"), pytest.raises(memoranda.Conflict):
        one.memory(Scope("bot-1")).conversations.append(said, conversation="talk")
    with one.answers.working("token", "key", "one"), pytest.raises(memoranda.Conflict):
        one.memory(Scope("bot-1")).remember("The heron is fed at noon.")
    one.answers.drop("token", "key")
    with other.answers.working("token", "key", "other"):
        other.memory(Scope("bot-1")).conversations.append(said, conversation="talk")
    kept = other.memory(Scope("bot-1"))
    assert [each.text for each in kept.conversations.messages("talk")] == ["Good morning."]
    assert not kept.list()
    other.close()
    assert opened(place).answers.begin("token", "key", REQUEST, "third").outcome == "done"


@pytest.mark.postgres
def test_of_two_who_both_believe_to_have_the_claim_one_does_it(address, opened):
    one, other = opened(address), opened(address)
    one.answers.begin("token", "key", REQUEST, "one")
    cut_off("pg_try_advisory_lock")
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "lost", "nobody sees the one at work"
    outcomes = []
    for store, boot in ((one, "one"), (other, "other")):
        with store.answers.working("token", "key", boot):
            try:
                store.memory(Scope("bot-1")).conversations.append([memoranda.user("Hello.")], conversation="talk")
            except memoranda.Conflict:
                outcomes.append((boot, "refused"))
            else:
                outcomes.append((boot, "done"))
    assert outcomes == [("one", "refused"), ("other", "done")]


def test_what_was_marked_as_done_is_not_done_again_when_the_claim_was_given_up(place, opened):
    one, other = opened(place), opened(place)
    one.answers.begin("token", "key", REQUEST, "one")
    with one.answers.working("token", "key", "one"):
        one.memory(Scope("bot-1")).conversations.append([memoranda.user("Good morning.")], conversation="talk")
    one.answers.drop("token", "key")  # what came after it has failed, or its answer could not be kept
    assert other.answers.begin("token", "key", REQUEST, "other") == Claim("done", 200)


def test_a_claim_that_cannot_be_let_go_of_now_is_let_go_of_later(place, opened, monkeypatch):
    one, other = opened(place), opened(place)
    one.answers.begin("token", "key", REQUEST, "one")
    database = one._engine.ledger.database
    write, away = database.write, threading.Event()

    def written(job):
        if not away.is_set():
            raise LedgerUnavailable("the database does not answer")
        return write(job)

    monkeypatch.setattr(database, "write", written)
    one.answers.drop("token", "key")
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "busy", "the other cannot know"
    away.set()
    until(lambda: other.answers.begin("token", "key", REQUEST, "other").outcome == "new", seconds=20)


def test_a_claim_whose_fate_is_not_known_does_not_stand_in_the_way(place, opened, monkeypatch):
    one = opened(place)
    database = one._engine.ledger.database
    write = database.write

    def lost_answer(job):
        write(job)
        monkeypatch.setattr(database, "write", write)
        raise LedgerUnavailable("the connection was lost")

    monkeypatch.setattr(database, "write", lost_answer)
    with pytest.raises(LedgerUnavailable):
        one.answers.begin("token", "key", REQUEST, "one")
    until(lambda: one.answers.begin("token", "key", REQUEST, "one").goes_on, seconds=20)


@pytest.mark.postgres
def test_who_lost_its_session_is_seen_again(address, opened, monkeypatch):
    monkeypatch.setattr("memoranda.ledger.answers._LOOK_SECONDS", 0.0)
    one, other = opened(address), opened(address)
    one.answers.begin("token", "key", REQUEST, "one")
    cut_off("pg_try_advisory_lock")
    one.answers.begin("token", "another", REQUEST, "one")
    assert other.answers.begin("token", "key", REQUEST, "other").outcome == "busy"


# -- leading --


def test_one_leads_and_another_when_it_ends(place, opened):
    told = []
    one, other = Leadership(opened(place), told=told.append), Leadership(opened(place))
    assert [one.look(), other.look(), one.look(), other.look()] == [True, False, True, False]
    assert (one.leads, other.leads) == (True, False)
    one.close()
    assert other.look()
    assert not one.look()
    assert told == [True, False]
    other.close()


@pytest.mark.postgres
def test_who_lost_the_lead_without_knowing_finds_out(address, opened):
    one, other = Leadership(opened(address)), Leadership(opened(address))
    assert one.look()
    cut_off("pg_try_advisory_lock")
    assert other.look(), "nobody holds it any more"
    assert not one.look(), "two would lead"
    other.close()
    assert one.look()
    one.close()


# -- holding a name --


def test_one_keeps_a_name_while_it_works_and_another_has_it_afterwards(place, opened):
    one, other = (opened(place)._engine.ledger.database for _ in range(2))
    with keeping(one, "upkeep") as held:
        assert held.is_ours()
        with pytest.raises(Busy), keeping(other, "upkeep"):
            pass
        with keeping(other, "something else"):
            pass
    with keeping(other, "upkeep") as held:
        assert held.is_ours()


@pytest.mark.postgres
def test_who_lost_a_name_while_it_works_finds_out(address, opened):
    one, other = (opened(address)._engine.ledger.database for _ in range(2))
    with keeping(one, "upkeep") as held:
        cut_off("pg_try_advisory_lock")
        with keeping(other, "upkeep"):
            assert not held.is_ours()


@pytest.mark.postgres
def test_a_server_that_is_away_is_not_somebody_who_holds_it(address, opened, monkeypatch):
    database = opened(address)._engine.ledger.database

    def away(*_, **__):
        raise LedgerUnavailable("the database does not answer")

    monkeypatch.setattr("memoranda.ledger.postgres.listening.taken_in", lambda *_: None)
    monkeypatch.setattr(database, "version", away)
    with pytest.raises(LedgerUnavailable), keeping(database, "upkeep"):
        pass


# -- hearing of one another --


@pytest.mark.postgres
def test_what_another_writes_is_heard_of_also_after_the_session_was_cut(address, opened):
    from memoranda.ledger.postgres.listening import Listener, pool_of

    one, other = opened(address), opened(address)
    heard = threading.Event()
    listener = Listener(one._engine.ledger.database, heard.set).start()
    try:
        until(lambda: listener.listening, seconds=20)
        _heard_of(other, heard, "The heron is fed at noon.")
        postgres.shared().sql(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and application_name = 'memoranda listener'"
        )
        time.sleep(0.2)
        _heard_of(other, heard, "The lantern is in the cellar.")
        until(lambda: listener.listening, seconds=20)
    finally:
        listener.close()
    assert pool_of(one._engine.ledger.database).connections >= 1


def _heard_of(store, heard, text):
    heard.clear()
    store.memory(Scope("bot-1")).remember(text)
    assert heard.wait(20)


def test_a_file_has_nothing_to_listen_to(opened, tmp_path):
    store = opened(str(tmp_path / "store.db"))
    assert store.listen() is None
    assert store.pool() is None


@pytest.mark.postgres
def test_an_index_on_this_machine_follows_what_others_write(address, opened):
    one, other = opened(address, follow=True), opened(address)
    listener = one.listen()
    try:
        until(lambda: listener.listening, seconds=20)
        other.memory(Scope("bot-1")).remember("The heron is fed at noon.")
        until(lambda: one.standing() == (1, 0), seconds=20)
    finally:
        listener.close()


# -- what was shown --


def test_processes_of_one_machine_know_what_the_others_have_shown(tmp_path):
    one, other = (Shown(tmp_path / "store.db", str) for _ in range(2))
    scope = Scope("bot-1")
    assert other.lately(scope, "talk") == ()
    one.note(scope, "talk", ["a", "b"])
    assert other.lately(scope, "talk") == ("a", "b")
    other.note(scope, "talk", ["c"])
    assert one.lately(scope, "talk") == ("a", "b", "c")
    many = [f"id-{number:02}" for number in range(30)]
    one.note(scope, "talk", many)
    other.note(scope, "talk", ["d"])
    assert set(one.lately(scope, "talk")) == {"a", "b", "c", "d", *many}, "what the note has no room for is not lost"
    one.drop()
    assert one.lately(scope, "talk") == ()


@pytest.mark.postgres
def test_upkeep_that_lost_its_name_stops_where_it_is(address, opened, monkeypatch):
    one, other = opened(address), opened(address)
    real, also = Engine.try_again, []

    def cut(engine):
        real(engine)
        if engine is one._engine:
            postgres.shared().sql(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
                "where datname = current_database() and application_name = 'memoranda holder'"
            )
            also.append(other.maintain())

    monkeypatch.setattr(Engine, "try_again", cut)
    with pytest.raises(memoranda.Conflict, match="away for a moment"):
        one.maintain()
    assert len(also) == 1, "another could do it"
