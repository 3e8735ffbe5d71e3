"""Who did what: events with their operations, tokens among them, page by page."""

import itertools

import pytest

from memoranda import InvalidInput, NotFound, user
from memoranda.service.acting import acting_as
from support import open_store


def pages(memory, **asked):
    """All entries, read page by page."""
    found, before = [], None
    for _ in range(100):
        page = memory.governance.audit(before=before, **asked)
        found += page
        before = page.next
        if before is None:
            return found
    raise AssertionError("it never ends")


def test_every_event_is_told_with_who_and_why_and_what_it_was_a_part_of(memory, clock):
    with acting_as("alice"):
        lamp = memory.remember("Anna reads by the lamp.")
    with acting_as("bob"):
        memory.forget(lamp, reason="sold")
    memory.remember("My dog is called Rex.")
    memory.remember("My cat is called Tom.")
    memory.governance.regrade()
    entries = memory.governance.audit()
    assert [(each.action, each.operation) for each in entries] == [
        ("graded", "regrade"), ("graded", "regrade"), ("remembered", ""), ("remembered", ""), ("forgotten", ""),
        ("remembered", ""),
    ]  # fmt: skip
    assert len({each.batch for each in entries[:2]}) == 1
    assert (entries[4].actor, entries[4].reason, entries[4].memory_id) == ("bob", "sold", lamp.id)
    assert [each.action for each in memory.governance.audit(actor="alice")] == ["remembered"]
    assert [each.action for each in memory.governance.audit(reference=lamp)] == ["forgotten", "remembered"]
    assert [each.sequence for each in memory.governance.audit(action="graded")] == [6, 5]
    assert entries.as_json()["entries"][4]["at"] == "2026-01-01T00:00:00.000Z"
    assert "lamp" not in str(entries.as_json())


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1_000])
def test_pages_together_are_the_whole_and_nothing_stands_twice(memory, clock, limit):
    for number in range(5):
        clock.advance(ms=1)
        memory.remember_many([f"My dog number {number}-{each} is called Rex." for each in range(2)])
        memory.governance.regrade()
    whole = list(memory.governance.audit(limit=1_000))
    assert len(whole) == 20
    assert pages(memory, limit=limit) == whole
    regraded = [each for each in whole if each.operation == "regrade"]
    assert len(regraded) == 10
    assert pages(memory, limit=limit, operation="regrade") == regraded
    dog = regraded[0].memory_id
    assert pages(memory, limit=limit, operation="regrade", reference=dog) == [regraded[0]]
    assert pages(memory, limit=limit, operation="regrade", action="remembered") == []


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_tokens_stand_among_it_once(path, clock, limit):
    from memoranda.domain.access import Token

    with open_store(path, clock=clock) as memory:
        engine = memory._engine
        from memoranda.ledger.tokens import Tokens

        tokens = Tokens(engine.ledger.database, clock)
        for number, scope in enumerate(["home/anna", "home/anna/desk", "home", ""]):
            clock.advance(ms=5)
            memory.remember(f"Thing {number}.")
            clock.advance(ms=5)
            token = Token(f"mem_{number}", "laptop", "reader", scope, False, clock.now())
            tokens.add(token, bytes([number]) * 32, made_by="mem_root")
        clock.advance(ms=5)
        tokens.revoke("mem_0", "")
        told = [(each.action, each.token_id or each.sequence) for each in pages(memory, limit=limit)]
        assert told == [
            ("token_revoked", "mem_0"), ("remembered", 4), ("remembered", 3), ("remembered", 2),
            ("token_created", "mem_0"), ("remembered", 1),
        ]  # fmt: skip
        below = pages(memory, limit=limit, below=True, action="token_created")
        assert [each.token_id for each in below] == ["mem_1", "mem_0"]
        assert [each.token_id for each in pages(memory, limit=limit, actor="mem_root")] == ["mem_0"]
        assert pages(memory, limit=limit, operation="regrade") == []


def test_a_period_is_taken_from_both_ends(memory, clock):
    for number in range(4):
        memory.remember(f"Thing {number}.")
        clock.advance(days=1)
    asked = memory.governance.audit(after="2026-01-02", until="2026-01-03")
    assert [each.sequence for each in asked] == [3, 2]


def test_what_lies_beside_is_never_told_and_what_lies_below_when_asked(opened):
    ids = {scope: opened(scope=scope).remember(f"Of {scope}.").id for scope in ("home", "home/anna", "home/ben")}
    anna, home = opened(scope="home/anna"), opened(scope="home")
    assert {each.memory_id for each in anna.governance.audit(below=True)} == {ids["home"], ids["home/anna"]}
    assert {each.memory_id for each in home.governance.audit()} == {ids["home"]}
    assert {each.memory_id for each in home.governance.audit(below=True)} == set(ids.values())
    with pytest.raises(NotFound):
        anna.governance.audit(reference=ids["home/ben"])


def test_operations_far_apart_are_found_without_reading_what_lies_between(memory, clock):
    kept = []
    for number in itertools.islice(itertools.count(), 30):
        memory.remember(f"My dog number {number} is called Rex.")
        if number % 10 == 0:
            memory.governance.regrade()
            kept.append(memory.stats().sequence)
    assert [each.sequence for each in memory.governance.audit(operation="regrade", limit=2)][:1] == kept[-1:]
    regraded = pages(memory, operation="regrade", limit=4)
    assert {each.action for each in regraded} == {"graded"}
    assert len(regraded) == 21


@pytest.mark.parametrize(
    "wrong", [{"limit": 0}, {"before": 0}, {"action": "sang"}, {"after": "soon"}, {"actor": 3}, {"reference": "?"}]
)
def test_a_wrong_argument_is_refused(memory, wrong):
    with pytest.raises(InvalidInput):
        memory.governance.audit(**wrong)


def test_what_was_done_to_conversations_is_told_with_who_did_it_and_not_what_was_said(memory, clock):
    memory.conversations.append([user("The gruntlewort is in the cellar.", speaker="anna")], conversation="kitchen")
    memory.conversations.append([user("Hello.")], conversation="hall")
    talk = memory.conversations.get("hall").id
    clock.advance(ms=1)
    kept = memory.remember("Anna likes tea.")
    for verb in ("archive", "restore"):
        clock.advance(ms=1)
        with acting_as("alice"):
            getattr(memory.conversations, verb)("hall")
    clock.advance(ms=1)
    with acting_as("bob"):
        memory.conversations.erase("kitchen")
    whole = memory.governance.audit()
    assert [(each.action, each.actor) for each in whole] == [
        ("conversation_erased", "bob"), ("conversation_restored", "alice"), ("conversation_archived", "alice"),
        ("remembered", ""),
    ]  # fmt: skip
    assert [each.conversation_id for each in whole] == ["", talk, talk, ""]
    assert whole[-1].memory_id == kept.id
    assert [each.action for each in memory.governance.audit(actor="bob")] == ["conversation_erased"]
    assert len(memory.governance.audit(action="conversation_archived")) == 1
    assert len(memory.governance.audit(reference=kept)) == 1
    assert "gruntlewort" not in str(whole.as_json())
    other = memory.within("home/anna/kid").governance.audit()
    assert not [each for each in other if each.conversation_id]
