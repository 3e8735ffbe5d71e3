"""Files of somebody else stay as they are: what lies behind a link, beside a backup, or under another key."""

import json
import os
import shutil
from pathlib import Path

import pytest

from memoranda.domain.errors import Conflict, Refused
from memoranda.ledger import sealing
from memoranda.ledger.replacing import shred
from memoranda.service.backing_up import back_up, backups_in, opened_store, verify_backup
from memoranda.service.keys import key_from_file
from memoranda.service.resealing import reseal
from memoranda.service.restoring import restore
from support import occurrences, open_store

TEXT = "The kanarienvogel sings in the yellow house every morning."
PASSPHRASE = "correct horse battery staple"


def test_a_store_behind_a_link_is_encrypted_where_it_is(path, filled, chosen, key_file, tmp_path):
    filled(count=3)
    real = tmp_path / "data" / "real.db"
    real.parent.mkdir()
    path.rename(real)
    path.symlink_to(real)
    reseal(path, before=None, after=key_from_file(Path(key_file)), settings=chosen())
    assert path.is_symlink()
    assert sealing.is_sealed(sealing.head(real))
    with open_store(path, key_file=key_file) as memory:
        assert memory.recall("quokka2")


def test_a_backup_behind_a_link_is_written_anew_where_it_is(path, clock, tmp_path):
    real = tmp_path / "elsewhere" / "real.memoranda"
    real.parent.mkdir()
    with open_store(path, clock=clock) as memory:
        kept = memory.remember(TEXT)
        memory.remember("A bystander reads a book.")
        made = Path(back_up(memory._engine).path)
        made.rename(real)
        made.symlink_to(real)
        assert memory.erase(kept).purged
    assert made.is_symlink()
    assert b"kanarienvogel" not in real.read_bytes()
    assert b"bystander" in real.read_bytes()


def test_a_store_is_restored_behind_a_link(path, filled, chosen, tmp_path):
    filled(count=3)
    with opened_store(chosen()) as engine:
        made = back_up(engine)
    target = tmp_path / "again.db"
    target.symlink_to(tmp_path / "real.db")
    restore(made.path, target, settings=chosen())
    assert target.is_symlink()
    with open_store(target) as memory:
        assert memory.recall("quokka2")


def test_of_a_link_only_the_link_is_removed(tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    shred(tmp_path / "link")
    assert not os.path.lexists(tmp_path / "link")
    assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.parametrize("planted", [".out.memoranda.part", ".out.memoranda.json.part"])
def test_a_link_that_somebody_planted_is_not_followed(engine, filled, tmp_path, planted):
    filled(count=3)
    (tmp_path / "mine").write_text("precious")
    (tmp_path / planted).symlink_to(tmp_path / "mine")
    back_up(engine(), tmp_path / "out.memoranda")
    assert (tmp_path / "mine").read_text() == "precious"


def test_a_backup_writes_its_note_over_no_file(engine, filled, tmp_path):
    filled(count=3)
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(Conflict):
        back_up(engine(), tmp_path / "package")
    assert (tmp_path / "package.json").read_text() == "{}"
    assert not (tmp_path / "package").exists()


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-index", ".old"])
def test_a_backup_takes_no_name_of_the_store(engine, filled, path, suffix):
    filled(count=3)
    with pytest.raises(Refused):
        back_up(engine(), path.with_name(path.name + suffix))
    assert not path.with_name(f"{path.name}{suffix}.json").exists()


def test_what_killed_backups_left_goes_with_the_next_one(engine, filled, path):
    filled(count=3)
    folder = path.with_name("store.db-backups")
    folder.mkdir()
    ours, theirs = folder / ".store-20260101-000000.memoranda.part", folder / ".other-20260101-000000.memoranda.part"
    ours.write_text(TEXT)
    theirs.write_text(TEXT)
    back_up(engine())
    assert not ours.exists()
    assert theirs.exists(), "another store may use the same folder, just now"


def test_a_note_that_says_something_impossible_is_no_note(engine, filled, path):
    filled(count=3)
    made = back_up(engine(), passphrase=PASSPHRASE).path
    note = Path(f"{made}.json")
    said = json.loads(note.read_text())
    said["counts"] = {"memories": float("inf")}
    note.write_text(json.dumps(said))
    assert backups_in(path.with_name("store.db-backups"))[0].manifest is None


def test_a_passphrase_in_the_environment_keeps_no_backup_from_its_key(path, clock, key_file, monkeypatch):
    with open_store(path, clock=clock, key_file=key_file) as memory:
        kept = memory.remember(TEXT)
        made = [back_up(memory._engine).path, back_up(memory._engine, passphrase=PASSPHRASE).path]
        monkeypatch.setenv("MEMORANDA_PASSPHRASE", PASSPHRASE)
        done = memory.erase(kept)
        assert done.purged, done.receipt
        assert done.receipt.backups == 2
        for each in made:
            assert verify_backup(each, settings=memory._engine.settings, passphrase=PASSPHRASE).ok


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_copy_under_another_key_is_named_and_proves_nothing(path, clock, key_file, tmp_path, encrypted, chosen):
    with open_store(path, clock=clock) as memory:
        kept = memory.remember(TEXT)
        back_up(memory._engine, tmp_path / "other.memoranda", passphrase=PASSPHRASE)
    if encrypted:
        reseal(path, before=None, after=key_from_file(Path(key_file)), settings=chosen())
    shutil.copy(tmp_path / "other.memoranda", path.with_name("store.db.bak"))
    with open_store(path, clock=clock, **({"key_file": key_file} if encrypted else {})) as memory:
        done = memory.erase(kept, proof=True)
        assert done.receipt.state == "deleted"
        assert "store.db.bak" in done.receipt.untouchable[0]
        assert "store.db.bak" in done.receipt.statement["pending"]
        assert not memory.verify_erasure(done.receipt.statement).ok
        path.with_name("store.db.bak").unlink()
        assert memory.verify_erasure(done.receipt.statement).ok
    assert occurrences(path, TEXT) == []


def test_restoring_without_what_was_erased_touches_no_other_backup(path, clock, chosen, tmp_path):
    folder = tmp_path / "bk"
    with open_store(path, clock=clock, backups=str(folder)) as memory:
        kept = memory.remember(TEXT)
        made = Path(back_up(memory._engine).path)
        before = made.read_bytes()
        memory.erase(kept)
    made.write_bytes(before)  # somebody put it back
    Path(f"{made}.json").unlink()
    done = restore(made, tmp_path / "again.db", settings=chosen(backups=str(folder)), tombstones_from=path)
    assert done.receipt.erased == 1
    assert made.read_bytes() == before
