"""Several processes on one store: nothing is lost, nobody fails, nobody starves, everybody sees."""

import pytest

from support import answer, child, end, finish, open_store, tell


def _crowd(path, processes, writes):
    """All of them at once on a store that does not exist yet, and a reader meanwhile."""
    writers = [child("crowd", path, name, writes) for name in range(processes)]
    reader = child("reader", path)
    try:
        for process in (*writers, reader):
            answer(process)
        for process in (*writers, reader):
            tell(process, "go")
        told = [finish(writer, timeout=240)[-1] for writer in writers]
        tell(reader, "stop")
        seen = finish(reader)[-1]
    finally:
        for process in (*writers, reader):
            end(process)
    return told, seen


def _check(path, told, seen, total):
    ids = [each for writer in told for each in writer["ids"]]
    assert len(set(ids)) == total
    with open_store(path) as memory:
        assert memory.stats().total == total
        there = set()
        while page := memory.list(limit=1000, offset=len(there)):
            there.update(each.id for each in page)
        assert there == set(ids)
        assert memory.admin.verify().ok
        status = memory.admin.index_status()
        assert (status.lexical_rows, status.lag) == (total, 0)
        for writer in told:
            newest = memory.recall(f"writer {writer['name']} says {len(writer['ids']) - 1}", limit=100)
            assert writer["ids"][-1] in [hit.id for hit in newest]
    assert seen["counts"] == sorted(seen["counts"]), "a reader saw a count go back"
    assert seen["counts"][-1] == total
    assert seen["recalls"] > 0
    began = min(writer["times"][0] for writer in told)
    ended = max(writer["times"][-1] for writer in told)
    print(
        f"\n{len(told)} processes: {total} durable writes, {total / (ended - began):.0f}/s, {seen['recalls']} recalls"
    )


def _check_fair(told):
    first_done = min(writer["times"][-1] for writer in told)
    for writer in told:
        done = sum(moment <= first_done for moment in writer["times"])
        assert done >= len(writer["times"]) // 10, f"{writer['name']} had done {done} when another had done all"


def test_four_processes_at_once_lose_nothing(path):
    told, seen = _crowd(path, 4, 60)
    _check(path, told, seen, 240)


@pytest.mark.slow
def test_four_processes_of_five_hundred_writes_lose_nothing_and_take_turns(path):
    told, seen = _crowd(path, 4, 500)
    _check(path, told, seen, 2_000)
    _check_fair(told)


@pytest.mark.slow
def test_a_new_store_may_be_opened_by_four_at_once_again_and_again(tmp_path):
    for number in range(8):
        told, seen = _crowd(tmp_path / f"{number}.db", 4, 3)
        _check(tmp_path / f"{number}.db", told, seen, 12)


@pytest.fixture
def peer(path):
    processes = []

    def start(embedder="hashed:words", follow="no"):
        processes.append(child("peer", path, embedder, follow))
        answer(processes[-1])

        def ask(line):
            tell(processes[-1], line)
            return answer(processes[-1])

        return ask

    yield start
    for process in processes:
        end(process)


@pytest.mark.parametrize("follow", ["no", "yes"])
def test_what_one_process_remembered_another_recalls_at_once(opened, peer, follow):
    ours = opened(embedder="hashed:words", follow=follow == "yes")
    theirs = peer(follow=follow)
    assert theirs("recall reading lamp")["ids"] == []
    for number in range(5):
        kept = ours.remember(f"the reading lamp number {number} stands in room{number}")
        told = theirs(f"recall reading lamp room{number}")
        assert told["ids"][0] == kept.id
        assert told["semantic"][0] is not None
        back = theirs(f"remember the boiler {number} was looked after in year{number}")
        found = ours.recall(f"boiler year{number}")
        assert found[0].id == back["id"]
        assert found[0].receipt.semantic_rank is not None
        assert found[0].receipt.lexical_rank is not None


def test_what_one_process_forgot_another_no_longer_recalls(opened, peer):
    ours, theirs = opened(embedder="hashed:words"), peer()
    kept = ours.remember("the reading lamp stands in the hall")
    assert theirs("recall reading lamp")["ids"] == [kept.id]
    ours.forget(kept)
    assert theirs("recall reading lamp")["ids"] == []
    ours.restore(kept)
    assert theirs("recall reading lamp")["ids"] == [kept.id]
    ours.erase(kept)
    assert theirs("recall reading lamp")["ids"] == []


def test_while_another_process_holds_the_index_the_newest_are_still_found(opened, peer):
    ours, theirs = opened(embedder="hashed:words"), peer()
    old = ours.remember("the boiler manual is in the cellar")
    gone = ours.remember("the reading lamp is broken")
    assert [hit.id for hit in ours.recall("boiler manual")] == [old.id]
    theirs("hold")
    kept = ours.remember("the reading lamp stands in the hall")
    ours.forget(gone)
    assert [hit.id for hit in ours.recall("reading lamp")] == [kept.id]
    assert [hit.id for hit in ours.recall("boiler manual")] == [old.id]
    ours.erase(old)
    assert [hit.id for hit in ours.recall("boiler manual")] == []
    theirs("release")
    assert [hit.id for hit in ours.recall("reading lamp")] == [kept.id]
    assert ours.admin.index_status().lag == 0


def test_a_store_may_be_opened_and_asked_while_another_process_holds_the_index(opened, peer):
    ours = opened(embedder="hashed:words")
    ours.remember("the boiler manual is in the cellar")
    ours.recall("boiler")
    theirs = peer()
    theirs("hold")
    fresh = opened(embedder="hashed:words")
    kept = fresh.remember("the reading lamp stands in the hall")
    assert [hit.id for hit in fresh.recall("reading lamp")] == [kept.id]
    theirs("release")


def test_a_rebuild_by_another_process_is_followed(opened, peer):
    theirs = peer()
    ours = opened(embedder="hashed:words")
    kept = ours.remember("the reading lamp stands in the hall")
    assert theirs("recall reading lamp")["ids"] == [kept.id]
    for _ in range(2):
        ours.admin.rebuild()
        assert theirs("recall reading lamp")["ids"] == [kept.id]
    after = theirs("remember the boiler manual is in the cellar")
    assert ours.recall("boiler manual")[0].id == after["id"]
