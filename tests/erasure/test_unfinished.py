"""An erasure that has not reached every backup is known to be unfinished, and is gone on with."""

import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from memoranda import Conflict, user
from memoranda.domain.errors import LedgerDamaged
from memoranda.ledger.locking import held
from memoranda.service import backing_up
from memoranda.service.backing_up import back_up, backups_in, rewrite, verify_backup
from memoranda.service.erased_beside import pending_backups
from memoranda.service.restoring import restore
from support import child, finish, open_store

TEXT = "The kanarienvogel sings in the bedroom of the yellow house every morning."
WORD = "kanarienvogel"
PASSPHRASE = "a passphrase of several words"


def holding(path, word=WORD):
    return sorted(
        str(file.relative_to(path.parent))
        for file in path.parent.rglob("*")
        if file.is_file() and word.encode() in file.read_bytes()
    )


@pytest.fixture(autouse=True)
def _no_passphrase_of_somebodys_own(monkeypatch):
    monkeypatch.delenv("MEMORANDA_PASSPHRASE", raising=False)


@pytest.fixture
def filled(opened, clock):
    memory = opened(clock=clock)
    memory.remember("A bystander reads a book.")
    memory.remember(TEXT, about="bird", speaker="anna")
    memory.conversations.append(
        [user(TEXT, speaker="anna", id="1"), user("Good morning.", speaker="ben", id="2")], conversation="talk"
    )
    return memory


def killed_before_the_backups(path, clock, erase):
    """Erase in a process that is killed when the store is done and its backups are not."""
    process = os.fork()
    if process == 0:
        try:
            with open_store(path, clock=clock) as memory:
                erase(memory, lambda done, _: done >= 700 and os.kill(os.getpid(), signal.SIGKILL))
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("how", ["maintain", "the next erasure"])
@pytest.mark.parametrize("what", [{"about": "bird"}, {"speaker": "anna"}, {"scope": "home/anna"}])
def test_one_that_was_killed_is_gone_on_with(path, clock, opened, filled, how, what):
    back_up(filled._engine)
    filled.close()
    killed_before_the_backups(path, clock, lambda memory, tell: memory.erase(**what, progress=tell))
    memory = opened(clock=clock, sweep=False)
    assert holding(path) == [f"store.db-backups/{os.path.basename(pending_backups(memory._engine)[0])}"]
    if how == "maintain":
        assert memory.admin.maintain().erased.backups == 1
    else:
        assert memory.erase(memory.remember("Something else is erased.")).purged
    assert holding(path) == []
    assert pending_backups(memory._engine) == ()
    for each in backups_in(path.with_name("store.db-backups")):
        assert verify_backup(each.path, settings=memory._engine.settings).ok
    if "scope" not in what:
        assert "reads a book" in Path(each.path).read_bytes().decode("utf-8", "replace"), "nothing else went"


def test_a_conversation_whose_erasure_was_killed_is_gone_on_with(path, clock, opened, filled):
    filled.erase(about="bird")
    filled.conversations.append([user("The zirconium ring is in the drawer.")], conversation="ring")
    back_up(filled._engine)
    filled.close()
    with open_store(path, clock=clock) as memory:
        engine = memory._engine
        engine.transcripts.erase(engine.transcripts.of_scopes(("home/anna",))[-1:], actor="killed")
    assert holding(path, "zirconium")
    memory = opened(clock=clock)
    assert memory.admin.maintain().erased.state == "purged"
    assert holding(path, "zirconium") == []
    assert "Good morning." in Path(backups_in(path.with_name("store.db-backups"))[0].path).read_bytes().decode(
        "utf-8", "replace"
    )


def test_a_passphrase_that_is_given_later_finishes_it(path, clock, filled, monkeypatch, tmp_path):
    made = back_up(filled._engine, passphrase=PASSPHRASE).path
    done = filled.erase(about="bird", proof=True)
    assert done.receipt.state == "deleted"
    assert "maintain" in done.receipt.pending
    assert pending_backups(filled._engine) == (made,)
    assert filled.admin.maintain().erased.state == "deleted", "it has not been forgotten"
    assert not filled.verify_erasure(done.receipt.statement).ok
    monkeypatch.setenv("MEMORANDA_PASSPHRASE", PASSPHRASE)
    again = filled.admin.maintain().erased
    assert (again.state, again.backups) == ("purged", 1)
    assert pending_backups(filled._engine) == ()
    assert filled.verify_erasure(done.receipt.statement).ok
    restore(
        made, tmp_path / "again.db", settings=filled._engine.settings.changed({"backups": ""}), passphrase=PASSPHRASE
    )
    with open_store(tmp_path / "again.db", clock=clock) as memory:
        assert not memory.recall(WORD)


def test_opening_leaves_the_backups_to_maintain(path, clock, opened, filled):
    filled.conversations.erase("talk")
    made = back_up(filled._engine).path
    filled.forget(filled.recall(WORD)[0].id)
    filled.close()
    clock.advance(days=31)
    before = Path(made).read_bytes()
    memory = opened(clock=clock)
    assert Path(made).read_bytes() == before
    assert pending_backups(memory._engine) == (made,)
    assert memory.admin.maintain().erased.state == "purged"
    assert holding(path) == []


def test_a_backup_that_is_put_back_is_cleaned_again(path, filled, tmp_path):
    made = back_up(filled._engine).path
    shutil.copy(made, tmp_path / "kept")
    filled.erase(about="bird")
    shutil.copy(tmp_path / "kept", made)
    assert pending_backups(filled._engine) == (made,)
    assert filled.admin.maintain().erased.state == "purged"
    assert holding(path) == ["kept"]


def test_what_doctor_plants_makes_no_backup_pending(filled):
    back_up(filled._engine)
    filled.admin.doctor()
    assert pending_backups(filled._engine) == ()


def test_a_backup_made_after_an_erasure_is_not_pending(filled, clock):
    filled.erase(about="bird")
    clock.advance(days=1)
    back_up(filled._engine)
    assert pending_backups(filled._engine) == ()


def test_what_was_erased_and_is_wanted_again_stays_in_the_backups(path, filled, clock):
    filled.erase(about="bird")
    filled.remember(TEXT, after_erase="allow")
    clock.advance(days=1)
    made = back_up(filled._engine).path
    filled.erase(filled.remember("Something else is erased."))
    filled.erase(speaker="nobody at all")
    assert WORD in Path(made).read_bytes().decode("utf-8", "replace")


def test_erasures_at_the_same_time_lose_no_backup(path, clock, filled, tmp_path):
    texts = [f"Memory number {number} tells of the quokka{number}." for number in range(120)]
    kept = [filled.remember(text).id for text in texts]
    made = [back_up(filled._engine).path for _ in range(2)]
    filled.close()
    processes = [child("erasing", path, *kept[start : start + 6]) for start in (0, 20, 40)]
    for process in processes:
        finish(process)
    with open_store(path, clock=clock) as memory:
        memory.admin.maintain()
        assert pending_backups(memory._engine) == ()
        for each in made:
            checked = verify_backup(each, settings=memory._engine.settings)
            assert checked.ok
            assert checked.file.manifest.figures.counts["memories"] == 122 - 18
    gone = [texts[start + each] for start in (0, 20, 40) for each in range(6)]
    assert [text for text in gone if holding(path, text)] == []


def test_a_rewriting_that_loses_something_is_refused(filled):
    made = back_up(filled._engine).path
    before = Path(made).read_bytes()

    def lose(inside):
        inside.ledger.database.write(lambda connection: connection.execute("delete from memory").fetchall())

    with pytest.raises(LedgerDamaged):
        rewrite(made, settings=filled._engine.settings, clock=filled._engine.clock, erase=lose)
    assert Path(made).read_bytes() == before


def test_a_rewriting_waits_for_a_backup_and_says_when_it_takes_too_long(path, filled, monkeypatch):
    made = back_up(filled._engine).path
    monkeypatch.setattr(backing_up, "_PATIENCE_SECONDS", 0.1)
    with held(path.with_name("store.db-backing-up")):
        with pytest.raises(Conflict):
            rewrite(made, settings=filled._engine.settings, clock=filled._engine.clock, erase=lambda _: None)
        done = filled.erase(about="bird")
        assert done.receipt.state == "deleted"
        assert made in done.receipt.untouchable[0]
    assert filled.admin.maintain().erased.state == "purged"
    assert holding(path) == []


def test_a_log_beside_a_backup_is_read_and_goes(path, filled):
    made = back_up(filled._engine).path
    process = os.fork()
    if process == 0:  # somebody opens the backup as a store, and is killed
        connection = sqlite3.connect(made)
        connection.execute("pragma journal_mode = wal").fetchall()
        connection.execute("update memory set about = 'parrot' where about = 'bird'")
        connection.commit()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    assert f"{made}-wal" in [str(path.parent / each) for each in holding(path)]
    done = filled.erase(about="bird", proof=True)
    assert done.purged, done.receipt
    assert holding(path) == []
    assert not Path(f"{made}-wal").exists()
    assert verify_backup(made, settings=filled._engine.settings).ok
    assert filled.verify_erasure(done.receipt.statement).ok


def test_a_copy_that_bears_the_name_of_a_backup_is_named(path, filled):
    made = back_up(filled._engine).path
    shutil.copy(made, f"{made}.bak")
    done = filled.erase(about="bird", proof=True)
    assert done.receipt.state == "deleted"
    assert ".memoranda.bak" in done.receipt.pending
    assert not filled.verify_erasure(done.receipt.statement).ok
    os.unlink(f"{made}.bak")
    assert filled.verify_erasure(done.receipt.statement).ok
