"""Time together with imports, upkeep and erasures: a way back takes what it should, and nothing else."""

import json
import threading

import pytest

import memoranda
from memoranda import Conflict, InvalidInput
from memoranda.ledger import travel
from memoranda.service import importing


class Stopped(Exception):
    pass


@pytest.fixture
def file(tmp_path):
    """Sixty records, in a form that is not our own."""
    made = tmp_path / "facts.jsonl"
    lines = [{"id": f"r{number}", "text": f"Fact number{number} of the house of Anna."} for number in range(60)]
    made.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return made


@pytest.fixture
def bites(monkeypatch):
    """As if these few were many."""
    monkeypatch.setattr(importing, "_BATCH", 10)
    monkeypatch.setattr(travel, "AT_ONCE", 15)
    monkeypatch.setattr(travel, "_BITE", 10)


def at(place, act):
    """A progress that does something once, when so many are taken in."""
    acts = [act]

    def tell(done, total):
        if total and done >= place and acts:
            acts.pop()()

    return tell


def stop():
    raise Stopped


# -- imports --


@pytest.mark.parametrize("way", ["rollback", "undo"])
def test_an_import_that_was_interrupted_and_taken_back_begins_anew(memory, file, bites, way):
    memory.remember("Before it.")
    before = memory.contents().digest
    with pytest.raises(Stopped):
        memory.import_memories(file, progress=at(20, stop))
    tag = memory.tags()[0].name
    if way == "undo":
        memory.undo()
    else:
        memory.rollback(tag)
    assert memory.contents().digest == before
    done = memory.import_memories(file)
    assert not done.resumed
    assert done.run.counts["taken"] == 60
    assert memory.contents().memories == 61


def test_an_import_goes_on_when_its_rollback_was_itself_undone(memory, file, bites):
    with pytest.raises(Stopped):
        memory.import_memories(file, progress=at(20, stop))
    memory.rollback(memory.tags()[0].name)
    memory.undo()
    assert memory.import_memories(file).resumed
    assert memory.contents().memories == 60


@pytest.mark.parametrize("place", [10, 40])
def test_an_import_that_is_undone_meanwhile_stops_and_leaves_nothing(memory, opened, clock, file, bites, place):
    """In one commit, and in several."""
    memory.remember("Before it.")
    before = memory.contents().digest
    other = opened(clock=clock)
    with pytest.raises(Conflict, match="undone while it was under way"):
        memory.import_memories(file, progress=at(place, lambda: other.undo()))
    assert memory.contents().digest == before
    assert memory.operations()[1].undone
    assert not memory.import_memories(file).resumed
    assert memory.contents().memories == 61


def test_what_an_import_adds_before_its_undo_begins_is_undone_with_it(memory, opened, clock, file, bites, monkeypatch):
    """Between the look at what there is to undo and the first commit of the undo."""
    other = opened(clock=clock)
    looked, go_on = threading.Event(), threading.Event()
    planned = travel.Travel._bites

    def waiting(self, *arguments):
        if not looked.is_set():
            looked.set()
            assert go_on.wait(30)
        return planned(self, *arguments)

    monkeypatch.setattr(travel.Travel, "_bites", waiting)
    receipts = []
    undoing = threading.Thread(target=lambda: receipts.append(other.undo().receipt))

    def begin():
        undoing.start()
        assert looked.wait(30)

    def end():
        go_on.set()
        undoing.join(30)

    first, second = at(20, begin), at(40, end)
    with pytest.raises(Conflict, match="undone while it was under way"):
        memory.import_memories(file, progress=lambda *numbers: (first(*numbers), second(*numbers)))
    assert (receipts[0].memories, receipts[0].left) == (40, 0)
    assert memory.contents().memories == 0
    assert memory.undo(receipts[0].first).receipt.brought_back == 40


# -- upkeep --


def test_undo_walks_on_behind_the_undo_of_a_retention(opened, clock, file, tmp_path):
    memory = opened(clock=clock, ttl_days=("note=10",))
    memory.import_memories(file)
    clock.advance(days=11)
    before = memory.contents().digest
    assert memory.retention.apply().expired == 60
    assert memory.undo().receipt.name == "retention"
    assert memory.contents().digest == before
    assert memory.undo().receipt.name == "import"
    assert memory.contents().memories == 0


def test_what_upkeep_ends_again_after_an_undo_stands_in_nobodys_way(opened, clock, file):
    memory = opened(clock=clock, ttl_days=("note=10",))
    memory.import_memories(file)
    clock.advance(days=11)
    memory.retention.apply()
    memory.undo()
    assert memory.admin.maintain().expired == 60
    assert memory.undo().receipt.name == "import"


# -- erasures --


@pytest.fixture
def twins(memory, clock):
    """Two that said the same; one of them was erased, and then something else was kept."""
    words = "Anna keeps the blue box in the cupboard."
    erased, kept = memory.remember(words, about="x"), memory.remember(words, about="y")
    clock.advance(ms=1)
    memory.erase(erased)
    clock.advance(ms=1)
    other = memory.remember("The boiler is on the roof.")
    clock.advance(ms=1)
    return kept, other


def test_undo_takes_back_the_last_thing_also_of_what_has_an_erased_twin(memory, twins):
    kept, other = twins
    archived = memory.archive(kept).receipt.sequence
    assert memory.undo().receipt.target == archived
    assert memory.get(kept).state == "live"
    assert memory.get(other).state == "live"


@pytest.mark.parametrize("many", [False, True])
def test_undo_does_not_go_on_to_something_older_when_the_last_cannot_be_undone(memory, twins, many, monkeypatch):
    kept, other = twins
    monkeypatch.setattr(travel, "AT_ONCE", 0 if many else 10)
    memory.forget(kept)
    for mode in ("preview", "now"):
        with pytest.raises(Conflict, match="were erased since in another memory") as caught:
            memory.undo(mode=mode)
    assert kept.id in str(caught.value)
    assert "by its number" in caught.value.hint
    assert memory.get(other).state == "live"
    assert memory.undo(other.receipt.sequence).receipt.taken_away == 1


def test_many_that_are_gone_are_passed_over_at_once(memory):
    """However many there are, as few statements."""
    memory.remember("The boiler is on the roof.")

    def statements(number):
        kept = [memory.remember(f"thing number{number}-{each}") for each in range(number)]
        for each in kept[: number // 2]:
            memory.erase(each)
        for _ in kept[number // 2 :]:
            memory.undo()
        counted = []
        with memory._engine.ledger.database.read() as connection:
            connection.exec_trace = lambda cursor, sql, bindings: counted.append(sql) or True
        assert memory.undo(mode="preview").receipt.target == 1
        connection.exec_trace = None
        return len(counted)

    few = statements(6)
    assert 0 < statements(20) <= few


# -- moments --


def test_a_rollback_that_goes_on_names_the_tag_of_its_beginning(memory, clock, bites):
    memory.remember_many([f"thing number{number}" for number in range(40)])
    there = memory.contents().digest
    with pytest.raises(Stopped):
        memory.rollback(0, progress=lambda done, total: stop() if done == 20 else None)
    first = memory.tags()[0]
    clock.advance(days=1)
    rolled = memory.rollback(0)
    assert rolled.before == first
    assert len(memory.tags()) == 1
    memory.rollback(rolled.before.name)
    assert memory.contents().digest == there


def test_a_rollback_that_goes_on_makes_no_tag_of_half_of_it(memory, clock, bites):
    memory.remember_many([f"thing number{number}" for number in range(40)])
    with pytest.raises(Stopped):
        memory.rollback(0, progress=lambda done, total: stop() if done == 20 else None)
    engine = memory._engine
    engine.ledger.database.write(lambda connection: connection.execute("delete from tag"))
    assert memory.rollback(0).before is None
    assert not memory.tags()


@pytest.mark.parametrize("name", ["5", "2026"])
def test_a_tag_is_not_named_like_a_sequence(memory, name):
    with pytest.raises(InvalidInput, match="would be a sequence"):
        memory.tag(name)


def test_a_tag_that_is_taken_for_a_moment_is_explained(memory):
    memory.tag("t0")
    with pytest.raises(InvalidInput, match="not a date") as caught:
        memory.list(as_of="t0")
    assert "tag:NAME" in caught.value.hint


def test_a_bare_day_is_still_all_of_that_day(memory, clock):
    memory.remember("Of this day.")
    day = memoranda.domain.clock.iso(clock.now())[:10]
    assert len(memory.list(as_of=day)) == 1
