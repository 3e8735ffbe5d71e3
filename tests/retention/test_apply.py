"""`memory.retention`: what ends, what is too much, what the report says of it; and that it is taken back as one."""

import pytest

import faces
from memoranda.domain.errors import InvalidInput
from memoranda.service.retention import apply_everywhere


def states(memory):
    return {each.text: each.state for each in memory.list(states=(), limit=1000)}


def test_what_is_there_already_ends_by_the_rule_of_its_kind(opened, clock):
    before = opened(clock=clock)
    old = before.remember("The blue van was parked outside.", kind="episode")
    before.remember("Anna prefers tea.", kind="preference")
    clock.advance(days=5)
    young = before.remember("The heron came back.", kind="episode")
    clock.advance(days=3)

    memory = opened(clock=clock, ttl_days=("episode=7",))
    receipt = memory.retention.apply()

    assert (receipt.expired, receipt.given, receipt.evicted) == (1, 1, 0)
    assert receipt.expired_ids == (old.id,)
    assert memory.get(old).state == "expired"
    assert memory.get(young).valid_until == young.memory.created_at + 7 * 86_400_000
    assert memory.get(young).updated_at == young.memory.updated_at, "giving an end is not saying it again"
    assert receipt.tag.startswith("auto-retention-")


def test_applied_twice_it_does_nothing_the_second_time(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=1",), scope_cap=2)
    for place in range(5):
        memory.remember(f"Parcel {place} is at the neighbour.", kind="fact")
    memory.remember("A note of yesterday.", kind="note")
    clock.advance(days=2)
    first = memory.retention.apply()
    sequence = memory.stats().sequence
    again = memory.retention.apply()
    assert first.changed
    assert again.changed == 0
    assert not again.tag
    assert not again.batch
    assert memory.stats().sequence == sequence


def test_a_preview_says_what_is_done_then_and_changes_nothing(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=1", "episode=30"), scope_cap=3)
    for place in range(6):
        memory.remember(f"Parcel {place} is at the neighbour.", kind=("fact", "note", "episode")[place % 3])
    clock.advance(days=2)
    sequence = memory.stats().sequence
    shown = memory.retention.apply(mode="preview")
    assert memory.stats().sequence == sequence
    done = memory.retention.apply()
    for name in ("given", "lifted", "expired", "evicted", "over", "scopes", "expired_ids", "evicted_ids"):
        assert getattr(shown, name) == getattr(done, name), name
    assert done.expired == 2
    assert done.evicted == 1


def test_the_least_important_goes_first_then_the_oldest_and_never_what_must_stay(opened, clock):
    memory = opened(clock=clock, scope_cap=4)
    kept = {}
    for name, importance in (
        ("nice-old", 0.6), ("unknown-old", None), ("ignore-new", 0.1), ("must", 0.9), ("unknown-new", None),
        ("nice-new", 0.6), ("ignore-newer", 0.4),
    ):  # fmt: skip
        kept[name] = memory.remember(f"This is {name}.", importance=importance).id
        clock.advance(days=1)
    memory.profile.update(name="Anna")
    receipt = memory.retention.apply()
    assert receipt.evicted_ids == tuple(
        kept[name] for name in ("ignore-new", "ignore-newer", "unknown-old", "unknown-new")
    )
    assert receipt.over == 0
    assert memory.stats().by_state == {"live": 4, "forgotten": 4}
    assert memory.history(kept["ignore-new"])[-1].event.reason == "cap"


def test_what_is_evicted_can_be_restored_and_is_told_until_when(opened, clock):
    memory = opened(clock=clock, scope_cap=1, grace_days=3)
    gone = memory.remember("The spare key is under the pot.")
    clock.advance(days=1)
    memory.remember("The heron came back.")
    receipt = memory.retention.apply()
    assert receipt.erased_after == clock.now() + 3 * 86_400_000
    assert memory.restore(gone).memory.state == "live"


def test_a_flood_of_what_is_not_trusted_washes_nothing_trusted_away(opened, clock):
    memory = opened(clock=clock, scope_cap=5)
    trusted = [memory.remember(f"Anna keeps {thing}.").id for thing in ("bees", "ducks", "hens")]
    clock.advance(days=1)
    for place in range(20):
        memory.remember(f"Page {place} says so.", source="web")
    memory.retention.apply()
    assert all(memory.get(each).state == "live" for each in trusted)


def test_when_all_that_is_left_must_be_remembered_the_cap_gives_way_and_says_so(opened, clock):
    memory = opened(clock=clock, scope_cap=1)
    for place in range(3):
        memory.remember(f"Allergy {place}.", importance=1.0)
    receipt = memory.retention.apply()
    assert (receipt.evicted, receipt.over) == (0, 2)
    assert memory.retention.report().scopes[0].over == 2


def test_the_grade_must_remember_frees_from_the_end_of_a_rule(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=7",))
    kept = memory.remember("The boiler has a second valve.")
    memory.retention.apply()
    assert memory.get(kept).valid_until is not None
    memory.remember("The boiler has a second valve.", importance=0.95)
    assert memory.get(kept).valid_until is None
    assert memory.retention.apply().lifted == 0


def test_only_this_scope_and_with_below_those_below_it(opened, clock):
    memory = opened("home", clock=clock, ttl_days=("note=1",))
    there = {
        path: memory.within(path).remember("The heron came back.") for path in ("home", "home/anna", "home/anna/x")
    }
    opened("homestead", clock=clock).remember("The heron came back.")
    clock.advance(days=2)
    anna = memory.within("home/anna")
    assert anna.retention.apply(mode="preview").expired == 1
    assert anna.retention.apply(below=True).expired == 2
    assert memory.get(there["home"]).state == "live"
    assert memory.retention.apply(below=True).expired == 1
    assert opened("homestead", clock=clock).stats().by_state == {"live": 1}


def test_upkeep_of_the_whole_store_goes_scope_by_scope(opened, clock):
    memory = opened("home", clock=clock, ttl_days=("note=1",), scope_cap=2)
    for path in ("home/anna", "home/ben"):
        for place in range(3):
            memory.within(path).remember(f"Parcel {place} is at the neighbour.", kind="fact")
    memory.within("home/ben").remember("A note.", kind="note")
    memory.within("home/quiet").remember("One fact.", kind="fact")
    clock.advance(days=2)
    engine = faces.engine_of(memory)
    planned = apply_everywhere(engine, dry_run=True)
    done = apply_everywhere(engine)
    assert [each.scope for each in planned] == [each.scope for each in done] == ["home/anna", "home/ben"]
    assert [(each.expired, each.evicted) for each in done] == [(0, 1), (1, 1)]
    assert apply_everywhere(engine) == ()


def test_many_are_done_in_bites_that_are_one_operation_with_progress(opened, clock):
    before = opened(clock=clock)
    before.remember_many([f"Note number {place}." for place in range(1200)])
    clock.advance(days=2)
    before.remember_many([f"Later note number {place}." for place in range(700)])
    memory = opened(clock=clock, ttl_days=("note=1",), scope_cap=100)
    told = []
    receipt = memory.retention.apply(progress=lambda done, total: told.append((done, total)))
    assert (receipt.expired, receipt.given, receipt.evicted) == (1200, 700, 600)
    assert told[-1] == (2500, 2500)
    assert len(told) > 3
    database = faces.engine_of(memory).ledger.database
    with database.read() as connection:
        rows = connection.execute("select distinct name, batch from operation where batch <> ''").fetchall()
    assert rows == [("retention", receipt.batch)]
    assert len(receipt.expired_ids) == 1000


def test_the_report_counts_by_scope_and_kind(opened, clock):
    memory = opened("home", clock=clock, ttl_days=("episode=7",), scope_cap=2, grace_days=10)
    memory.remember("The heron came back.", kind="episode")
    clock.advance(days=5)
    memory.remember("The heron left.", kind="episode")
    memory.remember("Guests stay until the end of the month.", valid_until=clock.now() + 20 * 86_400_000)
    gone = memory.remember("An old note.")
    memory.forget(gone)
    forgotten_at = clock.now()
    memory.within("home/anna").remember("Anna reads.", kind="fact")
    clock.advance(days=3)

    report = memory.retention.report()
    episodes, notes = report.kinds
    assert report.rules == {"episode": 7 * 86_400_000}
    assert (episodes.kind, episodes.live, episodes.with_end, episodes.ends_in_7, episodes.lapsed) == (
        "episode",
        1,
        1,
        1,
        1,
    )
    assert (notes.live, notes.with_end, notes.ends_in_7, notes.ends_in_30) == (1, 1, 0, 1)
    assert (notes.forgotten, notes.erased_first) == (1, forgotten_at + 10 * 86_400_000)
    assert report.scopes[0].over == 0
    assert {each.scope for each in memory.retention.report(below=True).kinds} == {"home", "home/anna"}
    assert report.as_json()["ttl_days"] == {"episode": 7.0}


def test_an_empty_scope_has_an_empty_report(memory):
    report = memory.retention.report()
    assert (report.kinds, report.scopes, report.rules) == ((), (), {})
    assert memory.retention.apply().changed == 0


@pytest.mark.parametrize("given", [{"mode": "perhaps"}, {"below": "yes"}])
def test_what_is_not_understood_is_refused(memory, given):
    with pytest.raises(InvalidInput):
        memory.retention.apply(**given)


def test_receipts_and_reports_say_nothing_of_what_memories_say(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=1",), scope_cap=1)
    for place in range(3):
        memory.remember(f"Zanzibar {place}.", kind="fact")
    told = f"{memory.retention.report()!r}{memory.retention.apply()!r}{memory.retention.report().as_json()}"
    assert "Zanzibar" not in told


def test_undo_brings_back_all_that_a_retention_did(opened, clock):
    memory = opened(clock=clock, ttl_days=("note=1",), scope_cap=3)
    memory.remember_many([f"Note number {place}." for place in range(700)])
    clock.advance(days=0.5)
    for place in range(6):
        memory.remember(f"Parcel {place} is at the neighbour.", kind=("fact", "episode")[place % 2])
    before = memory.contents().digest
    clock.advance(days=1)
    receipt = memory.retention.apply()
    assert (receipt.expired, receipt.evicted) == (700, 3)
    assert memory.contents().digest != before
    clock.advance(days=0.1)
    memory.undo()
    assert memory.contents().digest == before


def test_said_again_it_is_prolonged(opened, clock):
    from memoranda.domain.draft import Draft
    from memoranda.governance.retention import with_end
    from memoranda.ledger.ledger import Keep

    memory = opened(clock=clock)
    engine = faces.engine_of(memory)

    def say():
        kept = Draft("The blue van is outside.").checked(memory._scope, now=clock.now(), max_text=100)
        ended = with_end(kept, {"note": 7 * 86_400_000})
        return engine.ledger.remember([Keep(ended)], scope=memory._scope, actor="")[0].memory

    first = say()
    clock.advance(days=5)
    again = say()
    assert again.id == first.id
    assert again.valid_until == clock.now() + 7 * 86_400_000
