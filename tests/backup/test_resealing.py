"""A closed store is encrypted, decrypted or given another key: the old one or the new one is there, never neither."""

from contextlib import ExitStack
from pathlib import Path

import pytest

import memoranda
from memoranda.domain.errors import KeyMissing, KeyWrong
from memoranda.ledger.backup import figures
from memoranda.service.backing_up import back_up, leftovers, opened_store, verify_backup
from memoranda.service.keys import from_passphrase, key_from_file, make_key_file
from memoranda.service.resealing import key_before, reseal, working_copy
from support import as_pairs, files_of, occurrences, open_store


@pytest.fixture
def key(key_file):
    return key_from_file(Path(key_file))


def held_by(path, **settings):
    with open_store(path, sweep=False, **settings) as memory, memory._engine.ledger.database.read() as connection:
        return figures(connection)


def test_there_and_back_again(path, filled, chosen, key, key_file, clock):
    texts = filled(embedder="hashed:words")
    before = held_by(path)
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        expected = as_pairs(memory.recall("quokka island"))
    done = reseal(path, before=None, after=key, settings=chosen())
    assert done.receipt.encrypted
    assert done.receipt.figures == before._replace(contents="")
    assert occurrences(path, *texts) == []
    with pytest.raises(KeyMissing):
        open_store(path)
    assert held_by(path, key_file=key_file) == before
    with open_store(path, clock=clock, embedder="hashed:words", key_file=key_file) as memory:
        assert as_pairs(memory.recall("quokka island")) == expected
    reseal(path, before=key, after=None, settings=chosen())
    assert held_by(path) == before
    assert {needle for _, needle in occurrences(path, *texts)} == set(texts)
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        assert as_pairs(memory.recall("quokka island")) == expected
        assert memory.admin.verify().ok


def test_another_key(path, filled, chosen, key, key_file, tmp_path):
    filled(key_file=key_file)
    before = held_by(path, key_file=key_file)
    other = make_key_file(tmp_path / "other")
    reseal(path, before=key, after=other, settings=chosen())
    with pytest.raises(KeyWrong):
        open_store(path, key_file=key_file)
    assert held_by(path, key_file=str(tmp_path / "other")) == before


def test_from_a_key_to_a_passphrase(path, filled, chosen, key, key_file, monkeypatch):
    filled(key_file=key_file, count=3)
    passphrase = "correct horse battery staple"
    after = from_passphrase(passphrase, working_copy(path), name="x")
    reseal(path, before=key, after=after, settings=chosen())
    monkeypatch.setenv("MEMORANDA_KEY", passphrase)
    with open_store(path) as memory:
        assert memory.recall("quokka2")


def test_the_old_bytes_are_overwritten(path, filled, chosen, key):
    """Also for somebody who still has the old files open."""
    texts = filled()
    with ExitStack() as stack:
        old = [stack.enter_context(file.open("rb")) for file in files_of(path) if file.suffix == ".db"]
        assert texts[0].encode() in b"".join(file.read() for file in old)
        reseal(path, before=None, after=key, settings=chosen())
        for file in old:
            file.seek(0)
            content = file.read()
            assert content
            assert not content.strip(b"\0")


def test_a_store_that_is_open_is_left_as_it_is(path, filled, chosen, key):
    filled()
    with open_store(path, sweep=False) as memory:
        memory.recall("quokka")
        with pytest.raises(memoranda.LedgerLocked, match="in use"):
            reseal(path, before=None, after=key, settings=chosen())
        assert memory.remember("Nothing happened to it.")
    assert held_by(path).counts["memories"] == 34
    assert not leftovers(chosen())


def test_a_wrong_key_changes_nothing(path, filled, chosen, key, key_file, tmp_path):
    filled(key_file=key_file)
    before = path.read_bytes()
    other = make_key_file(tmp_path / "other")
    with pytest.raises(KeyWrong):
        reseal(path, before=other, after=None, settings=chosen())
    with pytest.raises(memoranda.Conflict, match="encrypted already"):
        reseal(path, before=None, after=other, settings=chosen())
    assert path.read_bytes() == before
    assert held_by(path, key_file=key_file)


def test_what_is_not_encrypted_has_no_key_before(path, filled, chosen):
    filled(count=2)
    with pytest.raises(memoranda.Conflict, match="is not encrypted"):
        key_before(path, chosen())
    with pytest.raises(memoranda.NotFound):
        reseal(path.with_name("nothing.db"), before=None, after=None, settings=chosen())


def test_backups_made_before_are_named(path, filled, chosen, key, engine, key_file):
    filled(count=2)
    with opened_store(chosen()) as opened:
        made = back_up(opened)
    done = reseal(path, before=None, after=key, settings=chosen())
    assert any("1 backups in" in note for note in done.receipt.notes)
    assert any("SSD" in note for note in done.receipt.notes)
    assert verify_backup(made.path, settings=chosen()).ok
