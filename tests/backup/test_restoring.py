"""A store from a backup: the same as it was, only where there is none, and nothing half."""

import os
import shutil
from pathlib import Path

import apsw
import pytest

import memoranda
from memoranda.domain.errors import KeyMissing, KeyWrong
from memoranda.domain.memory import STATES
from memoranda.domain.scope import Scope
from memoranda.ledger import sealing
from memoranda.ledger.backup import figures, settle
from memoranda.ledger.schema import MIGRATIONS
from memoranda.ledger.sqlite import SqliteConnection
from memoranda.service.backing_up import back_up, leftovers, looked_at, rewrite, store_id, verify_backup
from memoranda.service.erasure import Doomed, erase
from memoranda.service.keys import make_key_file
from memoranda.service.restoring import restore
from support import SCOPE, as_pairs, files_of, occurrences, open_store

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new" / "home" / "again.db"


def held_by(path, **settings):
    with open_store(path, sweep=False, **settings) as memory, memory._engine.ledger.database.read() as connection:
        return figures(connection)


def everything(path):
    """Every row of every table, but for what a backup says of itself."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [row[0] for row in connection.execute("select name from sqlite_schema where type = 'table' order by name")]
    return {
        table: sorted(map(repr, connection.execute(f"select * from {table}")))
        for table in tables
        if not table.startswith("sqlite_")
    }


def test_every_row_comes_back(path, engine, filled, target, chosen):
    filled()
    made = back_up(engine())
    done = restore(made.path, target, settings=chosen())
    assert everything(target) == everything(path)
    assert all(check.ok for check in done.receipt.checks)
    assert done.path == str(target)
    assert held_by(target) == held_by(path)


def test_what_is_found_is_the_same_and_the_index_comes_by_itself(path, engine, filled, target, chosen, clock):
    filled(embedder="hashed:words")
    made = back_up(engine())
    restore(made.path, target, settings=chosen())
    assert not target.with_name("again.db-index").exists()
    queries = ["where did the quokka move?", "quokka7", "wombats", "Annabella"]
    with open_store(path, clock=clock, embedder="hashed:words") as old:
        expected = [as_pairs(old.recall(query)) for query in queries]
    with open_store(target, clock=clock, embedder="hashed:words") as new:
        assert [as_pairs(new.recall(query)) for query in queries] == expected
        assert new.conversations.search("numbat burrow")
        assert new.admin.verify().ok
        with pytest.raises(memoranda.Refused):
            new.remember("Erased echidnas never come back.", source="import")


@pytest.mark.parametrize("store", ["plain", "encrypted"])
@pytest.mark.parametrize("backup", ["plain", "key", "passphrase"])
def test_any_backup_becomes_any_store(path, engine, filled, target, chosen, key_file, tmp_path, backup, store):
    given = {"key_file": key_file} if backup == "key" else {}
    filled(**given)
    made = back_up(engine(**given), passphrase=PASSPHRASE if backup == "passphrase" else None)
    wanted = {"key_file": key_file} if store == "encrypted" or backup == "key" else {}
    done = restore(
        made.path, target, settings=chosen(**wanted), passphrase=PASSPHRASE if backup == "passphrase" else None
    )
    assert sealing.is_sealed(sealing.head(target)) == bool(wanted) == done.receipt.encrypted
    assert held_by(target, **wanted) == held_by(path, **given)
    assert ("the store is not encrypted" in done.receipt.notes) != bool(wanted)
    with open_store(target, **wanted) as memory:
        assert memory.recall("quokka3")


def test_into_an_empty_store_but_not_into_a_used_one(path, engine, filled, target, chosen, clock):
    filled()
    made = back_up(engine())
    open_store(target, clock=clock).close()
    restore(made.path, target, settings=chosen())
    assert held_by(target) == held_by(path)
    before = {file: file.read_bytes() for file in files_of(target) if not file.name.endswith("-backing-up")}
    with pytest.raises(memoranda.Conflict, match="something in it"):
        restore(made.path, target, settings=chosen())
    after = {file: file.read_bytes() for file in files_of(target) if not file.name.endswith("-backing-up")}
    assert after == before


@pytest.mark.parametrize("used_by", ["an erased memory", "a token", "a conversation"])
def test_a_store_in_which_anything_was_ever_done_is_used(engine, filled, target, chosen, clock, used_by):
    filled(count=2)
    made = back_up(engine())
    with open_store(target, clock=clock) as memory:
        if used_by == "an erased memory":
            memory.erase(memory.remember("Gone again."))
        elif used_by == "a conversation":
            memory.conversations.append([memoranda.user("Hello there.")], conversation="c")
        else:
            memory._engine.ledger.database.write(
                lambda connection: connection.execute(
                    "insert into token (id, digest, role, created_at) values ('t', x'00', 'reader', 1)"
                )
            )
    with pytest.raises(memoranda.Conflict, match="something in it"):
        restore(made.path, target, settings=chosen())


def test_an_empty_store_that_is_open_is_not_replaced(engine, filled, target, chosen, clock):
    filled(count=2)
    made = back_up(engine())
    with open_store(target, clock=clock), pytest.raises(memoranda.LedgerLocked, match="in use"):
        restore(made.path, target, settings=chosen())
    restore(made.path, target, settings=chosen())


def test_beside_the_log_of_a_lost_store_nothing_is_put(engine, filled, target, chosen):
    filled(count=2)
    made = back_up(engine())
    target.parent.mkdir(parents=True)
    target.with_name("again.db-wal").write_bytes(b"the newest memories")
    with pytest.raises(memoranda.Conflict, match="the log of a store"):
        restore(made.path, target, settings=chosen())
    assert not target.exists()


def test_an_index_of_a_lost_store_is_not_taken_for_its_own(path, engine, filled, target, chosen, clock):
    filled()
    made = back_up(engine())
    with open_store(target, clock=clock) as memory:
        for number in range(100):
            memory.remember(f"Something else entirely, {number}.")
        memory.recall("something else")
    for name in ("again.db", "again.db-wal", "again.db-shm"):
        target.with_name(name).unlink(missing_ok=True)
    mine = target.with_name("again.db-index") / "mine.txt"
    mine.write_text("not yours to remove")
    restore(made.path, target, settings=chosen())
    with open_store(target, clock=clock) as memory:
        assert memory.recall("quokka9")[0].memory.text == "Memory number 9 tells of the quokka9."
        assert not memory.recall("something else entirely")
        assert memory.admin.verify().ok
    assert mine.exists()


def test_a_damaged_backup_makes_no_store(engine, filled, target, chosen):
    filled()
    made = back_up(engine())
    with open(made.path, "r+b") as file:
        file.seek(9000)
        file.write(b"\xff" * 200)
    with pytest.raises(memoranda.LedgerDamaged, match="did not pass"):
        restore(made.path, target, settings=chosen())
    assert not target.exists()
    assert not leftovers(chosen(store=str(target)))


def test_without_its_passphrase_it_makes_no_store(engine, filled, target, chosen):
    filled(count=2)
    made = back_up(engine(), passphrase=PASSPHRASE)
    with pytest.raises(KeyMissing):
        restore(made.path, target, settings=chosen())
    with pytest.raises(KeyWrong):
        restore(made.path, target, settings=chosen(), passphrase="not the passphrase")
    assert not target.exists()


def test_what_may_surprise_is_told(engine, filled, target, chosen, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Here\n\nThe bilby digs.\n")
    filled(count=2, notes=notes)
    made = back_up(engine())
    done = restore(made.path, target, settings=chosen())
    told = " ".join(done.receipt.notes)
    assert "what was erased after 2026-01-01T00:00:00.000Z is back" in told
    assert "1 source of documents" in told


def test_what_a_newer_store_has_erased_stays_away(path, engine, filled, target, chosen, clock, tmp_path):
    """Of a backup that lies where no erasure reaches."""
    texts = filled(embedder="hashed:words")
    made = back_up(engine(), tmp_path / "elsewhere.memoranda")
    with open_store(path, clock=clock) as memory:
        memory.erase(about="animal:quokka")
        memory.conversations.erase("talk")
        memory.erase(next(each.id for each in memory.list(limit=100) if "quokka7" in each.text))
        kept = len(memory.list(limit=100, states=STATES))
    done = restore(made.path, target, settings=chosen(), tombstones_from=path)
    assert done.receipt.erased == 2
    assert occurrences(target, texts[0], texts[7], "numbat burrow") == []
    assert not any("is back" in note for note in done.receipt.notes)
    with open_store(target, clock=clock) as memory:
        assert len(memory.list(limit=100, states=STATES)) == kept
        assert memory.recall("quokka8")
        assert memory.admin.verify().ok
    assert sorted(file.name for file in target.parent.iterdir() if "restoring" in file.name) == []


def test_tombstones_of_another_store_are_refused(engine, filled, target, chosen, tmp_path):
    filled(count=2)
    made = back_up(engine())
    filled(tmp_path / "foreign.db", count=2)
    with pytest.raises(memoranda.InvalidInput, match="is not the store"):
        restore(made.path, target, settings=chosen(), tombstones_from=tmp_path / "foreign.db")
    with pytest.raises(memoranda.NotFound):
        restore(made.path, target, settings=chosen(), tombstones_from=tmp_path / "nothing.db")
    assert not target.exists()


def test_a_restored_store_is_the_same_store_to_its_backups(engine, filled, target, chosen):
    filled(count=2)
    opened = engine()
    made = back_up(opened)
    restore(made.path, target, settings=chosen())
    with open_store(target) as memory:
        assert store_id(memory._engine) == store_id(opened)


# -- erasing in a backup --


def forget_one(text):
    def act(engine):
        chosen = [each for each in engine.ledger.choose(scope=Scope(SCOPE)) if text in each[1].text]
        return erase(engine, Doomed.of(engine, chosen), actor="test")

    return act


@pytest.mark.parametrize("encrypted", ["no", "key", "passphrase"])
def test_somebody_may_erase_in_a_backup(engine, filled, chosen, key_file, clock, encrypted):
    given = {"key_file": key_file} if encrypted == "key" else {}
    passphrase = PASSPHRASE if encrypted == "passphrase" else None
    texts = filled(**given)
    made = back_up(engine(**given), passphrase=passphrase)
    before = looked_at(Path(made.path))
    receipt, file = rewrite(
        made.path, settings=chosen(**given), clock=clock, erase=forget_one("quokka7"), passphrase=passphrase
    )
    assert receipt.ids
    assert file.path == made.path
    assert file.encrypted == encrypted
    assert file.manifest.made_at == before.manifest.made_at
    assert file.manifest.figures.counts["memories"] == before.manifest.figures.counts["memories"] - 1
    assert verify_backup(made.path, settings=chosen(**given), passphrase=passphrase).ok
    folder = os.path.dirname(made.path)
    assert sorted(os.listdir(folder)) == sorted([os.path.basename(made.path), os.path.basename(made.path) + ".json"])
    if encrypted == "no":
        with open(made.path, "rb") as stored:
            content = stored.read()
        assert texts[7].encode() not in content
        assert texts[8].encode() in content


def test_a_backup_that_cannot_be_opened_is_left_as_it_is(engine, filled, chosen, clock, tmp_path):
    filled(count=2)
    made = back_up(engine(), passphrase=PASSPHRASE)
    with open(made.path, "rb") as file:
        before = file.read()
    with pytest.raises(KeyMissing):
        rewrite(made.path, settings=chosen(), clock=clock, erase=forget_one("quokka"))
    make_key_file(tmp_path / "other")
    with pytest.raises(KeyWrong):
        rewrite(made.path, settings=chosen(key_file=str(tmp_path / "other")), clock=clock, erase=forget_one("quokka"))
    with open(made.path, "rb") as file:
        assert file.read() == before


def test_an_eraser_that_fails_leaves_the_backup_as_it_was(engine, filled, chosen, clock):
    filled(count=2)
    made = back_up(engine())

    def fails(opened):
        forget_one("quokka1")(opened)
        raise memoranda.Refused("no")

    with pytest.raises(memoranda.Refused):
        rewrite(made.path, settings=chosen(), clock=clock, erase=fails)
    assert verify_backup(made.path, settings=chosen()).ok
    with open(made.path, "rb") as file:
        assert b"quokka1" in file.read()
    assert len(os.listdir(os.path.dirname(made.path))) == 2


def test_an_older_ledger_comes_back_and_is_brought_up_to_date(path, engine, filled, target, chosen, clock):
    """A backup from before the newest migration."""
    filled(count=2)
    made = back_up(engine())
    old = shutil.copy(made.path, target.parent.parent.parent / "old.memoranda")
    connection = SqliteConnection(str(old))
    for name in ("tag", "operation", "grading", "miss", "dismissal", "import_run", "upkeep"):
        connection.execute(f"drop table if exists {name}")
    connection.execute("drop index if exists event_scope; delete from migration where name >= 'm006'")
    manifest = made.receipt.manifest._replace(figures=figures(connection))
    assert manifest.figures.schema < MIGRATIONS[-1].name
    connection.close()
    settle(Path(old), None, manifest)
    restore(old, target, settings=chosen())
    assert held_by(target).schema == MIGRATIONS[-1].name
    assert held_by(target).contents == held_by(path).contents
