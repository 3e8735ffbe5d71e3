"""`memoranda eval`, as a person and a build server use it."""

import json

import pytest

from memoranda.evaluation import trial
from memoranda.evaluation.asking import Answer

from .conftest import write_lines

SET = [
    {"about": "A small home."},
    {"memory": {"key": "lamp", "scope": "home/anna", "text": "Anna reads by the lamp light.office."}},
    {"memory": {"key": "tram", "scope": "home/anna", "text": "The tram to the harbour leaves at nine."}},
    {"memory": {"key": "secret", "scope": "home/ben", "text": "Ben hides a present for Anna behind the lamp."}},
    {"memory": {"key": "rings6", "scope": "home", "text": "The alarm rings at six.", "about": "alarm"}},
    {"memory": {"key": "rings7", "scope": "home", "text": "The alarm rings at seven.", "supersedes": "rings6"}},
    {"query": "which lamp does Anna read by?", "scope": "home/anna", "expect": ["lamp"], "forbid": ["secret"]},
    {"query": "when does the tram leave?", "scope": "home/anna", "expect": ["tram"], "tags": ["time"]},
    {"query": "when does the alarm ring?", "scope": "home/anna", "expect": ["rings7"], "forbid": ["rings6"]},
    {"query": "quantum chromodynamics", "scope": "home/anna", "abstain": True, "tags": ["nothing"]},
]


@pytest.fixture
def golden(tmp_path):
    return write_lines(tmp_path / "home.jsonl", SET)


def test_every_number_is_there_by_name_and_by_tag(run, golden, path):
    code, out, _ = run("eval", golden, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["questions"] == {"total": 4, "nothing": 1, "time": 1}
    total = found["columns"]["hybrid"]["total"]
    assert total["hit@5"] == total["recall@5"] == total["all@5"] == 1
    assert total["MRR"] > 0.5
    assert total["forbidden"] == 0
    assert total["left_unanswered"] == 0
    assert set(found["columns"]) == {"lexical", "semantic", "hybrid"}
    assert set(found["policies"]) == {"strict", "balanced", "broad"}
    assert found["columns"]["hybrid"]["nothing"]["hit@1"] is None
    assert found["wrong_scope"] == {"hits": 0, "rate": 0.0, "lines": []}
    assert found["latency"]["hybrid"]["p95_ms"] >= found["latency"]["hybrid"]["p50_ms"] > 0
    assert not path.exists(), "a golden set with memories has a store of its own"


def test_people_get_tables(run, golden):
    code, out, _ = run("eval", golden, "--k", 3)
    assert code == 0
    assert "| hit@3 |" in out
    assert "| time | 1 |" in out
    assert "Hits from a scope that the question does not see: 0" in out


def test_worse_than_the_baseline_fails_and_says_where(run, golden, tmp_path):
    kept = tmp_path / "baseline.json"
    assert run("eval", golden, "--save", kept)[0] == 0
    code, _, err = run("eval", golden, "--baseline", kept)
    assert code == 0
    assert err.count("nothing is worse than the baseline by more than 0.01") == 1
    worse = json.loads(kept.read_text())
    worse["columns"]["hybrid"]["time"]["forbidden"] = 0.0
    worse["columns"]["hybrid"]["total"]["MRR"] = 1.5
    kept.write_text(json.dumps(worse))
    code, out, err = run("eval", golden, "--baseline", kept, "--json")
    assert code == 7
    assert [(each["where"], each["metric"]) for each in json.loads(out)["worse"]] == [("hybrid, total", "MRR")]
    assert "worse than the baseline: hybrid, total: MRR was 1.500" in err
    assert "nothing is worse" not in err
    assert run("eval", golden, "--baseline", kept, "--tolerance", "0.9")[0] == 0


def test_of_many_worse_numbers_the_worst_are_told_and_the_rest_counted(run, golden, tmp_path):
    kept = tmp_path / "baseline.json"
    run("eval", golden, "--save", kept)
    better = json.loads(kept.read_text())
    for numbers in better["policies"].values():
        numbers |= dict.fromkeys(("hit@1", "hit@5", "recall@5", "all@5"), 2.0)
    better["policies"]["broad"]["MRR"] = 5.0
    kept.write_text(json.dumps(better))
    code, out, err = run("eval", golden, "--baseline", kept, "--json")
    told = [line for line in err.splitlines() if "worse than the baseline" in line]
    assert code == 7
    assert len(json.loads(out)["worse"]) == 13
    assert len(told) == 11
    assert "policy broad: MRR was 5.000" in told[0]
    assert "3 more" in told[-1]


def test_a_baseline_of_other_questions_is_compared_with_a_note(run, golden, tmp_path):
    kept = tmp_path / "baseline.json"
    run("eval", golden, "--save", kept)
    fewer = write_lines(tmp_path / "fewer.jsonl", SET[:-1])
    code, _, err = run("eval", fewer, "--baseline", kept)
    assert code == 0
    assert "other questions than when the baseline was saved" in err


def test_more_of_what_should_be_rare_is_worse(run, golden, tmp_path):
    kept = tmp_path / "baseline.json"
    run("eval", golden, "--save", kept)
    better = json.loads(kept.read_text())
    better["policies"]["broad"]["extra"] = -5
    kept.write_text(json.dumps(better))
    code, _, err = run("eval", golden, "--baseline", kept)
    assert code == 7
    assert "policy broad: extra" in err


def test_a_baseline_of_another_kind_is_refused(run, golden, tmp_path):
    kept = tmp_path / "baseline.json"
    run("eval", golden, "--save", kept, "--k", 3)
    assert run("eval", golden, "--baseline", kept)[0] == 2
    kept.write_text("[]")
    assert run("eval", golden, "--baseline", kept)[0] == 2
    assert run("eval", golden, "--baseline", tmp_path / "none.json")[0] == 3


def test_a_hit_from_another_scope_fails(run, golden, monkeypatch):
    def leaking(view, query, **options):
        return Answer(("someone-elses",), (0.9,), ("home/ben",), 1_000)

    monkeypatch.setattr(trial, "ask", leaking)
    code, out, _ = run("eval", golden, "--json")
    leaks = json.loads(out)["wrong_scope"]
    assert code == 7
    assert leaks["rate"] == 1
    assert leaks["lines"][0] == {"file": "home.jsonl", "line": 7}


def test_what_was_missed_is_listed_by_its_key_without_text(run, golden, monkeypatch):
    monkeypatch.setattr(trial, "ask", lambda view, query, **options: Answer((), (), (), 1))
    _, out, _ = run("eval", golden, "--json")
    found = json.loads(out)
    assert [each["line"] for each in found["misses"]] == [7, 8, 9]
    assert found["columns"]["hybrid"]["total"]["left_unanswered"] == 1
    assert found["columns"]["hybrid"]["total"]["answered_wrongly"] == 0
    assert [each["missing"] for each in found["misses"]] == [["lamp"], ["tram"], ["rings7"]]
    assert "harbour" not in json.dumps(found["misses"])


def test_what_was_forbidden_and_came_is_listed_by_its_key(run, tmp_path):
    rows = [*SET[1:3], {"query": "which lamp does Anna read by?", "scope": "home/anna", "forbid": ["lamp", "tram"]}]
    _, out, _ = run("eval", write_lines(tmp_path / "forbid.jsonl", rows), "--json")
    (miss,) = json.loads(out)["misses"]
    assert miss["forbidden"] == ["lamp"]
    assert miss["missing"] == []


def test_two_keys_of_one_memory_are_both_missed(run, tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "ask", lambda view, query, **options: Answer((), (), (), 1))
    again = {"memory": {**SET[1]["memory"], "key": "again"}}
    rows = [SET[1], again, {"query": "which lamp?", "scope": "home/anna", "expect": ["lamp", "again"]}]
    _, out, _ = run("eval", write_lines(tmp_path / "twice.jsonl", rows), "--json")
    assert json.loads(out)["misses"][0]["missing"] == ["again", "lamp"]


def test_without_memories_the_ids_are_of_a_store_to_which_nothing_is_written(run, tmp_path):
    _, out, _ = run("remember", "The tram to the harbour leaves at nine.", "--json")
    kept = json.loads(out)["memory"]["id"]
    before = json.loads(run("stats", "--json")[1])
    rows = [
        {"query": "when does the tram leave?", "scope": "home/anna", "expect": [kept[:10]]},
        {"query": "quantum chromodynamics", "scope": "home/anna", "forbid": [kept]},
    ]
    code, out, _ = run("eval", write_lines(tmp_path / "ids.jsonl", rows), "--json")
    assert code == 0
    assert json.loads(out)["columns"]["hybrid"]["total"]["hit@1"] == 1
    assert json.loads(run("stats", "--json")[1]) == before
    elsewhere = {"query": "quantum chromodynamics", "scope": "home/anna", "expect": [kept[:10]]}
    _, out, _ = run("eval", write_lines(tmp_path / "missed.jsonl", [elsewhere]), "--json")
    assert json.loads(out)["misses"][0]["missing"] == [kept]
    unknown = write_lines(tmp_path / "unknown.jsonl", [{**rows[0], "expect": ["0123456789"]}])
    code, _, err = run("eval", unknown)
    assert code == 2
    assert "unknown.jsonl, line 1" in err


def test_without_memories_and_without_a_store_is_told(run, tmp_path, path):
    rows = [{"query": "anything?", "scope": "home/anna", "expect": ["abc"]}]
    code, _, err = run("eval", write_lines(tmp_path / "ids.jsonl", rows))
    assert code == 3
    assert "there is no store" in err
    assert not path.exists()


def test_several_sets_are_counted_together_and_apart(run, tmp_path, golden):
    other = write_lines(tmp_path / "other.jsonl", SET)
    code, out, _ = run("eval", golden, other, "--json")
    assert code == 0
    counted = json.loads(out)["questions"]
    assert (counted["total"], counted["home.jsonl"], counted["other.jsonl"]) == (8, 4, 4)


def test_a_memory_that_cannot_be_kept_is_told_with_its_line(run, tmp_path):
    rows = [{"memory": {**SET[1]["memory"], "kind": "lamp"}}, SET[7] | {"expect": ["lamp"]}]
    code, _, err = run("eval", write_lines(tmp_path / "kind.jsonl", rows))
    assert code == 2
    assert "kind.jsonl, line 1: kind" in err


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--k", 0, "--k: 0 is too small"),
        ("--k", 5_000, "--k: 5000 is too large"),
        ("--tolerance", 3, "--tolerance: 3.0 is not a number from 0 to 1"),
        ("--tolerance", -1, "--tolerance: -1.0 is not"),
        ("--tolerance", "nan", "--tolerance: nan is not"),
    ],
)
def test_a_number_that_cannot_be_is_told_by_the_name_of_its_option(run, golden, option, value, told):
    code, _, err = run("eval", golden, option, value)
    assert code == 2
    assert told in err
    assert "line" not in err


def test_as_many_hits_as_recall_gives_can_count(run, golden):
    assert run("eval", golden, "--k", 1_000)[0] == 0


def test_words_alone_have_no_column_of_vectors(run, golden):
    code, out, _ = run("eval", golden, "--embedder", "none", "--json")
    assert code == 0
    assert set(json.loads(out)["columns"]) == {"lexical", "hybrid"}
