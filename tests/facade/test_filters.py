"""The filters for agents: each narrows what is looked at, before any limit, and none lets another scope in."""

import pytest

from memoranda import Draft, InvalidInput
from memoranda.testing.fakes import FixedClock
from support import ids, open_store, quarantine

QUERY = "where is a lamp"
CROWD = 500


@pytest.fixture(scope="module", params=["none", "hashed:words"])
def crowded(request, tmp_path_factory):
    """One memory of each sort, none of them a good match, under hundreds that match better and are of no such sort."""
    clock = FixedClock()
    path = tmp_path_factory.mktemp("crowded") / "store.db"
    with open_store(path, embedder=request.param, clock=clock) as memory:
        memory.remember("ever so long ago there was a lamp in some corner of a house", kind="note")
        then = clock.now()
        clock.advance(days=10)

        def one(word, **fields):
            return memory.remember(f"at one time there was a lamp and a {word} in some corner of a house", **fields).id

        special = {
            "speaker": one("speaker", speaker="anna"),
            "kind": one("kind", kind="decision"),
            "about": one("about", about="light.corner"),
            "tags": one("tags", tags=["red", "old", "tall"]),
            "some tags": one("sometags", tags=["red"]),
            "source": one("source", source="operator"),
            "time_after": one("after", occurred_at="2027-01-01"),
            "time_before": one("before", occurred_at="2020-01-01"),
            "importance_min": one("importance", importance=0.7),
            "untrusted": one("rumour", source="web"),
            "archived": one("archive"),
            "superseded": one("past"),
            "forgotten": one("forgotten"),
            "expired": one("expired", valid_until=clock.now() + 1),
            "quarantined": one("quarantine"),
        }
        special["before the crowd"] = memory.list(as_of=then)[0].id
        memory.archive(special["archived"])
        memory.forget(special["forgotten"])
        memory.remember("nothing of the kind", supersedes=special["superseded"])
        quarantine(memory, memory.get(special["quarantined"]))
        clock.advance(days=1)
        memory.remember_many(
            [
                Draft(f"where is a lamp {number}", importance=0.2, kind="fact", speaker="crowd")
                for number in range(CROWD)
            ]
        )
        memory.admin.maintain()
        yield memory, special, then


FILTERS = {
    "speaker": {"speaker": "anna"},
    "kind": {"kind": "decision"},
    "about": {"about": "light.corner"},
    "tags": {"tags": ["old", "red"]},
    "source": {"source": "operator"},
    "time_after": {"time_after": "2026-12-31"},
    "time_before": {"time_before": "2021-01-01"},
    "importance_min": {"importance_min": 0.5},
    "untrusted": {"trust": "untrusted"},
    "quarantined": {"trust": "quarantined"},
    "archived": {"states": ["archived"]},
    "superseded": {"states": ["superseded"]},
    "forgotten": {"states": ["forgotten"]},
    "expired": {"states": ["expired"]},
}


@pytest.mark.parametrize("lanes", [("lexical", "semantic"), ("lexical",), ("semantic",)], ids="+".join)
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_comes_before_the_limit(crowded, name, lanes):
    memory, special, _ = crowded
    if "lexical" not in lanes and memory.recall(QUERY).receipt.embedder == "none":
        assert not memory.recall(QUERY, lanes=lanes, policy="broad")
        return
    found = memory.recall(QUERY, limit=5, policy="broad", lanes=lanes, **FILTERS[name])
    assert ids(found) == [special[name]]
    assert found.receipt.searched == 1
    unfiltered = memory.recall(QUERY, limit=5, policy="broad", lanes=lanes)
    assert len(unfiltered) == 5
    assert special[name] not in ids(unfiltered)


def test_a_moment_comes_before_the_limit(crowded):
    memory, special, then = crowded
    found = memory.recall(QUERY, as_of=then, policy="broad")
    assert ids(found) == [special["before the crowd"]]
    assert found.receipt.searched == 1


def test_filters_may_be_given_together_and_all_must_fit(crowded):
    memory, special, then = crowded
    found = memory.recall(QUERY, policy="broad", kind=["decision", "note"], source=["operator", "system"])
    assert ids(found) == [special["source"]]
    assert not memory.recall(QUERY, policy="broad", speaker="anna", kind="decision")
    assert not memory.recall(QUERY, policy="broad", speaker="anna", as_of=then)


def test_all_of_the_tags_are_needed(crowded):
    memory, special, _ = crowded
    assert set(ids(memory.recall(QUERY, policy="broad", tags=["red"]))) == {special["tags"], special["some tags"]}
    assert not memory.recall(QUERY, policy="broad", tags=["red", "green"])
    assert not memory.recall(QUERY, policy="broad", tags=["re"])


def test_the_limit_is_kept_and_all_is_reached(crowded):
    memory, *_ = crowded
    assert len(memory.recall(QUERY, limit=1)) == 1
    assert len(memory.recall("lamp", limit=1_000, policy="broad", speaker="crowd")) == CROWD


def test_after_is_inclusive_and_before_is_not(memory, clock):
    kept = memory.remember("the lamp fell", occurred_at="2025-06-01T12:00:00Z")
    said = memory.remember("the lamp was mended")
    moment = kept.memory.occurred_at
    assert ids(memory.recall("lamp", time_after=moment, time_before=moment + 1)) == [kept.id]
    assert not memory.recall("lamp", time_before=moment)
    assert ids(memory.recall("lamp", time_after=moment + 1)) == [said.id], "what has no date happened when it was said"
    assert ids(memory.recall("lamp", time_after=clock.now())) == [said.id]


def test_what_has_no_importance_yet_is_left_out_only_when_one_is_asked_for(memory):
    unknown, half = memory.remember("the lamp"), memory.remember("the lamp there", importance=0.5)
    assert set(ids(memory.recall("lamp"))) == {unknown.id, half.id}
    assert ids(memory.recall("lamp", importance_min=0.5)) == [half.id]
    assert ids(memory.recall("lamp", importance_min=0.0)) == [half.id]
    assert not memory.recall("lamp", importance_min=0.51)


def test_filters_are_read_as_memories_are_written(memory):
    kept = memory.remember("the lamp", about=" light.office ", speaker=" anna ", tags=[" red "])
    assert ids(memory.recall("lamp", about="light.office ", speaker="anna", tags=["red "])) == [kept.id]
    assert not memory.recall("lamp", about="LIGHT.OFFICE")


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_opens_another_scope(opened, name):
    theirs = opened("home/bob")
    theirs.remember("the lamp", speaker="anna", kind="decision", about="light.corner", tags=["old", "red"])
    theirs.remember("a lamp", source="operator", occurred_at="2027-01-01", importance=0.7)
    theirs.remember("that lamp", source="web", occurred_at="2025-01-01")
    theirs.remember("this lamp", occurred_at="2020-01-01")
    theirs.remember("some lamp", valid_until="2020-01-02")
    theirs.archive(theirs.remember("the archived lamp"))
    theirs.forget(theirs.remember("the forgotten lamp"))
    theirs.remember("the new lamp", supersedes=theirs.remember("the old lamp"))
    quarantine(theirs, theirs.remember("the quiet lamp"))
    assert theirs.recall(QUERY, policy="broad", **FILTERS[name])
    found = opened("home/anna").recall(QUERY, policy="broad", **FILTERS[name])
    assert not found
    assert found.receipt.searched == 0
    assert found.receipt.proposed == 0


BAD = {
    "kind": ["rumour", 7, None, ["fact", "rumour"], {"fact": 1}],
    "source": ["nobody", None, ["user", ""]],
    "states": ["live", ["lost"], None],
    "trust": ["blind", None, ["trusted", 3]],
    "lanes": ["smell", ["lexical", "smell"], None],
    "policy": ["careless", "", None, []],
    "mode": ["loud", "", None],
    "about": [None, 7, "\ud800", "x" * 513, "a\0b"],
    "speaker": [None, 7, "\ud800", "x" * 513],
    "prefer_speaker": [None, 7, "\udc00", "x" * 513],
    "conversation": [None, 7, "\ud800", "x" * 513],
    "tags": ["red", None, [7], [""], ["x"] * 65, {"red"}],
    "time_after": ["someday", -1, True, 10**20, [], 2.5],
    "time_before": ["someday", -1, True, 10**20],
    "importance_min": [-0.1, 1.1, "high", True, float("nan")],
    "limit": [0, -1, 1_001, 10_000, 10**30, 2.5, "5", None, True],
    "as_of": ["someday", -1, True, float("inf")],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_filter_is_refused_in_our_own_words(memory, name, value):
    memory.remember("the lamp")
    with pytest.raises(InvalidInput) as refused:
        memory.recall("lamp", **{name: value})
    assert refused.value.hint
    assert len(str(refused.value)) < 300


def test_a_span_that_ends_before_it_begins_is_refused(memory):
    with pytest.raises(InvalidInput, match="time_before"):
        memory.recall("lamp", time_after="2026-01-02", time_before="2026-01-01")
