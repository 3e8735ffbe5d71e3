"""Tags, rollback and diff: what was there at a moment."""

import pytest

import memoranda
from memoranda import Conflict, InvalidInput, NotFound, Refused
from memoranda.ledger import travel
from memoranda.service.travelling import tag_before


class Stop(Exception):
    pass


def stopping(done, total):
    raise Stop


def tag_names(memory):
    return [each.name for each in memory.tags()]


# -- tags --


def test_a_tag_names_what_is_there(memory, clock):
    memory.remember("The herons are back.")
    made = memory.tag("before-the-move", note="all is well")
    assert (made.sequence, made.at, made.note, made.automatic) == (1, clock.now(), "all is well", False)
    assert memory.tags()[0] == made
    assert memory.tags().total == 1
    assert made.as_json()["at"].endswith("Z")
    with pytest.raises(Conflict):
        memory.tag("before-the-move")
    assert memory.untag("before-the-move") == made
    with pytest.raises(NotFound):
        memory.untag("before-the-move")
    memory.tag("before-the-move")


@pytest.mark.parametrize("name", ["", "a b", "ż", "a/b", "x" * 65, "auto-mine", None, 7, "a\n"])
def test_a_name_that_is_none_is_refused(memory, name):
    with pytest.raises(InvalidInput):
        memory.tag(name)
    assert not memory.tags()


def test_a_note_with_a_secret_is_refused(memory):
    with pytest.raises(Refused):
        memory.tag("one", note="the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")


def test_tags_of_the_scopes_above_are_seen_and_only_ones_own_removed(memory, opened, clock):
    above, beside = opened("home", clock=clock), opened("home/bob", clock=clock)
    above.tag("everywhere")
    beside.tag("bobs")
    clock.advance(ms=1)
    above.tag("both")
    clock.advance(ms=1)
    memory.remember("The herons are back.")
    memory.tag("both")
    assert tag_names(memory) == ["both", "both", "everywhere"]
    assert memory.diff("both").total == 0, "the nearest is meant"
    assert memory.diff("everywhere").counts["added"] == 1
    with pytest.raises(NotFound):
        memory.untag("everywhere")
    for verb in (memory.rollback, memory.diff):
        with pytest.raises(NotFound):
            verb("bobs")
    assert memory.tags(limit=1, offset=1).total == 3


def test_automatic_tags_have_names_of_their_own_and_only_the_newest_stay(opened, clock):
    memory = opened(clock=clock, tags_kept=3)
    memory.tag("mine")
    made = []
    for _ in range(5):
        made.append(tag_before(memory._engine, memory._scope, "Bulk forget!").name)
        memory.remember(f"thing number{len(made)}")
    assert made[0] == "auto-bulk-forget-20260101-000000"
    assert len(set(made)) == 5
    assert tag_names(memory) == [*reversed(made[2:]), "mine"]


def test_notes_that_say_what_was_erased_are_blanked(memory):
    kept = memory.remember("Anna told of the herons on the lake.")
    memory.tag("one", note="Anna told of the herons on the lake.")
    memory.tag("two", note="nothing of this")
    memory.erase(kept)
    assert {each.name: each.note for each in memory.tags()} == {"one": "", "two": "nothing of this"}


def test_a_tag_is_a_moment_for_reading(opened):
    """By the machine's own clock: a tag waits until its millisecond is over."""
    memory = opened()
    for number in range(5):
        memory.remember(f"early number{number}")
        memory.tag(f"tag-{number}")
    for number in range(5):
        assert memory.list(as_of=f"tag:tag-{number}").total == number + 1
        assert len(memory.recall("early", as_of=f"tag:tag-{number}", limit=20)) == number + 1
    with pytest.raises(NotFound):
        memory.list(as_of="tag:none")


# -- rollback --


def test_everything_is_as_it_was(memory, clock):
    kept = memory.remember("Anna reads by the bedroom lamp.")
    memory.facts.add("key", "location", "hall")
    memory.profile.update(name="Anna", traits=["is brief"])
    gone = memory.remember("The pond is frozen.")
    memory.forget(gone)
    memory.archive(memory.remember("The roof leaks."))
    memory.tag("then")
    then = memory.contents().digest
    clock.advance(ms=1)
    memory.remember("Anna reads by the desk lamp.", supersedes=kept)
    memory.facts.add("key", "location", "cellar")
    memory.profile.update(name="Ania", traits=[])
    memory.restore(gone)
    memory.remember("Something new.")
    memory.forget(kept)
    after = memory.contents().digest
    clock.advance(ms=1)
    rolled = memory.rollback("then")
    assert memory.contents().digest == then
    assert memory.get(kept).superseded_by is None
    assert memory.get(gone).updated_at == clock.now(), "its grace period begins anew"
    assert memory.profile.get().name == "Anna"
    assert rolled.before.name.startswith("auto-rollback-")
    assert rolled.receipt.name == "then"
    clock.advance(ms=1)
    memory.undo()
    assert memory.contents().digest == after
    clock.advance(ms=1)
    memory.rollback(rolled.before.name)
    assert memory.contents().digest == after


def test_recall_finds_what_a_rollback_brought_back_and_not_what_it_took_away(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words")
    old = memory.remember("The herons nest by the pond.")
    memory.tag("then")
    memory.remember("The herons nest on the roof.", supersedes=old)
    memory.remember("The otters sleep in the reeds.")
    assert memory.recall("where do the otters sleep?")
    memory.rollback("then")
    assert [hit.id for hit in memory.recall("where do the herons nest?")] == [old.id]
    assert "otters" not in str([hit.memory.text for hit in memory.recall("where do the otters sleep?")])


def test_what_was_erased_since_stays_erased_and_is_counted(memory, clock):
    kept = memory.remember_many(["The herons are back.", "The pond is frozen.", "The roof leaks."])
    memory.tag("then")
    clock.advance(ms=1)
    memory.erase(kept[0])
    memory.erase(memory.remember("Came and went."))
    memory.forget(kept[1])
    receipt = memory.rollback("then").receipt
    assert (receipt.brought_back, receipt.erased) == (1, 1)
    assert {each.text for each in memory.list()} == {"The pond is frozen.", "The roof leaks."}


def test_only_this_scope_goes_back_unless_told(memory, opened, clock):
    below, above = opened("home/anna/phone", clock=clock), opened("home", clock=clock)
    beside = opened("home/anna2", clock=clock)
    for each in (memory, below, above, beside):
        each.remember(f"Something of {each.scope}.")
    assert memory.rollback(0).receipt.memories == 1
    assert [bool(each.list(here=True)) for each in (memory, below, above, beside)] == [False, True, True, True]
    assert memory.rollback(0, below=True).receipt.memories == 1
    assert [bool(each.list(here=True)) for each in (memory, below, above, beside)] == [False, False, True, True]
    memory.undo(below=True)
    assert below.list(here=True)


def test_conversations_stay_as_they_are(memory, clock):
    memory.tag("then")
    memory.conversations.append([memoranda.user("The herons are back.")], conversation="talk")
    memory.remember("Something new.")
    memory.rollback("then")
    assert memory.conversations.messages("talk")


def test_a_rollback_that_changes_nothing_leaves_no_trace(memory, clock):
    memory.remember("The herons are back.")
    memory.tag("then")
    rolled = memory.rollback("then")
    assert rolled.before is None
    assert rolled.receipt.memories == 0
    assert memory.stats().sequence == 1
    assert tag_names(memory) == ["then"]


def test_a_preview_changes_nothing(memory, clock):
    memory.remember("The herons are back.")
    held = memory.contents()
    assert memory.rollback(0, mode="preview").receipt.taken_away == 1
    assert memory.contents() == held
    assert not memory.tags()


@pytest.mark.parametrize("wrong", [-1, 2, "nothing", True, None, 1.5, "", "9" * 30])
def test_what_is_neither_a_tag_nor_a_sequence_is_refused(memory, wrong):
    memory.remember("The herons are back.")
    for verb in (memory.rollback, memory.diff):
        with pytest.raises((InvalidInput, NotFound)) as caught:
            verb(wrong)
        assert caught.value.hint
    assert memory.rollback("1").receipt.target == 1


def test_an_interrupted_rollback_goes_on_and_is_undone_as_one(memory, clock, monkeypatch):
    monkeypatch.setattr(travel, "AT_ONCE", 4)
    monkeypatch.setattr(travel, "_BITE", 3)
    memory.remember_many([f"old number{number}" for number in range(5)])
    memory.tag("then")
    then = memory.contents().digest
    clock.advance(ms=1)
    memory.remember_many([f"new number{number}" for number in range(10)])
    after = memory.contents().digest
    clock.advance(ms=1)
    with pytest.raises(Stop):
        memory.rollback("then", progress=stopping)
    assert memory.contents().memories == 12
    assert memory.operations()[0].name == "rolling-back"
    clock.advance(ms=1)
    memory.rollback("then")
    assert memory.contents().digest == then
    assert [each.name for each in memory.operations()] == ["rollback", "remember", "remember"]
    clock.advance(ms=1)
    assert memory.undo().receipt.memories == 10
    assert memory.contents().digest == after


def test_what_somebody_changes_during_a_long_rollback_is_left_and_counted(memory, opened, clock, monkeypatch):
    monkeypatch.setattr(travel, "AT_ONCE", 4)
    monkeypatch.setattr(travel, "_BITE", 3)
    kept = memory.remember_many([f"new number{number}" for number in range(10)])
    clock.advance(ms=1)
    other = opened(clock=clock)

    def meddling(done, total):
        if done == 3:
            other.archive(kept[8])
            other.remember("Something newer still.")

    receipt = memory.rollback(0, progress=meddling).receipt
    assert (receipt.memories, receipt.left) == (9, 1)
    assert memory.get(kept[8]).state == "archived"
    assert [each.text for each in memory.list()] == ["Something newer still."]


def test_an_interrupted_rollback_can_be_undone_as_far_as_it_came(memory, clock, monkeypatch):
    monkeypatch.setattr(travel, "AT_ONCE", 4)
    monkeypatch.setattr(travel, "_BITE", 3)
    memory.remember_many([f"new number{number}" for number in range(10)])
    after = memory.contents().digest
    with pytest.raises(Stop):
        memory.rollback(0, progress=stopping)
    assert memory.undo().receipt.memories == 3
    assert memory.contents().digest == after
    memory.rollback(0)
    memory.undo()
    assert memory.contents().digest == after


# -- diff --


def test_a_difference_tells_what_was_added_changed_gone_and_erased(memory, clock):
    kept = memory.remember_many(["stays", "changes", "goes", "is erased", "was forgotten"])
    memory.forget(kept[4])
    memory.tag("older")
    clock.advance(ms=1)
    memory.remember("changes", importance=0.9, tags=["home"])
    memory.forget(kept[2])
    memory.erase(kept[3])
    memory.restore(kept[4])
    new = memory.remember("is new")
    memory.forget(memory.remember("came and went"))
    memory.tag("newer")
    clock.advance(ms=1)
    memory.remember("is later")
    found = memory.diff("older", "newer")
    assert [(each.kind, each.id) for each in found] == [
        ("changed", kept[1].id),
        ("gone", kept[2].id),
        ("erased", kept[3].id),
        ("added", kept[4].id),
        ("added", new.id),
    ]
    assert dict(found.counts) == {"added": 2, "gone": 1, "changed": 1, "erased": 1}
    changed, gone, erased = found[0], found[1], found[2]
    assert {(field.name, field.before, field.after) for field in changed.fields} >= {
        ("importance", None, 0.9),
        ("tags", (), ("home",)),
    }
    assert changed.memory.importance == 0.9
    assert gone.memory.state == "live"
    assert erased.memory is None
    assert "is erased" not in str(found.as_json())
    assert memory.diff("older").counts["added"] == 3
    assert memory.diff("newer", "newer").total == 0
    with pytest.raises(InvalidInput):
        memory.diff("newer", "older")


def test_a_difference_is_paged_with_exact_counts(memory, clock):
    memory.remember_many([f"thing number{number}" for number in range(25)])
    pages = [memory.diff(0, limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert {page.total for page in pages} == {25}
    ids = [each.id for page in pages for each in page]
    assert ids == [each.id for each in memory.list(order="oldest")]
    assert pages[0].as_json() == memory.diff(0, limit=10).as_json()


def test_a_difference_looks_below_only_when_asked(memory, opened, clock):
    opened("home/anna/phone", clock=clock).remember("Something of the phone.")
    opened("home", clock=clock).remember("Something of the home.")
    assert memory.diff(0).total == 0
    assert memory.diff(0, below=True).total == 1


# -- contents --


def test_contents_are_equal_when_the_same_is_held(memory, opened, clock):
    memory.remember("The herons are back.")
    held = memory.contents()
    assert (held.memories, held.scope, held.sequence) == (1, "home/anna", 1)
    opened("home/anna/phone", clock=clock).remember("Something of the phone.")
    assert memory.contents().digest == held.digest
    assert memory.contents(below=True).memories == 2
    clock.advance(ms=1)
    memory.remember("The herons are back.", importance=0.4)
    assert memory.contents().digest != held.digest
    memory.undo()
    assert memory.contents().digest == held.digest
