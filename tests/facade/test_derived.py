"""What is made of memories is trusted no more than the least trusted of them, and nobody can say otherwise."""

import pytest

from memoranda import InvalidInput, NotFound
from support import open_store


def test_what_is_made_of_something_untrusted_is_untrusted(memory):
    told = memory.remember("The shop closes at six.", source="web")
    known = memory.remember("Anna shops after work.")
    made = memory.remember("Anna has to shop before six.", derived_from=[told, known.id]).memory
    assert made.trust == "untrusted"
    assert made.metadata["derived_from"] == [told.id, known.id]
    assert memory.remember("Anna often shops late.", derived_from=[known]).memory.trust == "trusted"


def test_it_is_not_brought_back_unasked(memory):
    told = memory.remember("The shop closes at six.", source="web")
    memory.remember("Anna has to shop before six.", derived_from=[told])
    assert memory.recall("when does Anna have to shop?")
    assert not memory.recall("when does Anna have to shop?", mode="automatic")


def test_when_trust_is_lowered_what_was_made_of_it_goes_down_too(memory):
    first = memory.remember("The lake freezes in January.")
    second = memory.remember("Skating is possible in January.", derived_from=[first])
    third = memory.remember("Anna will skate in January.", derived_from=[second])
    memory.trust(first, "quarantined", reason="nobody said it")
    assert {memory.get(each).trust for each in (first, second, third)} == {"quarantined"}
    memory.undo()
    assert {memory.get(each).trust for each in (first, second, third)} == {"trusted"}


def test_what_cannot_be_seen_is_no_parent(memory, path):
    with open_store(path, "home/ben") as other:
        hidden = other.remember("Ben hides the key in the shed.").id
    with pytest.raises(NotFound):
        memory.remember("The key is in the shed.", derived_from=[hidden])
    assert memory.stats().total == 0


@pytest.mark.parametrize("name", ["derived_from", "review", "grading"])
def test_nobody_writes_the_names_that_are_ours(memory, name):
    with pytest.raises(InvalidInput, match="the store's own"):
        memory.remember("The shop closes at six.", metadata={name: ["x"]})
    with pytest.raises(InvalidInput):
        memory.remember("The shop closes at six.", derived_from="abcd")
    assert memory.stats().total == 0
