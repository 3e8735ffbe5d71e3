"""Limits of what is kept and of what is blanked, and secrets that come in by side doors."""

import json

import pytest

from conversations.test_service import talk, texts
from memoranda import assistant, user
from memoranda.domain.conversation import LONGEST_MESSAGE
from memoranda.domain.errors import InvalidInput
from memoranda.testing.servers import ChatServer
from support import occurrences

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LETTERS_ONLY = "AKIAQWERTYUIOPASDFGH"


def test_a_message_may_be_so_long_and_no_longer(memory):
    longest = "word " * (LONGEST_MESSAGE // 5)
    assert memory.conversations.append([user(longest)], conversation="c", compact=False).receipt.added == 1
    with pytest.raises(InvalidInput, match="message 1 has 1,000,001 characters"):
        memory.conversations.append([user("short"), user(longest + "x")], conversation="c")
    assert memory.conversations.get("c").messages == 1


def test_a_speaker_whose_name_is_a_secret_is_kept_without_it(memory, path):
    memory.conversations.append([user("hello", speaker=f"anna {TOKEN}")], conversation="c")
    assert memory.conversations.messages("c")[0].speaker == "anna [secret: github]"
    memory.close()
    assert not occurrences(path, TOKEN)


def test_a_secret_that_a_model_writes_into_a_summary_is_not_kept(opened, clock, path):
    with ChatServer() as server:
        server.say(json.dumps({"points": [f"The key is {LETTERS_ONLY} for all."], "actions": [], "open_items": []}))
        memory = opened(
            clock=clock,
            conversation_budget=1_200,
            compact_messages=0,
            summarizer="compatible:some-model",
            summarizer_url=server.openai_url,
        )
        memory.conversations.append(talk(30), conversation="c", compact=False)
        memory.conversations.compact("c")
        assert "The key is [secret: aws] for all." in memory.conversations.window("c").summary.text
        memory.close()
    assert not occurrences(path, LETTERS_ONLY)


def test_a_short_memory_that_is_erased_blanks_the_message_that_says_it_and_no_other(opened, clock):
    memory = opened(clock=clock, capture_mode="off")
    short = memory.remember("Green tea.").memory
    said = ["Green tea.", "No green tea. Black coffee, please.", "The greenteapot is on the shelf."]
    memory.conversations.append([user(text) for text in said], conversation="c")
    memory.erase(short.id)
    assert texts(memory.conversations.messages("c")) == ["[erased]", *said[1:]]


def test_a_longer_memory_that_is_erased_blanks_what_quotes_it(opened, clock):
    memory = opened(clock=clock, capture_mode="off")
    longer = memory.remember("Anna drinks green tea").memory
    memory.conversations.append([user("I know: Anna drinks green tea, always."), assistant("Yes.")], conversation="c")
    memory.erase(longer.id)
    assert texts(memory.conversations.messages("c")) == ["[erased]", "Yes."]
