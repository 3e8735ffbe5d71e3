"""A migration that is interrupted, wherever, goes on where it was; nothing is lost, and nothing is there twice."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memoranda
from memoranda.domain.errors import Conflict
from memoranda.ledger import copying
from memoranda.ledger import copying_tracking as tracking
from memoranda.ledger.copying_targets import Target
from memoranda.service.migrating import migrate, plan_migration, reopen
from migrate.conftest import ENGINES

_TARGETS = {"sqlite": ("copying_targets", "SqliteTarget"), "postgres": ("copying_postgres", "PostgresTarget")}


class _Interrupted(BaseException):
    """As Ctrl-C, or a kill, would do it."""


@pytest.fixture
def small_bites(monkeypatch):
    """Many commits, in a store that is small."""
    monkeypatch.setattr(copying, "AT_ONCE", 7)


@pytest.fixture
def interrupted(monkeypatch):
    """Runs a migration and interrupts it after so many commits; whether it came to its end before."""
    real = Target.note

    def run(source, target, settings, *, commits):
        left = [commits]

        def note(self, arrival):
            if not left[0]:
                raise _Interrupted
            left[0] -= 1
            real(self, arrival)

        with monkeypatch.context() as patch:
            patch.setattr(Target, "note", note)
            try:
                return migrate(source, target, settings=settings)
            except _Interrupted:
                return None

    return run


@pytest.mark.parametrize("engine", ENGINES)
def test_it_goes_on_after_each_interruption_while_others_write_between(
    engine, place, filled, rows, opened, chosen, small_bites, interrupted
):
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source)
    done, times = None, 0
    while done is None:
        done = interrupted(source, target, chosen(), commits=4)
        times += 1
        if done is None and times < 12:
            with opened(source) as memory:
                page = memory.list(limit=100)
                memory.remember(f"Written between, number {times}.")
                memory.forget(page[times % len(page)])
                memory.erase(page[(times * 7 + 3) % len(page)])
                memory.conversations.append([memoranda.user(f"And what of number {times}?")], conversation="talk")
                memory.tag(f"tag-{times}")
    assert times > 3
    assert done.receipt.resumed
    assert rows(target) == rows(source)
    with opened(target) as memory:
        assert memory.admin.verify().ok


def test_both_are_usable_or_say_why_not_after_an_interruption(place, filled, opened, chosen, interrupted):
    source, target = place("sqlite", "source"), place("sqlite", "target")
    filled(source)
    assert interrupted(source, target, chosen(), commits=3) is None
    with opened(source) as memory:
        memory.remember("The source goes on.")
        assert memory.recall("what goes on?")
    assert plan_migration(source, target, settings=chosen()).resumes
    with pytest.raises(Conflict, match="not finished"):
        migrate(target, place("sqlite", "elsewhere"), settings=chosen())


def test_another_store_does_not_go_on_with_it(place, filled, opened, chosen, interrupted):
    source, target, other = (place("sqlite", name) for name in ("source", "target", "other"))
    filled(source)
    filled(other)
    assert interrupted(source, target, chosen(), commits=3) is None
    with pytest.raises(Conflict, match="cannot go on"):
        migrate(other, target, settings=chosen())


def test_a_source_that_noted_nothing_meanwhile_does_not_go_on_with_it(place, filled, rows, chosen, interrupted):
    """It was given up: what was changed since is not known."""
    source, target = place("sqlite", "source"), place("sqlite", "target")
    filled(source)
    assert interrupted(source, target, chosen(), commits=3) is None
    reopen(source, settings=chosen())
    with pytest.raises(Conflict, match="cannot go on"):
        migrate(source, target, settings=chosen())
    migrate(source, place("sqlite", "another"), settings=chosen())


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_finished_when_only_the_last_word_was_lost(engine, place, filled, rows, chosen, monkeypatch):
    """The source says that it was moved, and the target does not know that it is whole."""
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source)
    with monkeypatch.context() as patch:
        module, kind = _TARGETS[engine]
        patch.setattr(f"memoranda.ledger.{module}.{kind}.complete", _stop)
        with pytest.raises(_Interrupted):
            migrate(source, target, settings=chosen())
    done = migrate(source, target, settings=chosen())
    assert done.receipt.resumed
    assert rows(target) == rows(source)
    with pytest.raises(Conflict, match="moved"):
        migrate(source, target, settings=chosen())


def test_the_source_is_not_marked_when_the_last_step_fails(place, filled, rows, opened, chosen, monkeypatch):
    source, target = place("sqlite", "source"), place("sqlite", "target")
    filled(source)
    with monkeypatch.context() as patch:
        patch.setattr(tracking, "close", _stop)
        with pytest.raises(_Interrupted):
            migrate(source, target, settings=chosen())
    with opened(source) as memory:
        memory.remember("Written after the last step had failed.")
    migrate(source, target, settings=chosen())
    assert rows(target) == rows(source)


def _stop(*_):
    raise _Interrupted


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_killed_at_random_moments_it_goes_on(engine, place, filled, rows, chosen, tmp_path):
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source, count=3_000)
    chance = random.Random(8)
    kills = 0
    for _ in range(60):
        process = _mover(source, target, tmp_path)
        assert process.stdout.readline() == "begun\n", process.stderr.read()
        if kills < 12:
            time.sleep(chance.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
        _, err = process.communicate()
        # Killed after its last word: the next one is told that it was moved.
        done = process.returncode == 0 or "was moved to" in err
        if done:
            break
        assert process.returncode == -signal.SIGKILL, err
        kills += 1
    assert done
    assert kills >= 3
    assert rows(target) == rows(source)


def _mover(source, target, folder):
    here = Path(__file__).parent
    paths = ":".join(map(str, (Path(memoranda.__file__).parents[1], here.parent)))
    return subprocess.Popen(
        [sys.executable, str(here / "mover.py"), source, target, str(folder / "local")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
