"""What speaks for a candidate: parts that add up, context only where there is some, relevance from 0 to 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.ports import Around, Candidate
from memoranda.recall.evidence import PARTS, PRIORS, Scale, weighed
from memoranda.recall.policies import BARS, BEHIND, scale_of

from .made import candidate_of

BOTH = ("lexical", "semantic")
SHARES = st.floats(0.0, 1.0)
CANDIDATES = st.builds(
    Candidate,
    number=st.integers(1, 50),
    coverage=SHARES,
    cosine=st.none() | st.floats(-1.0, 1.0),
    lexical_rank=st.none(),
    semantic_rank=st.none(),
    closeness=st.none() | SHARES,
    around=st.none() | st.builds(Around, coverage=SHARES, cosine=st.floats(-1.0, 1.0)),
    conversation=st.integers(0, 3),
    named=st.booleans(),
    timely=st.booleans(),
    subject=st.booleans(),
)


def one(candidate, *, lanes=BOTH, priors=PRIORS):
    return weighed([candidate], lanes=lanes, priors=priors)[0]


@given(st.lists(CANDIDATES, max_size=8))
def test_the_parts_add_up_and_the_order_is_kept(candidates):
    found = weighed(candidates, lanes=BOTH, priors=PRIORS)
    assert [each.candidate for each in found] == candidates
    for each in found:
        assert sum(each.weights) == pytest.approx(each.total)
        assert sum(each.parts.values()) == pytest.approx(each.total, abs=1e-5)
        assert set(each.parts) <= set(PARTS)


@given(CANDIDATES, SHARES)
def test_more_of_the_words_is_never_worth_less(candidate, more):
    better = candidate._replace(coverage=max(candidate.coverage, more))
    assert one(better).total >= one(candidate).total - 1e-12


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), SHARES)
def test_nearer_in_meaning_is_never_worth_less(near, nearer, words):
    low, high = sorted((near, nearer))
    assert one(candidate_of(1, words, high)).total >= one(candidate_of(1, words, low)).total - 1e-12


@given(CANDIDATES)
def test_without_priors_what_a_chat_adds_counts_for_nothing(candidate):
    alone = candidate._replace(around=None, conversation=0, named=False, timely=False)
    assert one(candidate, priors=()).weights == one(alone, priors=PRIORS).weights


@pytest.mark.parametrize(
    ("prior", "context"),
    [
        ("speaker", {"named": True}),
        ("time", {"timely": True}),
        ("neighbours", {"around": Around(0.9, 0.9)}),
    ],
)
def test_each_prior_is_switched_off_by_itself(prior, context):
    plain, chat = candidate_of(1, 0.4, 0.3), candidate_of(1, 0.4, 0.3, **context)
    others = tuple(each for each in PRIORS if each != prior)
    assert one(chat).total > one(plain).total
    assert one(chat, priors=others).total == one(plain).total


@pytest.mark.parametrize("lanes", [BOTH, ("lexical",)])
def test_what_is_about_a_thing_that_was_named_counts_more(lanes):
    plain, named = candidate_of(1, 0.4, 0.3), candidate_of(1, 0.4, 0.3, subject=True)
    assert one(named, lanes=lanes).total > one(plain, lanes=lanes).total
    assert one(named, lanes=lanes).parts["about"] > 0


def test_a_memory_is_drawn_towards_the_best_of_its_conversation_and_never_beyond():
    best, weak, elsewhere = (
        candidate_of(1, 0.9, 0.5, conversation=7),
        candidate_of(2, 0.1, 0.1, conversation=7),
        candidate_of(3, 0.1, 0.1),
    )
    together = weighed([best, weak, elsewhere], lanes=BOTH, priors=("conversation",))
    apart = weighed([best, weak, elsewhere], lanes=BOTH, priors=())
    assert together[0] == apart[0]
    assert apart[1].total < together[1].total < together[0].total
    assert together[2] == apart[2]


def test_what_is_not_embedded_yet_is_judged_by_its_words_alone():
    assert one(candidate_of(1, 1.0, None)).total == 1.0
    assert one(candidate_of(1, 1.0, None)).total >= one(candidate_of(1, 1.0, 0.0)).total


def test_with_one_lane_that_lane_is_the_whole_scale():
    context = {"closeness": 1.0, "named": True, "timely": True, "around": Around(1.0, 1.0)}
    by_words = one(candidate_of(1, 0.5, 0.9, **context), lanes=("lexical",))
    assert by_words.parts == {"lexical": 0.5}
    by_meaning = one(candidate_of(1, 0.5, 0.9, **context), lanes=("semantic",))
    assert by_meaning.parts == {"semantic": 1.0}
    assert one(candidate_of(1, 0.5, None), lanes=("semantic",)).total == 0.0


@given(
    st.builds(Scale, middle=st.floats(0.01, 0.99), steepness=st.floats(1.0, 50.0), per_fold=st.floats(0.0, 0.2)),
    *[st.floats(-2.0, 4.0)] * 2,
    *[st.integers(0, 1_000_000)] * 2,
)
def test_relevance_lies_between_0_and_1_and_rises_with_the_evidence(scale, total, other_total, few, many):
    low, high = sorted((total, other_total))
    assert 0.0 <= scale.relevance(low, few) <= scale.relevance(high, few) <= 1.0
    fewer, more = sorted((few, many))
    assert scale.relevance(total, more) <= scale.relevance(total, fewer), "of many, the best looks better by chance"


def test_policies_go_from_sure_to_broad():
    assert BARS["strict"] > BARS["balanced"] > BARS["broad"] == 0.0
    assert BEHIND["strict"] >= BEHIND["balanced"] >= BEHIND["broad"] == 0.0


@pytest.mark.parametrize("lanes", [BOTH, ("lexical",), ("semantic",), (*BOTH, "structured")])
def test_everything_met_clears_the_strict_bar_and_nothing_met_the_balanced_one_not(lanes):
    scale = scale_of(lanes)
    full = one(candidate_of(1, 1.0, 1.0, closeness=1.0), lanes=lanes, priors=())
    for searched in (1, 50, 1_000_000):
        assert scale.relevance(full.total, searched) > BARS["strict"]
        assert scale.relevance(0.0, searched) < BARS["balanced"]
