"""Rot: a month of ordinary talk in which every pack comes back through capture leaves exactly what was told.

The host does what hosts do: it stores the pack with the user's message, its model quotes the memories, it hands over
the whole history every turn, it compacts, restarts, and runs some turns in another process.
"""

import html
import json
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from memoranda import Settings
from memoranda.domain.pack import PACK_FORMATS
from support import SCOPE, occurrences, open_store

from .labelled.rot import COMMANDS, DAYS, FACTS, PASTED, QUESTIONS, SMALL_TALK, THANKS, TURNS
from .support import everything, in_another_process, live, texts

SPEAKERS = ("anna", "ben", "ola", "li")
DAYS_IN_A_CHAT = 3
COMPACTED_AT = 80
KEPT_VERBATIM = 10
LABELLED = Path(__file__).parent / "labelled" / "turns.jsonl"


# -- what is said, and what has to be left of it --


def said_on(day):
    """(speaker, text) of each turn of a day: what is worth keeping, among much that is not."""
    worth = [(fact.speaker, fact.said) for fact in FACTS if fact.day == day]
    worth += [(fact.speaker, text) for fact in FACTS for told, text in fact.again if told == day]
    dice = Random(day)
    pools = [cycle(dice.sample(pool, len(pool))) for pool in (SMALL_TALK, QUESTIONS, COMMANDS, THANKS, PASTED)]
    idle = [(dice.choice(SPEAKERS), next(pool)) for pool in islice(cycle(pools), TURNS - len(worth))]
    turns = worth + idle
    # In any order, except that a thing is told before it is told again on the same day.
    dice.shuffle(turns)
    return turns


def expected(day):
    """(live, superseded): the texts that must be there in the evening of a day."""
    told = [fact for fact in FACTS if fact.day <= day]
    replaced = {fact.replaces for fact in told if fact.replaces}
    return (
        sorted(fact.kept for fact in told if fact.key not in replaced),
        sorted(fact.kept for fact in told if fact.key in replaced),
    )


def test_the_script_is_what_it_says():
    keys = [fact.key for fact in FACTS]
    assert len(keys) == len(set(keys))
    assert len({fact.kept for fact in FACTS if not fact.replaces}) >= 60
    assert {fact.replaces for fact in FACTS} <= {"", *keys}
    assert all(len(said_on(day)) == TURNS for day in range(1, DAYS + 1))
    assert all(told > fact.day for fact in FACTS for told, _ in fact.again)


# -- the host --


class Host:
    """Keeps the history of a chat, gives the model a pack, and hands everything back to capture."""

    def __init__(self, path, clock, embedder):
        self.path, self.clock, self.embedder = path, clock, embedder
        self.memory = self.opened()
        self.history, self.turn, self.counts = [], 0, Counter()
        self.conversation = ""

    def opened(self):
        return open_store(self.path, clock=self.clock, embedder=self.embedder)

    def day(self, number, turns):
        chat = f"chat-{(number - 1) // DAYS_IN_A_CHAT}"
        if chat != self.conversation:
            self.conversation, self.history = chat, []
        for place, (speaker, text) in enumerate(turns):
            self.clock.advance(ms=60_000)
            if place and place % 15 == 0:
                self.memory.close()
                self.memory = self.opened()
            self._turn(speaker, text, elsewhere=place == TURNS // 2)
        self.clock.advance(days=1)

    def _turn(self, speaker, text, *, elsewhere):
        self.turn += 1
        form = PACK_FORMATS[self.turn // 6 % 3]
        pack = self.memory.pack(text, prefer_speaker=speaker, format=form, policy="broad")
        self.counts["packs"] += bool(pack.text)
        self.counts["memories fed back"] += len(pack.items)
        self.history += self._stored(speaker, text, pack)
        self.history.append({"role": "assistant", "content": self._answer(pack)})
        self._compact()
        self._capture(elsewhere)

    def _stored(self, speaker, text, pack):
        """The user's message as a host stores it: with the pack before it, after it, or in a message of its own."""
        quoted = ""
        if self.turn % 13 == 0 and self.history:
            lines = self.history[-1]["content"].splitlines()
            quoted = "\n".join(f"> {line}" for line in lines) + "\n\n"
        shape = self.turn % 6
        block = pack.text
        if shape == 4:
            block = html.escape(block)
        own = {"role": "user", "content": f"{quoted}{text}", "name": speaker}
        if not block:
            return [own]
        if shape == 3:
            return [{"role": "system", "content": block}, own]
        if shape == 5:
            return [{**own, "content": [{"type": "text", "text": block}, {"type": "text", "text": own["content"]}]}]
        if shape == 2 and self.turn % 4 == 2:
            recalled = json.dumps({"memories": [item.text for item in pack.items]}, ensure_ascii=False)
            return [{**own, "content": f"{block}\n\n{own['content']}"}, {"role": "tool", "content": recalled}]
        return [{**own, "content": f"{block}\n\n{own['content']}"}]

    def _answer(self, pack):
        """An assistant that quotes what it was given, and promises to remember."""
        items = [item.text for item in pack.items]
        if not items:
            return ("Done.", "Of course. I always like to help.", "I'll remember that you prefer it this way.")[
                self.turn % 3
            ]
        return (
            f"I'll remember that: {items[0]}",
            f'You told me: "{items[0]}" I prefer to keep that in mind.',
            "Here is what I know about you:\n" + "\n".join(f"- {item}" for item in items),
            f"Noted! {items[-1]}",
        )[self.turn % 4]

    def _compact(self):
        if len(self.history) < COMPACTED_AT:
            return
        self.counts["compactions"] += 1
        recent = self.history[-KEPT_VERBATIM:]
        known = [each.text for each in live(self.memory)]
        summary = "Key points discussed:\n" + "\n".join(f"- User: {text}" for text in known)
        way = self.counts["compactions"] % 3
        if way == 0:
            self.history = recent
        elif way == 1:
            self.history = [{"role": "system", "content": f"[Conversation Summary]\n{summary}"}, *recent]
        else:
            told = "This session is being continued from a previous conversation that ran out of context.\n"
            self.history = [{"role": "user", "content": f"{told}<summary>\n{summary}\n</summary>"}, *recent]

    def _capture(self, elsewhere):
        if elsewhere:
            (receipt,) = in_another_process(
                self.path,
                SCOPE,
                "said = memory.capture(told['history'], conversation=told['talk'])\n"
                "print(json.dumps(said.receipt.as_json()))",
                history=self.history,
                talk=self.conversation,
                embedder=self.embedder,
                now=self.clock.now(),
            )
        else:
            receipt = self.memory.capture(self.history, conversation=self.conversation).receipt.as_json()
        for name in ("new", "kept", "reinforced", "superseded", "waiting"):
            found = receipt[name]
            self.counts[name] += found if isinstance(found, int) else len(found)


def lived(path, clock, embedder, days):
    """Live through some days, and compare each evening."""
    host = Host(path, clock, embedder)
    wrong = []
    for day in range(1, days + 1):
        host.day(day, said_on(day))
        wrong += [f"day {day}: {line}" for line in differences(host.memory, day)]
        if wrong:
            break
    return host, wrong


def differences(memory, day):
    """What is there and should not be, and what should be and is not."""
    wanted_live, wanted_past = expected(day)
    found = everything(memory)
    found_live = texts(each for each in found if each.state == "live")
    found_past = texts(each for each in found if each.state != "live")
    lines = []
    for name, wanted, there in (("live", wanted_live, found_live), ("past", wanted_past, found_past)):
        lines += [f"{name}, too much: {text!r}" for text in (Counter(there) - Counter(wanted)).elements()]
        lines += [f"{name}, missing: {text!r}" for text in (Counter(wanted) - Counter(there)).elements()]
    return lines


def assert_nothing_rotted(path, clock, embedder, days):
    host, wrong = lived(path, clock, embedder, days)
    told = [fact for fact in FACTS if fact.day <= days]
    again = sum(day <= days for fact in FACTS for day, _ in fact.again)
    found = everything(host.memory)
    print(
        f"{embedder}, {days} days, {days * TURNS} turns: {len(told)} facts told, {again} told again, "
        f"{len(found)} memories ({sum(each.state == 'live' for each in found)} live); {dict(host.counts)}"
    )
    host.memory.close()
    assert not wrong, "\n".join(wrong)
    assert len(found) == len(told)
    # What comes back in packs, answers and summaries makes nothing surer: only people do, by saying it again.
    assert host.counts["reinforced"] <= again
    assert host.counts["waiting"] == 0


def test_three_days_leave_what_was_told(path, clock):
    assert_nothing_rotted(path, clock, "none", 3)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("embedder", "days"), [("none", DAYS), ("auto", 12)])
def test_weeks_leave_what_was_told(path, clock, embedder, days):
    assert_nothing_rotted(path, clock, embedder, days)


# -- one echo at a time --

# What hosts, mail programs and people make of a block before it comes back.
SHAPES = {
    "as it is": lambda block: block,
    "escaped": html.escape,
    "escaped twice": lambda block: html.escape(html.escape(block)),
    "with an answer": lambda block: f"{block}\nthanks",
    "after a greeting": lambda block: f"hello\n{block}",
    "cut off": lambda block: block[: len(block) * 2 // 3],
    "without its first line": lambda block: "\n".join(block.splitlines()[1:]),
    "without its last line": lambda block: "\n".join(block.splitlines()[:-1]),
    "items alone": lambda block: "\n".join(line for line in block.splitlines() if "id=" in line or '"id"' in line),
    "other line ends": lambda block: block.replace("\n", "\r\n"),
    "on one line": lambda block: " ".join(block.split()),
    "quoted": lambda block: "\n".join(f"> {line}" for line in block.splitlines()),
    "fenced": lambda block: f"```\n{block}\n```",
    "indented": lambda block: "\n".join(f"    {line}" for line in block.splitlines()),
    "as a JSON string": json.dumps,
    "in a JSON message": lambda block: json.dumps({"context": block, "prompt": "hi"}, indent=2),
    "as HTML": lambda block: "<p>" + block.replace("\n", "<br>") + "</p>",
    "twice": lambda block: f"{block}\n\n{block}",
}


@pytest.mark.parametrize("form", PACK_FORMATS)
@pytest.mark.parametrize("mode", ["explicit", "strict", "broad", "review"])
def test_a_pack_alone_is_never_captured(memory, form, mode):
    for text in ("I prefer short answers.", "I never eat before noon.", "We decided to use PostgreSQL for the shop."):
        memory.remember(text, kind="preference")
    block = memory.pack("short answers before noon PostgreSQL shop", format=form, limit=10, policy="broad").text
    assert "short answers" in block
    for name, shaped in SHAPES.items():
        for role in ("user", "assistant", "tool", "system"):
            told = [{"role": role, "content": shaped(block)}]
            assert memory.capture(told, conversation=f"{role} {name}", mode=mode).remembered == (), (name, role)
    assert len(everything(memory)) == 3


def test_what_the_assistant_promises_to_remember_is_not_the_users_word(memory):
    promise = "I'll remember that you prefer dark chocolate. I prefer to note it: I like dark chocolate."
    said = memory.capture([{"role": "user", "content": "Thanks!"}, {"role": "assistant", "content": promise}])
    assert said.remembered == ()


@pytest.mark.parametrize(
    "summary",
    [
        "[Conversation Summary]\nKey points:\n- I prefer tea over coffee.\n- User preference: I like short answers.",
        "This session is being continued from a previous conversation that ran out of context. The summary below "
        "covers the earlier portion.\n\nAll user messages:\n   - I prefer tea over coffee.\n   - I like short answers",
        "Here is the conversation so far:\nUser: I prefer tea over coffee.\nAssistant: Noted.",
        'Previous conversation summary: The user said "I prefer tea over coffee" and was thanked.',
    ],
)
def test_a_summary_that_a_host_stores_as_the_users_words_is_not_captured(memory, summary):
    """What was corrected since would come back by it."""
    assert memory.capture([{"role": "user", "content": summary}]).remembered == ()


def test_erased_text_does_not_come_back_by_an_echo(path, clock):
    with open_store(path, clock=clock) as memory:
        kept = memory.capture([{"role": "user", "content": "I prefer liquorice tea."}], conversation="a").kept[0]
        memory.erase(kept)
        for mode in ("strict", "broad", "review", "explicit"):
            for number, text in enumerate(("I prefer liquorice tea.", "Remember that I prefer liquorice tea.")):
                said = memory.capture([{"role": "user", "content": text}], conversation=f"{mode}{number}", mode=mode)
                assert said.remembered == (), (mode, text)
        assert everything(memory) == []
    assert occurrences(path, "liquorice") == []


def test_forgotten_text_comes_back_only_when_asked_for(memory):
    kept = memory.capture([{"role": "user", "content": "I prefer liquorice tea."}], conversation="a").kept[0]
    memory.forget(kept)
    unasked = memory.capture([{"role": "user", "content": "I prefer liquorice tea."}], conversation="b")
    assert unasked.remembered == ()
    assert unasked.receipt.refused["forgotten"] == 1
    asked = memory.capture([{"role": "user", "content": "Remember that I prefer liquorice tea."}], conversation="c")
    assert [each.text for each in asked.kept] == ["I prefer liquorice tea."]


# -- junk --


@pytest.mark.skipif(not LABELLED.exists(), reason="the labelled turns are not here")
@pytest.mark.parametrize("mode", ["strict"])
def test_little_of_what_is_kept_of_the_labelled_turns_is_junk(opened, clock, mode):
    """Through the whole of it, not only through the rules: each labelled sentence as a turn of its own."""
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines() if line.strip()]
    memory = opened(clock=clock, capture_mode=mode)
    kept, junk = 0, []
    for place, row in enumerate(rows):
        there = memory.within(f"{SCOPE}/turn-{place}")
        for each in there.capture([{"role": "user", "content": row["text"]}]).kept:
            kept += 1
            if row["class"] != "keep":
                junk.append((row["text"], each.text))
    print(f"{mode}: {kept} kept of {len(rows)} labelled turns, {len(junk)} of them junk ({len(junk) / kept:.1%})")
    assert len(junk) / kept < 0.02, junk


def test_settings_keep_capture_strict_unless_somebody_says_otherwise():
    assert (Settings().capture_mode, Settings().capture_roles, Settings().capture_most) == ("strict", "user", 3)
