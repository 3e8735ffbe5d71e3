"""Several at once in one conversation: threads and processes that append, compact, erase, tidy up, and pay a model."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from children.talker import CONVERSATIONS, MESSAGES_A_TURN, SETTINGS, conversation, said
from memoranda import NotFound, assistant, user
from memoranda.conversations.extractive import ExtractiveSummarizer
from memoranda.domain.text import content_hash
from memoranda.ledger.transcripts import NewSummary, Stale, Transcripts
from memoranda.service import redacting
from memoranda.service.capturing import Capturer
from memoranda.testing.fakes import FixedClock
from memoranda.testing.servers import ChatServer
from support import answer, child, end, finish, occurrences, tell

LEASE_OF_A_SECOND_MS = 6_000


def talk(turns, *, start=0):
    for turn in range(start, start + turns):
        yield user(f"The boiler in cellar {turn} runs at {40 + turn % 50} degrees.", id=f"u{turn}")
        yield assistant(f"I noted {turn}, and we decided to check it weekly.", id=f"a{turn}")


def every(memory, name):
    found, after = [], 0
    while page := memory.conversations.messages(name, after=after, limit=500):
        found += page
        after = page[-1].place
    return found


def host_ids(messages):
    return [message.host_id for message in messages if message.kind == "message"]


def summaries(memory, name):
    return [message for message in every(memory, name) if message.kind == "summary"]


@pytest.fixture
def fellow(path):
    """Starts a process that does as it is told; a function that tells it and waits, and one that only tells."""
    processes = []

    def start(**settings):
        process = child("fellow", path, json.dumps({**SETTINGS, **settings}))
        processes.append(process)
        answer(process)

        def ask(line):
            tell(process, line)
            return answer(process)

        ask.process = process
        return ask

    yield start
    for process in processes:
        end(process)


@pytest.fixture
def meanwhile(monkeypatch):
    """Do something in the middle of the next offline summary: after the messages were read, before it is kept."""
    summarize = ExtractiveSummarizer.summarize
    waiting = []

    def slowly(self, messages, **more):
        if waiting:
            waiting.pop()()
        return summarize(self, messages, **more)

    monkeypatch.setattr(ExtractiveSummarizer, "summarize", slowly)
    return waiting.append


# --- appending the same


def test_threads_that_hand_over_the_same_history_keep_it_once_and_in_order(opened):
    memory = opened(**SETTINGS)
    history = list(talk(60))
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: memory.conversations.append(history, conversation="c").receipt, range(8)))
    assert sum(each.added for each in done) == len(history)
    assert sum(each.known for each in done) == 7 * len(history)
    assert host_ids(every(memory, "c")) == [message.id for message in history]


def test_threads_that_hand_over_parts_of_one_history_keep_each_message_once(opened):
    memory = opened(**SETTINGS)
    history = list(talk(60))
    parts = [history[start : start + 40] for start in range(0, 100, 10)]
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda part: memory.conversations.append(part, conversation="c"), parts))
    assert sorted(host_ids(every(memory, "c"))) == sorted(message.id for message in history)
    assert len([each for each in summaries(memory, "c") if each.status == "active"]) == 1


def test_processes_that_hand_over_the_same_messages_keep_them_once(opened, path):
    turns = 24
    talkers = [child("talker", path, "x", 0, turns) for _ in range(2)]
    told = [line for process in talkers for line in finish(process)]
    assert sum(line.get("known", 0) for line in told) == turns * MESSAGES_A_TURN
    memory = opened(**SETTINGS)
    for name in CONVERSATIONS:
        handed = [each["id"] for turn in range(turns) if conversation(turn) == name for each in said("x", turn, turns)]
        assert host_ids(every(memory, name)) == handed
    assert memory.admin.verify().ok


# --- two that compact


def _as_read(messages):
    return {message.number: content_hash(message.text) for message in messages}


def test_of_two_summaries_of_the_same_messages_the_second_is_stale_and_leaves_no_trace(opened):
    memory = opened(**SETTINGS)
    memory.conversations.append(talk(10), conversation="c", compact=False)
    transcripts = memory._engine.transcripts
    row = transcripts.find("c", scopes=("home/anna",))
    summary = NewSummary("a summary", 5, 1, 0, _as_read(transcripts.active(row)[:10]), {})
    transcripts.compact(row, summary, actor="")
    before = every(memory, "c")
    sequence = transcripts.feed.sequence()
    with pytest.raises(Stale):
        transcripts.compact(row, summary, actor="")
    others = [message for message in transcripts.active(row) if message.kind == "message"][:4]
    with pytest.raises(Stale):  # of other messages, but it would be the second that is active
        transcripts.compact(row, summary._replace(stands_for=_as_read(others)), actor="")
    assert every(memory, "c") == before
    assert transcripts.feed.sequence() == sequence


def test_of_two_threads_that_compact_at_once_one_does_it(opened, monkeypatch):
    memory = opened(**SETTINGS)
    memory.conversations.append(talk(60), conversation="c", compact=False)
    both = threading.Barrier(2)
    summarize = ExtractiveSummarizer.summarize

    def together(self, messages, **more):
        both.wait(timeout=20)  # both have read the same messages
        return summarize(self, messages, **more)

    monkeypatch.setattr(ExtractiveSummarizer, "summarize", together)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: memory.conversations.compact("c").receipt, range(2)))
    assert sorted(each.done for each in done) == [False, True]
    assert next(each.note for each in done if not each.done)
    assert len(summaries(memory, "c")) == 1


def test_of_two_processes_that_compact_at_once_one_does_it(opened, fellow):
    memory, others = opened(**SETTINGS), [fellow(), fellow()]
    names = [f"c{number}" for number in range(8)]
    for name in names:
        memory.conversations.append(talk(60), conversation=name, compact=False)
        for other in others:
            tell(other.process, f"compact {name}")
        assert sorted(answer(other.process)["done"] for other in others) == [False, True]
        assert len(summaries(memory, name)) == 1


# --- compacting while others write


def test_what_is_appended_during_a_compaction_is_not_summed_up(opened, meanwhile):
    ours, theirs = opened(**SETTINGS), opened(**SETTINGS)
    ours.conversations.append(talk(60), conversation="c", compact=False)
    late = list(talk(20, start=60))
    meanwhile(lambda: theirs.conversations.append(late, conversation="c", compact=False))
    receipt = ours.conversations.compact("c").receipt
    assert receipt.done
    active = [message for message in every(ours, "c") if message.status == "active"]
    shown = host_ids(active)
    assert shown[-len(late) :] == [message.id for message in late]
    reached = host_ids(ours.conversations.expand(receipt.summary))
    assert reached + shown == [message.id for message in (*talk(60), *late)]


def test_a_conversation_that_was_archived_during_a_compaction_is_left_alone(opened, meanwhile):
    ours, theirs = opened(**SETTINGS), opened(**SETTINGS)
    ours.conversations.append(talk(60), conversation="c", compact=False)
    meanwhile(lambda: theirs.conversations.archive("c"))
    assert not ours.conversations.compact("c").receipt.done
    assert not summaries(ours, "c")
    theirs.conversations.restore("c")
    assert host_ids(every(ours, "c")) == [message.id for message in talk(60)]


# --- erasing while others compact

MARK = "quokkaplinth"
TOLD = f"We decided that sensor.{MARK} is set to 77 degrees."


@pytest.fixture
def two(opened):
    """Two handles of one store, with a conversation in which somebody said what shall be erased."""
    handles = [opened(capture_mode="off", **SETTINGS) for _ in range(2)]
    handles[0].conversations.append([user(TOLD, speaker="ben"), *talk(60)], conversation="c", compact=False)
    return handles


def test_what_these_tests_erase_would_otherwise_be_in_the_summary(two):
    assert MARK in two[0].conversations.compact("c").summary.text


def _nothing_of_it(memory, path, *marks):
    """After one upkeep nothing is left in any file, and nobody finds it."""
    memory.admin.maintain()
    for mark in marks:
        assert not memory.conversations.search(mark, archived=True)
        assert not memory.recall(mark)
    corpus = memory._engine.messages
    assert corpus.index().counts().entries == corpus.feed.count()
    memory.close()
    assert occurrences(path, *marks) == []


def test_a_conversation_that_is_erased_while_it_is_summed_up_does_not_come_back(two, path, meanwhile):
    ours, theirs = two
    ours.conversations.search(MARK)
    meanwhile(lambda: theirs.conversations.erase("c"))
    assert not ours.conversations.compact("c").receipt.done
    with pytest.raises(NotFound):
        ours.conversations.window("c")
    theirs.close()
    _nothing_of_it(ours, path, MARK)


@pytest.mark.parametrize("by", ["memory", "speaker"])
def test_what_is_erased_while_it_is_summed_up_does_not_come_back(two, path, meanwhile, by):
    ours, theirs = two
    if by == "memory":
        kept = ours.remember(TOLD)
        meanwhile(lambda: theirs.erase(kept))
    else:
        meanwhile(lambda: theirs.erase(speaker="ben"))
    ours.conversations.compact("c")
    theirs.close()
    assert MARK not in " ".join(message.text for message in every(ours, "c"))
    _nothing_of_it(ours, path, MARK)


def test_what_is_summed_up_between_the_plan_and_the_erasure_does_not_come_back(two, path, monkeypatch):
    ours, theirs = two
    kept = ours.remember(TOLD)
    redact, first = redacting.redact, [True]

    def after_a_compaction(engine, redaction):
        if first:
            first.pop()
            assert theirs.conversations.compact("c").receipt.done
        redact(engine, redaction)

    monkeypatch.setattr(redacting, "redact", after_a_compaction)
    ours.erase(kept)
    theirs.close()
    assert MARK not in " ".join(message.text for message in every(ours, "c"))
    _nothing_of_it(ours, path, MARK)


@pytest.mark.parametrize("look", [1, 2])
def test_what_is_said_while_its_conversation_is_erased_stays_whole_or_leaves_every_file(
    opened, path, monkeypatch, look
):
    """Erasing looks twice which messages there are; somebody speaks right after the one or the other."""
    ours, theirs = opened(**SETTINGS), opened(**SETTINGS)
    ours.conversations.append(talk(20), conversation="c", compact=False)
    numbers, looks = Transcripts.numbers, []

    def then_append(self, rows):
        found = numbers(self, rows)
        looks.append(True)
        if len(looks) == look:
            theirs.conversations.append([user(f"The {MARK} came late.")], conversation="c", compact=False)
            assert theirs.conversations.search(MARK)
        return found

    monkeypatch.setattr(Transcripts, "numbers", then_append)
    ours.conversations.erase("c")
    theirs.close()
    if ours.conversations.list().total:
        assert ours.conversations.search(MARK)
    else:
        _nothing_of_it(ours, path, MARK)


def test_what_is_erased_before_it_is_captured_by_a_compaction_becomes_no_memory(opened, monkeypatch):
    ours, theirs = opened(**SETTINGS), opened(**SETTINGS)
    told = user(f"I prefer tea with {MARK} on most days.", speaker="ben")
    ours.conversations.append([told, *talk(60)], conversation="c", compact=False)
    capture, first = Capturer.capture, [True]

    def after_an_erasure(self, messages, **more):
        if first:
            first.pop()
            theirs.erase(speaker="ben")
        return capture(self, messages, **more)

    monkeypatch.setattr(Capturer, "capture", after_an_erasure)
    ours.conversations.compact("c")
    assert MARK not in str([memory.text for memory in ours.list(limit=100)])
    assert MARK not in " ".join(message.text for message in every(ours, "c"))


def test_erasing_in_one_process_while_another_compacts_leaves_nothing(opened, path, fellow):
    memory, other = opened(**SETTINGS), fellow()
    marks = [f"{MARK}{number}end" for number in range(10)]
    for number, mark in enumerate(marks):
        other(f"append c{number} {mark} 120")
        other(f"search {mark}")
        tell(other.process, f"compact c{number}")
        time.sleep(0.004 * number)
        memory.conversations.erase(f"c{number}")
        answer(other.process)
        assert memory.conversations.list().total == 0
    end(other.process)
    _nothing_of_it(memory, path, *marks)


def test_erasing_a_memory_in_one_process_while_another_compacts_leaves_nothing_of_its_words(opened, path, fellow):
    memory, other = opened(capture_mode="off", **SETTINGS), fellow(capture_mode="off")
    texts = []
    for number in range(8):
        mark = f"{MARK}{number}end"
        other(f"append c{number} {mark} 120")
        texts.append(f"The {mark} number 3 is 21.")
        kept = memory.remember(texts[-1])
        tell(other.process, f"compact c{number}")
        time.sleep(0.006 * number)
        memory.erase(kept)
        assert answer(other.process)["done"]
        said_now = " ".join(message.text for message in every(memory, f"c{number}"))
        assert texts[-1] not in said_now
        assert f"The {mark} number 5 is 35." in said_now
    end(other.process)
    memory.admin.maintain()
    memory.close()
    assert occurrences(path, *texts) == []


# --- upkeep while others write


def test_upkeep_while_another_process_talks_disturbs_nobody(opened, path):
    turns = 30
    talker = child("talker", path, "x", 0, turns)
    answer(talker)
    memory = opened(**SETTINGS)
    kept = 0
    while talker.poll() is None:
        memory.admin.maintain()
        kept += 1
    finish(talker)
    assert kept > 1
    for name in CONVERSATIONS:
        handed = [each["id"] for turn in range(turns) if conversation(turn) == name for each in said("x", turn, turns)]
        assert host_ids(every(memory, name)) == handed
    assert memory.admin.verify().ok


def test_two_upkeeps_at_once_sum_up_each_conversation_once(opened, fellow):
    memory = opened()
    for number in range(4):
        memory.conversations.append(talk(130), conversation=f"c{number}", compact=False)
    others = [fellow(), fellow()]
    for other in others:
        tell(other.process, "maintain")
    done = [each["conversation"] for other in others for each in answer(other.process)["compacted"] if each["done"]]
    assert sorted(done) == [f"c{number}" for number in range(4)]
    assert [len(summaries(memory, name)) for name in sorted(done)] == [1] * 4


# --- a model that is paid for

GIST = '{"points": ["The boiler in cellar 0 runs at 40 degrees."], "actions": [], "open_items": []}'


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


def _paying(server, seconds=1.0):
    return {
        "summarizer": "compatible:some-model",
        "summarizer_url": server.openai_url,
        "summarizer_timeout": seconds,
        "compact_messages": 0,
    }


def _wait_for_a_request(server, count=1):
    until = time.monotonic() + 20
    while len(server.requests) < count and time.monotonic() < until:
        time.sleep(0.005)
    assert len(server.requests) == count


def test_while_one_process_pays_for_a_summary_no_other_pays_for_the_same(opened, fellow, server):
    server.fail("hang")
    settings = _paying(server, seconds=30.0)
    ours, theirs = opened(**settings), fellow(**settings)
    ours.conversations.append(talk(60), conversation="c", compact=False)
    tell(theirs.process, "compact c")
    _wait_for_a_request(server)
    receipt = ours.conversations.compact("c").receipt
    assert not receipt.done
    assert "another process" in receipt.note
    assert len(server.requests) == 1
    assert not summaries(ours, "c")


def test_the_claim_of_a_process_that_was_killed_ends_by_itself(opened, fellow, server):
    server.fail("hang")
    settings = _paying(server)
    clock = FixedClock(int(time.time() * 1000))
    ours, theirs = opened(clock=clock, **settings), fellow(**settings)
    ours.conversations.append(talk(60), conversation="c", compact=False)
    tell(theirs.process, "compact c")
    _wait_for_a_request(server)
    end(theirs.process)
    assert "another process" in ours.conversations.compact("c").receipt.note
    server.say(GIST)
    clock.advance(ms=10 * LEASE_OF_A_SECOND_MS)
    receipt = ours.conversations.compact("c").receipt
    assert (receipt.done, receipt.summarizer) == (True, "compatible:some-model")
    assert len(server.requests) == 2


def test_appends_in_a_row_start_one_summary_and_not_one_each(opened, server):
    server.fail("hang")
    memory = opened(conversation_budget=600, **_paying(server))
    for start in range(0, 90, 30):
        assert memory.conversations.append(talk(30, start=start), conversation="c").receipt.compaction.later
        _wait_for_a_request(server)
    assert not summaries(memory, "c")


def test_a_claim_that_ran_out_is_not_ended_by_who_held_it(opened, clock):
    """Otherwise a third could pay while the second still does."""
    memory = opened(clock=clock, **SETTINGS)
    memory.conversations.append(talk(10), conversation="c", compact=False)
    transcripts = memory._engine.transcripts
    row = transcripts.find("c", scopes=("home/anna",))
    first = transcripts.claim(row, for_ms=1_000)
    assert not transcripts.claim(row, for_ms=1_000)
    clock.advance(ms=2_000)
    second = transcripts.claim(row, for_ms=1_000)
    assert second
    transcripts.release(row, first)
    assert not transcripts.claim(row, for_ms=1_000)
    transcripts.release(row, second)
    assert transcripts.claim(row, for_ms=1_000)
