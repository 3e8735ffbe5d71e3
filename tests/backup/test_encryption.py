"""An encrypted store: nothing in clear in any file, and clear words for a key that is missing, wrong or not wanted."""

import os
import pickle
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memoranda
from memoranda import config
from memoranda.domain.errors import KeyMissing, KeyUnwanted, KeyWrong
from memoranda.domain.keys import Key
from memoranda.ledger import sealing
from memoranda.service import keys
from support import SCOPE, files_of, occurrences, open_store

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("# Burrows\n\nThe bilby digs below the old water tank.\n")
    return folder


def test_no_file_of_a_working_store_has_a_word_of_it_in_clear(path, filled, notes, key_file, clock):
    texts = filled(notes=notes, embedder="hashed:words", key_file=key_file)
    words = [*texts, "quokka", "wombat", "numbat", "Quoll", "echidna", "bilby", "water tank", "animal:", "SQLite form"]
    with open_store(path, clock=clock, embedder="hashed:words", key_file=key_file) as memory:
        memory.remember("Quokkas are still awake while the store is open.")
        memory.recall("quokka awake")
        memory.documents.search("bilby")
        assert [file.name for file in files_of(path) if file.name.endswith("-wal") and file.stat().st_size]
        assert occurrences(path, *words) == []
    assert occurrences(path, *words) == []
    sealed = {file.parent.name for file in files_of(path) if sealing.is_sealed(sealing.head(file))}
    assert sealed == {path.parent.name, "store.db-index", "store.db-transcripts", "store.db-documents", "index-1"}


def test_the_same_store_without_a_key_would_have_them(path, filled):
    texts = filled()
    assert {needle for _, needle in occurrences(path, *texts)} == set(texts)


def test_everything_works_with_a_key_as_without(path, filled, key_file, clock):
    filled(key_file=key_file)
    with open_store(path, clock=clock, key_file=key_file) as memory:
        assert memory.recall("where did the quokka move?")[0].memory.text == "The quokka moved to the island."
        assert memory.admin.verify().ok
        memory.admin.rebuild()
        assert memory.recall("quokka7")[0].memory.text == "Memory number 7 tells of the quokka7."


@pytest.mark.parametrize("broken", ["none", "other"])
def test_without_the_right_key_nothing_opens_and_nothing_changes(path, filled, key_file, tmp_path, broken):
    filled(key_file=key_file)
    before = {file: file.read_bytes() for file in files_of(path)}
    other = ""
    if broken == "other":
        other = str(tmp_path / "other")
        keys.make_key_file(tmp_path / "other")
    with pytest.raises(KeyMissing if broken == "none" else KeyWrong) as caught:
        open_store(path, key_file=other)
    assert "damaged" not in str(caught.value)
    assert "key" in caught.value.hint
    assert not isinstance(caught.value, memoranda.LedgerDamaged)
    assert {file: file.read_bytes() for file in files_of(path)} == before


def test_a_key_for_a_store_that_is_not_encrypted_is_refused(path, filled, key_file):
    filled()
    before = path.read_bytes()
    with pytest.raises(KeyUnwanted, match="is not encrypted") as caught:
        open_store(path, key_file=key_file)
    assert "memoranda encrypt" in caught.value.hint
    assert path.read_bytes() == before


def test_an_index_with_another_key_is_not_thrown_away(path, filled, key_file, tmp_path):
    """A folder that was copied from elsewhere, say."""
    filled(key_file=key_file)
    other, foreign = tmp_path / "other", tmp_path / "foreign" / "store.db"
    keys.make_key_file(other)
    filled(foreign, key_file=str(other))
    index = path.with_name("store.db-index") / "index-1.db"
    index.write_bytes((foreign.with_name("store.db-index") / "index-1.db").read_bytes())
    before = index.read_bytes()
    with open_store(path, key_file=key_file) as memory, pytest.raises(KeyWrong):
        memory.recall("quokka")
    assert index.read_bytes() == before


def test_damage_behind_the_first_page_is_called_damage(path, filled, key_file):
    filled(key_file=key_file)
    content = bytearray(path.read_bytes())
    for place in range(3 * 4096, len(content), 4096):
        content[place + 100] ^= 1
    path.write_bytes(content)
    with pytest.raises(memoranda.LedgerDamaged):
        open_store(path, key_file=key_file)


def test_rubbish_stays_rubbish_whatever_the_key(path, key_file):
    path.write_bytes(os.urandom(8192))
    for given in ("", key_file):
        with pytest.raises(memoranda.LedgerDamaged):
            open_store(path, key_file=given)


def test_a_passphrase_in_the_environment_opens_what_it_made(path, filled, monkeypatch):
    monkeypatch.setenv("MEMORANDA_KEY", PASSPHRASE)
    texts = filled(count=3)
    assert occurrences(path, *texts) == []
    salt = path.read_bytes()[:16]
    with open_store(path) as memory:
        assert memory.recall("quokka2")
        memory._engine.ledger.database.vacuum()
    assert path.read_bytes()[:16] == salt, "the passphrase makes the key from it"
    monkeypatch.setenv("MEMORANDA_KEY", PASSPHRASE + "!")
    with pytest.raises(KeyWrong):
        open_store(path)


def test_a_raw_key_in_the_environment_is_the_same_as_in_a_file(path, filled, key_file, monkeypatch):
    filled(key_file=key_file)
    with open(key_file) as file:
        monkeypatch.setenv("MEMORANDA_KEY", file.read().strip().upper())
    with open_store(path) as memory:
        assert memory.recall("quokka2")


def test_two_files_with_one_passphrase_have_two_keys(tmp_path):
    first, second = (keys.from_passphrase(PASSPHRASE, tmp_path / name, name="x") for name in "ab")
    assert first.raw != second.raw


def test_a_short_passphrase_is_refused(path, monkeypatch):
    monkeypatch.setenv("MEMORANDA_KEY", "short")
    with pytest.raises(memoranda.InvalidInput, match="fewer than") as caught:
        open_store(path)
    assert "short" not in str(caught.value).replace("fewer", "")
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        (b"ab" * 32, 0o640, "can be read by others"),
        (b"ab" * 32, 0o604, "can be read by others"),
        (b"too little", 0o600, "64 hexadecimal digits"),
        (b"", 0o600, "64 hexadecimal digits"),
        (None, 0, "cannot be read"),
    ],
)
def test_a_key_file_that_cannot_be_a_key_is_refused(tmp_path, path, content, mode, told):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    with pytest.raises(memoranda.ConfigError, match=told) as caught:
        open_store(path, key_file=str(file))
    assert "abab" not in str(caught.value) + caught.value.hint
    assert not path.exists()


def test_random_bytes_are_a_key_too(tmp_path):
    raw = os.urandom(32)
    for name, content in (("32", raw), ("64", raw + raw)):
        file = tmp_path / name
        file.write_bytes(content)
        file.chmod(0o600)
    assert keys.key_from_file(tmp_path / "32").raw == raw
    assert keys.key_from_file(tmp_path / "64").raw not in (raw, raw[:32])


def test_a_made_key_file_is_private_and_never_overwrites(tmp_path):
    file = tmp_path / "key"
    made = keys.make_key_file(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keys.key_from_file(file).raw == made.raw
    with pytest.raises(memoranda.InvalidInput):
        keys.make_key_file(file)
    assert keys.key_from_file(file).raw == made.raw


def test_a_key_says_nothing_of_itself(path, key_file):
    key = keys.key_from_file(Path(key_file))
    with open_store(path, key_file=key_file) as memory:
        shown = [repr(key), str(key), repr(memory._engine.settings), repr(vars(memory._engine))]
    assert all(key.raw.hex() not in each and repr(key.raw) not in each for each in shown)
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_the_key_is_no_setting():
    assert "key" not in config.Settings._fields
    assert config.load({}, environ={"MEMORANDA_KEY": "ab" * 32, "MEMORANDA_CONFIG": ""}) == config.load({}, environ={})


def test_without_a_cipher_the_way_out_is_named(path, key_file, monkeypatch):
    monkeypatch.delattr("apsw.mc_version")
    with pytest.raises(memoranda.ProviderMissing) as caught:
        open_store(path, key_file=key_file)
    assert "pip install" in caught.value.hint


def test_pages_are_read_in_clear_with_the_key_also_those_that_are_free(path, key_file, clock):
    with open_store(path, clock=clock, key_file=key_file) as memory:
        memory.remember("The pademelon is in a page.")
        engine = memory._engine
        engine.ledger.database.write_alone(
            lambda connection: connection.execute("pragma secure_delete = off").fetchall()
        )
        engine.ledger.database.write(
            lambda connection: connection.execute("create table gone as select 'potoroo ' || hex(zeroblob(9999)) as x")
        )
        engine.ledger.database.write(lambda connection: connection.execute("drop table gone"))
        log = str(path) + "-wal"
        assert sealing.is_opaque(log, key=engine.key)
        assert engine.ledger.database.checkpoint()
        assert not sealing.is_opaque(log, key=engine.key)
        read = b"".join(sealing.chunks(str(path), 1000, key=engine.key))
        assert b"pademelon" in read
        assert b"potoroo" in read
        assert len(read) == path.stat().st_size
        assert memory.remember("The locks are still there.")
    assert b"pademelon" not in path.read_bytes()
    with pytest.raises(KeyWrong):
        list(sealing.chunks(str(path), 1000, key=Key(bytes(32))))


def test_plain_files_are_read_as_they_are(path, memory):
    memory.remember("The pademelon is in a page.")
    assert b"".join(sealing.chunks(str(path) + "-wal", 999, key=None)) == path.with_name("store.db-wal").read_bytes()


def test_many_threads_read_with_the_key(path, filled, key_file):
    filled(key_file=key_file)
    with open_store(path, key_file=key_file) as memory, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: memory.recall(f"quokka{number}"), range(1, 20)))
    assert all(found)


def test_the_keys_of_two_stores_are_not_mixed_up(tmp_path, key_file):
    keys.make_key_file(tmp_path / "second")
    with (
        open_store(tmp_path / "a.db", key_file=key_file) as first,
        open_store(tmp_path / "b.db", key_file=str(tmp_path / "second")) as second,
        open_store(tmp_path / "c.db") as plain,
    ):
        for memory in (first, second, plain):
            memory.remember("Each has its own key.")
            assert memory.recall("own key")
    assert not sealing.is_sealed(sealing.head(tmp_path / "c.db"))
    with pytest.raises(KeyWrong):
        memoranda.open(tmp_path / "a.db", scope=SCOPE, settings=memoranda.Settings(key_file=str(tmp_path / "second")))
