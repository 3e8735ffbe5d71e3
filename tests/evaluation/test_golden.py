"""Golden sets: what is read, and what is refused with its line."""

import pytest

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.evaluation.golden import read_golden

from .conftest import write_lines

LAMP = {"memory": {"key": "lamp", "scope": "home/anna", "text": "Anna reads by light.office."}}
QUESTION = {"query": "which lamp?", "scope": "home/anna", "expect": ["lamp"]}


def read(tmp_path, *rows, **options):
    return read_golden(write_lines(tmp_path / "set.jsonl", rows), **options)


def test_a_whole_set_is_read(tmp_path):
    asked = {**QUESTION, "tags": ["concept"], "now": "2026-03-01T12:00Z", "speaker": "anna", "filter_tags": ["x"]}
    found = read(tmp_path, {"about": "Lamps"}, LAMP, asked)
    assert found.about == "Lamps"
    assert found.memories[0].fields == {"text": "Anna reads by light.office."}
    question = found.questions[0]
    assert (question.line, question.expect, question.tags) == (3, ("lamp",), ("concept",))
    assert question.now == 1_772_366_400_000
    assert question.filters == {"speaker": "anna", "tags": ("x",)}


def test_a_line_without_a_scope_has_the_one_that_is_given(tmp_path):
    memory = {"memory": {"key": "lamp", "text": "light.office"}}
    found = read(tmp_path, memory, {"query": "lamp?", "expect": ["lamp"]}, scope="home/anna")
    assert (found.memories[0].scope, found.questions[0].scope) == ("home/anna", "home/anna")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([LAMP, LAMP, QUESTION], "line 2: the key 'lamp' is there twice, first in line 1"),
        ([LAMP, {**QUESTION, "expect": ["other"]}], "line 2: no memory has the key 'other'"),
        ([LAMP, {**QUESTION, "forbid": ["other"]}], "line 2: no memory has the key 'other'"),
        ([LAMP, {**QUESTION, "expct": []}], "line 2: 'expct' is not known here"),
        ([{"memory": {**LAMP["memory"], "txt": ""}}, QUESTION], "line 1: 'txt' is not known here"),
        ([{"memory": "lamp"}, QUESTION], "line 1: a memory is an object"),
        ([{"memory": {"key": "lamp", "scope": "home"}}, QUESTION], "line 1: text is missing"),
        ([{"memory": {**LAMP["memory"], "supersedes": "x"}}, QUESTION], "line 1: it supersedes 'x'"),
        ([{"memory": {**LAMP["memory"], "scope": "a//b"}}, QUESTION], "line 1: not a scope"),
        ([LAMP, {"query": "which?", "expect": ["lamp"]}], "line 2: scope is missing"),
        ([LAMP, {**QUESTION, "expect": "lamp"}], "line 2: expect is a list of texts"),
        ([LAMP, {**QUESTION, "abstain": True}], "line 2: it expects something and"),
        ([LAMP, {**QUESTION, "abstain": "yes"}], "line 2: abstain is true or false"),
        ([LAMP, {**QUESTION, "expect": []}], "line 2: a question needs expect, forbid or abstain"),
        ([LAMP, {**QUESTION, "forbid": ["lamp"]}], "line 2: 'lamp' is both expected and forbidden"),
        ([LAMP, {**QUESTION, "now": "soon"}], "line 2: now: not a date"),
        ([LAMP, {**QUESTION, "scope": "home/ben"}], "line 2: 'lamp' is in home/anna, which home/ben cannot see"),
        ([LAMP, {}], "line 2: about is missing"),
        ([LAMP, ["query"]], "line 2: an object is expected"),
        ([LAMP], "has no question"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, rows, message):
    with pytest.raises(InvalidInput, match=message):
        read(tmp_path, *rows)


def test_a_broken_line_and_a_missing_file_are_told(tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"about": "x"}\n\n{"query": \n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 3: not JSON"):
        read_golden(broken)
    broken.write_bytes(b'{"about": "\xff"}\n')
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_golden(broken)
    with pytest.raises(NotFound):
        read_golden(tmp_path / "nowhere.jsonl")
