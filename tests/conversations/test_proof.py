"""Conversations under fire: two processes talk and compact, SIGKILL comes in between, and nothing is lost.

The children's acknowledgements are the account; what is in the store afterwards is compared with it.
"""

import json
import random
import threading
import time
from pathlib import Path

import pytest

from children.talker import CONVERSATIONS, MESSAGES_A_TURN, SETTINGS, TURNS_AT_ONCE, conversation, said, torn
from support import answer, child, end, finish, open_store, tell

TALKERS = ("x", "y")


class _Talker:
    """One process that talks, begun again after each kill with the last turn that it told of."""

    def __init__(self, path, who, turns):
        self.who = who
        self.over = False
        self.known = 0
        self._path = path
        self._turns = turns
        self._acknowledged = -1
        self._start()

    def _start(self):
        self._process = child("talker", self._path, self.who, max(self._acknowledged, 0), self._turns)
        self._lines = []
        self._reading = threading.Thread(target=lambda: self._lines.extend(self._process.stdout))
        self._reading.start()

    def wait_for_turns(self, count):
        """Until so many appends were told since it was begun, or it has ended."""
        while len(self._lines) <= count and self._process.poll() is None:
            time.sleep(0.002)

    def kill(self):
        self._process.kill()
        self._take_down()
        self._start()

    def finish(self):
        self._take_down()
        assert self.over, "it ended without having said all"

    def _take_down(self):
        code = self._process.wait(timeout=120)
        self._reading.join()
        self.over = False
        for line in self._lines:
            if not line.endswith("\n"):
                continue  # cut off by the kill: nobody was told
            told = json.loads(line)
            self.over = self.over or "done" in told
            self._acknowledged = max(self._acknowledged, told.get("turn", -1))
            self.known += told.get("known", 0)
        errors = self._process.stderr.read()
        end(self._process)
        assert "Traceback" not in errors, errors[-3000:]
        assert code == -9 or (code == 0 and self.over), errors[-3000:]


class _Watcher:
    """Looks at the conversations all the time: their windows, and how many summaries are active at one moment."""

    def __init__(self, path):
        self.windows = 0
        self.troubles = []
        self._summed_up = set()
        self._over = threading.Event()
        self._memory = open_store(path, **SETTINGS)
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._over.is_set() and not self.troubles:
            try:
                self._look()
            except Exception as error:
                self.troubles.append(repr(error))
            time.sleep(0.01)

    def _look(self):
        with self._memory._engine.ledger.database.read() as connection:
            rows = connection.execute(
                "select c.name, sum(m.kind = 'summary' and m.status = 'active') from conversation c "
                "join message m on m.conversation = c.number group by c.number"
            ).fetchall()
        for name, summaries in rows:
            if summaries != 1 and (summaries or name in self._summed_up):
                self.troubles.append(f"{name} has {summaries} active summaries")
            self._summed_up |= {name} if summaries else set()
            for budget in (400, 2_000):
                window = self._memory.conversations.window(name, budget=budget)
                self.troubles += torn(window)
                self.windows += 1

    def end(self):
        self._over.set()
        self._thread.join()
        self._memory.close()


def _under_fire(path, *, turns, kills):
    """Both talk at once; one of them is killed after a few appends, again and again; each says all in the end."""
    chance = random.Random(20260401)
    talkers = [_Talker(path, who, turns) for who in TALKERS]
    talkers[0].wait_for_turns(1)
    watcher = _Watcher(path)
    try:
        for number in range(kills):
            victim = talkers[number % len(talkers)]
            victim.wait_for_turns(chance.randint(2, 8))
            time.sleep(chance.uniform(0.0, 0.1))
            victim.kill()
        for talker in talkers:
            talker.finish()
    finally:
        watcher.end()
        for talker in talkers:
            end(talker._process)
    assert not watcher.troubles, watcher.troubles[:5]
    return talkers, watcher


def _every(conversations, name):
    found, after = [], 0
    while page := conversations.messages(name, after=after, limit=500):
        found += page
        after = page[-1].place
    return found


def _check(path, *, turns):
    """Each message once and whole, in the order of who said it; one summary; nothing out of its reach. Counts."""
    summaries = 0
    with open_store(path, **SETTINGS) as memory:
        for name in CONVERSATIONS:
            kept = _every(memory.conversations, name)
            messages = [message for message in kept if message.kind == "message"]
            summaries += len(kept) - len(messages)
            for who in TALKERS:
                handed = [
                    each for turn in range(turns) if conversation(turn) == name for each in said(who, turn, turns)
                ]
                theirs = [message for message in messages if message.host_id.startswith(f"{who}-")]
                assert [(each.host_id, each.text) for each in theirs] == [
                    (each["id"], each["content"]) for each in handed
                ]
            active = [message for message in kept if message.status == "active"]
            standing = [message for message in active if message.kind == "summary"]
            assert len(standing) == 1
            reached = memory.conversations.expand(standing[0].id)
            shown = [message for message in active if message.kind == "message"]
            assert sorted(each.id for each in (*reached, *shown)) == sorted(each.id for each in messages)
            assert not torn(memory.conversations.window(name))
        _check_search(memory, turns)
        verified = memory.admin.verify()
        assert verified.ok, verified
    return summaries


def _check_search(memory, turns):
    """Every word that was said can be found, also after the kills."""
    for who in TALKERS:
        for turn in (0, turns // 2, turns - 1):
            found = memory.conversations.search(f"boiler {who}{turn}", context=0)
            hits = [message.host_id for passage in found for message in passage.messages]
            assert f"{who}-u{turn}" in hits
    corpus = memory._engine.messages
    assert corpus.index().counts().entries == corpus.feed.count()


def _prove(path, *, turns, kills):
    began = time.monotonic()
    talkers, watcher = _under_fire(path, turns=turns, kills=kills)
    fired = time.monotonic() - began
    summaries = _check(path, turns=turns)
    assert sum(talker.known for talker in talkers) > 0, "no message was handed over twice: the kills prove little"
    print(
        f"\n{len(TALKERS) * turns * MESSAGES_A_TURN:,} messages, {summaries} summaries, {kills} kills, "
        f"{watcher.windows:,} windows, {fired:.1f} s and {time.monotonic() - began - fired:.1f} s to check"
    )
    return summaries


def test_two_processes_talk_and_compact_and_a_kill_loses_nothing(path):
    assert _prove(path, turns=15 * TURNS_AT_ONCE, kills=2) >= 10


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_messages_compacted_by_two_processes_survive_kills(path):
    assert _prove(path, turns=239 * TURNS_AT_ONCE, kills=24) > 100


# --- long conversations


def test_a_very_long_conversation_is_summed_up_from_its_beginning_and_tears_no_pair(opened, monkeypatch):
    monkeypatch.setattr("memoranda.ledger.transcripts._MOST_ACTIVE", 97)  # no multiple of a turn's length
    memory, turns = opened(**SETTINGS), 90
    handed = [each for turn in range(turns) for each in said("x", turn, turns)]
    memory.conversations.append(handed, conversation="c", compact=False)
    receipt = memory.conversations.compact("c").receipt
    kept = _every(memory.conversations, "c")
    active = [message for message in kept if message.status == "active"]
    assert [message.kind for message in active].count("summary") == 1
    assert active[0].kind == "summary", "what is older than the summary was left beside it"
    called = {call.id for message in active for call in message.tool_calls}
    assert called == {message.tool_call_id for message in active if message.role == "tool"}
    reached = memory.conversations.expand(receipt.summary)
    shown = [message for message in active if message.kind == "message"]
    together = sorted((*reached, *shown), key=lambda message: message.place)
    assert [message.host_id for message in together] == [each["id"] for each in handed]
    assert receipt.folded == len(reached)
    rounds = sorted((message for message in kept if message.kind == "summary"), key=lambda message: message.number)
    assert len(rounds) > 1
    first = memory.conversations.expand(rounds[0].id, deep=False)
    assert first[0].host_id == handed[0]["id"], "it was begun in the middle"


def test_many_short_turns_with_tools_are_not_summed_up_at_every_append(opened):
    memory, turns = opened(), 150
    compactions = 0
    for turn in range(turns):
        receipt = memory.conversations.append(said("x", turn, turns), conversation="c").receipt.compaction
        compactions += receipt is not None and receipt.done
    assert 0 < compactions <= 12


# --- kill -9 in the middle of upkeep


def test_upkeep_that_was_killed_leaves_nothing_half_done(path):
    turns, names = 20, [f"c{number}" for number in range(8)]
    messages = [each for turn in range(turns) for each in said("x", turn, turns)]
    handed = [each["id"] for each in messages]
    summed_up = [0]
    with open_store(path, **SETTINGS) as memory:
        conversations = memory.conversations
        for name in names:
            conversations.append(messages, conversation=name, compact=False)
        for _ in range(3):
            fellow = child("fellow", path, json.dumps(SETTINGS))
            answer(fellow)
            tell(fellow, "maintain")
            while sum(conversations.window(name).summary is not None for name in names) == summed_up[-1]:
                time.sleep(0.002)
            end(fellow)
            assert memory.admin.verify().ok
            summed_up.append(sum(_is_whole(conversations, name, handed) for name in names))
        memory.admin.maintain()
        assert all(_is_whole(conversations, name, handed) for name in names)
        assert not memory.admin.maintain().compacted
    assert summed_up == sorted(set(summed_up))
    assert summed_up[-1] < len(names), "the kills came after the upkeep, not in the middle of it"


def _is_whole(conversations, name, handed):
    """Nothing of it is lost or there twice; whether it has been summed up."""
    kept = _every(conversations, name)
    active = [message for message in kept if message.status == "active"]
    standing = [message for message in active if message.kind == "summary"]
    reached = [message for summary in standing for message in conversations.expand(summary.id)]
    shown = [message for message in active if message.kind == "message"]
    together = sorted((*reached, *shown), key=lambda message: message.place)
    assert [message.host_id for message in together] == handed
    assert len(standing) <= 1
    return bool(standing)


# --- kill -9 in the middle of an import


def _openai(count):
    """One message to a line, without ids."""
    return [{"role": ("user", "assistant")[place % 2], "content": _text(place)} for place in range(count)]


def _openclaw(count):
    head = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-02-07T17:56:15.000Z"}
    lines = [
        {
            "type": "message",
            "id": f"{place:08x}",
            "parentId": f"{place - 1:08x}" if place else None,
            "timestamp": "2026-02-07T17:56:18.000Z",
            "message": {"role": ("user", "assistant")[place % 2], "content": [{"type": "text", "text": _text(place)}]},
        }
        for place in range(count)
    ]
    return [head, *lines]


def _claude_code(count):
    return [
        {
            "type": ("user", "assistant")[place % 2],
            "uuid": f"u{place}",
            "parentUuid": f"u{place - 1}" if place else None,
            "sessionId": "s1",
            "timestamp": "2026-03-03T18:27:02.359Z",
            "message": {"role": ("user", "assistant")[place % 2], "content": _text(place)},
        }
        for place in range(count)
    ]


def _chatgpt(count, each=50):
    return [_chat(start, min(start + each, count)) for start in range(0, count, each)]


def _chat(start, end_):
    mapping = {
        f"n{place}": {
            "id": f"n{place}",
            "parent": f"n{place - 1}" if place > start else None,
            "children": [f"n{place + 1}"] if place + 1 < end_ else [],
            "message": {
                "id": f"n{place}",
                "author": {"role": ("user", "assistant")[place % 2]},
                "create_time": 1_762_383_600.0 + place,
                "content": {"content_type": "text", "parts": [_text(place)]},
                "recipient": "all",
                "metadata": {},
            },
        }
        for place in range(start, end_)
    }
    return {
        "title": f"chat {start}",
        "conversation_id": f"chat-{start}",
        "mapping": mapping,
        "current_node": f"n{end_ - 1}",
    }


def _text(place):
    return f"Message number{place} of the transcript says that boiler {place} runs at {place % 60 + 20} degrees."


FORMATS = {"openai": _openai, "openclaw": _openclaw, "claude_code": _claude_code, "chatgpt": _chatgpt}


def _written(folder, name, count):
    values = FORMATS[name](count)
    file = Path(folder) / f"{name}.{'json' if name == 'chatgpt' else 'jsonl'}"
    text = json.dumps(values) if name == "chatgpt" else "\n".join(json.dumps(value) for value in values)
    file.write_text(text + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", FORMATS)
def test_an_import_that_was_killed_goes_on_and_nothing_is_there_twice(path, tmp_path, name):
    count = 1_500
    file = _written(tmp_path, name, count)
    partial = []
    for share in (0.2, 0.5, 0.8):
        importer = child("importer", path, file)
        try:
            answer(importer)
            told = {"done": 0, "total": 1}
            while "done" in told and told["done"] < share * told["total"]:
                told = answer(importer)
        finally:
            end(importer)
        with open_store(path) as memory:
            partial.append(sum(each.messages for each in memory.conversations.list(limit=1_000).conversations))
    last = finish(child("importer", path, file))[-1]
    with open_store(path) as memory:
        names = [each.name for each in memory.conversations.list(limit=1_000).conversations]
        texts = sorted(message.text for each in names for message in _every(memory.conversations, each))
        assert texts == sorted(_text(place) for place in range(count))
        assert memory.admin.verify().ok
    assert partial == sorted(partial)
    assert 0 < partial[0] < count, "the kill came before or after the import, not in the middle of it"
    assert last["added"] + last["known"] == count
    assert last["known"] >= partial[-1]


# --- transcripts and memories are two things


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_recall_never_returns_what_was_only_said(opened, embedder):
    memory = opened(embedder=embedder, capture_mode="off", **SETTINGS)
    memory.remember("The piano is tuned in May.")
    for turn in range(0, 45, 3):
        messages = [each for one in range(turn, turn + 3) for each in said("x", one, 45)]
        memory.conversations.append(messages, conversation=conversation(turn))
    for turn in range(0, 45, 5):
        query = f"The boiler x{turn} runs at {turn % 60 + 20} degrees."
        assert memory.conversations.search(query)
        assert {hit.memory.text for hit in memory.recall(query, limit=50)} <= {"The piano is tuned in May."}
        assert "boiler" not in memory.pack(query).text
