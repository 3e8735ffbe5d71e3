"""Erased is erased: no rollback, undo, import, mirror or restored backup brings it back."""

import shutil
from contextlib import suppress

import pytest

from memoranda import Conflict, MemorandaError, NotFound, Refused, user
from memoranda.service.backing_up import back_up
from memoranda.service.restoring import restore
from support import occurrences, open_store

WORD = "kanarienvogel"
TEXT = f"The {WORD} sings in the bedroom of the yellow house every morning."


@pytest.fixture
def planted(opened, clock):
    """A memory with a past: tagged, archived, restored."""
    memory = opened(clock=clock)
    memory.remember("A bystander reads a book.")
    kept = memory.remember(TEXT, about="bird")
    memory.tag("with-it")
    memory.archive(kept)
    memory.restore(kept)
    return memory, kept


def is_gone(memory, kept, path):
    with pytest.raises(NotFound):
        memory.get(kept.id)
    assert not memory.recall(WORD)
    assert memory.list(states=(), text=WORD).total == 0
    memory._engine.ledger.database.checkpoint()
    assert occurrences(path, WORD) == []


@pytest.mark.parametrize("to", ["tag", "sequence"])
def test_a_rollback_leaves_it_erased_and_counts_it(planted, path, to):
    memory, kept = planted
    before = memory.stats().sequence
    assert memory.erase(kept).purged
    memory.rollback("with-it" if to == "tag" else before)
    is_gone(memory, kept, path)
    assert memory.stats().by_state == {"live": 1}


def test_an_erasure_cannot_be_undone(planted, path):
    memory, kept = planted
    memory.erase(kept)
    for _ in range(6):
        try:
            memory.undo()
        except (NotFound, Conflict):
            break
        with pytest.raises(NotFound):
            memory.get(kept.id)
    is_gone(memory, kept, path)


def test_an_operation_that_kept_it_among_others_is_undone_without_it(opened, path, clock):
    memory = opened(clock=clock)
    kept, other = memory.remember_many([TEXT, "The window is open."])
    memory.erase(kept)
    with suppress(MemorandaError):  # whether it can be undone without it is another question
        memory.undo(other.receipt.sequence)
    is_gone(memory, kept, path)
    assert memory.list(states=()).total == 1
    assert memory.get(other).state in ("live", "forgotten")


def test_as_of_an_earlier_moment_it_is_not_seen(planted, clock):
    memory, kept = planted
    before = clock.now()
    clock.advance(days=1)
    memory.erase(kept)
    assert not memory.recall(WORD, as_of=before)
    assert memory.list(as_of=before, states=(), text=WORD).total == 0


def test_an_import_does_not_take_it_back(planted, path, tmp_path):
    memory, kept = planted
    file = tmp_path / "outside" / "export.jsonl"
    file.parent.mkdir()
    memory.export(file, redact=False)
    assert WORD in file.read_text()
    memory.erase(kept)
    memory.import_memories(file)
    is_gone(memory, kept, path)


def test_an_old_mirror_does_not_bring_it_back(planted, path, tmp_path):
    memory, kept = planted
    folder = tmp_path / "outside" / "mirror"
    memory.mirror(folder)
    (facts,) = [file for file in folder.rglob("*.md") if WORD in file.read_text()]
    old = facts.read_bytes()
    memory.erase(kept)
    assert WORD not in facts.read_text()
    facts.write_bytes(old)
    memory.mirror(folder)
    is_gone(memory, kept, path)


def test_a_backup_from_before_knows_it_and_one_from_after_does_not(planted, path, clock, tmp_path):
    """A copy that nobody could reach when it was erased: the newer store says what does not come back."""
    memory, kept = planted
    made = back_up(memory._engine).path
    away = tmp_path / "away"
    away.mkdir()
    hidden = away / "old.memoranda"
    shutil.move(made, hidden)
    assert memory.erase(kept).purged
    target = away / "restored.db"
    restore(
        hidden, target, tombstones_from=path, settings=memory._engine.settings.changed({"backups": ""}), clock=clock
    )
    with open_store(target, clock=clock) as again:
        is_gone(again, kept, target)
        with pytest.raises(Refused):
            again.remember(TEXT)


def test_what_a_host_hands_over_again_is_not_captured_again(opened, path, clock):
    memory = opened(clock=clock)
    said = user(f"Remember that the {WORD} is in the kitchen.", id="1")
    kept = memory.capture([said], conversation="talk").kept[0]
    memory.erase(kept)
    memory.capture([said, user("Good morning.", id="2")], conversation="talk")
    memory.capture([said], conversation="another")
    assert memory.list(states=(), text=WORD).total == 0
