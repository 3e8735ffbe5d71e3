"""Metrics against values worked out by hand, and what must hold for any ranking."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.evaluation.metrics import (
    RANKING,
    all_at,
    any_at,
    first_of_each,
    means,
    ndcg_at,
    percentile,
    ranking_metrics,
    recall_at,
    reciprocal_rank,
)

ids = st.sampled_from("abcdefghijklmnop")
rankings = st.lists(ids, unique=True, max_size=16)
golds = st.frozensets(ids, min_size=1, max_size=12)


def test_a_ranking_worked_out_by_hand():
    ranking, gold = ["x", "a", "y", "b"], {"a", "b", "c"}
    assert recall_at(ranking, gold, 2) == pytest.approx(1 / 3)
    assert recall_at(ranking, gold, 4) == pytest.approx(2 / 3)
    assert any_at(ranking, gold, 1) == 0
    assert any_at(ranking, gold, 2) == 1
    assert all_at(ranking, gold, 4) == 0
    assert all_at([*ranking, "c"], gold, 5) == 1
    assert reciprocal_rank(ranking, gold) == 0.5
    gained = 1 / log2(3) + 1 / log2(5)
    best = 1 + 1 / log2(3) + 1 / log2(4)
    assert ndcg_at(ranking, gold, 10) == pytest.approx(gained / best)


def test_the_best_order_of_ndcg_has_no_more_places_than_k():
    gold = [str(number) for number in range(30)]
    assert ndcg_at(gold[:10], gold, 10) == pytest.approx(1)


def test_a_first_hit_beyond_the_depth_does_not_count_for_mrr():
    assert reciprocal_rank([*"abcdefghij", "z"], {"z"}) == 0


def test_the_best_part_of_a_document_counts():
    assert first_of_each(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_means_are_by_metric():
    assert means([{"m": 0.0, "n": 1.0}, {"m": 1.0, "n": 1.0}]) == {"m": 0.5, "n": 1.0}
    assert means([]) == {}


def test_percentiles_are_values_that_were_measured():
    assert percentile([4, 1, 3, 2, 5], 0.5) == 3
    assert percentile(range(101), 0.95) == 95
    assert percentile([], 0.5) == 0


@given(rankings, golds)
def test_every_metric_is_a_share_and_in_order(ranking, gold):
    found = ranking_metrics(ranking, gold)
    assert tuple(found) == RANKING
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    assert found["all@5"] <= found["R@5"] <= found["any@5"]
    assert found["R@5"] <= found["R@10"]
    assert (found["MRR"] > 0) == (found["any@10"] == 1)


@given(rankings, golds)
def test_gold_in_front_is_perfect_and_behind_is_no_better(ranking, gold):
    others = [each for each in ranking if each not in gold]
    perfect = ranking_metrics([*sorted(gold), *others], gold)
    assert perfect["N@10"] == pytest.approx(1)
    assert perfect["MRR"] == 1
    behind = ranking_metrics([*others, *sorted(gold)], gold)
    assert all(behind[name] <= perfect[name] + 1e-12 for name in RANKING)
