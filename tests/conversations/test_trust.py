"""What a conversation may turn into memories, and what it may not."""

import json

from memoranda import assistant, user
from memoranda.testing.fakes import FixedClock
from support import occurrences, open_store

DAY = 86_400_000
NOW = 1_800_000_000_000


def small_talk(count, *, at, start=0):
    for number in range(start, start + count):
        yield user(f"And how was number {number}?", id=f"u{number}", at=at + number)
        yield assistant(f"It was as number {number} is.", id=f"a{number}", at=at + number)


def test_what_was_imported_is_not_captured_as_somebodys_word(path, tmp_path):
    lines = [{"role": "user", "content": "I prefer blue walls.", "id": "0", "timestamp": "2017-01-01T00:00:00Z"}]
    lines += [{"role": "user", "content": f"Number {n}.", "id": str(n)} for n in range(1, 40)]
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    with open_store(path) as memory:
        memory.conversations.import_transcript(file)
        name = memory.conversations.list().conversations[0].name
        assert memory.conversations.compact(name).receipt.folded
        assert not list(memory.list())


def test_what_is_looked_at_late_undoes_nothing_that_was_said_since(path):
    clock = FixedClock(NOW)
    with open_store(path, clock=clock) as memory:
        memory.conversations.append(
            [user("I prefer tea in the morning.", id="t", at=NOW), *small_talk(20, at=NOW)],
            conversation="c",
            compact=False,
        )
        clock.advance(days=30)
        memory.capture([user("I prefer coffee in the morning.", at=clock.now())], conversation="other")
        memory.conversations.compact("c")
        live = {each.text for each in memory.list()}
        assert "I prefer coffee in the morning." in live


def test_what_stands_between_tags_of_privacy_is_kept_nowhere(path):
    with open_store(path) as memory:
        memory.conversations.append(
            [user("Here: <private>the gate code is quokkaplinth</private> and the rest.", id="1")], conversation="c"
        )
        (kept,) = memory.conversations.messages("c")
        assert "and the rest" in kept.text
        assert occurrences(path, "quokkaplinth") == []


def test_what_was_summed_up_is_not_searched_once_it_is_archived(path):
    with open_store(path) as memory:
        memory.conversations.append(
            [user("The quokkaplinth is in the cellar.", id="q", at=NOW), *small_talk(20, at=NOW + 1)],
            conversation="c",
            compact=False,
        )
        memory.conversations.compact("c")
        assert memory.conversations.search("quokkaplinth")
        memory.conversations.archive("c")
        assert not memory.conversations.search("quokkaplinth")
        assert memory.conversations.search("quokkaplinth", archived=True)


def test_the_same_id_in_another_conversation_is_another_message(path):
    with open_store(path) as memory:
        memory.conversations.append([user("Nothing to do with it.", id="1")], conversation="other")
        memory.conversations.append([user("Remember that I prefer tea.", id="1")], conversation="c")
        kept = memory.capture([user("Remember that I prefer tea.", id="1")], conversation="c").kept[0]
        memory.erase(kept)
        assert memory.conversations.messages("other")[0].text == "Nothing to do with it."
        assert memory.conversations.messages("c")[0].text == "[erased]"


def test_an_id_of_a_host_is_no_secret(path):
    name = "3f2b8c1d9e7a4b6c8d0e1f2a3b4c5d6e"
    with open_store(path) as memory:
        assert memory.conversations.append([user("Hello.")], conversation=name).receipt.added == 1
        memory.capture([user("I prefer tea.")], conversation=name)


def test_a_prompt_that_takes_all_the_room_does_not_make_every_turn_a_compaction(path):
    with open_store(path, conversation_budget=2_000, compact_messages=0) as memory:
        memory.conversations.append([{"role": "system", "content": "rule " * 1_500}], conversation="c")
        done = 0
        for number in range(30):
            turn = [user(f"Turn {number}.", id=f"u{number}"), assistant("Yes.", id=f"a{number}")]
            receipt = memory.conversations.append(turn, conversation="c").receipt
            done += receipt.compaction is not None and receipt.compaction.done
        assert done <= 10
