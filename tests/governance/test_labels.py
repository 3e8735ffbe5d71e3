"""Importance as people write it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import InvalidInput
from memoranda.domain.labels import ONE_TO_FIVE, SCORES, importance, label
from memoranda.domain.memory import GRADES, Memory


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0, 0.0), (1, 1.0), (0.86, 0.86), (86, 0.86), (86.0, 0.86), (2, 0.02), (100, 1.0),
        ("0.86", 0.86), (".86", 0.86), ("0,86", 0.86), ("+0.5", 0.5), ("1", 1.0), ("86", 0.86),
        ("86%", 0.86), ("86.5 %", 0.865), ("1%", 0.01), ("0%", 0.0), ("100%", 1.0),
        ("86/100", 0.86), ("4/5", 0.8), ("86 / 100", 0.86), ("0/5", 0.0),
        ("８６％", 0.86), ("０．８６", 0.86), ("８６／１００", 0.86), ("８６", 0.86), ("٨٦", 0.86),
    ],
)  # fmt: skip
def test_numbers_are_read_in_every_form(written, meant):
    assert importance(written) == pytest.approx(meant)


@pytest.mark.parametrize(
    ("word", "grade"),
    [
        ("must_remember", "must_remember"), ("MUST REMEMBER", "must_remember"), ("high", "must_remember"),
        ("nice-to-have", "nice_to_have"), ("Medium", "nice_to_have"), (" low ", "ignore"), ("trivial", "ignore"),
        ("none", "ignore"), ("ignore", "ignore"), ("高", "must_remember"), ("średnia", "nice_to_have"),
        ("niedrig", "ignore"), ("unknown", "unknown"),
    ],
)  # fmt: skip
def test_words_mean_a_grade(word, grade):
    assert label(importance(word)) == grade


@pytest.mark.parametrize(
    "written",
    [
        -1, -0.1, 1.5, 101, 10**400, math.nan, math.inf, True, None, [], "", "  ", "very", "101", "1.5", "-5", "120%",
        "6/5", "1/0", "86%%", "0x1", "1e3", "nan", "5 out of 10", "8" * 500,
    ],
)  # fmt: skip
def test_what_is_no_importance_is_refused_with_a_hint(written):
    with pytest.raises(InvalidInput) as refused:
        importance(written)
    assert "0 to 1" in refused.value.hint
    assert len(str(refused.value)) < 200


def test_one_to_five_is_read_by_its_table_only_when_told():
    assert tuple(importance(level, scale="one_to_five") for level in range(1, 6)) == ONE_TO_FIVE
    assert importance("２", scale="one_to_five") == 0.5
    assert label(importance(2, scale="one_to_five")) == "nice_to_have"
    assert importance(2) == 0.02
    for wrong in (0, 6, 2.5, "0.7"):
        with pytest.raises(InvalidInput):
            importance(wrong, scale="one_to_five")
    with pytest.raises(InvalidInput):
        importance(2, scale="of ten")


def test_a_word_stands_for_a_number_of_its_own_grade():
    assert {grade: label(score) for grade, score in SCORES.items()} == {grade: grade for grade in SCORES}
    assert label(None) == "unknown"


@given(st.floats(0, 1) | st.integers(0, 100))
def test_every_number_in_range_is_read_and_has_the_grade_of_a_memory(number):
    score = importance(number)
    assert 0.0 <= score <= 1.0
    assert label(score) == Memory("id", "a", "note", "x", importance=score).grade
    assert label(score) in GRADES


@given(st.integers(0, 10_000))
def test_a_percentage_says_the_same_with_plain_and_full_width_digits(hundredths):
    written = f"{hundredths / 100:.2f}%"
    wide = written.translate({ord(char): ord(char) + 0xFEE0 for char in "0123456789.%"})
    assert importance(wide) == importance(written) == pytest.approx(hundredths / 10_000)


@given(st.text(max_size=80) | st.floats() | st.integers())
def test_anything_else_is_a_number_from_0_to_1_or_is_refused(given_value):
    try:
        score = importance(given_value)
    except InvalidInput:
        return
    assert score is None or 0.0 <= score <= 1.0
