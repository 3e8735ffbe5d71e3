"""`memoranda why-not` and `memoranda replay`: why something did not come, and whether it would come again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.cli.explanation import Difference, Place, differences, hits_in
from memoranda.domain.memory import Memory
from memoranda.domain.results import Hit, Recall


def ids(run, *argv):
    """What a recall gave, in its order."""
    return [hit["memory"]["id"] for hit in json.loads(run("recall", *argv, "--json")[1])["hits"]]


# -- why not --


def why_not(run, *argv):
    code, out, err = run("why-not", *argv, "--json")
    assert code == 0, out + err
    return json.loads(out)


def test_why_not_says_the_step_the_reason_and_the_numbers(run, kept):
    query = "bedroom_lamp zebra giraffe rhinoceros hippopotamus elephant"
    told = why_not(run, query, kept, "--policy", "strict")
    assert told["returned"] is False
    assert told["step"] == "bar"
    assert told["numbers"]["relevance"] < told["numbers"]["bar"]
    _, out, _ = run("why-not", query, kept[:8], "--policy", "strict")
    lines = out.splitlines()
    assert lines[0] == f"{kept[:8]}  not returned: below the bar (step: bar)"
    assert lines[1].split()[0] == "relevance"
    assert "lexical" in lines[2]
    assert lines[3].strip() == "try: --policy broad"


def test_why_not_of_what_came_back_says_so(run, kept):
    told = why_not(run, "which bedroom_lamp?", kept)
    assert told["returned"] is True
    _, out, _ = run("why-not", "which bedroom_lamp?", kept)
    assert out.startswith(f"{kept[:8]}  returned: it came back, as number 1 (step: returned)")
    assert "try:" not in out


@pytest.mark.parametrize(
    ("name", "argv", "step"),
    [
        ("plain", ["lamp", "--kind", "decision"], "filter"),
        ("plain", ["ok"], "gate"),
        ("plain", ["lamp", "--state", "archived"], "ledger"),
        ("web", ["lamp"], "admission"),
        ("web", ["lamp", "--trust", "trusted"], "trust"),
        ("plain", ["zzyzx"], "lanes"),
    ],
)
def test_why_not_takes_the_options_of_recall(run, household, name, argv, step):
    assert why_not(run, argv[0], household[name], *argv[1:])["step"] == step
    assert "try:" in run("why-not", argv[0], household[name], *argv[1:])[1]


def test_why_not_knows_the_limit(run, household):
    last = ids(run, "lamp", "--kind", "entity", "--kind", "decision")[-1]
    told = why_not(run, "lamp", last, "--limit", "1", "--kind", "entity", "--kind", "decision")
    assert told["step"] == "limit"


def test_why_not_of_what_was_corrected_names_the_successor(run, kept):
    _, out, _ = run("remember", "Anna reads by light.desk_lamp now.", "--supersedes", kept, "--json")
    told = why_not(run, "which lamp does she read by?", kept)
    assert told["step"] == "ledger"
    assert json.loads(out)["memory"]["id"] in told["reason"]


def test_why_not_says_the_same_of_another_scope_as_of_nothing(run, kept):
    _, out, _ = run("--scope", "home/ben", "remember", "Ben hides the lamp.", "--json")
    hidden = json.loads(out)["memory"]["id"]
    told, nothing = why_not(run, "lamp", hidden), why_not(run, "lamp", "zzzzzzzzzzzzzzzzzzzz")
    assert told["step"] == nothing["step"] == "scope"
    assert told["reason"] == nothing["reason"]


def test_why_not_asks_in_the_scope_that_answered(run, kept):
    _, out, _ = run("--scope", "home/anna/attic", "remember", "The skis stand behind the chimney.", "--json")
    skis = json.loads(out)["memory"]["id"]
    assert why_not(run, "where are the skis?", skis)["step"] == "scope"
    assert why_not(run, "where are the skis?", skis, "--fallback", "home/anna/attic")["returned"] is True


def test_why_not_of_what_is_no_id_is_an_error(run, kept):
    assert run("why-not", "lamp", "not an id!")[0] == 2


# -- replay --


@pytest.fixture
def receipt(run, household, tmp_path):
    """A file with what `recall --json` printed."""
    file = tmp_path / "recall.json"
    file.write_text(run("recall", "lamp", "--limit", "4", "--json")[1], encoding="utf-8")
    return file


def test_a_replay_on_the_same_store_is_the_same(run, receipt):
    code, out, _ = run("replay", str(receipt))
    assert code == 0
    assert out == "same: the same ids, scores and order\n"
    assert run("replay", "-", stdin=receipt.read_text(encoding="utf-8"))[0] == 0


@pytest.mark.parametrize(
    "argv",
    [
        ["recall", "lamp", "--why", "--as-of", "2099-01-01", "--kind", "decision"],
        ["pack", "lamp", "--after", "2024-01-01", "--prefer-speaker", "anna"],
        ["why-not", "lamp", "zzzz", "--tag", "home", "--policy", "broad"],
        ["recall", "what happened in March 2024?"],
        ["recall", "ok"],
    ],
)
def test_whatever_was_asked_can_be_replayed(run, household, argv):
    _, out, _ = run(*argv, "--json")
    code, again, _ = run("replay", "-", "--json", stdin=out)
    assert code == 0
    # A replay is a recall, too.
    assert run("replay", "-", stdin=again)[0] == 0


def test_the_receipt_alone_is_enough_and_has_no_text_of_a_memory(run, receipt):
    alone = json.loads(receipt.read_text(encoding="utf-8"))["receipt"]
    told = json.dumps(alone)
    assert "broken" not in told
    assert "warm" not in told
    assert run("replay", "-", stdin=told)[0] == 0


def test_a_replay_on_a_changed_store_says_what_differs(run, household, receipt):
    run("forget", household["plain"])
    _, out, _ = run("remember", "The lamp, the lamp, the lamp!", "--json")
    new = json.loads(out)["memory"]["id"]
    code, out, _ = run("replay", str(receipt))
    lines = out.splitlines()
    assert code == 7
    assert lines[0].startswith("different: other ids, scores or order; the store went from sequence 5 to 7")
    told = {line[:8]: line for line in lines[1:]}
    assert told[household["plain"][:8]].endswith("; now absent")
    assert "before absent; now #" in told[new[:8]]
    code, out, _ = run("replay", str(receipt), "--json")
    shown = json.loads(out)
    assert code == 7
    assert shown["same"] is False
    assert {each["id"] for each in shown["differences"]} >= {household["plain"], new}


def test_a_replay_elsewhere_is_refused(run, receipt):
    code, out, _ = run("--scope", "home/ben", "replay", str(receipt), "--json")
    assert code == 2
    assert "another scope" in json.loads(out)["error"]["message"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", '"x"', "null", "{}", '{"receipt": 1}', '{"receipt": {"request": 5}}', "[" * 100_000, "\0",
     '{"receipt": {"request": {"query": "x"}}}',
     '{"request": {"query": "x", "now": 1, "colour": 2}, "scopes": ["home/anna", "home"]}'],
)  # fmt: skip
def test_what_is_no_receipt_is_told(run, kept, text):
    code, _, err = run("replay", "-", stdin=text)
    assert code == 2
    assert "fault" not in err


def test_a_receipt_that_is_not_there_or_not_readable_is_told(run, kept, tmp_path):
    assert run("replay", str(tmp_path / "none.json"))[0] == 3
    assert run("replay", str(tmp_path))[0] == 2
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert run("replay", str(tmp_path / "binary"))[0] == 2


def recalled(scores):
    return Recall(tuple(Hit(Memory(each, "home", "note", each), score, None) for each, score in scores), None)


_ANSWERS = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), unique_by=lambda pair: pair[0])


@given(_ANSWERS, _ANSWERS)
def test_differences_are_exactly_what_makes_one_answer_of_the_other(before, after):
    stood = {each: Place(rank, score) for rank, (each, score) in enumerate(before, 1)}
    stands = {each: Place(rank, score) for rank, (each, score) in enumerate(after, 1)}
    changed = dict(stood)
    for each in differences(stood, recalled(after)):
        assert each.before != each.after
        if each.after is None:
            del changed[each.id]
        else:
            changed[each.id] = each.after
    assert changed == stands
    assert differences(None, recalled(after)) == ()


def test_a_receipt_that_lists_only_some_hits_cannot_tell_what_differs():
    hit = {"id": "a", "score": 0.5}
    assert hits_in({"request": {}, "returned": 2, "hits": [hit]}) is None
    assert hits_in({"request": {}, "returned": 1, "hits": [hit]}) == {"a": Place(1, 0.5)}
    assert str(Difference("a", Place(1, 0.5), None)) == "a  before #1 with 0.500000; now absent"
