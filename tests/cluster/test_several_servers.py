"""What several servers of one store share: who leads, who is let in, what is done once. In real processes."""

import functools
import threading

import pytest

import memoranda
import postgres
from memoranda import Conflict, Refused, Settings
from memoranda.domain.scope import Scope
from memoranda.service.store import Store

from .servers import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(240)]
SCOPE = "bot-1"


@pytest.fixture
def address(request):
    schema = f"several_{abs(hash(request.node.nodeid)) % 10**8}"
    yield postgres.shared().address(schema)
    postgres.shared().sql(f"drop schema if exists {schema} cascade")


@pytest.fixture
def store(address, tmp_path):
    settings = Settings(store=address, embedder="none", follow=False, local_folder=str(tmp_path / "own"))
    with Store.open(settings=settings) as opened:
        yield opened


def at_once(*calls):
    """What each of them gave or raised, begun together."""
    told = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(place, call):
        barrier.wait()
        try:
            told[place] = call()
        except Exception as error:
            told[place] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return told


def test_one_leads_and_when_it_is_killed_another_does_the_upkeep(address, store, servers):
    three = servers(address, 3, server_maintain_hours=2 / 3600)

    def leaders():
        return [each for each in three if each.is_running and "memoranda_leader 1.0" in each.metrics()]

    (leader,) = until(leaders, complaint="nobody leads")
    until(lambda: leader.events("upkeep"), complaint="the leader did no upkeep")
    assert len(leaders()) == 1
    assert not any(each.events("upkeep") for each in three if each is not leader)
    before = store.upkeep().admin.upkeep(limit=1)[0].at
    leader.kill()
    others = [each for each in three if each is not leader]
    (heir,) = until(lambda: [each for each in others if each.events("leads")], seconds=30, complaint="nobody took over")
    until(lambda: heir.events("upkeep"), complaint="the heir did no upkeep")
    assert store.upkeep().admin.upkeep(limit=1)[0].at > before
    assert sum(bool(each.events("upkeep")) for each in others) == 1


def test_what_is_sent_to_two_servers_at_once_is_done_once(address, store, servers):
    two = servers(address, 2)
    token = store.tokens.create(role="writer", scope=SCOPE).secret
    one, other = (memoranda.connect(each.url, token) for each in two)
    said = [memoranda.user("Please remember that the heron is fed at noon.")]
    for number in range(5):
        talk = f"talk-{number}"
        turn = [*said, memoranda.user(f"Please remember that box {number} is in the cellar.")]
        captured = at_once(*(functools.partial(each.capture, turn, conversation=talk) for each in (one, other)))
        kept = [identity for each in captured for identity in each.receipt.kept]
        assert len(kept) == len(set(kept)) == (2 if number == 0 else 1), captured
    texts = [each.text for each in store.memory(Scope(SCOPE)).list(limit=100)]
    assert len(texts) == len(set(texts)) == 6
    one.close()
    other.close()


def test_two_servers_that_compact_the_same_conversation_make_one_summary(address, store, servers):
    two = servers(address, 2, compact_keep=10)
    token = store.tokens.create(role="writer", scope=SCOPE).secret
    one, other = (memoranda.connect(each.url, token) for each in two)
    said = [memoranda.user(f"On day {number} we looked at heron number {number} at the lake.") for number in range(60)]
    one.conversations.append(said, conversation="talk", compact=False)
    told = at_once(*(lambda memory=memory: memory.conversations.compact("talk") for memory in (one, other)))
    assert not any(isinstance(each, Exception) for each in told), told
    shown = other.conversations.window("talk")
    assert sum(each.receipt.done for each in told) >= 1
    assert sum(each.kind == "summary" for each in shown.messages) == 1, shown
    one.close()
    other.close()


def test_a_token_that_is_revoked_through_one_server_is_refused_by_the_other_at_once(address, store, servers):
    two = servers(address, 2)
    admin = store.tokens.create(role="admin", scope=SCOPE).secret
    made = store.tokens.create(role="reader", scope=SCOPE)
    with memoranda.connect(two[0].url, admin) as operator, memoranda.connect(two[1].url, made.secret) as guest:
        guest.stats()
        operator.tokens.revoke(made.token.id)
        with pytest.raises(Refused):
            guest.stats()


def test_two_servers_on_one_machine_share_their_folder(address, store, servers, tmp_path):
    two = servers(address, 2, local_folder=tmp_path / "shared")
    token = store.tokens.create(role="writer", scope=SCOPE).secret
    one, other = (memoranda.connect(each.url, token) for each in two)
    for number in range(10):
        writer, reader = (one, other) if number % 2 else (other, one)
        kept = writer.remember(f"The walnut box {number} is in room {number * 7}.")
        assert kept.id in [hit.id for hit in reader.recall(f"walnut box {number} room {number * 7}")]
    one.close()
    other.close()


def test_a_request_that_two_servers_have_with_one_key_is_done_by_one(address, store, servers):
    two = servers(address, 2)
    token = store.tokens.create(role="writer", scope=SCOPE).secret
    one, other = (memoranda.connect(each.url, token) for each in two)
    for memory in (one, other):  # as when a client has lost its first server
        memory._caller.call = _with_one_key(memory._caller)
    told = at_once(
        *(
            lambda memory=memory: memory.conversations.append([memoranda.user("hello")], conversation="talk")
            for memory in (one, other)
        )
    )
    assert not any(isinstance(each, Conflict) for each in told), told
    assert len(one.conversations.messages("talk")) == 1
    one.close()
    other.close()


def _with_one_key(caller):
    """Every call of this caller has the same key."""
    ask = caller.transport.ask
    caller.transport.ask = lambda asked, heard=None: ask(asked._replace(key="the-key") if asked.key else asked, heard)
    return caller.call
