"""Grades in the ledger: given by a person, or filled in by rules."""

import pytest

from memoranda import Conflict, InvalidInput, NotFound, Refused
from support import open_store


def test_a_person_grades_in_any_form_and_the_history_tells(memory):
    lamp = memory.remember("Anna reads by the lamp.")
    graded = memory.grade(lamp, "86%", rationale="she asks every evening")
    assert graded.memory.importance == memory.get(lamp).importance == 0.86
    assert graded.receipt.before is None
    assert (graded.receipt.after, graded.receipt.label) == (0.86, "must_remember")
    memory.grade(lamp, "low")
    first, second = memory.governance.gradings(lamp)
    assert (first.score, first.label, first.method, first.rationale) == (
        0.86, "must_remember", "manual", "she asks every evening",
    )  # fmt: skip
    assert (second.label, second.sequence) == ("ignore", memory.stats().sequence)
    assert first.as_json()["graded_at"] == "2026-01-01T00:00:00.000Z"
    assert [each.event.action for each in memory.history(lamp)] == ["remembered", "graded", "graded"]
    assert memory.get(lamp.id).updated_at == lamp.memory.updated_at


def test_a_grade_is_refused_from_below_when_forgotten_and_when_it_is_none(memory, opened):
    above = opened(scope="home").remember("The boiler is in the cellar.")
    with pytest.raises(Refused):
        memory.grade(above, 0.9)
    lamp = memory.remember("Anna reads by the lamp.")
    for wrong in ("unknown", "very", 1.5):
        with pytest.raises(InvalidInput):
            memory.grade(lamp, wrong)
    memory.forget(lamp)
    with pytest.raises(Conflict):
        memory.grade(lamp, 0.9)
    with pytest.raises(NotFound):
        memory.grade("0123456789abcdefghjk", 0.9)


def test_a_rationale_keeps_no_secret(memory):
    lamp = memory.remember("Anna reads by the lamp.")
    with pytest.raises(Refused, match="secret"):
        memory.grade(lamp, 0.9, rationale="the password is hunter2-Zx81!pq")
    assert memory.get(lamp).importance is None


def test_regrade_fills_what_is_missing_and_nothing_else(memory):
    given = memory.remember("The kettle is blue.", importance=0.11)
    dog = memory.remember("My dog is called Rex.")
    rule = memory.remember("Policy: never deploy on Fridays.", source="operator")
    gone = memory.remember("Something old.")
    memory.forget(gone)
    preview = memory.governance.regrade(mode="preview")
    assert (preview.graded, preview.tag, preview.batch) == (2, "", "")
    assert memory.get(dog).importance is None
    done = memory.governance.regrade()
    assert (done.looked_at, done.graded, done.unchanged, done.left) == (2, 2, 0, 0)
    assert done.before == preview.before == {"must_remember": 0, "nice_to_have": 0, "ignore": 1, "unknown": 2}
    assert done.after == preview.after == {"must_remember": 0, "nice_to_have": 2, "ignore": 1, "unknown": 0}
    assert memory.get(given).importance == 0.11
    assert memory.get(dog).importance == 0.5
    assert memory.get(rule).importance == 0.7
    assert memory.governance.gradings(rule)[0].method == "heuristic-v1"
    assert "Fridays" not in memory.governance.gradings(rule)[0].rationale
    again = memory.governance.regrade()
    assert (again.graded, again.tag) == (0, "")


def test_a_forced_regrade_leaves_alone_what_a_person_graded_and_what_would_stay(memory):
    by_hand = memory.remember("My dog is called Rex.")
    memory.grade(by_hand, 0.95)
    given = memory.remember("My cat is called Tom.", importance=0.99)
    done = memory.governance.regrade(force=True)
    assert (done.graded, done.by_hand) == (1, 1)
    assert memory.get(by_hand).importance == 0.95
    assert memory.get(given).importance == 0.5
    sequence = memory.stats().sequence
    assert memory.governance.regrade(force=True).unchanged == 1
    assert memory.stats().sequence == sequence


def test_a_persons_grade_that_was_undone_is_a_persons_no_longer(memory):
    dog = memory.remember("My dog is called Rex.")
    memory.grade(dog, 0.95)
    memory.undo()
    done = memory.governance.regrade(force=True)
    assert (done.graded, done.by_hand) == (1, 0)
    assert memory.get(dog).importance == 0.5


def test_a_regrade_stays_in_its_scope_unless_it_is_told_to_go_below(opened):
    home, anna = opened(scope="home"), opened(scope="home/anna")
    above = home.remember("The boiler is in the cellar.")
    own = anna.remember("My dog is called Rex.")
    neighbour = opened(scope="home/annabel").remember("My dog is called Max.")
    assert anna.governance.regrade(below=True).graded == 1
    assert home.get(above).importance is None
    assert opened(scope="home/annabel").get(neighbour).importance is None
    assert home.governance.regrade().graded == 1
    assert home.governance.regrade(below=True).graded == 1
    assert anna.get(own).importance == 0.5


def test_a_regrade_is_done_in_bites_of_one_batch_with_a_tag_and_goes_on_where_it_ended(path, clock):
    with open_store(path, clock=clock) as memory:
        memory.remember_many(f"My dog number {number} is called Rex." for number in range(1_201))
        steps = []
        first = memory.governance.regrade(limit=700, progress=lambda done, total: steps.append((done, total)))
        assert (first.graded, first.left) == (700, 501)
        assert steps == [(500, 700), (700, 700)]
        assert first.tag.startswith("auto-regrade-")
        rest = memory.governance.regrade()
        assert (rest.graded, rest.left) == (501, 0)
        assert rest.batch != first.batch
        entries = list(memory.governance.audit(operation="regrade", limit=1_000))
        assert {each.batch for each in entries[:501]} == {rest.batch}
        assert len({each.batch for each in entries}) == 2


def test_what_somebody_graded_meanwhile_is_not_written_over(memory):
    dog = memory.remember("My dog is called Rex.")
    governance = memory.governance
    look = governance._gradings.next

    def and_then_somebody_grades(*args, **fields):
        found = look(*args, **fields)
        memory.grade(dog, 0.95)
        return found

    governance._gradings.next = and_then_somebody_grades
    done = governance.regrade()
    assert (done.graded, done.unchanged) == (0, 1)
    assert memory.get(dog).importance == 0.95


def test_an_erased_memory_leaves_no_grading(memory):
    dog = memory.remember("My dog is called Rex.")
    memory.grade(dog, 0.9, rationale="the dog is old")
    memory.erase(dog)
    with memory._engine.ledger.database.read() as connection:
        assert connection.execute("select count(*) from grading").fetchone()[0] == 0
        assert connection.execute("select count(*) from event where reason <> ''").fetchone()[0] == 0


@pytest.mark.parametrize("wrong", [{"mode": "soon"}, {"limit": 0}, {"limit": "many"}])
def test_a_wrong_argument_is_refused(memory, wrong):
    with pytest.raises(InvalidInput):
        memory.governance.regrade(**wrong)


def test_a_regrade_and_a_change_of_trust_are_undone_as_one(memory, derive):
    memory.remember_many(f"My dog number {number} is called Rex." for number in range(600))
    root = memory.remember("The shop opens at nine.")
    derive(memory, "Shopping is possible from nine.", root.id)
    before = memory.contents().digest
    memory.governance.regrade()
    graded = memory.contents().digest
    memory.trust(root, "untrusted")
    assert len({before, graded, memory.contents().digest}) == 3
    memory.undo()
    assert memory.contents().digest == graded
    memory.undo()
    assert memory.contents().digest == before


def test_a_forced_regrade_with_a_limit_gets_to_the_end(memory):
    memory.remember_many(f"My dog number {number} is called Rex." for number in range(25))
    done = [memory.governance.regrade(force=True, limit=10) for _ in range(4)]
    assert [(each.graded, each.left) for each in done] == [(10, 15), (10, 5), (5, 0), (0, 0)]
    assert {each.grade for each in memory.list(limit=50)} == {"nice_to_have"}


def test_a_preview_with_a_limit_says_what_the_next_run_does(memory):
    memory.remember_many(f"My dog number {number} is called Rex." for number in range(7))
    memory.governance.regrade(force=True, limit=3)
    steps = []
    shown = memory.governance.regrade(force=True, limit=3, mode="preview")
    done = memory.governance.regrade(force=True, limit=3, progress=lambda *step: steps.append(step))
    assert (shown.graded, shown.looked_at, shown.left) == (done.graded, done.looked_at, done.left) == (3, 6, 1)
    assert shown.after == done.after
    assert steps == [(3, 3)]


def test_after_an_undo_the_grade_that_stands_is_the_one_before(memory):
    dog = memory.remember("My dog is called Rex.")
    memory.grade(dog, 0.95)
    memory.grade(dog, 0.2)
    assert [each.stands for each in memory.governance.gradings(dog)] == [False, True]
    memory.undo()
    assert [(each.score, each.stands) for each in memory.governance.gradings(dog)] == [(0.95, True), (0.2, False)]
    assert memory.governance.gradings(dog)[0].as_json()["stands"] is True
    memory.undo()
    assert not any(each.stands for each in memory.governance.gradings(dog))


def test_a_persons_grade_that_stands_again_after_an_undo_is_theirs_again(memory):
    dog = memory.remember("My dog is called Rex.")
    memory.grade(dog, 0.95)
    memory.grade(dog, 0.2)
    memory.undo()
    done = memory.governance.regrade(force=True)
    assert (done.graded, done.by_hand) == (0, 1)
    assert memory.get(dog).importance == 0.95


def test_an_importance_that_came_otherwise_stands_by_no_grade(memory):
    dog = memory.remember("My dog is called Rex.")
    memory.grade(dog, 0.95)
    memory.remember("My dog is called Rex.", importance=0.6)
    assert [each.stands for each in memory.governance.gradings(dog)] == [False]


@pytest.mark.parametrize("by_hand", [True, False])
def test_what_is_graded_must_remember_loses_the_end_of_a_rule_in_the_same_commit(opened, clock, by_hand):
    memory = opened(clock=clock, ttl_days=("note=10",))
    kept = memory.remember("Policy: never deploy on Fridays, the rule decided with runbook OPS-12.", source="operator")
    assert kept.memory.valid_until is not None
    before = memory.contents().digest
    if by_hand:
        memory.grade(kept, "high")
    else:
        memory.governance.regrade()
    graded = memory.get(kept)
    assert (graded.grade, graded.valid_until, dict(graded.metadata)) == ("must_remember", None, {})
    memory.undo()
    assert memory.contents().digest == before
    memory.grade(kept, "high")
    clock.advance(days=11)
    assert [each.memory.id for each in memory.recall("when do we never deploy?")] == [kept.id]


def test_a_lower_grade_and_an_end_that_was_said_change_no_end(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=10",))
    ruled = memory.remember("The heron came back.")
    said = memory.remember("The fair is in town.", valid_until="2026-02-01")
    memory.grade(ruled, "medium")
    memory.grade(said, "high")
    assert memory.get(ruled).valid_until == ruled.memory.valid_until
    assert memory.get(said).valid_until == said.memory.valid_until
