"""The guide to measuring is true."""

import json
import re
from pathlib import Path

from memoranda.evaluation.suites import PRECISION, SUITES
from memoranda.evaluation.verdict import verdict

GUIDE = (Path(__file__).parents[2] / "docs/guides/measuring.md").read_text(encoding="utf-8")


def test_the_golden_set_of_the_guide_can_be_measured(run, tmp_path):
    (block,) = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "house.jsonl").write_text(block, encoding="utf-8")
    code, out, _ = run("eval", tmp_path / "house.jsonl", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["questions"]["total"] == 3
    assert found["columns"]["hybrid"]["total"]["forbidden"] == 0


def test_every_number_and_every_suite_is_explained():
    empty = verdict([], k=5, policy="strict")["policies"]["strict"]
    for name in (*empty, "wrong_scope", "p50_ms"):
        assert f"`{name.replace('@5', '@k')}`" in GUIDE, name
    for name in (*SUITES, PRECISION):
        assert f"`{name}`" in GUIDE, name
