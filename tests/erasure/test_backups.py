"""Backups in the configured folder are written anew without what was erased, or named with what to do."""

import os
import shutil
from pathlib import Path

import pytest

from memoranda import Refused, user
from memoranda.service.backing_up import back_up, verify_backup
from memoranda.service.restoring import restore
from support import open_store

TEXT = "The kanarienvogel sings in the bedroom of the yellow house every morning."
WORD = "kanarienvogel"
PASSPHRASE = "a passphrase of several words"


def holding(path, word=WORD):
    """Files of the whole folder that have the word in clear."""
    return sorted(
        str(file.relative_to(path.parent))
        for file in path.parent.rglob("*")
        if file.is_file() and word.encode() in file.read_bytes()
    )


@pytest.fixture
def filled(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words")
    memory.remember("A bystander reads a book.")
    memory.remember(TEXT, about="bird", speaker="anna", tags=[f"{WORD}-tag"])
    memory.conversations.append(
        [user(TEXT, speaker="anna", id="1"), user("Good morning.", speaker="ben", id="2")], conversation="talk"
    )
    memory.recall("bird")
    return memory


@pytest.mark.parametrize("way", ["id", "about", "speaker", "scope", "conversation", "time"])
def test_every_backup_is_written_anew_and_still_well(filled, path, clock, way):
    first = back_up(filled._engine).path
    clock.advance(days=1)
    second = back_up(filled._engine).path
    assert {f"store.db-backups/{os.path.basename(each)}" for each in (first, second)} <= set(holding(path))
    ways = {
        "id": {"reference": filled.recall(WORD)[0].id},
        "about": {"about": "bird"},
        "speaker": {"speaker": "anna"},
        "scope": {"scope": filled.scope},
        "conversation": {"conversation": "talk", "time_before": clock.now()},
        "time": {"time_before": clock.now()},
    }[way]
    if way == "conversation":
        filled.erase(about="bird")
    done = filled.erase(**ways)
    assert done.purged, done.receipt
    assert done.receipt.backups == 2
    assert holding(path) == []
    assert {f"store.db-backups/{os.path.basename(each)}" for each in (first, second)} <= {
        each.file for each in done.receipt.scanned
    }
    for each in (first, second):
        assert verify_backup(each, settings=filled._engine.settings).ok


def test_a_backup_that_knows_nothing_of_it_is_read_and_left_as_it_is(filled, path, clock):
    made = back_up(filled._engine).path
    before = Path(made).read_bytes()
    kept = filled.remember("The zirconium ring is in the drawer.")
    done = filled.erase(kept)
    assert done.purged
    assert done.receipt.backups == 0
    assert os.path.basename(made) in " ".join(each.file for each in done.receipt.scanned)
    assert Path(made).read_bytes() == before


def test_a_conversation_that_is_erased_leaves_the_backups_too(filled, path):
    back_up(filled._engine)
    filled.erase(about="bird")
    filled.conversations.append([user("The zirconium ring is in the drawer.")], conversation="ring")
    back_up(filled._engine)
    assert holding(path, "zirconium")
    assert filled.conversations.erase("ring").state == "purged"
    assert holding(path, "zirconium") == []


def test_what_is_restored_from_a_rewritten_backup_stays_erased(filled, path, clock, tmp_path):
    made = back_up(filled._engine).path
    filled.erase(about="bird")
    target = tmp_path / "restored" / "again.db"
    target.parent.mkdir()
    restore(made, target, settings=filled._engine.settings, clock=clock)
    with open_store(target, clock=clock) as again:
        assert not again.recall(WORD)
        assert [each.text for each in again.list()] == ["A bystander reads a book."]
        with pytest.raises(Refused):
            again.remember(TEXT)


def test_a_backup_with_another_passphrase_is_named_with_what_to_do(filled, path, monkeypatch):
    monkeypatch.delenv("MEMORANDA_PASSPHRASE", raising=False)
    made = back_up(filled._engine, passphrase=PASSPHRASE).path
    before = Path(made).read_bytes()
    done = filled.erase(about="bird", proof=True)
    assert done.receipt.state == "deleted"
    (told,) = done.receipt.untouchable
    assert made in told
    assert "MEMORANDA_PASSPHRASE" in told
    assert told in done.receipt.pending
    assert done.receipt.statement["untouchable"] == [told]
    assert Path(made).read_bytes() == before
    found = filled.verify_erasure(done.receipt.statement)
    assert not {check.name: check for check in found.checks}[os.path.basename(made)].ok
    monkeypatch.setenv("MEMORANDA_PASSPHRASE", PASSPHRASE)
    found = filled.verify_erasure(done.receipt.statement)
    assert "found" in {check.name: check for check in found.checks}[os.path.basename(made)].detail


def test_with_its_passphrase_an_encrypted_backup_is_written_anew(filled, path, monkeypatch):
    monkeypatch.setenv("MEMORANDA_PASSPHRASE", PASSPHRASE)
    made = back_up(filled._engine, passphrase=PASSPHRASE).path
    done = filled.erase(about="bird", proof=True)
    assert done.purged, done.receipt
    assert done.receipt.backups == 1
    assert verify_backup(made, settings=filled._engine.settings, passphrase=PASSPHRASE).ok
    assert filled.verify_erasure(done.receipt.statement).ok


def test_a_damaged_backup_and_what_is_no_backup_are_named(filled, path):
    made = back_up(filled._engine).path
    shutil.copy(made, made.replace(".memoranda", "-2.memoranda"))
    with open(made.replace(".memoranda", "-2.memoranda"), "r+b") as file:
        file.seek(100)
        file.write(os.urandom(4000))
    done = filled.erase(about="bird")
    assert done.receipt.state == "deleted"
    assert any("-2.memoranda" in each for each in done.receipt.untouchable)
    assert done.receipt.backups == 1


def test_the_backup_of_another_store_is_left_alone(filled, path, clock, tmp_path):
    with open_store(tmp_path / "other" / "other.db", clock=clock) as other:
        other.remember(TEXT)
        theirs = back_up(other._engine).path
    folder = path.with_name("store.db-backups")
    folder.mkdir(exist_ok=True)
    moved = folder / os.path.basename(theirs)
    shutil.copy(theirs, moved)
    before = moved.read_bytes()
    assert filled.erase(about="bird").purged
    assert moved.read_bytes() == before


def test_what_is_forgotten_long_ago_leaves_the_backups_when_it_is_erased(filled, path, clock):
    filled.conversations.erase("talk")
    back_up(filled._engine)
    filled.forget(filled.recall(WORD)[0].id)
    clock.advance(days=31)
    assert holding(path)
    filled.admin.maintain()
    assert holding(path) == []


def test_what_a_killed_rewriting_left_is_removed_with_the_next_backup(filled, path, clock):
    made = Path(back_up(filled._engine).path)
    left = made.with_name(f".{made.name}.rewriting-0badcafe-wal")
    left.write_bytes(made.read_bytes())
    done = filled.erase(about="bird")
    assert done.receipt.state == "deleted"
    assert left.name in done.receipt.pending
    assert done.receipt.backups == 1
    clock.advance(days=1)
    back_up(filled._engine)
    assert not left.exists()
    assert holding(path) == []
