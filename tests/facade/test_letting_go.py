"""Letting go of many at once: what fits and nothing else, shown first, taken back by one undo."""

import pytest

from memoranda import Conflict, InvalidInput, NotFound
from memoranda.domain.bulk import MOST_SHOWN

DAY = 86_400_000


@pytest.fixture
def full(memory, clock):
    """Memories that differ in all that they may be chosen by, by name."""
    now = clock.now()
    kept = {
        "old": memory.remember("The old bike is red.", kind="fact", about="bike", occurred_at=now - 10 * DAY),
        "tagged": memory.remember("The bike was in Rome.", kind="episode", about="bike", tags=["trip", "sold"]),
        "tool": memory.remember("A tool said the bike is blue.", source="tool", source_ref="shop", about="bike"),
        "bob": memory.remember("Bob wants a bike.", kind="preference", speaker="bob", importance=0.9),
        "talk": memory.remember("Tea at five.", conversation="kitchen", importance=0.1),
    }
    clock.advance(ms=1)
    memory.within("home/anna/kid").remember("The kid's bike is small.", about="bike", speaker="bob")
    clock.advance(ms=1)
    return {name: each.id for name, each in kept.items()}


def live(memory):
    return {each.id for each in memory.list(limit=100)}


@pytest.mark.parametrize(
    ("like", "names"),
    [
        ({"about": "bike"}, "old tagged tool"),
        ({"about": "bike", "kind": "fact"}, "old"),
        ({"kind": ("fact", "preference")}, "old bob"),
        ({"tags": ["sold"]}, "tagged"),
        ({"tags": ["sold", "kept"]}, ""),
        ({"source": "tool"}, "tool"),
        ({"source_ref": "shop"}, "tool"),
        ({"trust": "untrusted"}, "tool"),
        ({"speaker": "bob"}, "bob"),
        ({"grade": ("must_remember", "ignore")}, "bob talk"),
        ({"conversation": "kitchen"}, "talk"),
        ({"text": "BIKE IS"}, "old tool"),
    ],
)
def test_what_fits_goes_and_nothing_else_of_this_very_scope(memory, full, like, names):
    there = live(memory)
    wanted = {full[name] for name in names.split()}
    shown = memory.forget_many(**like)
    assert (shown.preview, set(shown.ids), {each.id for each in shown.memories}) == (True, wanted, wanted)
    assert live(memory) == there
    done = memory.forget_many(**like, mode="now", confirm=shown.confirm)
    assert (set(done.ids), done.receipt.changed, done.receipt.left) == (wanted, len(wanted), 0)
    assert live(memory) == there - wanted
    assert len(memory.within("home/anna/kid").list(here=True)) == 1


def test_by_when_it_happened(memory, full, clock):
    day = clock.now() - 5 * DAY
    assert memory.forget_many(time_before=day).ids == (full["old"],)
    assert full["old"] not in memory.forget_many(time_after=day).ids


def test_below_takes_the_scopes_below_along_and_undo_takes_all_of_it_back(memory, full):
    before = memory.contents(below=True)
    done = memory.forget_many(speaker="bob", below=True, mode="now", reason="he moved out")
    assert (done.receipt.changed, done.receipt.matched) == (2, 2)
    assert not memory.within("home/anna/kid").list(here=True)
    assert memory.history(full["bob"])[-1].event.reason == "he moved out"
    assert [each.name for each in memory.tags() if each.automatic] == [done.receipt.tag]
    assert memory.operations(limit=1)[0].name == "forget many"
    memory.undo()
    assert memory.contents(below=True).digest == before.digest
    memory.undo(memory.operations(limit=1)[0].first)
    assert memory.rollback(done.receipt.tag, below=True).receipt.brought_back == 2
    assert memory.contents(below=True).digest == before.digest


def test_archived_together_it_stays_for_good_and_is_restored_one_by_one(memory, full):
    done = memory.archive_many(about="bike", mode="now")
    assert (done.receipt.action, done.receipt.changed, done.receipt.erased_after) == ("archived", 3, None)
    assert {each.id for each in memory.list(states=["archived"])} == set(done.ids)
    assert memory.restore(full["old"]).memory.state == "live"
    gone = memory.forget_many(about="bike", states=[], mode="now")
    assert gone.receipt.changed == 3
    assert gone.receipt.erased_after is not None
    assert {each.state for each in memory.list(states=["forgotten"])} == {"forgotten"}


def test_by_ids_also_by_how_they_begin_and_what_is_gone_already_is_no_trouble(memory, full):
    memory.forget(full["talk"])
    done = memory.forget_many([full["old"][:8], full["bob"], full["talk"]], mode="now")
    assert set(done.ids) == {full["old"], full["bob"]}
    again = memory.forget_many([full["old"], full["bob"]], mode="now")
    assert (again.ids, again.receipt.changed, again.receipt.tag) == ((), 0, "")


def test_ids_of_other_scopes_are_not_found(memory, full):
    kid = memory.within("home/anna/kid")
    (below,) = (each.id for each in kid.list(here=True))
    with pytest.raises(NotFound):
        kid.forget_many([full["old"]])
    with pytest.raises(NotFound):
        memory.forget_many([below])
    assert memory.forget_many([below], below=True).ids == (below,)


def test_what_was_shown_goes_or_nothing(memory, full):
    shown = memory.forget_many(about="bike")
    memory.remember("The bike has a bell.", about="bike")
    there = live(memory)
    with pytest.raises(Conflict) as told:
        memory.forget_many(about="bike", mode="now", confirm=shown.confirm)
    assert told.value.hint
    assert live(memory) == there


@pytest.mark.parametrize(
    ("ids", "like"),
    [
        ([], {}),
        ([], {"below": True}),
        ([], {"about": "bike", "mode": "perhaps"}),
        ([], {"about": "bike", "states": ["forgotten"]}),
        ([], {"time_after": "2026-02-01", "time_before": "2026-01-01"}),
        ([], {"time_after": "once upon a time"}),
        (["?"], {}),
        (["abcd1234"], {"about": "bike"}),
    ],
)
@pytest.mark.parametrize("verb", ["forget_many", "archive_many"])
def test_what_says_too_little_or_makes_no_sense_is_refused_with_a_hint(memory, full, verb, ids, like):
    there = live(memory)
    with pytest.raises(InvalidInput) as told:
        getattr(memory, verb)(ids, **like)
    assert told.value.hint
    assert live(memory) == there


def test_very_many_are_shown_in_part_named_whole_and_taken_back_as_one(memory):
    for start in (0, 601):
        memory.remember_many([f"Number {start + number} is on the list." for number in range(601)])
    before = memory.contents().digest
    shown = memory.forget_many(text="on the list")
    assert (len(shown.ids), len(shown.memories)) == (1_202, MOST_SHOWN)
    heard = []
    done = memory.forget_many(text="on the list", mode="now", progress=lambda *told: heard.append(told))
    assert (done.receipt.changed, heard[-1]) == (1_202, (1_202, 1_202))
    assert not live(memory)
    memory.undo()
    assert memory.contents().digest == before
