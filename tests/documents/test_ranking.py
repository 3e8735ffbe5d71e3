"""Which chunks answer a question: the arithmetic adds up, and each rule does what it says."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.documents.ranking import Proposal, pool_size, ranked
from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import InvalidInput

NOW = 1_800_000_000_000
TEXTS = ["the boiler manual", "the boiler manual again", "tea with milk", "灯在书房", "", "where the lamp is"]


def proposal(path="a.md", *, line=1, text="some text", coverage=0.0, cosine=None, dated=None):
    return Proposal(path, line, line + 5, text, coverage, cosine, dated)


def only(*proposals, **settings):
    return ranked(proposals, now=NOW, **settings)


def test_meaning_and_words_are_weighed():
    (hit,) = only(proposal(cosine=0.8, coverage=0.5))
    assert hit.score == pytest.approx(0.7 * 0.8 + 0.3 * 0.5)
    assert dict(hit.factors) == {"vector": pytest.approx(0.56), "text": pytest.approx(0.15)}
    (other,) = only(proposal(cosine=0.8, coverage=0.5), vector_weight=1, text_weight=1)
    assert other.score == pytest.approx(0.65)


def test_without_a_vector_the_words_alone_count():
    (hit,) = only(proposal(coverage=0.6))
    assert hit.score == pytest.approx(0.6)
    assert hit.factors == (("text", 0.6),)


def test_what_is_dated_halves_in_a_half_life_and_nothing_else_ages():
    month = NOW - 30 * DAY_MS
    old, new = only(proposal("old.md", cosine=1.0, coverage=1.0, dated=month), proposal("undated.md", coverage=1.0))[
        ::-1
    ]
    assert old.score == pytest.approx(0.5)
    assert dict(old.factors)["recency"] == pytest.approx(0.5)
    assert new.score == 1.0
    assert only(proposal(coverage=1.0, dated=month), half_life_days=None)[0].score == 1.0
    assert only(proposal(coverage=1.0, dated=NOW + DAY_MS))[0].score == 1.0


def test_age_leaves_something_and_the_newest_of_the_old_comes_first():
    oldest = proposal("a.md", coverage=1.0, dated=NOW - 3_000 * DAY_MS)
    older = proposal("b.md", coverage=1.0, dated=NOW - 2_000 * DAY_MS)
    found = only(oldest, older)
    assert [hit.proposal for hit in found] == [older, oldest]
    assert [hit.score for hit in found] == [0.3, 0.3]


def test_a_bar_that_somebody_named_is_a_bar():
    words = proposal("words.md", cosine=0.0, coverage=0.9)
    assert only(words, min_score=0.9)
    assert only(words, min_score=0.9, rescue=False) == ()
    assert only(words, min_score=0.2, rescue=False)


def test_what_would_be_shown_as_nothing_is_nothing():
    assert only(proposal(cosine=0.004), min_score=0.0) == ()
    assert only(proposal(cosine=0.01), min_score=0.0)


def test_what_is_too_weak_is_dropped():
    strong, weak = proposal("a.md", cosine=0.9), proposal("b.md", cosine=0.4, coverage=0.2)
    assert [hit.proposal for hit in only(strong, weak)] == [strong]
    assert only(weak) == ()


def test_if_everything_is_too_weak_what_has_the_words_stays():
    words = proposal("words.md", cosine=0.0, coverage=0.9)
    few = proposal("few.md", cosine=0.1, coverage=0.3)
    assert [hit.proposal for hit in only(words, few)] == [words]
    old = proposal("old.md", coverage=0.9, dated=NOW - 365 * DAY_MS)
    assert [hit.proposal for hit in only(old)] == [old]
    # One that clears the bar is enough, and the weak ones go.
    assert [hit.proposal.path for hit in only(words, proposal("good.md", cosine=0.9))] == ["good.md"]


def test_of_equal_ones_the_order_is_by_path_and_line():
    equal = [proposal(path, line=line, coverage=0.5) for path in ("b.md", "a.md") for line in (9, 1, 30)]
    found = [(hit.proposal.path, hit.proposal.start_line) for hit in only(*equal, mmr=None)]
    assert found == [("a.md", 1), ("a.md", 9), ("a.md", 30), ("b.md", 1), ("b.md", 9), ("b.md", 30)]


def test_a_repetition_gives_way_to_something_else():
    one = proposal("a.md", text="the boiler manual lies in the cellar", coverage=0.9)
    again = proposal("b.md", text="the boiler manual lies in the cellar", coverage=0.88)
    other = proposal("c.md", text="tea is in the kitchen", coverage=0.6)
    assert [hit.proposal for hit in only(one, again, other, limit=2)] == [one, other]
    assert [hit.proposal for hit in only(one, again, other, limit=2, mmr=None)] == [one, again]
    assert [hit.proposal for hit in only(one, again, other, limit=3)] == [one, again, other]


def test_a_repetition_is_seen_where_words_have_no_spaces():
    one, again = (
        proposal("a.md", text="灯在二楼的书房里", coverage=0.9),
        proposal("b.md", text="灯在二楼的书房里。", coverage=0.88),
    )
    other = proposal("c.md", text="茶在厨房", coverage=0.7)
    assert [hit.proposal for hit in only(one, again, other, limit=2)] == [one, other]


def test_there_is_something_to_choose_from_but_not_too_much():
    assert pool_size(6) == 24
    assert pool_size(60) == 200
    assert pool_size(500) == 500


@pytest.mark.parametrize(
    "settings",
    [
        {"limit": 0},
        {"vector_weight": 0, "text_weight": 0},
        {"vector_weight": -1},
        {"text_weight": math.nan},
        {"half_life_days": 0},
        {"half_life_days": math.nan},
        {"mmr": 1.5},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(InvalidInput):
        only(proposal(), **settings)


ANY = st.floats(0, 1) | st.floats(-2, 2) | st.sampled_from([math.nan, math.inf, -math.inf])
PROPOSALS = st.lists(
    st.builds(
        Proposal,
        st.sampled_from(["a.md", "b.md", "c/d.md"]),
        st.integers(1, 50),
        st.integers(50, 99),
        st.sampled_from(TEXTS),
        ANY,
        st.none() | ANY,
        st.none() | st.integers(0, NOW + DAY_MS),
    ),
    max_size=60,
    unique_by=lambda each: each[:3],
)


@given(
    PROPOSALS,
    st.integers(1, 12),
    st.floats(0, 1),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0.1, 1e6),
    st.floats(0, 1),
    st.floats(0.01, 1),
)
def test_the_factors_make_up_the_score_and_the_best_comes_first(
    proposals, limit, least, relevance, half_life, vector_weight, text_weight
):
    settings = {
        "now": NOW,
        "limit": limit,
        "min_score": least,
        "mmr": relevance,
        "half_life_days": half_life,
        "vector_weight": vector_weight,
        "text_weight": text_weight,
    }
    found = ranked(proposals, **settings)
    assert len(found) <= limit
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    for hit in found:
        factors = dict(hit.factors)
        assert 0 <= hit.score <= 1 + 1e-9
        assert (factors.get("vector", 0.0) + factors["text"]) * factors.get("recency", 1.0) == hit.score
        assert any(hit.proposal is each for each in proposals)
        assert hit.score >= least or all(other.score < least for other in found)
    assert ranked(tuple(reversed(proposals)), **settings) == found
