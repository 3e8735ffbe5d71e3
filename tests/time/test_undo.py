"""Undo: the last operation, or one by its number; as an editor does."""

import pytest

import memoranda
from memoranda import Conflict, InvalidInput, NotFound
from memoranda.domain.scope import Scope
from memoranda.ledger import travel
from memoranda.ledger.keeping import Keep
from memoranda.ledger.operations import journal
from support import SCOPE


@pytest.fixture
def step(memory, clock):
    """Do something a moment later; the digest of what was there before it."""

    def stepping(act):
        before = memory.contents().digest
        clock.advance(ms=1)
        act()
        assert memory.contents().digest != before
        return before

    return stepping


def texts(memory):
    return {each.text for each in memory.list(limit=1_000)}


def engine_of(memory):
    return memory._engine


def keep_together(memory, texts, *, name, batch="", below=""):
    """One commit of an operation, as an import makes it."""
    ledger = engine_of(memory).ledger
    scope = Scope(f"{SCOPE}/{below}" if below else SCOPE)

    def job(connection):
        with journal(connection, name, scope=SCOPE, actor="", at=ledger.clock.now(), batch=batch):
            for text in texts:
                draft = memoranda.Draft(text).checked(scope, now=ledger.clock.now(), max_text=1_000)
                ledger._keep(connection, Keep(draft), scope, "")

    ledger.database.write(job)


def keep_in_commits(memory, parts, **options):
    """Several commits under one batch."""
    for part in parts:
        keep_together(memory, part, name="import", batch="one-import", **options)


def test_each_kind_of_write_is_undone_as_one(memory, clock, step):
    lamp = memory.remember("Anna reads by the bedroom lamp.")
    memory.facts.add("key", "location", "hall")
    acts = [
        lambda: memory.remember("Anna reads by the desk lamp now.", supersedes=lamp),
        lambda: memory.remember_many(["The herons are back.", "The pond is frozen."]),
        lambda: memory.facts.add("key", "location", "cellar"),
        lambda: memory.preferences.set("light", "brightness", "40%", context="evening"),
        lambda: memory.profile.update(name="Anna", traits=["reads at night", "is brief"]),
        lambda: memory.capture(
            [memoranda.user("Please remember that the boiler is in the cellar. Remember that I leave at seven.")]
        ),
        lambda: memory.facts.forget("key", "location"),
        lambda: memory.archive(memory.list()[0]),
        lambda: memory.forget(memory.list()[0]),
    ]
    digests = [step(act) for act in acts]
    for before in reversed(digests):
        clock.advance(ms=1)
        memory.undo()
        assert memory.contents().digest == before


def test_a_profile_a_fact_and_a_preference_are_what_they_were(memory, clock):
    memory.profile.update(name="Anna")
    memory.facts.add("key", "location", "hall")
    memory.preferences.set("light", "brightness", "40%")
    clock.advance(ms=1)
    memory.profile.update(name="Ania")
    memory.facts.add("key", "location", "cellar")
    memory.preferences.set("light", "brightness", "80%")
    for _ in range(3):
        clock.advance(ms=1)
        memory.undo()
    assert memory.profile.get().name == "Anna"
    assert [fact.memory.value for fact in memory.facts.about("key")] == ["hall"]
    assert memory.preferences.get("light", "brightness").memory.value == "40%"


def test_an_undo_can_be_undone_and_that_again(memory, clock, step):
    before = step(lambda: memory.remember_many(["The herons are back.", "The pond is frozen."]))
    after = memory.contents().digest
    number = 1
    for expected in (before, after, before, after):
        clock.advance(ms=1)
        number = memory.undo(number).receipt.first
        assert memory.contents().digest == expected
    memory.undo()
    assert memory.contents().digest == before


def test_undo_walks_back_and_ends(memory, clock):
    for text in ("one apple", "two pears"):
        memory.remember(text)
        clock.advance(ms=1)
    assert memory.undo().receipt.target == 2
    assert memory.undo().receipt.target == 1
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo()


def test_a_preview_says_what_the_undo_then_does_and_changes_nothing(memory, clock, step):
    step(lambda: memory.remember_many(["The herons are back.", "The pond is frozen."]))
    held = memory.contents()
    told = memory.undo(mode="preview")
    assert told.preview
    assert told.receipt.taken_away == 2
    assert memory.contents() == held
    done = memory.undo()
    assert done.receipt._replace(first=0, last=0) == told.receipt
    assert (done.receipt.first, done.receipt.last) == (3, 4)


def test_what_something_else_changed_since_is_a_conflict_that_names_it_and_nothing_is_done(memory, clock):
    kept = memory.remember_many([f"thing number{number}" for number in range(12)])
    clock.advance(ms=1)
    for each in kept:
        memory.archive(each)
    held = memory.contents()
    with pytest.raises(Conflict) as caught:
        memory.undo(1)
    assert kept[0].id in str(caught.value)
    assert "and 2 more" in str(caught.value)
    assert "operations" in caught.value.hint
    assert memory.contents() == held


def test_what_was_changed_and_changed_back_by_undo_is_no_conflict(memory, clock, step):
    before = step(lambda: memory.remember("The herons are back."))
    step(lambda: memory.remember("The herons are back.", importance=0.9))
    memory.undo()
    memory.undo(1)
    assert memory.contents().digest == before


def test_nothing_comes_back_into_a_place_that_was_taken_since(memory, clock):
    memory.facts.add("key", "location", "hall")
    forgotten = memory.facts.forget("key", "location")[0].receipt.sequence
    clock.advance(ms=1)
    memory.facts.add("key", "location", "cellar")
    with pytest.raises(Conflict, match="place was taken"):
        memory.undo(forgotten)
    assert [fact.memory.value for fact in memory.facts.about("key")] == ["cellar"]
    memory.undo()
    memory.undo(forgotten)
    assert [fact.memory.value for fact in memory.facts.about("key")] == ["hall"]


def test_an_operation_is_named_by_any_of_its_events(memory):
    memory.remember_many(["one apple", "two pears", "three plums"])
    assert memory.undo(2).receipt.target == 1
    with pytest.raises(Conflict, match="undone already"):
        memory.undo(3)
    with pytest.raises(NotFound):
        memory.undo(400)
    for wrong in (0, -1, True, "1", 1.5):
        with pytest.raises(InvalidInput):
            memory.undo(wrong)
    with pytest.raises(InvalidInput):
        memory.undo(mode="later")


def test_an_erasure_is_no_operation_and_what_it_took_stays_gone(memory, clock):
    kept = memory.remember_many(["The herons are back.", "The pond is frozen."])
    memory.archive(kept[0])
    erased = memory.erase(kept[0]).receipt.sequence
    with pytest.raises(NotFound):
        memory.undo(erased)
    assert [each.memories for each in memory.operations()] == [0, 1]
    receipt = memory.undo().receipt
    assert (receipt.target, receipt.taken_away, receipt.erased) == (1, 1, 1)
    assert memory.undo(receipt.first).receipt.brought_back == 1
    assert texts(memory) == {"The pond is frozen."}


def test_the_words_of_an_erased_memory_do_not_come_back_in_another(memory, clock):
    first = memory.remember("The safe opens with the blue key.")
    clock.advance(ms=1)
    forgotten = memory.forget(first).receipt.sequence
    clock.advance(ms=1)
    second = memory.remember("The safe opens with the blue key.")
    memory.erase(second)
    assert memory.undo(forgotten).receipt.erased == 1
    assert memory.rollback(1).receipt.erased == 1
    assert not memory.list(states=["live", "archived", "superseded"])


def test_a_grace_period_that_is_over_is_over(memory, clock):
    memory.forget(memory.remember("The herons are back."))
    clock.advance(days=31)
    assert memory.undo(2).receipt.erased == 1
    assert memory.rollback(1).receipt.erased == 1
    assert not memory.list()


def test_what_an_undo_forgets_has_its_whole_grace_period(memory, clock):
    kept = memory.remember("The herons are back.")
    clock.advance(days=100)
    memory.undo()
    assert memory.get(kept).updated_at == clock.now()
    memory.restore(kept)


def test_times_are_given_back(memory, clock):
    kept = memory.remember("The herons are back.")
    at = clock.now()
    clock.advance(days=1)
    memory.archive(kept)
    memory.undo()
    assert memory.get(kept).updated_at == at


def test_a_batch_of_several_commits_is_one_operation(memory, clock):
    keep_in_commits(memory, [["one apple", "two pears"]])
    memory.remember("The herons are back.")
    keep_in_commits(memory, [["three plums"], ["four figs"]])
    told = memory.operations()
    assert [(each.name, each.first, each.last, each.memories) for each in told] == [
        ("import", 1, 5, 4),
        ("remember", 3, 3, 1),
    ]
    assert memory.undo(4).receipt.taken_away == 4
    assert texts(memory) == {"The herons are back."}


def test_what_was_done_from_here_is_undone_also_below(memory, opened, clock):
    keep_in_commits(memory, [["one apple"]])
    keep_in_commits(memory, [["two pears"]], below="phone")
    below = opened(f"{SCOPE}/phone", clock=clock)
    assert below.list(here=True)
    assert not below.operations(), "it was not done there"
    assert memory.undo().receipt.taken_away == 2
    assert not below.list()


def test_operations_are_paged_without_a_gap(memory, clock):
    for number in range(4):
        memory.remember(f"single number{number}")
        keep_in_commits(memory, [[f"part number{number}"]])
        memory.remember_many([f"couple number{number} {side}" for side in ("left", "right")])
    whole = [each.first for each in memory.operations()]
    paged, before = [], None
    while True:
        page = memory.operations(limit=2, before=before)
        paged += [each.first for each in page]
        before = page.next
        if before is None:
            break
    assert paged == whole
    assert len(whole) == 4 + 1 + 4
    shown = memory.operations(limit=1).as_json()
    assert shown["operations"][0]["at"].endswith("Z")


def test_what_was_done_elsewhere_is_neither_told_nor_undone(memory, opened, clock):
    other = opened("home/bob", clock=clock)
    above = opened("home", clock=clock)
    above.remember("The boiler is in the cellar.")
    other.remember("Bob likes tea.")
    memory.remember("Anna likes coffee.")
    assert [each.first for each in memory.operations()] == [3]
    for sequence in (1, 2):
        with pytest.raises(NotFound):
            memory.undo(sequence)
    assert [each.first for each in above.operations()] == [1]
    assert [each.scope for each in above.operations(below=True)] == ["home/anna", "home/bob", "home"]
    with pytest.raises(NotFound):
        above.undo(2)
    assert above.undo(2, below=True).receipt.taken_away == 1
    assert other.operations()[0].undoes == 2
    assert not other.list(here=True)
    assert above.undo(below=True).receipt.target == 3


def test_an_expiry_is_passed_over_and_stands_in_nobodys_way(memory, clock):
    memory.remember("The heron sits here.", valid_until=clock.now() + 1_000)
    clock.advance(ms=1)
    memory.remember("The heron sits here.", importance=0.9)
    clock.advance(ms=2_000)
    assert memory.admin.maintain().expired == 1
    clock.advance(ms=1)
    assert [each.actor for each in memory.operations()] == ["expiry", "", ""]
    assert memory.undo().receipt.target == 2
    assert memory.list(states=["live", "expired"], limit=5)[0].importance is None
    assert memory.undo(1).receipt.taken_away == 1


def test_expiries_belong_to_their_scopes(opened, clock):
    scopes = [opened(scope, clock=clock) for scope in ("home/anna", "home/bob")]
    for memory in scopes:
        memory.remember_many(
            [memoranda.Draft(f"{memory.scope} {what}", valid_until=clock.now() + 5) for what in ("one", "two")]
        )
    clock.advance(ms=10)
    scopes[0].admin.maintain()
    for memory in scopes:
        told = memory.operations()
        assert [(each.actor, each.memories) for each in told] == [("expiry", 2), ("", 2)]
        assert memory.undo(told[0].first).receipt.revised == 2


def test_recall_finds_what_came_back_and_not_what_went(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words")
    kept = memory.remember("The herons nest by the pond.")
    assert memory.recall("where do the herons nest?")
    memory.undo()
    assert not memory.recall("where do the herons nest?")
    memory.undo(2)
    assert [hit.id for hit in memory.recall("where do the herons nest?")] == [kept.id]
    new = memory.remember("The herons nest on the roof now.", supersedes=kept)
    memory.undo()
    assert [hit.id for hit in memory.recall("where do the herons nest?")] == [kept.id]
    assert new.id not in [hit.id for hit in memory.recall("herons roof")]


def test_a_receipt_says_no_words(memory, clock):
    memory.remember("The herons are back.", about="heron")
    assert "heron" not in str(memory.undo().as_json())


def test_one_event_costs_no_more_than_it_did(memory):
    statements = []
    writer = engine_of(memory).ledger.database._writer
    writer.exec_trace = lambda cursor, sql, bindings: statements.append(sql) or True
    memory.remember("The herons are back.")
    memory.archive(memory.list()[0])
    writer.exec_trace = None
    assert not [sql for sql in statements if "operation" in sql or "max(seq)" in sql]


def test_a_journal_inside_another_is_part_of_it(memory):
    ledger = engine_of(memory).ledger

    def keep(connection, text):
        draft = memoranda.Draft(text).checked(memory._scope, now=1, max_text=100)
        ledger._keep(connection, Keep(draft), memory._scope, "")

    def job(connection):
        with journal(connection, "outer", scope=SCOPE, actor="", at=1):
            with journal(connection, "inner", scope=SCOPE, actor="", at=1, always=True):
                keep(connection, "one apple")
            keep(connection, "two pears")

    ledger.database.write(job)
    assert [(each.name, each.memories) for each in memory.operations()] == [("outer", 2)]


class Stop(Exception):
    pass


def stopping(done, total):
    raise Stop


@pytest.fixture
def bites(monkeypatch):
    """As if these few were many."""
    monkeypatch.setattr(travel, "AT_ONCE", 4)
    monkeypatch.setattr(travel, "_BITE", 3)


def test_an_interrupted_undo_goes_on_when_it_is_called_again(memory, clock, step, bites):
    before = step(lambda: memory.remember_many([f"thing number{number}" for number in range(10)]))
    after = memory.contents().digest
    clock.advance(ms=1)
    with pytest.raises(Stop):
        memory.undo(progress=stopping)
    assert memory.contents().memories == 7
    assert [each.name for each in memory.operations()] == ["undoing", "remember"]
    memory.remember("Something else meanwhile.")
    told = []
    receipt = memory.undo(progress=lambda *numbers: told.append(numbers)).receipt
    assert (receipt.target, receipt.memories, receipt.left) == (1, 7, 0)
    assert told == [(3, 7), (6, 7), (7, 7)]
    assert [each.name for each in memory.operations()] == ["undo", "remember", "remember"]
    memory.undo()
    assert memory.contents().digest == before
    memory.undo(receipt.first)
    assert memory.contents().digest == after


def test_an_interrupted_undo_can_itself_be_undone(memory, clock, step, bites):
    step(lambda: memory.remember_many([f"thing number{number}" for number in range(10)]))
    after = memory.contents().digest
    with pytest.raises(Stop):
        memory.undo(progress=stopping)
    memory.undo(memory.operations()[0].first)
    assert memory.contents().digest == after
    assert not memory.operations()[-1].undone


def test_what_somebody_changes_during_a_long_undo_is_left_and_counted(memory, opened, clock, bites):
    kept = memory.remember_many([f"thing number{number}" for number in range(10)])
    clock.advance(ms=1)
    other = opened(clock=clock)

    def meddling(done, total):
        if done == 3:
            other.archive(kept[8])

    receipt = memory.undo(progress=meddling).receipt
    assert (receipt.memories, receipt.left) == (9, 1)
    assert memory.get(kept[8]).state == "archived"


def test_a_large_undo_hides_nothing_that_was_done_since(memory, clock, step, bites):
    """It has a batch, and what it took back was the first operation of the store."""
    step(lambda: memory.remember_many([f"thing number{number}" for number in range(6)]))
    clock.advance(ms=1)
    memory.undo()
    step(lambda: memory.remember("Gamma stays."))
    step(lambda: memory.remember_many(["Delta is third.", "Epsilon is fourth."]))
    last = memory.operations(limit=1)[0].first
    assert memory.undo(mode="preview").receipt.target == last
    assert memory.undo().receipt.target == last
    assert texts(memory) == {"Gamma stays."}
