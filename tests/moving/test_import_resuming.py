"""An import that is interrupted, however and whenever, goes on where it was: nothing is lost, nothing comes twice."""

import json
import random
import time
from contextlib import suppress

import pytest

from memoranda import Conflict, Draft
from memoranda.ledger import travel
from memoranda.service import importing
from memoranda.service.importing import imports_of
from moving.household import digest, furnish
from support import answer, child, end, finish, open_store


@pytest.fixture
def small_bites(monkeypatch):
    """Fifty records in one commit: what is true of many bites is true of few records, too."""
    monkeypatch.setattr(importing, "_BATCH", 50)
    monkeypatch.setattr(importing, "_AT_HAND", 70)


BELIEVED = {"own": "kept", "jsonl": ""}


class Stopped(Exception):
    """Somebody pulled the plug."""


def filled(memory, number):
    furnish(memory)
    for start in range(0, number, 5_000):
        memory.remember_many(
            [
                Draft(f"Number {each} of many is in box {each * 7}.", tags=("box",), metadata={"each": each})
                for each in range(start, min(start + 5_000, number))
            ]
        )


def stop_after(batches):
    def tell(done, total):
        nonlocal batches
        if total:
            batches -= 1
            if batches <= 0:
                raise Stopped

    return tell


@pytest.mark.parametrize("dedupe", ["id_text", "id", "none"])
@pytest.mark.parametrize("form", ["own", "jsonl"])
def test_stopped_after_some_batches_it_goes_on_behind_them(small_bites, memory, another, tmp_path, form, dedupe):
    filled(memory, 170)
    file = tmp_path / "out.jsonl"
    memory.export(file, redact=False)
    if form == "jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()[1:-1]]
        kept = [{"id": each["id"], "text": each["text"]} for each in lines]
        file.write_text("\n".join(map(json.dumps, kept)) + "\n")
    whole = another("whole.db")
    whole.import_memories(file, format=form, dedupe=dedupe, trust=BELIEVED[form])
    other = another("other.db")
    for batches in (1, 2):
        with pytest.raises(Stopped):
            other.import_memories(file, format=form, dedupe=dedupe, trust=BELIEVED[form], progress=stop_after(batches))
    half = other.imports()[0]
    assert (half.place, half.finished_at) == (150, None)
    done = other.import_memories(file, format=form, dedupe=dedupe, trust=BELIEVED[form])
    assert done.resumed
    assert done.run.id == half.id
    assert done.audit.total == len(file.read_text().splitlines()) - (2 if form == "own" else 0) - 150
    assert done.run.counts == whole.imports()[0].counts
    assert sorted(each.text for each in other.list(limit=500)) == sorted(each.text for each in whole.list(limit=500))
    if form == "own":
        assert digest(other) == digest(memory)
    assert len(other.imports()) == 1
    other.undo(below=True)
    assert other.contents(below=True).memories == 0


def test_there_is_one_tag_from_before_all_of_it(small_bites, memory, another, tmp_path):
    filled(memory, 120)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    with pytest.raises(Stopped):
        other.import_memories(tmp_path / "out.jsonl", progress=stop_after(1))
    assert other.import_memories(tmp_path / "out.jsonl").tag == ""
    assert len(other.tags()) == 1
    other.rollback(other.tags()[0].name, below=True)
    assert other.contents(below=True).memories == 0


def test_another_file_or_another_scope_is_another_import(small_bites, memory, another, tmp_path):
    filled(memory, 120)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    with pytest.raises(Stopped):
        other.import_memories(tmp_path / "out.jsonl", trust="kept", progress=stop_after(1))
    memory.remember("Something new.")
    memory.export(tmp_path / "newer.jsonl", redact=False)
    done = other.import_memories(tmp_path / "newer.jsonl", trust="kept")
    assert not done.resumed
    assert done.audit.left_out["known"] == 50
    assert digest(other) == digest(memory)


def test_taken_back_in_the_middle_it_begins_anew(small_bites, memory, another, tmp_path):
    filled(memory, 120)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    with pytest.raises(Stopped):
        other.import_memories(tmp_path / "out.jsonl", trust="kept", progress=stop_after(1))
    other.undo(below=True)
    done = other.import_memories(tmp_path / "out.jsonl", trust="kept")
    assert not done.resumed
    assert digest(other) == digest(memory)


@pytest.mark.parametrize(("form", "dedupe"), [("own", "id_text"), ("own", "none"), ("jsonl", "id")])
@pytest.mark.parametrize("way_back", ["undo", "rollback", "half undone"])
@pytest.mark.parametrize("bites", [1, 2, 99])
def test_taken_back_wherever_it_was_it_begins_anew_as_a_new_run(
    small_bites, memory, another, tmp_path, monkeypatch, form, dedupe, way_back, bites
):
    filled(memory, 120)
    file = tmp_path / "out.jsonl"
    memory.export(file, redact=False)
    if form == "jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()[1:-1]]
        file.write_text("\n".join(json.dumps({"id": each["id"], "text": each["text"]}) for each in lines) + "\n")
    other = another("other.db")
    with suppress(Stopped):
        other.import_memories(file, format=form, dedupe=dedupe, trust=BELIEVED[form], progress=stop_after(bites))
    first = other.imports()[0]
    assert (first.finished_at is None) == (bites < 99)
    if way_back == "rollback":
        other.rollback(other.tags()[0].name, below=True)
    elif way_back == "undo":
        other.undo(below=True)
    else:
        with monkeypatch.context() as patch:
            patch.setattr(travel, "AT_ONCE", 10)
            patch.setattr(travel, "_BITE", 20)
            with pytest.raises(Stopped):
                other.undo(below=True, progress=stop_after(1))
    before = other.contents(below=True).memories
    done = other.import_memories(file, format=form, dedupe=dedupe, trust=BELIEVED[form])
    assert not done.resumed
    assert done.run.id != first.id
    assert done.run.place == done.audit.total
    if way_back != "half undone":
        assert before == 0
    if dedupe != "none" or way_back != "half undone":
        assert len({each.text for each in other.list(limit=500, states=())}) == other.contents(below=True).memories
        assert len(other.imports()) == 2
    if form == "own" and (dedupe != "none" or way_back != "half undone"):
        assert digest(other) == digest(memory)


def test_an_undo_that_was_undone_leaves_the_import_to_go_on(small_bites, memory, another, tmp_path):
    filled(memory, 120)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    with pytest.raises(Stopped):
        other.import_memories(tmp_path / "out.jsonl", dedupe="none", trust="kept", progress=stop_after(1))
    back = other.undo(below=True)
    other.undo(back.receipt.first, below=True)
    done = other.import_memories(tmp_path / "out.jsonl", dedupe="none", trust="kept")
    assert done.resumed
    assert digest(other) == digest(memory)


def test_two_at_once_do_not_both_take_the_same(small_bites, memory, another, tmp_path):
    filled(memory, 120)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    with pytest.raises(Stopped):
        other.import_memories(tmp_path / "out.jsonl", progress=stop_after(1))
    runs = imports_of(other._engine)
    stale = other.imports()[0]._replace(place=0)
    with pytest.raises(Conflict, match="another process"):
        runs.take(stale, [], place=5, left_out={}, dedupe="id", actor="", last=True)


def killed_at_random(path, file, form, dedupe, *, kills, span, seed):
    """How often it was killed while it had something to do."""
    chance = random.Random(seed)
    hit = 0
    for _ in range(kills):
        process = child("../moving/mover", path, file, form, dedupe)
        try:
            answer(process)
            time.sleep(chance.uniform(0, span))
        finally:
            end(process)
        with open_store(path) as memory:
            runs = memory.imports()
            assert len(runs) <= 1
            if runs and runs[0].finished_at is not None:
                return hit
            hit += 1
    finish(child("../moving/mover", path, file, form, dedupe))
    return hit


def test_killed_and_called_again_it_is_whole(memory, tmp_path):
    filled(memory, 2_500)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = tmp_path / "other.db"
    assert killed_at_random(other, tmp_path / "out.jsonl", "own", "none", kills=3, span=1.0, seed=1)
    with open_store(other) as copy:
        assert digest(copy) == digest(memory)
        assert copy.admin.verify().ok


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("dedupe", ["none", "id_text"])
def test_killed_at_random_points_it_is_whole_and_nothing_is_twice(memory, tmp_path, dedupe):
    filled(memory, 6_000)
    memory.export(tmp_path / "out.jsonl", redact=False)
    expected = digest(memory)
    hit = 0
    for seed in range(3):
        other = tmp_path / f"other-{seed}.db"
        hit += killed_at_random(other, tmp_path / "out.jsonl", "own", dedupe, kills=5, span=1.3, seed=seed)
        with open_store(other) as copy:
            assert digest(copy) == expected
            assert copy.imports()[0].counts["taken"] == copy.contents().memories
            assert copy.admin.verify().ok
            copy.undo()
            assert copy.contents().memories == 0
    assert hit >= 3


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fifty_thousand_memories_move_house_whole_though_they_are_stopped_on_the_way(memory, tmp_path):
    filled(memory, 50_000)
    done = memory.export(tmp_path / "out.jsonl", redact=False, below=True)
    other = tmp_path / "other.db"
    assert killed_at_random(other, tmp_path / "out.jsonl", "own", "id_text", kills=4, span=6.0, seed=7) >= 2
    with open_store(other) as copy:
        assert digest(copy) == digest(memory) == done.digest
        assert copy.imports()[0].counts["taken"] == done.memories > 50_000
        assert len(copy.imports()) == 1
        assert copy.admin.verify().ok
        copy.undo()
        assert copy.contents(below=True).memories == 0
