"""An index that has followed another history than the ledger's is noticed, and made anew."""

import shutil

import pytest

from support import open_store


def _kept(path, clock, *texts):
    with open_store(path, clock=clock) as memory:
        for text in texts:
            clock.advance(ms=1)
            memory.remember(text)
        return [hit.memory.text for hit in memory.recall("penguin attic")]


@pytest.mark.parametrize("more", [1, 20])
def test_a_copy_that_is_put_in_its_place_is_searched_as_it_is(path, clock, tmp_path, more):
    _kept(path, clock, "The heron stood by the pond.", "The heron left.")
    shutil.copy(path, tmp_path / "copy.db")
    _kept(path, clock, *(f"The tractor {number} is parked in the barn." for number in range(9)))
    shutil.move(tmp_path / "copy.db", path)
    with open_store(path, clock=clock) as memory:  # nothing is searched here, so that the numbers overtake the index
        for number in range(more):
            clock.advance(ms=1)
            memory.remember(f"The penguin {number} sleeps in the attic.")
    with open_store(path, clock=clock) as memory:
        found = memory.recall("where does the penguin 0 sleep? in the attic?")
        assert found[0].memory.text == "The penguin 0 sleeps in the attic."
        assert not memory.recall("tractor parked in the barn")
        assert memory.admin.verify().ok
        assert memory.admin.doctor().ok


def test_the_same_with_transcripts(path, clock, tmp_path):
    def said(text, number):
        with open_store(path, clock=clock) as memory:
            clock.advance(ms=1)
            memory.conversations.append([{"role": "user", "content": text, "id": str(number)}], conversation="talk")
            return memory.conversations.search(text)

    said("The heron stood by the pond.", 1)
    shutil.copy(path, tmp_path / "copy.db")
    for number in range(2, 5):
        said(f"The tractor {number} is parked in the barn.", number)
    shutil.move(tmp_path / "copy.db", path)
    assert said("The penguin sleeps in the attic.", 9)
    with open_store(path, clock=clock) as memory:
        assert not memory.conversations.search("tractor parked in the barn")
