"""Intervals and abstention: what they promise about numbers."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.evaluation.abstention import auc, curve, separation, threshold_keeping
from memoranda.evaluation.confidence import Estimate, differences, estimates

shares = st.floats(0, 1, allow_nan=False)


def test_intervals_are_the_same_each_time_and_hold_the_mean():
    rows = [{"m": float(number % 3 == 0)} for number in range(90)]
    once, again = estimates(rows), estimates(rows)
    assert once == again
    assert once["m"].value == pytest.approx(1 / 3)
    assert 0.22 < once["m"].low < 1 / 3 < once["m"].high < 0.45


def test_more_questions_make_a_narrower_interval():
    few = estimates([{"m": float(number % 2)} for number in range(20)])["m"]
    many = estimates([{"m": float(number % 2)} for number in range(2_000)])["m"]
    assert many.high - many.low < (few.high - few.low) / 5


def test_a_difference_is_paired():
    theirs = [{"m": float(number % 2)} for number in range(100)]
    ours = [{"m": row["m"] + 0.1} for row in theirs]
    found = differences(ours, theirs)["m"]
    # The questions differ a lot, the pairs not at all: paired, there is nothing left to be unsure of.
    assert found.value == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    assert found.sure
    assert not Estimate(0.1, -0.1, 0.3).sure


def test_no_questions_give_no_estimates():
    assert estimates([]) == {}


def test_auc_worked_out_by_hand():
    assert auc([0.9, 0.8], [0.1, 0.2]) == 1
    assert auc([0.1], [0.9]) == 0
    assert auc([0.5, 0.9], [0.5, 0.1]) == pytest.approx((0.5 + 1 + 1 + 1) / 4)
    assert auc([], [0.3]) == 0.5


def test_the_threshold_keeps_as_many_as_it_says():
    right = [number / 10 for number in range(1, 11)]
    assert threshold_keeping(right, 0.9) == 0.2
    assert threshold_keeping(right, 0.8) == 0.3
    found = separation(right, [0.05, 0.15, 0.25, 0.35])
    assert [point.right_answered for point in found.at] == [0.8, 0.9, 1.0]
    assert [point.wrong_answered for point in found.at] == [0.25, 0.5, 0.75]


def test_no_hit_is_never_an_answer():
    assert separation([0.0, 0.0], [0.0]).at[0].right_answered == 0


@given(st.lists(shares, min_size=1), st.lists(shares, min_size=1))
def test_a_curve_rises_in_both_directions_and_is_mirrored_by_auc(right, wrong):
    points = curve(right, wrong)
    assert all(one.right_answered <= two.right_answered for one, two in pairwise(points))
    assert all(one.wrong_answered <= two.wrong_answered for one, two in pairwise(points))
    assert auc(right, wrong) + auc(wrong, right) == pytest.approx(1)


@given(st.lists(shares, min_size=1), st.sampled_from([0.8, 0.9, 0.95]))
def test_at_least_the_share_is_kept(right, share):
    threshold = threshold_keeping(right, share)
    assert sum(score >= threshold for score in right) >= share * len(right) - 1e-9
