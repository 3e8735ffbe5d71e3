"""Summing up captures first, and what is captured is compared with what the caller sees: nothing above its top."""

import pytest

from memoranda import Settings, assistant, user
from memoranda.domain.clock import DAY_MS
from memoranda.domain.scope import Scope
from memoranda.service.store import Store

SAID = "Remember that I prefer green tea over coffee."
KEPT = "I prefer green tea over coffee."
TENANT = Scope("bot-1/group-7", top="bot-1/group-7")


@pytest.fixture
def store(path, clock):
    settings = Settings(embedder="none", follow=False, conversation_budget=1_200, compact_idle_days=1)
    with Store.open(path, settings=settings, clock=clock) as opened:
        opened.memory(Scope("bot-1")).remember(KEPT, kind="preference")
        yield opened


def talk(count=30):
    yield user(SAID, id="first")
    for number in range(count):
        yield assistant(f"Chatter number {number} about nothing much.", id=f"a{number}")
        yield user(f"And then, at {number}?", id=f"u{number}")


def asked(memory):
    memory.conversations.append(talk(), conversation="talk", compact=False)
    return memory.conversations.compact("talk").receipt


def appended(memory):
    return memory.conversations.append(talk(60), conversation="talk").receipt.compaction


@pytest.mark.parametrize("compact", [asked, appended])
def test_what_is_kept_above_the_top_makes_no_difference(store, compact):
    memory = store.memory(TENANT)
    receipt = compact(memory)
    assert receipt.done
    assert receipt.captured == 1
    assert [each.text for each in memory.list()] == [KEPT]


def test_upkeep_compares_with_nothing_above_the_conversation(store, clock):
    memory = store.memory(TENANT)
    memory.conversations.append(talk(), conversation="talk", compact=False)
    clock.advance(ms=2 * DAY_MS)
    (receipt,) = store.maintain().compacted
    assert (receipt.done, receipt.captured) == (True, 1)
    assert [each.text for each in memory.list()] == [KEPT]


@pytest.mark.parametrize("compact", [asked, appended])
def test_who_sees_what_is_above_keeps_nothing_twice(store, compact):
    memory = store.memory(Scope("bot-1/group-7"))
    receipt = compact(memory)
    assert receipt.done
    assert receipt.captured == 0
    assert [each.scope for each in memory.list()] == ["bot-1"]
