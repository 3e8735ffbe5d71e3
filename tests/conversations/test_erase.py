"""What is erased leaves the transcripts, the summaries that were made of them, and every file."""

import pytest

from conversations.test_service import every, talk, texts
from memoranda import assistant, user
from memoranda.domain.errors import NotFound
from support import occurrences

SAID = "We decided to keep the gruntlewort honey in cupboard 417."
WORD = "gruntlewort"


@pytest.fixture(params=["none", "hashed:words"])
def memory(request, opened, clock):
    """By words only, and with vectors."""
    chosen = {"embedder": request.param, "conversation_budget": 1_200, "compact_messages": 0}
    return opened(clock=clock, capture_mode="explicit", **chosen)


def chatter(turns):
    """Talk of which no summary keeps anything."""
    for turn in range(turns):
        yield user("Good morning, what a lovely day it is, is it not?", id=f"g{turn}")
        yield assistant("Good morning! It is a pleasure, thank you very much for asking.", id=f"h{turn}")


def filled(memory, name="c", said=SAID, **more):
    """A conversation that is summed up, with one sentence that is looked for afterwards."""
    memory.conversations.append([user(said, id="said", **more), assistant("Noted.", id="n")], conversation=name)
    memory.conversations.append([*talk(2), *chatter(30)], conversation=name)
    memory.conversations.search(said)
    memory.admin.maintain()
    assert memory.conversations.window(name).summary is not None


def test_an_erased_conversation_is_proven_gone_and_in_no_file(memory, path):
    filled(memory, "cupboardroomname")
    memory.conversations.set_working("cupboardroomname", "gruntlewort is for Sunday")
    memory.conversations.append([user("this stays")], conversation="other")
    assert occurrences(path, WORD)
    receipt = memory.conversations.erase("cupboardroomname")
    assert receipt.state == "purged"
    assert receipt.found == 0
    assert receipt.conversations == 1
    assert receipt.messages > 60
    assert receipt.scanned
    assert not occurrences(path, WORD, "cupboardroomname", "sensor.boiler_1")
    memory.close()
    assert not occurrences(path, WORD, "cupboardroomname", "sensor.boiler_1")
    assert occurrences(path, "this stays")


def test_after_it_was_erased_nothing_of_a_conversation_is_found(memory):
    filled(memory)
    summary = memory.conversations.window("c").summary
    memory.conversations.erase("c")
    assert not memory.conversations.search(WORD, archived=True)
    assert memory.conversations.list().total == memory.conversations.list(archived=True).total == 0
    for call in (memory.conversations.get, memory.conversations.erase):
        with pytest.raises(NotFound):
            call("c")
    with pytest.raises(NotFound):
        memory.conversations.expand(summary.id)
    assert memory.admin.verify().ok


def test_an_archived_conversation_is_erased_like_any_other(memory, path):
    filled(memory)
    memory.conversations.archive("c")
    assert memory.conversations.erase("c").state == "purged"
    assert not occurrences(path, WORD)


def test_memories_that_were_captured_from_an_erased_conversation_stay(memory):
    filled(memory, said="Remember that the gruntlewort honey is in cupboard 417.")
    assert any(WORD in each.text for each in memory.list(limit=100))
    memory.conversations.erase("c")
    assert any(WORD in each.text for each in memory.list(limit=100))


def test_erasing_a_memory_blanks_the_message_and_makes_the_summary_anew(memory, path):
    kept = memory.remember(SAID)
    filled(memory)
    before = memory.conversations.window("c").summary
    assert WORD in before.text
    receipt = memory.erase(kept).receipt
    assert receipt.state == "purged"
    assert (receipt.messages, receipt.summaries) == (1, 1)
    after = memory.conversations.window("c").summary
    assert after.id == before.id
    assert after.text.startswith("[Conversation Summary - ")
    assert "boiler" in after.text
    first = memory.conversations.expand(after.id)[0]
    assert (first.host_id, first.text) == ("said", "[erased]")
    assert not occurrences(path, WORD, "cupboard 417")
    memory.close()
    assert not occurrences(path, WORD, "cupboard 417")


def test_after_a_memory_was_erased_everything_else_of_the_conversation_is_there(memory):
    kept = memory.remember(SAID)
    filled(memory)
    memory.erase(kept)
    left = [message for message in every(memory.conversations, "c") if message.kind == "message"]
    said = [*(each["content"] for each in talk(2)), *texts(chatter(30))]
    assert texts(left)[2:] == said
    assert not memory.conversations.search(WORD)
    assert memory.conversations.search("boiler in cellar 1")
    assert memory.admin.verify().ok


def test_summaries_that_were_folded_into_later_ones_are_made_anew_too(memory, path):
    kept = memory.remember(SAID)
    filled(memory)
    memory.conversations.append(talk(30, start=2), conversation="c")
    summaries = [message for message in every(memory.conversations, "c") if message.kind == "summary"]
    assert len(summaries) == 2
    assert memory.erase(kept).receipt.summaries == 2
    assert not occurrences(path, WORD)


def test_erasing_a_memory_takes_it_out_of_calls_and_working_memory(memory, path):
    kept = memory.remember(SAID)
    call = {"id": "k", "type": "function", "function": {"name": "note", "arguments": f'{{"text": "{SAID}"}}'}}
    memory.conversations.append(
        [
            user("Write it down."),
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "k", "content": f"written: {SAID}"},
        ],
        conversation="c",
    )
    memory.conversations.set_working("c", f"Remember: {SAID}")
    assert memory.erase(kept).receipt.state == "purged"
    assert memory.conversations.working("c") == ""
    assert not occurrences(path, WORD)


def test_a_captured_memory_is_erased_with_the_message_that_it_came_from(memory, path):
    said = "Remember that the gruntlewort honey is in cupboard 417. Also, good morning."
    memory.conversations.append([user(said, id="m1")], conversation="c")
    captured = memory.capture([user(said, id="m1")], conversation="c")
    assert memory.erase(captured.kept[0].id).receipt.messages == 1
    assert not occurrences(path, WORD)


@pytest.mark.parametrize("with_memory", [True, False])
def test_erasing_a_speaker_blanks_all_that_they_said(memory, path, with_memory):
    if with_memory:
        memory.remember("Benedetto likes herons.", speaker="benedetto")
    memory.conversations.append(
        [user("I saw a gruntlewort.", speaker="benedetto"), user("I did not.", speaker="anna")], conversation="c"
    )
    receipt = memory.erase(speaker="benedetto").receipt
    assert receipt.state == "purged"
    assert receipt.messages == 1
    assert texts(memory.conversations.messages("c")) == ["[erased]", "I did not."]
    assert not occurrences(path, WORD, "benedetto")


def test_erasing_a_scope_takes_its_conversations_and_those_below(opened, clock, path):
    home = opened("home", clock=clock)
    for scope in ("home/anna", "home/anna/diary", "home/ben"):
        opened(scope, clock=clock).conversations.append([user(f"{WORD} of {scope}")], conversation="c")
    receipt = home.erase(scope="home/anna").receipt
    assert receipt.conversations == 2
    assert receipt.state == "purged"
    assert not occurrences(path, f"{WORD} of home/anna")
    assert texts(opened("home/ben", clock=clock).conversations.messages("c")) == [f"{WORD} of home/ben"]


def test_the_words_of_a_sibling_scope_are_their_own(opened, clock):
    anna, ben = opened(clock=clock), opened("home/ben", clock=clock)
    kept = anna.remember(SAID)
    for each in (anna, ben):
        each.conversations.append([user(SAID)], conversation="c")
    anna.erase(kept)
    assert texts(anna.conversations.messages("c")) == ["[erased]"]
    assert texts(ben.conversations.messages("c")) == [SAID]


def test_what_was_erased_is_not_brought_back_when_the_host_hands_it_over_again(memory, path):
    kept = memory.remember(SAID)
    history = [user(SAID, id="m1"), assistant("Noted.", id="m2")]
    memory.conversations.append(history, conversation="c")
    memory.erase(kept)
    memory.conversations.append(history, conversation="c")
    assert texts(memory.conversations.messages("c")) == ["[erased]", "Noted."]
    assert not occurrences(path, WORD)
