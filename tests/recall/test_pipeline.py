"""From proposals to hits, handed lambdas instead of a ledger and an index."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.factors import Circumstances
from memoranda.recall.pipeline import recall, traced
from memoranda.recall.policies import BARS, BEHIND

from .made import DAY, NOW, answer_of, candidate_of, identity, loads, memory_of, plan_of


def recalled(plan, candidates, memories):
    return recall(plan, answer_of(*candidates), loads(*memories)).recall


def reasons(plan, candidates, memories):
    """Step and reason, by number, of what did not come back."""
    outcome = traced(plan, answer_of(*candidates), loads(*memories))
    return {number: (fate.step, fate.reason) for number, fate in outcome.fates.items()}


def test_best_first_and_of_equals_the_older():
    candidates = [candidate_of(3, 0.9), candidate_of(1, 0.7), candidate_of(2, 0.9)]
    found = recalled(plan_of(), candidates, [memory_of(n) for n in (1, 2, 3)])
    assert [hit.id for hit in found] == [identity(2), identity(3), identity(1)]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_the_best_of_many_good_ones_is_first_although_scores_end_at_1():
    memories = [memory_of(n, grade="must_remember", tags=("correction",)) for n in range(1, 6)]
    candidates = [candidate_of(n, 0.9 + 0.02 * n) for n in range(1, 6)]
    found = recalled(plan_of(), candidates, memories)
    assert [hit.id for hit in found] == [identity(n) for n in (5, 4, 3, 2, 1)]
    assert all(hit.score <= 1.0 for hit in found)
    assert found[0].score == found[1].score == 1.0, "otherwise this tests nothing"


def test_a_score_is_relevance_times_factors_and_the_parts_are_in_the_receipt():
    memory = memory_of(1, grade="ignore", confidence=0.5)
    found = recalled(plan_of(), [candidate_of(1, 0.8)], [memory])
    receipt = found[0].receipt
    assert set(receipt.factors) == {"importance", "confidence"}
    product = receipt.factors["importance"] * receipt.factors["confidence"]
    assert found[0].score == pytest.approx(receipt.relevance * product, abs=1e-5)
    assert receipt.parts == {"lexical": 0.8}
    assert (receipt.lexical_rank, receipt.semantic_rank, receipt.structured_rank) == (1, None, None)


@pytest.mark.parametrize("policy", BARS)
def test_what_does_not_clear_the_bar_is_dropped_and_nothing_left_is_an_answer(policy):
    weak = candidate_of(1, 0.05)
    found = recalled(plan_of(policy=policy), [weak], [memory_of(1)])
    assert (len(found) == 1) == (policy == "broad")
    assert found.receipt.bar == BARS[policy]
    if policy != "broad":
        assert found.receipt.abstained == "nothing cleared the bar"
        assert found.receipt.dropped == {"below the bar": 1}


def test_what_nothing_speaks_for_never_comes_back():
    assert not recalled(plan_of(policy="broad"), [candidate_of(1, 0.0)], [memory_of(1)])


@pytest.fixture
def _strictly_near(monkeypatch):
    """Numbers of its own, whatever the calibration says: a low bar, and only what is close to the best."""
    monkeypatch.setitem(BARS, "strict", 0.05)
    monkeypatch.setitem(BEHIND, "strict", 0.9)


@pytest.mark.usefixtures("_strictly_near")
def test_what_is_far_behind_the_best_does_not_stand_beside_it():
    candidates, memories = [candidate_of(1, 1.0), candidate_of(2, 0.45)], [memory_of(1), memory_of(2)]
    assert len(recalled(plan_of(policy="strict"), candidates, memories)) == 1
    assert reasons(plan_of(policy="strict"), candidates, memories) == {2: ("bar", "far behind the best")}
    assert len(recalled(plan_of(policy="broad"), candidates, memories)) == 2


@pytest.mark.parametrize(
    ("fields", "step", "reason"),
    [
        ({"scope": "home/bob"}, "scope", "other scope"),
        ({"state": "superseded"}, "ledger", "superseded"),
        ({"state": "archived"}, "ledger", "archived"),
        ({"state": "forgotten"}, "ledger", "forgotten"),
        ({"state": "expired"}, "ledger", "expired"),
        ({"valid_until": NOW}, "ledger", "expired"),
        ({"valid_from": NOW + 1}, "ledger", "not valid then"),
        ({"trust": "quarantined"}, "trust", "quarantined"),
    ],
)
def test_the_ledger_disposes_whatever_the_index_proposed(fields, step, reason):
    stopped, fine = memory_of(1, **fields), memory_of(2)
    candidates = [candidate_of(1, 1.0), candidate_of(2, 0.9), candidate_of(3, 0.9)]
    found = recalled(plan_of(), candidates, [stopped, fine])
    assert [hit.id for hit in found] == [fine.id]
    assert found.receipt.dropped == {reason: 1, "gone": 1}
    assert reasons(plan_of(), candidates, [stopped, fine]) == {1: (step, reason), 3: ("ledger", "gone")}


@pytest.mark.parametrize(
    ("asked", "fields"),
    [
        ({"kinds": ("preference",)}, {"kind": "preference"}),
        ({"sources": ("operator",)}, {"source": "operator"}),
        ({"about": "lamp"}, {"about": "lamp"}),
        ({"speaker": "anna"}, {"speaker": "anna"}),
        ({"tags": ("a", "b")}, {"tags": ("b", "c", "a")}),
        ({"time_after": NOW + DAY}, {"occurred_at": NOW + DAY}),
        ({"time_before": NOW}, {"occurred_at": NOW - 1}),
        ({"importance_min": 0.5}, {"importance": 0.5}),
        ({"trust": ("untrusted",)}, {"trust": "untrusted"}),
        ({"trust": ("quarantined",)}, {"trust": "quarantined"}),
        ({"states": ("archived",)}, {"state": "archived"}),
        ({"states": ("expired",)}, {"state": "expired"}),
        ({"states": ("expired",)}, {"valid_until": NOW - 1}),
    ],
)
def test_filters_are_checked_again_by_what_the_ledger_says(asked, fields):
    """An index that lies about a filter shows nothing that it leaves out."""
    fits, other = memory_of(1, **fields), memory_of(2)
    found = recalled(plan_of(**asked), [candidate_of(1, 0.8), candidate_of(2, 0.9)], [fits, other])
    assert [hit.id for hit in found] == [fits.id]


def test_at_a_moment_validity_and_recency_are_those_of_the_moment():
    memory = memory_of(1, kind="episode", created_at=NOW - 40 * DAY, valid_until=NOW - 30 * DAY)
    at = NOW - 35 * DAY
    plan = plan_of(as_of=at, circumstances=Circumstances(at))
    found = recalled(plan, [candidate_of(1, 1.0)], [memory])
    assert [hit.id for hit in found] == [memory.id]
    assert not recalled(plan_of(), [candidate_of(1, 1.0)], [memory])


def test_no_more_rows_are_loaded_than_are_needed():
    asked = []

    def load(numbers):
        asked.extend(numbers)
        return {number: memory_of(number) for number in numbers}

    recall(plan_of(limit=2), answer_of(*[candidate_of(n, 0.9) for n in range(1, 301)]), load)
    assert 2 <= len(asked) <= 50


@pytest.mark.parametrize(
    ("crowd", "mode"),
    [
        ({"trust": "untrusted"}, "asked"),
        ({"trust": "untrusted"}, "automatic"),
        ({"trust": "quarantined"}, "asked"),
        ({"grade": "ignore"}, "automatic"),
        ({"source_ref": "notes.md"}, "asked"),
        ({"source_ref": "notes.md"}, "automatic"),
    ],
)
def test_a_crowd_that_may_not_come_back_does_not_keep_others_out(crowd, mode):
    memories = [*(memory_of(n, **crowd) for n in range(1, 91)), memory_of(91)]
    candidates = [*(candidate_of(n, 0.95) for n in range(1, 91)), candidate_of(91, 0.7)]
    found = recalled(plan_of(mode=mode), candidates, memories)
    assert identity(91) in [hit.id for hit in found]


@pytest.mark.usefixtures("_strictly_near")
@pytest.mark.parametrize("mode", ["asked", "automatic"])
def test_a_very_relevant_rumour_does_not_push_out_what_is_trusted(mode):
    rumour, fact = memory_of(1, trust="untrusted"), memory_of(2)
    candidates = [candidate_of(1, 1.0), candidate_of(2, 0.45)]
    found = recalled(plan_of(mode=mode, policy="strict"), candidates, [rumour, fact])
    alone = recalled(plan_of(mode=mode, policy="strict"), candidates[1:], [rumour, fact])
    assert [hit.id for hit in found] == [hit.id for hit in alone] == [fact.id]


def _identifier(text):
    return "identifier" if "E17" in text else ""


def test_what_has_the_identifier_that_was_asked_for_comes_first():
    memories = [memory_of(1, "the other one"), memory_of(2, "about E17"), memory_of(3, "some other")]
    candidates = [candidate_of(1, 0.8), candidate_of(2, 0.7), candidate_of(3, 0.6)]
    plan = plan_of(policy="broad", circumstances=Circumstances(NOW, exactness=_identifier))
    found = recalled(plan, candidates, memories)
    assert [hit.id for hit in found] == [identity(2), identity(1), identity(3)]
    assert ["other identifier" in hit.receipt.factors for hit in found] == [False, True, True]
    without = recalled(plan, [candidates[0], candidates[2]], memories)
    assert all("other identifier" not in hit.receipt.factors for hit in without)


def test_a_rumour_with_the_identifier_does_not_lower_what_is_trusted():
    rumour, fact = memory_of(1, "about E17", trust="untrusted"), memory_of(2, "something else")
    plan = plan_of(circumstances=Circumstances(NOW, exactness=_identifier))
    found = recalled(plan, [candidate_of(1, 0.8), candidate_of(2, 0.7)], [rumour, fact])
    assert [hit.id for hit in found] == [fact.id]
    assert found[0].receipt.factors == {}


def test_for_erasing_everything_comes_back_that_clears_the_bar():
    memories = [memory_of(n, "the lamp", source_ref="notes.md", grade="ignore") for n in range(1, 11)]
    candidates = [candidate_of(n, 0.9) for n in range(1, 11)]
    assert len(recalled(plan_of(everything=True, limit=50), candidates, memories)) == 10
    assert len(recalled(plan_of(limit=50), candidates, memories)) == 3


def test_only_a_time_asked_gives_what_happened_then_in_its_order():
    candidates = [candidate_of(n, timely=n != 2) for n in (3, 1, 2)]
    found = recalled(plan_of(only_time=True), candidates, [memory_of(n) for n in (1, 2, 3)])
    assert [hit.id for hit in found] == [identity(1), identity(3)]
    assert found[0].receipt.parts == {"time": 1.0}


def test_a_skipped_recall_says_why():
    found = recalled(plan_of(skipped="trivial prompt"), [], [])
    assert found.receipt.abstained == "trivial prompt"
    assert recalled(plan_of(), [], []).receipt.abstained == "nothing to search"


def test_the_receipt_lists_a_few_and_counts_all():
    memories = [memory_of(n, f"secretword {n}", grade="must_remember") for n in range(1, 21)]
    candidates = [candidate_of(n, 0.9, 0.1 * (n % 7)) for n in range(1, 21)]
    plan = plan_of(limit=12, receipt_items=4, receipt_tops=True, lanes=("lexical", "semantic"))
    receipt = recalled(plan, candidates, memories).receipt
    assert receipt.returned == 12
    assert len(receipt.hits) == 4
    assert receipt.tiers == {"must_remember": 12}
    assert receipt.tier == "must+nice"
    assert [len(lane) for lane in receipt.tops] == [4, 4, 0, 4]
    assert receipt.tops.lexical[0] == identity(1)
    assert receipt.proposed == receipt.searched == 20
    assert sum(receipt.dropped.values()) + receipt.returned == receipt.proposed
    assert "secretword" not in json.dumps(receipt.as_json())


CANDIDATES = st.lists(
    st.tuples(
        st.floats(0.0, 1.0),
        st.none() | st.floats(-1.0, 1.0),
        st.sampled_from(["must_remember", "nice_to_have", "ignore", "unknown"]),
        st.sampled_from(["trusted", "untrusted", "quarantined"]),
        st.sampled_from(["live", "superseded", "forgotten"]),
        st.sampled_from(["home", "home/anna", "home/bob"]),
    ),
    max_size=40,
)


@given(CANDIDATES, st.integers(1, 12), st.sampled_from(list(BARS)), st.sampled_from(["asked", "automatic"]))
def test_every_proposal_comes_back_or_has_a_fate_and_the_same_again_is_the_same(drawn, limit, policy, mode):
    memories = [
        memory_of(n, grade=grade, trust=trust, state=state, scope=scope)
        for n, (_, _, grade, trust, state, scope) in enumerate(drawn, start=1)
    ]
    candidates = [candidate_of(n, words, cosine) for n, (words, cosine, *_) in enumerate(drawn, start=1)]
    plan = plan_of(limit=limit, policy=policy, mode=mode, lanes=("lexical", "semantic"), scope="home/anna")
    outcome = traced(plan, answer_of(*candidates), loads(*memories))
    found = outcome.recall
    assert recalled(plan, candidates, memories).receipt == found.receipt
    returned = {int(hit.id[:4]) for hit in found}
    assert returned | set(outcome.fates) == set(range(1, len(drawn) + 1))
    assert not returned & set(outcome.fates)
    assert len(found) <= limit
    assert sum(found.receipt.dropped.values()) == len(outcome.fates)
    for hit in found:
        assert hit.memory.scope != "home/bob"
        assert hit.memory.state == "live"
        assert hit.memory.trust == "trusted" or (mode == "asked" and hit.memory.trust == "untrusted")
        assert 0.0 < hit.score <= 1.0
    assert len({hit.memory.trust for hit in found}) <= 1, "trusted and untrusted never stand side by side"
