"""Killed at any moment, nothing half is taken for whole, nothing is lost, and called again it works."""

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from memoranda.ledger import backup, sealing
from memoranda.ledger.backup import figures
from memoranda.service.backing_up import back_up, backups_in, leftovers, opened_store, rewrite, verify_backup
from memoranda.service.keys import key_from_file
from memoranda.service.resealing import reseal
from memoranda.service.restoring import restore
from memoranda.testing.fakes import FixedClock
from support import child, end, open_store

PASSPHRASE = "correct horse battery staple"
_STEPS = frozenset({"open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir"})
_MOST = 200


@pytest.fixture(autouse=True)
def _cheap_passphrases():
    """Not here: other processes derive the same keys."""


def killed_at(step, act):
    """Do it in a process that is killed at its so-many-th step on files; whether it was, before it ended."""
    process = os.fork()
    if process == 0:
        left = step

        def kill(event, details):
            nonlocal left
            if event in _STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(kill)
            act()
        finally:
            os._exit(0)
    status = os.waitpid(process, 0)[1]
    return os.WIFSIGNALED(status)


def at_every_step(act, afterwards):
    """Kill it at its first step, its second, and so on until it ends unharmed. `afterwards` looks, and tidies up."""
    for step in range(1, _MOST):
        if not killed_at(step, act):
            assert step > 5, "it was looked at"
            return
        afterwards()
    raise AssertionError("it never ends")


def held_by(path, **settings):
    with open_store(path, sweep=False, **settings) as memory, memory._engine.ledger.database.read() as connection:
        return figures(connection)


def test_a_reseal_leaves_the_one_or_the_other(path, filled, chosen, key_file):
    filled(count=3)
    expected, key, seen = held_by(path), key_from_file(Path(key_file)), set()

    def afterwards():
        sealed = sealing.is_sealed(sealing.head(path))
        seen.add(sealed)
        assert held_by(path, **({"key_file": key_file} if sealed else {})) == expected
        if sealed:
            reseal(path, before=key, after=None, settings=chosen())
            assert not leftovers(chosen())

    at_every_step(lambda: reseal(path, before=None, after=key, settings=chosen()), afterwards)
    assert seen == {False, True}, "killed before the swap, and after it"


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE])
def test_a_backup_is_not_there_or_whole(path, filled, chosen, passphrase, monkeypatch):
    monkeypatch.setitem(sys.modules["memoranda.service.keys"]._COST, "n", 2)
    filled(count=3)
    expected, seen = held_by(path), set()
    folder = path.with_name("store.db-backups")

    def act():
        with opened_store(chosen()) as engine:
            return back_up(engine, passphrase=passphrase)

    def afterwards():
        found = backups_in(folder)
        seen.add(len(found))
        for each in found:
            checked = verify_backup(each.path, settings=chosen(), passphrase=passphrase)
            assert checked.ok
            assert checked.file.manifest.figures == expected
            os.unlink(each.path)
        act()
        assert not [each for each in leftovers(chosen()) if each.parent == path.parent]
        shutil.rmtree(folder)

    at_every_step(act, afterwards)
    assert seen == {0, 1}


def test_a_restore_is_not_there_or_whole(path, filled, chosen, tmp_path):
    filled(count=3)
    expected, seen = held_by(path), set()
    with opened_store(chosen()) as engine:
        made = back_up(engine)
    target = tmp_path / "again" / "again.db"

    def act():
        restore(made.path, target, settings=chosen(), tombstones_from=path)

    def afterwards():
        seen.add(target.exists())
        if not target.exists():
            act()
        assert held_by(target) == expected
        shutil.rmtree(target.parent)

    at_every_step(act, afterwards)
    assert seen == {False, True}


def test_a_rewritten_backup_is_the_one_or_the_other(path, filled, chosen):
    filled(count=3)
    with opened_store(chosen()) as engine:
        made = back_up(engine)
    contents = set()

    def act():
        rewrite(made.path, settings=chosen(sweep=False), clock=FixedClock(), erase=forget_all)

    def forget_all(engine):
        engine.ledger.erase(every(engine), actor="test")

    def every(engine):
        with engine.ledger.database.read() as connection:
            return backup.every(connection)

    whole = Path(made.path).read_bytes()

    def afterwards():
        checked = verify_backup(made.path, settings=chosen())
        assert checked.ok
        contents.add(checked.file.manifest.figures.counts["memories"])
        Path(made.path).write_bytes(whole)
        Path(made.path + ".json").unlink(missing_ok=True)

    at_every_step(act, afterwards)
    assert len(contents) == 2


def grown(folder, size):
    path = folder / "store.db"
    with open_store(path, sweep=False) as memory:
        for start in range(0, size, 500):
            memory.remember_many([f"Memory {start + number} of many. " + "filling " * 30 for number in range(500)])
    return path, held_by(path)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("large"), 3_000)


@pytest.mark.parametrize("what", ["reseal", "backup", "restore"])
def test_at_random_moments(path, large, chosen, key_file, what, tmp_path):
    """Also in the middle of a copy, which makes no step that could be counted."""
    is_whole_though_killed(path, large, chosen, key_file, what, tmp_path, times=6, span=1.0)


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("larger"), 50_000)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("what", ["reseal", "backup", "restore"])
def test_fifty_thousand_memories_at_random_moments(path, larger, chosen, key_file, what, tmp_path):
    is_whole_though_killed(path, larger, chosen, key_file, what, tmp_path, times=4, span=6.0)


def is_whole_though_killed(path, stored, chosen, key_file, what, tmp_path, *, times, span):
    origin, expected = stored
    shutil.copy(origin, path)
    with opened_store(chosen()) as engine:
        made = back_up(engine, tmp_path / "b.memoranda")
    target = tmp_path / "again.db" if what == "restore" else path
    given = {"reseal": key_file, "backup": PASSPHRASE, "restore": made.path}[what]
    chance = random.Random(7)
    for _ in range(times):
        process = child("resealer", what, target, given)
        try:
            assert process.stdout.readline()
            time.sleep(chance.uniform(0, span))
            os.kill(process.pid, signal.SIGKILL)
        finally:
            end(process)
        if what == "restore" and not target.exists():
            continue
        sealed = sealing.is_sealed(sealing.head(target))
        assert held_by(target, **({"key_file": key_file} if sealed else {})) == expected
        if sealed:
            reseal(target, before=key_from_file(Path(key_file)), after=None, settings=chosen())
        elif what == "restore":
            for file in tmp_path.glob("again.db*"):
                file.unlink()
    for each in backups_in(path.with_name("store.db-backups")):
        assert verify_backup(each.path, settings=chosen(), passphrase=PASSPHRASE).ok
