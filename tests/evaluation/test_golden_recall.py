"""Our own golden sets, asked through the command: hybrid beats each of its lanes, nothing leaks, strict is precise."""

import json
from pathlib import Path

import pytest

from memoranda.cli.app import run
from memoranda.evaluation.verdict import TOTAL

GOLDEN = sorted(str(path) for path in (Path(__file__).parents[2] / "golden").glob("*.jsonl"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("golden") / "found.json"
    assert run(["eval", *GOLDEN, "--policy", "broad", "--save", str(path)]) == 0
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("lane", ["lexical", "semantic"])
@pytest.mark.parametrize("metric", ["hit@1", "hit@5", "MRR", "NDCG@10"])
def test_hybrid_beats_each_lane_alone(found, lane, metric):
    assert found["columns"]["hybrid"][TOTAL][metric] > found["columns"][lane][TOTAL][metric]


def test_no_other_scope_and_nothing_forbidden_comes_back(found):
    assert found["wrong_scope"]["hits"] == 0
    assert found["columns"]["hybrid"][TOTAL]["forbidden"] == 0


def test_strict_brings_at_most_one_memory_beside_the_right_one(found):
    assert found["policies"]["strict"]["extra"] <= 1


def test_a_stricter_policy_answers_less_of_what_is_not_there(found):
    wrong = [found["policies"][policy]["answered_wrongly"] for policy in ("strict", "balanced", "broad")]
    assert wrong == sorted(wrong)
    assert wrong[0] < wrong[-1]
