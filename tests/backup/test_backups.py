"""A backup is one file with everything, taken while others write, checked, and never half."""

import hashlib
import json
import os
import shutil
import stat
import threading

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda.domain.backup import FORMAT, Figures, Manifest
from memoranda.domain.errors import KeyMissing, KeyWrong
from memoranda.ledger import sealing
from memoranda.ledger.locking import held
from memoranda.service.backing_up import (
    back_up,
    backups,
    backups_in,
    compare_backup,
    leftovers,
    store_id,
    verify_backup,
)
from memoranda.service.keys import make_key_file
from support import open_store

PASSPHRASE = "correct horse battery staple"


def test_it_is_named_after_the_store_and_the_moment_and_nobody_else_may_read_it(engine, filled, path):
    filled()
    made = back_up(engine())
    folder = path.with_name("store.db-backups")
    assert made.path == str(folder / "store-20260101-000000.memoranda")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert sorted(file.suffix for file in folder.iterdir()) == [".json", ".memoranda"]


def test_it_says_what_it_holds_inside_and_beside(engine, filled):
    filled()
    opened = engine()
    made = back_up(opened)
    with open(made.path + ".json", encoding="utf-8") as file:
        beside = json.load(file)
    with open(made.path, "rb") as file:
        content = file.read()
    inside = dict(apsw.Connection(made.path, flags=apsw.SQLITE_OPEN_READONLY).execute("select * from backup_manifest"))
    assert beside["sha256"] == hashlib.sha256(content).hexdigest() == made.receipt.sha256
    assert beside["bytes"] == len(content) == made.receipt.bytes
    assert {name: json.loads(value) for name, value in inside.items()} == {
        name: value for name, value in beside.items() if name not in ("file", "bytes", "sha256")
    }
    assert beside["format"] == "memoranda.backup.v1"
    assert beside["encrypted"] == "no"
    assert beside["store"] == store_id(opened)
    assert beside["sequence"] == opened.ledger.sequence()
    counts = beside["counts"]
    assert (counts["memories"], counts["messages"], counts["tombstones"], counts["scopes"]) == (33, 1, 1, 1)
    assert all(check.ok for check in made.receipt.checks)
    assert [check.name for check in made.receipt.checks] == ["file", "schema", "counts", "contents"]
    assert "quokka" not in json.dumps(made.as_json())


def test_it_is_one_file_that_can_be_read_from_a_medium_that_nobody_writes(engine, filled, chosen, tmp_path):
    filled()
    made = back_up(engine())
    medium = tmp_path / "medium"
    medium.mkdir()
    shutil.copy(made.path, medium / "b.memoranda")
    (medium / "b.memoranda").chmod(0o400)
    medium.chmod(0o500)
    try:
        checked = verify_backup(medium / "b.memoranda", settings=chosen())
    finally:
        medium.chmod(0o700)
    assert checked.ok
    assert checked.checks[0].detail == "no manifest lies beside it to compare with"


def test_others_go_on_writing_and_it_is_of_one_moment(path, engine, clock):
    """Each pair is kept in one commit: a backup with half of one would not be of one moment."""
    stop = threading.Event()
    kept = []

    def write():
        with open_store(path, clock=clock) as memory:
            number = 0
            while not stop.is_set():
                memory.remember_many([f"left {number} of a pair of shoes", f"right {number} of a pair of shoes"])
                kept.append(number)
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(kept) < 20 and writer.is_alive():
            stop.wait(0.01)
        opened = engine()
        made = []
        for _ in range(5):
            before = len(kept)
            made.append((before, back_up(opened)))
        after = len(kept)
    finally:
        stop.set()
        writer.join()
    assert after > made[0][0], "somebody wrote meanwhile"
    for before, backup in made:
        texts = [
            row[0]
            for row in apsw.Connection(backup.path, flags=apsw.SQLITE_OPEN_READONLY).execute("select text from memory")
        ]
        lefts = {text.split()[1] for text in texts if text.startswith("left")}
        rights = {text.split()[1] for text in texts if text.startswith("right")}
        assert lefts == rights
        assert lefts >= {str(number) for number in range(before)}


def test_progress_is_told_up_to_the_end(engine, filled):
    filled()
    told = []
    back_up(engine(), progress=lambda done, total: told.append((done, total)))
    assert told
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize("of", ["plain", "encrypted"])
def test_with_a_passphrase_nothing_in_it_or_on_the_way_is_in_clear(
    path, engine, filled, chosen, key_file, tmp_path, of
):
    given = {"key_file": key_file} if of == "encrypted" else {}
    texts = filled(**given)
    stick = tmp_path / "stick"
    stick.mkdir()
    seen = []

    def look(done, total):
        seen.extend(text for file in stick.iterdir() for text in texts if text.encode() in file.read_bytes())

    made = back_up(engine(**given), stick / "b.memoranda", passphrase=PASSPHRASE, progress=look)
    assert not seen
    for file in stick.iterdir():
        assert not any(text.encode() in file.read_bytes() for text in texts)
    assert sorted(file.name for file in stick.iterdir()) == ["b.memoranda", "b.memoranda.json"]
    assert made.receipt.manifest.encrypted == "passphrase"
    assert not leftovers(chosen())
    assert verify_backup(made.path, settings=chosen(), passphrase=PASSPHRASE).ok
    with pytest.raises(KeyMissing) as caught:
        verify_backup(made.path, settings=chosen())
    assert "MEMORANDA_PASSPHRASE" in caught.value.hint
    with pytest.raises(KeyWrong):
        verify_backup(made.path, settings=chosen(), passphrase=PASSPHRASE + "?")
    if of == "encrypted":
        with pytest.raises(KeyWrong):
            verify_backup(made.path, settings=chosen(**given))


def test_of_an_encrypted_store_it_has_the_key_of_the_store(engine, filled, chosen, key_file, tmp_path):
    filled(key_file=key_file)
    made = back_up(engine(key_file=key_file))
    assert made.receipt.manifest.encrypted == "key"
    with open(made.path, "rb") as file:
        assert b"quokka" not in file.read()
    assert verify_backup(made.path, settings=chosen(key_file=key_file)).ok
    with pytest.raises(KeyMissing):
        verify_backup(made.path, settings=chosen())
    make_key_file(tmp_path / "other")
    with pytest.raises(KeyWrong):
        verify_backup(made.path, settings=chosen(key_file=str(tmp_path / "other")))


def test_of_a_store_with_a_passphrase_of_its_own_the_same_passphrase_opens_it(engine, filled, chosen, monkeypatch):
    monkeypatch.setenv("MEMORANDA_KEY", PASSPHRASE)
    filled(count=3)
    made = back_up(engine())
    assert verify_backup(made.path, settings=chosen()).ok


def test_old_ones_go_but_never_what_is_not_ours(engine, filled, clock, path):
    filled(count=2)
    folder = path.with_name("store.db-backups")
    opened = engine(backups_kept=3)
    first = back_up(opened)
    shutil.copy(first.path, folder / "by-hand.memoranda")
    (folder / "store-20200101-000000.memoranda").write_bytes(b"not a backup")
    other = path.with_name("other.db")
    with open_store(other, clock=clock, backups=str(folder)) as memory:
        foreign = back_up(memory._engine)
    made = [first]
    for _ in range(4):
        clock.advance(ms=60_000)
        made.append(back_up(opened))
    assert [each.path in [file.path for file in backups(opened)] for each in made] == [False, False, True, True, True]
    assert made[-1].receipt.removed == (made[1].path,)
    assert not os.path.exists(made[1].path + ".json")
    left = {file.name for file in folder.iterdir() if file.suffix == ".memoranda"}
    assert {"by-hand.memoranda", "store-20200101-000000.memoranda", os.path.basename(foreign.path)} <= left


def test_none_goes_when_any_number_is_kept_or_when_it_is_written_elsewhere(engine, filled, tmp_path, clock):
    filled(count=2)
    opened = engine(backups_kept=0)
    for _ in range(3):
        back_up(opened)
    assert len(backups(opened)) == 3
    one = engine(backups_kept=1)
    back_up(one, tmp_path / "elsewhere.memoranda")
    assert len(backups(one)) == 3


def test_two_within_a_second_have_two_names(engine, filled):
    filled(count=2)
    opened = engine()
    assert len({back_up(opened).path for _ in range(3)}) == 3


def test_nothing_is_overwritten(engine, filled, tmp_path):
    filled(count=2)
    there = tmp_path / "precious.txt"
    there.write_text("precious")
    with pytest.raises(memoranda.Conflict, match="is there already"):
        back_up(engine(), there)
    assert there.read_text() == "precious"
    with pytest.raises(memoranda.InvalidInput, match="no folder"):
        back_up(engine(), tmp_path / "missing" / "b.memoranda")


def test_one_at_a_time(engine, filled, path):
    filled(count=2)
    opened = engine()
    with held(path.with_name("store.db-backing-up")), pytest.raises(memoranda.Conflict, match="another backup"):
        back_up(opened)
    assert back_up(opened)


def test_a_store_that_is_damaged_gives_no_backup(engine, filled, path):
    filled()
    opened = engine()
    opened.ledger.database.write_alone(lambda connection: connection.execute("pragma foreign_keys = off").fetchall())
    opened.ledger.database.write(lambda connection: connection.execute("delete from memory where number = 3"))
    with pytest.raises(memoranda.LedgerDamaged, match="foreign key"):
        back_up(opened)
    assert not list(path.with_name("store.db-backups").iterdir())


@pytest.mark.parametrize("encrypted", [False, True])
def test_any_byte_that_is_changed_is_found(engine, filled, chosen, key_file, encrypted):
    given = {"key_file": key_file} if encrypted else {}
    filled(count=5, **given)
    made = back_up(engine(**given))
    with open(made.path, "rb") as file:
        content = file.read()
    found = 0
    places = range(30, len(content), len(content) // 15)
    for place in places:
        with open(made.path, "r+b") as file:
            file.seek(place)
            file.write(bytes([content[place] ^ 1]))
        try:
            found += not verify_backup(made.path, settings=chosen(**given)).ok
        except memoranda.LedgerError:
            found += 1
        with open(made.path, "r+b") as file:
            file.seek(place)
            file.write(content[place : place + 1])
    assert found == len(places)
    assert verify_backup(made.path, settings=chosen(**given)).ok


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("create trigger t after insert on memory begin delete from memory; end", "schema"),
        ("create view v as select 1", "schema"),
        ("drop index memory_quarantined", "schema"),
        ("update memory set text = text || '!' where number = 2", "contents"),
        ("delete from tombstone", "counts"),
        ("update event set seq = seq + 1 where seq = (select max(seq) from event)", "file"),
    ],
)
def test_what_was_put_into_it_or_taken_out_is_found(engine, filled, chosen, statement, name):
    filled(count=5)
    made = back_up(engine())
    os.unlink(made.path + ".json")
    connection = apsw.Connection(made.path)
    connection.execute(statement)
    connection.close()
    failed = [check.name for check in verify_backup(made.path, settings=chosen()).checks if not check.ok]
    assert name in failed or (name == "file" and "contents" in failed)


def test_what_is_no_backup_is_called_so(tmp_path, chosen, filled, path):
    filled(count=2)
    with pytest.raises(memoranda.NotFound):
        verify_backup(tmp_path / "nothing", settings=chosen())
    with pytest.raises(memoranda.InvalidInput, match="is no backup"):
        verify_backup(path, settings=chosen())
    rubbish = tmp_path / "rubbish.memoranda"
    rubbish.write_bytes(os.urandom(5000))
    with pytest.raises(memoranda.LedgerDamaged):
        verify_backup(rubbish, settings=chosen())
    assert [bool(each.trouble) for each in backups_in(tmp_path)] == [True]
    assert backups_in(tmp_path / "missing") == []


def test_what_is_encrypted_is_listed_also_without_its_key(engine, filled, key_file):
    filled(count=2, key_file=key_file)
    opened = engine(key_file=key_file)
    made = back_up(opened)
    listed = backups(opened)[0]
    assert (listed.encrypted, listed.manifest) == ("key", made.receipt.manifest)
    os.unlink(made.path + ".json")
    listed = backups(opened)[0]
    assert (listed.encrypted, listed.manifest, listed.trouble) == ("yes", None, "")


def test_it_can_be_compared_with_the_store(engine, filled, path, clock):
    filled(count=3)
    opened = engine()
    made = back_up(opened)
    assert compare_backup(opened, made.path).same
    with open_store(path, clock=clock) as memory:
        listed = {each.text: each.id for each in memory.list(limit=100)}
        memory.forget(listed["Memory number 1 tells of the quokka1."])
        memory.archive(listed["Memory number 2 tells of the quokka2."])
        new = memory.remember("A bandicoot came by.")
    found = compare_backup(opened, made.path)
    assert not found.same
    assert found.gone == (listed["Memory number 1 tells of the quokka1."],)
    assert found.changed == (listed["Memory number 2 tells of the quokka2."],)
    assert found.new == (new.id,)


def test_its_pages_are_sealed_and_it_has_a_salt_of_its_own(engine, filled, tmp_path):
    filled(count=2)
    opened = engine()
    made = [back_up(opened, tmp_path / name, passphrase=PASSPHRASE) for name in ("a.memoranda", "b.memoranda")]
    heads = [sealing.head(tmp_path / os.path.basename(each.path)) for each in made]
    assert all(sealing.is_sealed(each) for each in heads)
    assert sealing.salt_of(heads[0]) != sealing.salt_of(heads[1])


NAMES = st.text(max_size=20)


@given(
    st.builds(
        Manifest,
        st.integers(0, 4_000_000_000_000),
        NAMES,
        st.sampled_from(["no", "key", "passphrase"]),
        st.builds(Figures, NAMES, NAMES, st.integers(0), NAMES, NAMES, st.dictionaries(NAMES, st.integers(0))),
        format=st.just(FORMAT),
    )
)
def test_a_manifest_comes_back_as_it_was_written(manifest):
    assert Manifest.of(json.loads(json.dumps(manifest.as_json()))) == manifest


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda each: st.lists(each) | st.dictionaries(NAMES, each)
)


@given(st.dictionaries(st.sampled_from([*Figures._fields, *Manifest._fields]), JSON))
def test_rubbish_is_no_manifest(said):
    assert Manifest.of(said) is None


@given(st.binary(max_size=40))
def test_only_what_begins_like_a_sealed_file_is_one(begins):
    assert sealing.is_sealed(begins[:24]) == (len(begins) >= 24 and begins[20:24] == b"\x20\x40\x20\x20")
