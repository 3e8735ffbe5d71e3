"""Why these and not others: receipts, why-not, replay."""

import json

import pytest

from memoranda import ConfigError, InvalidInput, Settings
from memoranda.config import load
from support import ids, open_store, quarantine

NEVER = "0123456789abcdefghjk"


# -- why not --


def _step(memory, query, reference):
    told = memory.why_not(query, reference)
    assert not told.returned
    assert told.reason
    assert json.dumps(told.as_json())
    return told.step, told.reason


def test_what_came_back_is_said_to_have(face):
    first, second = face.remember("the green lamp"), face.remember("some lamp, too")
    told = face.why_not("green lamp", second)
    assert (told.returned, told.step, told.reason) == (True, "returned", "it came back, as number 2")
    assert told.numbers["score"] > 0
    assert face.why_not("green lamp", first.id[:8]).id == first.id


def test_the_gate(memory):
    kept = memory.remember("hello is what Anna says")
    assert _step(memory, "hello", kept) == ("gate", "trivial prompt")
    assert _step(memory, "  ", kept) == ("gate", "no query")


def test_another_scope_is_told_no_more_of_than_what_never_was(opened, clock):
    theirs = opened("home/bob").remember("the secret lamp of Bob")
    below = opened("home/anna/diary").remember("the lamp in the diary")
    memory = opened("home/anna", clock=clock)
    memory.remember("a lamp for all to see")
    told = []
    for reference in (theirs.id, below.id, NEVER):
        shown = memory.why_not("the secret lamp of Bob", reference).as_json()
        told.append(json.dumps(shown).replace(reference, "ID"))
        assert shown["step"] == "scope"
    assert told[0] == told[1] == told[2]
    assert memory.why_not("lamp", theirs.id[:8]).step == memory.why_not("lamp", NEVER[:8]).step == "scope"


def test_the_state(memory, clock):
    old = memory.remember("the lamp is in the hall")
    new = memory.remember("the lamp is in the attic", supersedes=old)
    assert _step(memory, "lamp", old) == ("ledger", f"superseded by {new.id}")
    archived, forgotten = memory.remember("the old lamp"), memory.remember("the ugly lamp")
    memory.archive(archived)
    memory.forget(forgotten)
    assert _step(memory, "lamp", archived) == ("ledger", "archived")
    assert _step(memory, "lamp", forgotten) == ("ledger", "forgotten")
    short = memory.remember("the lamp of today", valid_until=clock.now() + 1)
    future = memory.remember("the lamp of tomorrow", valid_from=clock.now() + 1_000)
    clock.advance(ms=1)
    assert _step(memory, "lamp", short) == ("ledger", "expired")
    assert _step(memory, "lamp", future) == ("ledger", "not valid then")


def test_a_moment_before_it_was_kept(memory, clock):
    then = clock.now()
    clock.advance(days=1)
    kept = memory.remember("the lamp")
    assert _step(memory, memory.recall("lamp", as_of=then), kept) == ("ledger", "it did not exist at that moment")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "decision"),
        ("source", "operator"),
        ("about", "light.hall"),
        ("speaker", "bob"),
        ("tags", ["red"]),
        ("time_after", "2026-06-01"),
        ("time_before", "2025-06-01"),
        ("importance_min", 0.5),
    ],
)
def test_a_filter(memory, name, value):
    kept = memory.remember("the lamp is in the hall")
    found = memory.recall("lamp", **{name: value})
    assert _step(memory, found, kept) == ("filter", f"the filter {name} leaves it out")


def test_trust(memory):
    rumour = memory.remember("the lamp is said to be in the hall", source="web")
    assert memory.why_not("lamp", rumour).returned
    assert _step(memory, memory.recall("lamp", mode="automatic"), rumour) == (
        "admission",
        "untrusted, and nobody asked",
    )
    memory.remember("the lamp is in the attic")
    assert _step(memory, "lamp", rumour) == ("admission", "untrusted, and something trusted answers")
    assert _step(memory, memory.recall("lamp", trust="trusted"), rumour) == ("trust", "untrusted")
    quiet = quarantine(memory, memory.remember("the lamp is nowhere"))
    assert _step(memory, "lamp", quiet) == ("trust", "quarantined")


def test_below_the_bar(memory):
    kept = memory.remember("a lamp, a carpet, a boiler, a window and a garden were in one and the same house")
    memory.remember("the quarterly taxes of submarines are due")
    query = "which lamp pays the quarterly taxes of submarines and who is told"
    found = memory.recall(query, policy="strict")
    told = memory.why_not(found, kept)
    assert (told.step, told.reason) == ("bar", "below the bar")
    assert 0 < told.numbers["relevance"] < told.numbers["bar"] == found.receipt.bar
    assert told.numbers["lexical"] > 0


def test_beyond_the_limit(memory):
    kept = [memory.remember(f"the lamp {word}") for word in ("alpha", "bravo", "gamma", "delta")]
    found = memory.recall("lamp", limit=2)
    outside = next(each for each in kept if each.id not in ids(found))
    assert _step(memory, found, outside) == ("limit", "beyond the limit")


def test_beyond_what_the_lanes_propose(memory):
    kept = memory.remember("ever so long ago there was a lamp, or so they say, in some corner of the house")
    for number in range(150):
        memory.remember(f"lamp {number}")
    told = memory.why_not(memory.recall("lamp", policy="broad"), kept)
    assert told.step == "lanes"
    assert "others have more" in told.reason
    among_all = memory.recall("lamp", policy="broad", limit=1_000)
    assert told.numbers["relevance"] == next(hit.receipt.relevance for hit in among_all if hit.id == kept.id)


def test_nothing_of_what_was_asked(memory):
    kept = memory.remember("the carpet is red")
    memory.remember("the lamp")
    assert _step(memory, "lamp", kept)[0] == "lanes"


def test_grade_source_and_repetition(memory):
    noise = memory.remember("the lamp hums", importance=0.1)
    automatic = memory.recall("lamp", mode="automatic")
    assert _step(memory, automatic, noise) == ("admission", "graded ignore, and nobody asked")
    kept = [memory.remember(f"lamp number {n}", source_ref="notes.md") for n in range(5)]
    found = memory.recall("lamp", limit=10)
    outside = [each for each in kept if each.id not in ids(found)]
    assert {_step(memory, found, each) for each in outside} == {("admission", "enough of its source")}
    important = memory.remember("the lamp must stay", importance=0.9)
    found = memory.recall("lamp", limit=1)
    assert ids(found) == [important.id]
    assert _step(memory, found, noise) == ("admission", "its grade was not needed")


def test_why_not_is_asked_with_all_that_the_recall_was_asked_with(memory):
    kept = memory.remember("the lamp is in the hall", speaker="anna")
    memory.remember("a lamp", speaker="bob")
    found = memory.recall("lamp", speaker="bob", limit=1, policy="broad")
    told = memory.why_not(found, kept)
    assert told.receipt == found.receipt
    assert told.step == "filter"


@pytest.mark.parametrize("reference", [None, 7, "", "ab", "not an id", "\0", "%", "x" * 21])
def test_a_bad_reference_is_refused(memory, reference):
    memory.remember("the lamp")
    with pytest.raises(InvalidInput) as refused:
        memory.why_not("lamp", reference)
    assert refused.value.hint


# -- replay --


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_a_receipt_replays_to_the_same_result(opened, clock, embedder):
    memory = opened(clock=clock, embedder=embedder)
    for number in range(30):
        memory.remember(
            f"lamp {number} stands in room {number % 3}", kind="episode", speaker=("anna", "bob")[number % 2]
        )
    asked = [
        {"limit": 7},
        {"speaker": "anna", "policy": "broad"},
        {"prefer_speaker": "bob", "limit": 4},
        {"as_of": clock.now(), "kind": ["episode", "fact"]},
        {"mode": "automatic", "conversation": "talk"},
        {"mode": "automatic", "conversation": "talk"},
        {"time_after": "2025-01-01", "time_before": "2027-01-01", "tags": (), "importance_min": None},
        {"lanes": ["lexical"], "states": ()},
    ]
    made = [(memory.recall("lamp in room 2", **each)) for each in asked]
    clock.advance(days=40)
    for found in made:
        for receipt in (found.receipt, json.loads(json.dumps(found.receipt.as_json()))):
            again = memory.replay(receipt)
            assert again.same, again.reason
            assert again.before == again.after == found.receipt.digest
            assert ids(again.recall) == ids(found)
            assert again.recall.receipt == found.receipt
            assert json.dumps(again.as_json())


def test_a_replay_says_what_changed(memory):
    memory.remember("the lamp in the hall")
    found = memory.recall("lamp")
    memory.remember("the carpet in the hall")
    unmoved = memory.replay(found.receipt)
    assert unmoved.same
    assert "from sequence 1 to 2" in unmoved.reason
    memory.remember("another lamp in the hall")
    moved = memory.replay(found.receipt)
    assert not moved.same
    assert moved.before != moved.after
    assert "from sequence 1 to 3" in moved.reason


def test_another_embedder_is_named_as_the_reason(path):
    with open_store(path, embedder="hashed:words") as memory:
        memory.remember("the lamp in the hall")
        receipt = memory.recall("lamp in the attic").receipt
    with open_store(path, embedder="none") as memory:
        again = memory.replay(receipt)
        assert not again.same
        assert "embedder" in again.reason


def test_a_receipt_is_replayed_only_in_its_own_scope(opened):
    receipt = opened("home/bob").recall("lamp").receipt
    assert opened("home").replay(receipt).same, "from above, it is found where it was made"
    for scope in ("home/anna", "home/bob/diary"):
        with pytest.raises(InvalidInput, match="scope"):
            opened(scope).replay(receipt)


@pytest.mark.parametrize(
    "change",
    [
        lambda shown: None,
        lambda shown: [],
        lambda shown: "receipt",
        lambda shown: {},
        lambda shown: {**shown, "request": None},
        lambda shown: {**shown, "request": {}},
        lambda shown: {**shown, "scopes": None},
        lambda shown: {**shown, "scopes": 7},
        lambda shown: {**shown, "scopes": ["home"]},
        lambda shown: {**shown, "request": {**shown["request"], "query": 7}},
        lambda shown: {**shown, "request": {**shown["request"], "now": "today"}},
        lambda shown: {**shown, "request": {**shown["request"], "now": -1}},
        lambda shown: {**shown, "request": {**shown["request"], "now": 10**30}},
        lambda shown: {**shown, "request": {**shown["request"], "limit": 10**6}},
        lambda shown: {**shown, "request": {**shown["request"], "kinds": ["rumour"]}},
        lambda shown: {**shown, "request": {**shown["request"], "states": 5}},
        lambda shown: {**shown, "request": {**shown["request"], "about": 5}},
        lambda shown: {**shown, "request": {**shown["request"], "repeated": ["x"] * 300}},
        lambda shown: {**shown, "request": {**shown["request"], "tags": [[]]}},
        lambda shown: {**shown, "request": {**shown["request"], "as_of": "someday"}},
        lambda shown: {**shown, "request": {**shown["request"], "surprise": 1}},
    ],
)
def test_what_is_no_receipt_is_refused(memory, change):
    memory.remember("the lamp")
    shown = memory.recall("lamp yesterday").receipt.as_json()
    with pytest.raises(InvalidInput) as refused:
        memory.replay(change(shown))
    assert refused.value.hint


# -- receipts --


def test_a_receipt_is_bounded_whatever_was_asked_and_found(opened):
    memory = opened(embedder="hashed:words", receipt_items=10, receipt_verbosity="high")
    for number in range(300):
        memory.remember(f"quagga {number}", source=("user", "web")[number % 2], importance=(number % 10) / 10)
    receipt = memory.recall("zebra quaggas " * 10_000, limit=1_000, policy="broad").receipt
    assert len(receipt.hits) == 10
    assert all(len(lane) <= 10 for lane in receipt.tops)
    assert len(receipt.dropped) < 12
    assert len(json.dumps(receipt.as_json())) < 12_000


@pytest.mark.parametrize("items", [0, 1, 10])
def test_a_receipt_lists_as_many_hits_as_was_set(opened, items):
    memory = opened(receipt_items=items)
    for word in "abcdefghijklmnop":
        memory.remember(f"the lamp {word}")
    receipt = memory.recall("lamp", limit=12).receipt
    assert len(receipt.hits) == items
    assert receipt.returned == 12
    assert receipt.tops is None


def test_a_verbose_receipt_names_the_first_of_each_lane(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words", receipt_verbosity="high", receipt_items=2)
    green = memory.remember("the green lamp", occurred_at="2025-12-24")
    memory.remember("some lamp", occurred_at="2025-12-24")
    memory.remember("a carpet")
    tops = memory.recall("the green lamp of 24 December 2025").receipt.tops
    assert tops.lexical[0] == tops.semantic[0] == tops.structured[0] == tops.fused[0] == green.id
    assert [len(lane) for lane in tops] == [2, 2, 2, 2]


@pytest.mark.parametrize(
    "wrong", [{"receipt_items": 11}, {"receipt_items": -1}, {"receipt_verbosity": "loud"}, {"recall_priors": "gossip"}]
)
def test_a_bad_knob_is_refused(wrong):
    with pytest.raises(ConfigError):
        load(wrong, environ={})
    assert Settings().receipt_items == 3


def test_each_hit_says_how_it_was_found(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words")
    memory.remember("the green lamp", importance=0.9, kind="episode", occurred_at="2025-06-01")
    hit = memory.recall("green lamp in June 2025")[0]
    assert (hit.receipt.lexical_rank, hit.receipt.semantic_rank, hit.receipt.structured_rank) == (1, 1, 1)
    assert {"lexical", "semantic", "time"} <= set(hit.receipt.parts)
    assert {"importance", "recency"} <= set(hit.receipt.factors)
    assert (hit.receipt.tier, hit.receipt.trust, hit.receipt.scope) == ("must_remember", "trusted", "home/anna")
    assert 0 <= hit.receipt.relevance <= 1
