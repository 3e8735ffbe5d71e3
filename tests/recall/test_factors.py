"""What makes a memory weigh more or less, whatever was asked; each by itself, and 1 changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.memory import KINDS
from memoranda.recall.factors import FADING, UPDATE_TAGS, Circumstances, factors_of, recency, update

from .made import DAY, NOW, memory_of

HERE = Circumstances(NOW)


def test_a_plain_memory_has_no_factors():
    assert factors_of(memory_of(1), HERE) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_happened_fades(kind):
    old = memory_of(1, kind=kind, created_at=NOW - 365 * DAY)
    assert (recency(old, HERE) < 1.0) == (kind == "episode") == (kind in FADING)


def test_recency_halves_in_a_half_life_towards_a_floor():
    def at(days, half_life=30.0):
        return recency(memory_of(1, kind="episode", created_at=NOW - days * DAY), Circumstances(NOW, half_life))

    floor = at(100_000)
    assert at(0) == 1.0
    assert at(30) - floor == pytest.approx((at(0) - floor) / 2)
    assert at(60) - floor == pytest.approx((at(0) - floor) / 4)
    assert at(7, half_life=7) == pytest.approx(at(30))
    assert 0.5 < floor < 1.0
    assert at(3_000, half_life=0) == 1.0, "0 switches it off"


def test_when_it_happened_counts_before_when_it_was_kept():
    told_late = memory_of(1, kind="episode", created_at=NOW, occurred_at=NOW - 300 * DAY)
    assert recency(told_late, HERE) < recency(memory_of(2, kind="episode"), HERE) == 1.0


@given(st.integers(-400, 4_000), st.integers(-400, 4_000), st.floats(0.0, 1_000.0))
def test_what_is_newer_never_fades_more(one, other, half_life):
    given_ = Circumstances(NOW, half_life)
    newer, older = (
        recency(memory_of(1, kind="episode", created_at=NOW - days * DAY), given_) for days in sorted((one, other))
    )
    assert 0.0 < older <= newer <= 1.0


def test_grades_are_in_order():
    weights = [
        factors_of(memory_of(1, grade=grade), HERE).get("importance", 1.0)
        for grade in ("ignore", "unknown", "nice_to_have", "must_remember")
    ]
    assert weights == sorted(weights)
    assert len(set(weights)) == 4
    assert weights[1] == 1.0, "unknown is neither good nor bad"


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_less_sure_never_weighs_more(one, other):
    less, more = (
        factors_of(memory_of(1, confidence=each), HERE).get("confidence", 1.0) for each in sorted((one, other))
    )
    assert 0.0 < less <= more <= 1.0


def test_the_preferred_speaker_weighs_more_and_nobody_is_preferred_by_default():
    anna, bob = memory_of(1, speaker="anna"), memory_of(2, speaker="bob")
    preferring = Circumstances(NOW, speaker="anna")
    assert factors_of(anna, preferring)["speaker"] > 1.0
    assert factors_of(bob, preferring) == factors_of(memory_of(3), preferring) == {}
    assert factors_of(anna, HERE) == factors_of(memory_of(3), HERE) == {}


@pytest.mark.parametrize("tag", sorted(UPDATE_TAGS))
def test_a_correction_weighs_more_and_what_was_corrected_less(tag):
    corrected, correction = memory_of(1, state="superseded"), memory_of(2, tags=("home", tag))
    assert update(corrected) < update(memory_of(3, tags=("home",))) == 1.0 < update(correction)


def test_what_was_just_shown_weighs_less():
    shown, fresh = memory_of(1), memory_of(2)
    given_ = Circumstances(NOW, repeated=(shown.id,))
    assert factors_of(shown, given_)["repeat"] < 1.0
    assert factors_of(fresh, given_) == {}


def test_a_phrase_beats_all_terms_beats_some():
    how = {"a": "phrase", "b": "all terms", "c": ""}
    weights = [
        factors_of(memory_of(1, text), Circumstances(NOW, exactness=how.__getitem__)).get("exactness", 1.0)
        for text in how
    ]
    assert weights[0] > weights[1] > weights[2] == 1.0
