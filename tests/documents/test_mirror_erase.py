"""What is erased is in no mirror that the store knows, or the receipt says why it may be."""

import os
from pathlib import Path

import pytest

from memoranda.service import mirroring
from memoranda.service.mirror_files import STATE, alone
from memoranda.service.mirror_notes import MirrorsErased, erase_from_mirrors, lock_of
from memoranda.service.proof import pieces, scan

CANARY = "The kanarienvogel sings in the bedroom\nand in the cellar of the house."


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mirror"


@pytest.fixture
def facts(folder):
    return folder / "home" / "anna" / "facts.md"


@pytest.fixture
def sync(memory, folder):
    return lambda mode="sync": mirroring.mirror(memory._engine, memory._scope, folder, mode=mode).receipt


@pytest.fixture
def canary(memory, sync):
    """A memory that is in the mirror among others."""
    memory.remember("One.", kind="fact")
    kept = memory.remember(CANARY, kind="fact", about="bird")
    memory.remember("Two.", kind="fact")
    sync()
    return kept.memory


@pytest.fixture
def erased(memory):
    """Erase from the mirrors, then from the store, as `erase` does it."""

    def eraser(*memories):
        done = erase_from_mirrors(memory._engine, memories)
        for each in memories:
            memory.erase(each.id)
        return done

    return eraser


def found_in(done):
    return sum(each.found for each in scan(done.files, pieces([CANARY])))


def remains(folder):
    return [path.name for path in folder.rglob("*") if path.is_file() and b"kanarienvogel" in path.read_bytes()]


def test_its_line_goes_and_every_other_byte_stays(memory, folder, facts, sync, canary, erased):
    facts.write_bytes(facts.read_bytes().replace(b"One.", b"Uno.").replace(b"\n", b"\r\n"))
    before = facts.read_bytes()
    start, end = before.index(b"- The kana"), before.index(b"-->", before.index(canary.id.encode())) + 5
    done = erased(canary)
    assert (done.rewritten, done.pending, done.notes) == (1, (), ())
    assert {name.rsplit("/", 1)[1] for name in done.files} == {"facts.md", STATE}
    assert found_in(done) == 0
    assert remains(folder) == []
    head = before.index(b"\r\n")
    assert facts.read_bytes()[head:] == before[head:start] + before[end:]
    assert canary.id not in (folder / STATE).read_text(encoding="utf-8")
    assert sync().counts == {"supersede": 1}


def test_a_line_removed_after_an_erasure_is_still_forgotten(memory, facts, sync, canary, erased):
    erased(canary)
    lines = facts.read_text(encoding="utf-8").split("\n")
    facts.write_text("\n".join(line for line in lines if "Two." not in line), encoding="utf-8")
    assert sync().counts == {"forget": 1}


def test_edited_copied_and_retyped_lines_go_too(memory, folder, facts, canary, erased):
    content = facts.read_text(encoding="utf-8")
    edited = content.replace("The kanarienvogel sings", "My kanarienvogel sang")
    said_again = "- the KANARIENVOGEL sings in the bedroom\n  and in the cellar of the house\n"
    facts.write_text(edited + said_again, encoding="utf-8")
    assert erased(canary).rewritten == 1
    assert remains(folder) == []
    assert b"KANARIENVOGEL" not in facts.read_bytes()


def test_a_mirror_that_was_away_loses_the_line_when_it_is_back(memory, folder, facts, sync, canary, erased, tmp_path):
    folder.rename(tmp_path / "away")
    (why,) = erased(canary).pending
    assert str(folder) in why
    assert "--detach" in why
    (tmp_path / "away").rename(folder)
    done = sync()
    assert (done.steps, done.refused) == ((), ())
    assert remains(folder) == []


def test_an_old_file_saved_after_the_erasure_does_not_bring_it_back(memory, folder, facts, sync, canary, erased):
    opened_in_an_editor = facts.read_bytes()
    erased(canary)
    facts.write_bytes(opened_in_an_editor)
    done = sync()
    assert [trouble.id for trouble in done.refused if trouble.line] == [canary.id]
    assert remains(folder) == []
    assert len(memory.list()) == 2


def test_erased_words_typed_again_are_refused_and_told(memory, facts, sync, erased):
    kept = memory.remember("The code word is swordfish.", kind="fact")
    memory.remember("One.", kind="fact")
    sync()
    erased(kept.memory)
    facts.write_text(facts.read_text(encoding="utf-8") + "- The code word is swordfish.\n", encoding="utf-8")
    done = sync()
    assert len(done.refused) == 1
    assert [each.text for each in memory.list()] == ["One."]


@pytest.mark.parametrize("around", ["```\n{}", "<<<<<<< a\n{}>>>>>>> b\n"])
def test_what_cannot_be_taken_out_is_told(facts, canary, erased, around):
    facts.write_text(around.format(facts.read_text(encoding="utf-8")), encoding="utf-8")
    (why,) = erased(canary).pending
    assert str(facts) in why


def test_what_another_process_holds_is_told(memory, canary, erased, monkeypatch):
    monkeypatch.setattr("memoranda.service.mirror_files._PATIENCE_SECONDS", 0.1)
    with alone(lock_of(memory._engine)):
        (why,) = erase_from_mirrors(memory._engine, [canary]).pending
    assert "another process" in why


def test_git_is_told_to_remember(folder, canary, erased):
    (folder / ".git").mkdir()
    assert str(folder.resolve()) in erased(canary).notes[0]


def test_what_a_killed_process_left_is_taken_away(folder, canary, erased):
    (folder / "home/anna/.memoranda-12-abcd.tmp").write_text(CANARY, encoding="utf-8")
    erased(canary)
    assert remains(folder) == []


def test_a_store_without_mirrors_has_nothing_to_do(memory):
    kept = memory.remember("One.")
    assert erase_from_mirrors(memory._engine, [kept.memory]) == MirrorsErased()
    assert not lock_of(memory._engine).exists()


def test_a_detached_mirror_is_let_alone(folder, facts, sync, canary, erased):
    sync("detach")
    assert erased(canary) == MirrorsErased()
    assert remains(folder) == ["facts.md"]


def test_a_line_with_a_damaged_id_goes_too(memory, folder, facts, canary, erased):
    content = facts.read_text(encoding="utf-8").replace(canary.id, canary.id[:9])
    facts.write_text(content.replace("The kanarienvogel sings", "My kanarienvogel sang"), encoding="utf-8")
    assert erased(canary).rewritten == 1
    assert remains(folder) == []


@pytest.mark.parametrize("call", ["lstat", "is_dir", "iterdir", "unlink"])
def test_a_mirror_that_the_system_refuses_is_pending_and_the_store_erases_all_the_same(
    memory, folder, canary, monkeypatch, call
):
    def fail(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    leftover = folder / "home/anna/.memoranda-1-2.tmp"
    leftover.write_text(CANARY, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(Path, call, fail)
        if call == "iterdir":
            patch.setattr(os, "scandir", fail)
        done = erase_from_mirrors(memory._engine, [canary])
    assert done.pending
    assert not erase_from_mirrors(memory._engine, [canary]).pending
    assert remains(folder) == []


def test_one_file_that_cannot_be_written_keeps_no_other_from_being_erased(
    memory, folder, facts, canary, sync, monkeypatch
):
    again = memory.remember(CANARY, kind="note").memory
    sync()
    replace = os.replace

    def fail(source, target):
        if str(target) == str(facts):
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    done = erase_from_mirrors(memory._engine, [canary, again])
    assert (done.rewritten, len(done.pending)) == (1, 1)
    assert "facts.md cannot be opened for writing" in done.pending[0]
    assert remains(folder) == ["facts.md"]
