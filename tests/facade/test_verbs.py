"""What the verbs promise, on both faces."""

import pytest

from memoranda import (
    Ambiguous,
    Conflict,
    Draft,
    InvalidInput,
    NotFound,
)


def test_what_is_remembered_is_recalled(face):
    lamp = face.remember("Anna reads by light.bedroom_lamp.", about="light.bedroom_lamp")
    face.remember("Anna prefers short answers.", kind="preference")
    found = face.recall("which lamp does she read by?")
    assert found[0].id == lamp.id
    assert 0 < found[0].score <= 1
    assert found.receipt.returned == len(found)
    assert found.receipt.scopes == ("home/anna", "home")


def test_nothing_relevant_is_an_answer(face):
    empty = face.recall("anything")
    assert len(empty) == 0
    assert empty.receipt.abstained == "nothing to search"
    face.remember("Anna reads by the lamp.")
    none = face.recall("quarterly submarine taxes")
    assert list(none) == []
    assert none.receipt.abstained == "nothing cleared the bar"
    assert face.recall("   ").receipt.abstained == "no query"


def test_the_same_text_is_reinforced_not_kept_twice(face):
    first = face.remember("Anna reads by the lamp.", confidence=0.5, tags=["a"])
    again = face.remember("  anna reads by the LAMP", confidence=0.5, tags=["b"], importance=0.9)
    assert again.id == first.id
    assert again.receipt.outcome == "reinforced"
    assert again.memory.confidence == 0.6
    assert again.memory.tags == ("a", "b")
    assert again.memory.importance == 0.9
    assert face.stats().total == 1
    assert [revision.event.action for revision in face.history(first)] == ["remembered", "reinforced"]


def test_other_speakers_subjects_and_scopes_are_other_memories(face):
    ids = {
        face.remember("I like tea.").id,
        face.remember("I like tea.", speaker="bob").id,
        face.remember("I like tea.", about="tea").id,
        face.remember("I like tea.", source="assistant").id,
        face.within("home/anna/diary").remember("I like tea.").id,
    }
    assert len(ids) == 5


def test_a_correction_supersedes(face, clock):
    old = face.remember("Anna reads by light.bedroom_lamp.")
    before = clock.now()
    clock.advance(days=1)
    new = face.remember("Anna reads by light.desk_lamp now.", supersedes=old)
    assert new.receipt.superseded == old.id
    assert face.get(old).state == "superseded"
    assert face.get(old).superseded_by == new.id
    assert [hit.id for hit in face.recall("which lamp does Anna read by")] == [new.id]
    assert [hit.id for hit in face.recall("which lamp does Anna read by", as_of=before)] == [old.id]
    assert [each.id for each in face.list(as_of=before)] == [old.id]
    assert face.get(old, as_of=before).state == "live"
    with pytest.raises(NotFound):
        face.get(new, as_of=before)
    with pytest.raises(Conflict):
        face.remember("Anna reads in the dark.", supersedes=old)


def test_many_are_kept_together_or_not_at_all(face):
    kept = face.remember_many(["one thing", Draft("another thing", kind="fact")])
    assert [each.memory.kind for each in kept] == ["note", "fact"]
    assert face.remember_many([]) == ()
    with pytest.raises(InvalidInput):
        face.remember_many(["a third thing", ""])
    with pytest.raises(NotFound):
        face.remember_many([Draft("a fourth thing"), Draft("a fifth", supersedes="0123456789abcdefghjk")])
    assert face.stats().total == 2


def test_states_change_only_as_they_may(face):
    kept = face.remember("the lamp stands in the hall")
    with pytest.raises(Conflict):
        face.restore(kept)
    assert face.archive(kept, reason="spring cleaning").receipt.after == "archived"
    assert not face.recall("lamp")
    assert [each.id for each in face.list(states=["archived"])] == [kept.id]
    assert face.recall("lamp", states=["archived"])[0].id == kept.id
    with pytest.raises(Conflict):
        face.archive(kept)
    assert face.restore(kept).memory.state == "live"
    assert face.forget(kept).memory.state == "forgotten"
    for again in (face.forget, face.archive):
        with pytest.raises(Conflict):
            again(kept)
    assert face.restore(kept).memory.state == "live"
    actions = [revision.event.action for revision in face.history(kept)]
    assert actions == ["remembered", "archived", "restored", "forgotten", "restored"]
    assert face.history(kept)[1].event.reason == "spring cleaning"


def test_validity_is_kept_to(face, clock):
    now = clock.now()
    past = face.remember("the lamp was red", valid_until=now)
    future = face.remember("the lamp will be blue", valid_from=now + 1)
    present = face.remember("the lamp is green", valid_from=now, valid_until=now + 1)
    assert [hit.id for hit in face.recall("lamp")] == [present.id]
    assert [each.id for each in face.list()] == [present.id]
    assert face.list(states=()).total == 3
    clock.advance(ms=1)
    assert [hit.id for hit in face.recall("lamp")] == [future.id]
    assert {each.id for each in (past, present)} <= {each.id for each in face.list(states=())}


def test_what_is_said_again_after_its_end_is_found_again(face, clock):
    face.remember("Anna is on holiday.", valid_until=clock.now() + 1_000)
    clock.advance(days=10)
    assert not face.recall("holiday")
    again = face.remember("Anna is on holiday.")
    assert [hit.id for hit in face.recall("Anna holiday")] == [again.id]


def test_listing_filters_and_pages(face):
    for number in range(7):
        face.remember(f"item {number}", kind="fact" if number % 2 else "note", about="x" if number < 3 else "y")
    page = face.list(limit=3, offset=2)
    assert [each.text for each in page] == ["item 4", "item 3", "item 2"]
    assert page.total == 7
    assert [each.text for each in face.list(kind="fact", about="x")] == ["item 1"]
    assert len(face.list(offset=100)) == 0
    assert face.list(about="nothing").total == 0


def test_a_short_beginning_of_an_id_is_enough(face):
    kept = face.remember("the lamp")
    assert face.get(kept.id[:6]).id == kept.id
    with pytest.raises(NotFound):
        face.get("zzzz" if not kept.id.startswith("zzzz") else "yyyy")
    for wrong in ("abc", "", "ILLEGAL!", kept.id + "0", "%", "____", "*"):
        with pytest.raises(InvalidInput):
            face.get(wrong)


def test_an_ambiguous_beginning_names_the_candidates(memory, monkeypatch):
    ids = iter(["abcd" + "0" * 16, "abcd" + "1" * 16])
    monkeypatch.setattr("memoranda.domain.draft.new_id", lambda: next(ids))
    first, second = memory.remember("one"), memory.remember("two")
    with pytest.raises(Ambiguous) as told:
        memory.get("abcd")
    assert told.value.candidates == (first.id, second.id)
    assert memory.get("abcd1").id == second.id
