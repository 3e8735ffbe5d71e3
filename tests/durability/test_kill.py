"""kill -9 at any moment: what was acknowledged is there."""

import pytest

from support import occurrences, open_store

from .conftest import Killer


def _kill_often(killer, times, **options):
    for _ in range(times):
        killer.check(killer.round(**options))
    print(f"\n{killer.kills} kills, {len(killer.acknowledged)} acknowledged, 0 lost, {len(killer.erased)} erased")
    assert len(killer.acknowledged) > 3 * times


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(path):
    _kill_often(Killer(path, "recall"), 5, longest=0.3)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_in_fifty_kills(path):
    _kill_often(Killer(path, "recall"), 50, longest=0.6)


@pytest.mark.slow
def test_nothing_is_lost_when_the_very_first_moments_are_cut_short(tmp_path):
    """Also while the file itself is being made."""
    for number in range(12):
        killer = Killer(tmp_path / f"{number}.db")
        killer.check(killer.round(longest=0.02))


def test_a_kill_while_the_index_is_rebuilt_leaves_a_store_that_recalls(path):
    _kill_often(Killer(path, "rebuild"), 3, longest=0.4)
    with open_store(path, embedder="hashed:words") as memory:
        status = memory.admin.index_status()
        assert (status.lexical_rows, status.lag) == (status.memories, 0)
        assert status.self_test == "ok"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_while_the_index_is_rebuilt_often(path):
    _kill_often(Killer(path, "rebuild"), 20, longest=0.6)


def _erased_or_intact(path, times):
    killer = Killer(path, "erase")
    for _ in range(times):
        there = killer.check(killer.round(longest=0.4))
        with open_store(path, embedder="hashed:words") as memory:
            memory.admin.maintain()
            assert memory.admin.verify().ok
            for each, text in killer.begun.items():
                if each in there:
                    assert memory.get(each).text == text
                    assert memory.history(each)
                else:
                    # Never half: after one upkeep nothing of it is in any file.
                    assert occurrences(path, text) == []
                    assert not [hit for hit in memory.recall(text, limit=20) if hit.id == each]
    print(f"\n{killer.kills} kills, {len(killer.begun)} erasures begun, {len(killer.erased)} told as done")
    return killer


def test_a_kill_in_mid_erase_leaves_it_erased_or_intact(path):
    assert _erased_or_intact(path, 4).begun


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kills_in_mid_erase_often(path):
    assert len(_erased_or_intact(path, 30).begun) > 30
