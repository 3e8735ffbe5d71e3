"""Upkeep: what no longer holds ends, old conversations are summed up, vectors are made, and a dry run only counts."""

import json

import pytest

from memoranda import Draft, NotFound, ProviderError, assistant, user
from memoranda.conversations.extractive import ExtractiveSummarizer
from memoranda.domain.clock import DAY_MS
from memoranda.testing.fakes import FixedClock
from memoranda.testing.servers import ChatServer
from support import files_of, ids, occurrences, open_store

LONG_AGO = 1_577_836_800_000  # 2020-01-01


def talk(turns, *, start=0):
    for turn in range(start, start + turns):
        yield user(f"The boiler in cellar {turn} runs at {40 + turn % 50} degrees.", id=f"u{turn}")
        yield assistant(f"I noted {turn}, and we decided to check it weekly.", id=f"a{turn}")


def told(done):
    """What was done, or would be, with each conversation."""
    return {each.conversation: each for each in done.compacted}


# --- what no longer holds


def test_what_no_longer_holds_is_marked_as_expired_and_its_history_says_so(memory, clock):
    kept = memory.remember("The guest room is taken.", valid_until=clock.now() + DAY_MS)
    stays = memory.remember("The guest room has two beds.")
    later = memory.remember("The garage is taken.", valid_until=clock.now() + 9 * DAY_MS)
    assert memory.admin.maintain().expired == 0
    clock.advance(days=2)
    assert memory.admin.maintain().expired == 1
    assert [memory.get(each).state for each in (kept, stays, later)] == ["expired", "live", "live"]
    last = memory.history(kept)[-1].event
    assert (last.action, last.actor, last.at) == ("expired", "expiry", clock.now())
    assert memory.admin.maintain().expired == 0
    assert memory.admin.verify().ok


def test_what_has_expired_is_still_found_as_of_a_time_when_it_held(memory, clock):
    kept = memory.remember("The guest room is taken by Ben.", valid_until=clock.now() + DAY_MS)
    then = clock.now() + DAY_MS // 2
    clock.advance(days=2)
    memory.admin.maintain()
    assert not memory.recall("guest room")
    assert ids(memory.recall("guest room", as_of=then)) == [kept.id]
    assert ids(memory.recall("guest room", states=["expired"])) == [kept.id]
    assert memory.get(kept, as_of=then).state == "live"


@pytest.mark.parametrize("verb", ["archive", "forget"])
def test_what_was_put_away_or_forgotten_before_does_not_expire(memory, clock, verb):
    kept = memory.remember("The guest room is taken.", valid_until=clock.now() + DAY_MS)
    getattr(memory, verb)(kept)
    before = memory.get(kept).state
    clock.advance(days=2)
    assert memory.admin.maintain().expired == 0
    assert memory.get(kept).state == before


def test_many_expire_at_once(memory, clock):
    until = clock.now() + DAY_MS
    memory.remember_many([Draft(f"The visitor {number} is here.", valid_until=until) for number in range(1_200)])
    clock.advance(days=2)
    assert memory.admin.maintain().expired == 1_200
    assert not memory.list(limit=10)
    assert len(memory.list(states=["expired"], limit=1_000)) == 1_000


# --- old conversations


def test_a_conversation_that_nobody_used_for_a_week_is_summed_up(memory, clock):
    memory.conversations.append(talk(40), conversation="old")
    clock.advance(days=6)
    memory.conversations.append(talk(40), conversation="new")
    assert not memory.admin.maintain().compacted
    clock.advance(days=2)
    done = told(memory.admin.maintain())
    assert list(done) == ["old"]
    assert done["old"].done
    assert memory.conversations.window("old").summary is not None
    assert memory.conversations.window("new").summary is None
    assert not memory.admin.maintain().compacted


def test_short_and_archived_conversations_are_left_alone_and_days_can_be_switched_off(opened, clock):
    memory = opened(clock=clock)
    memory.conversations.append(talk(8), conversation="short")
    memory.conversations.append(talk(40), conversation="archived")
    memory.conversations.archive("archived")
    clock.advance(days=30)
    assert not memory.admin.maintain().compacted
    memory.conversations.append(talk(40), conversation="long")
    clock.advance(days=30)
    assert not opened(clock=clock, compact_idle_days=0.0).admin.maintain().compacted
    assert list(told(memory.admin.maintain())) == ["long"]


def test_what_was_imported_and_is_too_long_is_summed_up_at_once(memory):
    memory.conversations.append(talk(130), conversation="many", compact=False)
    done = told(memory.admin.maintain())
    assert done["many"].done
    assert done["many"].folded > 200
    assert memory.conversations.get("many").messages == 260


def test_conversations_of_every_scope_are_looked_after(opened, clock):
    for scope in ("home/anna", "home/ben", "office"):
        opened(scope, clock=clock).conversations.append(talk(40), conversation=f"of {scope}")
    clock.advance(days=8)
    assert len(told(opened("elsewhere", clock=clock).admin.maintain())) == 3


def test_one_conversation_that_cannot_be_summed_up_does_not_keep_the_others_from_it(memory, monkeypatch):
    for name in ("one", "two", "three"):
        memory.conversations.append([user(f"This is {name}."), *talk(130)], conversation=name, compact=False)
    summarize = ExtractiveSummarizer.summarize

    def failing(self, messages, **more):
        if messages[0].text == "This is two.":
            raise ProviderError("it cannot be done")
        return summarize(self, messages, **more)

    monkeypatch.setattr(ExtractiveSummarizer, "summarize", failing)
    done = told(memory.admin.maintain())
    assert {name: each.done for name, each in done.items()} == {"one": True, "two": False, "three": True}
    assert "it cannot be done" in done["two"].note


def test_a_model_sums_up_old_conversations_within_its_budget(opened, clock):
    gist = '{"points": ["The boiler in cellar 0 runs at 40 degrees."], "actions": [], "open_items": []}'
    with ChatServer() as server:
        server.say(gist, gist, gist)
        paying = {"summarizer": "compatible:some-model", "summarizer_url": server.openai_url}
        memory = opened(clock=clock, summarizer_daily_calls=2, **paying)
        for name in ("one", "two", "three"):
            memory.conversations.append(talk(130), conversation=name, compact=False)
        done = told(memory.admin.maintain())
        names = sorted(each.summarizer for each in done.values())
        assert names == ["compatible:some-model", "compatible:some-model", "extractive"]
        assert len(server.requests) == 2


# --- vectors


def test_vectors_of_messages_are_made_for_what_was_kept_without_them(opened):
    plain = opened()
    plain.remember("The piano is tuned in May.")
    plain.conversations.append(
        [
            {"role": "system", "content": "Be brief."},
            *talk(15),
            {"role": "assistant", "content": "", "tool_calls": [{"id": "k", "function": {"name": "look"}}]},
            {"role": "tool", "tool_call_id": "k", "content": "nothing there"},
        ],
        conversation="c",
    )
    plain.close()
    memory = opened(embedder="hashed:words")
    planned = memory.admin.maintain(dry_run=True)
    assert (planned.vectors_made, planned.vectors_missing) == (0, 31)
    done = memory.admin.maintain()
    assert (done.vectors_made, done.vectors_missing) == (31, 0)  # a memory, and what people and assistants said
    again = memory.admin.maintain()
    assert (again.vectors_made, again.vectors_missing) == (0, 0)
    assert memory.conversations.search("boiler in cellar 7").receipt.degraded == ()


# --- what was forgotten long ago


def test_what_was_forgotten_long_ago_leaves_the_transcripts_and_every_file(opened, path, clock):
    memory = opened(clock=clock, capture_mode="off")
    text = "We decided that sensor.quokkaplinth is set to 77 degrees."
    memory.conversations.append([user(text), *talk(130)], conversation="c")
    kept = memory.remember(text)
    memory.forget(kept)
    clock.advance(days=5)
    assert not memory.admin.maintain().erased.ids
    assert occurrences(path, "quokkaplinth")
    clock.advance(days=60)
    erased = memory.admin.maintain().erased
    assert (erased.ids, erased.state, erased.messages) == ((kept.id,), "purged", 1)
    with pytest.raises(NotFound):
        memory.get(kept)
    memory.close()
    assert occurrences(path, "quokkaplinth") == []


# --- a dry run


@pytest.fixture
def neglected(path):
    """A store in which every kind of upkeep is due, last used in 2020; the id of what was forgotten."""
    clock = FixedClock(LONG_AGO)
    with open_store(path, clock=clock) as memory:
        memory.remember("The guest room is taken.", valid_until=clock.now() + DAY_MS)
        memory.remember("The piano is tuned in May.")
        memory.conversations.append(talk(40), conversation="old")
        memory.conversations.append(talk(130), conversation="long", compact=False)
        memory.conversations.search("boiler")
        gone = memory.remember("Nobody needs this.")
        memory.forget(gone)
        memory.recall("piano")
    return gone.id


def _due(done):
    counts = done if isinstance(done, dict) else done.as_json()
    names = sorted(each["conversation"] for each in counts["compacted"])
    return counts["erased"]["ids"], counts["expired"], names


def _bytes(path):
    """Of the ledger, and of the index of messages. In that of memories a probe is planted and taken away again."""
    shared = ("-shm", "-index")
    return {str(file): file.read_bytes() for file in files_of(path) if not any(each in str(file) for each in shared)}


def test_a_dry_run_changes_nothing_and_says_what_the_upkeep_then_does(path, neglected):
    clock = FixedClock(LONG_AGO + DAY_MS // 2)
    with open_store(path, clock=clock) as memory:
        memory.admin.maintain(dry_run=True)  # whatever opening and looking do for the first time
        clock.advance(days=90)
        engine = memory._engine
        before = _bytes(path), engine.ledger.sequence(), engine.transcripts.feed.sequence()
        planned = memory.admin.maintain(dry_run=True)
        assert planned.dry_run
        assert _due(planned) == ([neglected], 1, ["long", "old"])
        after = _bytes(path), engine.ledger.sequence(), engine.transcripts.feed.sequence()
        assert [name for name in before[0] if before[0][name] != after[0].get(name)] == []
        assert before[1:] == after[1:]
        assert len(before[0]) >= 3
        done = memory.admin.maintain()
        assert not done.dry_run
        assert _due(done) == _due(planned)
        assert all(each.done for each in done.compacted)
        assert _due(memory.admin.maintain(dry_run=True)) == ([], 0, [])


def test_the_command_says_in_json_what_there_is_to_do_and_then_does_it(run, path, neglected):
    code, out, _ = run("maintain", "--dry-run", "--json")
    planned = json.loads(out)
    assert code == 0
    assert planned["dry_run"] is True
    assert _due(planned) == ([neglected], 1, ["long", "old"])
    code, out, _ = run("maintain", "--json")
    done = json.loads(out)
    assert code == 0
    assert (done["dry_run"], done["expired"], done["erased"]["ids"]) == (False, 1, [neglected])
    assert {each["conversation"]: each["done"] for each in done["compacted"]} == {"long": True, "old": True}
    assert done["index"]["self_test"].startswith("ok")
    assert not occurrences(path, "Nobody needs this.")


def test_a_receipt_of_upkeep_has_no_word_of_what_was_said_or_kept(memory, clock):
    memory.remember("The zebrafinch sleeps.", valid_until=clock.now() + DAY_MS)
    memory.conversations.append([user("The zebrafinch sings."), *talk(130)], conversation="c", compact=False)
    clock.advance(days=30)
    shown = json.dumps([memory.admin.maintain(dry_run=dry).as_json() for dry in (True, False)])
    assert "zebrafinch" not in shown
    assert "boiler" not in shown
