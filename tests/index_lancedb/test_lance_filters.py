"""Conditions are made of whole numbers: no name of a scope and no text ever stands in one."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.index.lancedb import filters
from memoranda.index.lancedb.filters import ScopeCode, literal, one_of
from memoranda.testing.index_isolation_contract import ODD_SCOPES

_NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
_ATTACKS = Path(__file__).parents[3] / "shared" / "data" / "attacks" / "cases.json"


@given(st.text())
def test_whatever_a_scope_is_called_its_condition_is_of_numbers_alone(name):
    condition = filters.witnessed([ScopeCode.of(name)])
    assert re.fullmatch(r"\(scope IN \([-\d() ]+\)\) AND \(witness IN \([-\d() ]+\)\)", condition)


@given(st.lists(_NUMBERS, min_size=1, max_size=20))
def test_a_list_of_numbers_is_read_back_as_it_was(numbers):
    inside = one_of("number", numbers).removeprefix("number IN (").removesuffix(")")
    assert [eval(each) for each in inside.split(", ")] == numbers


@given(st.sets(st.one_of(_NUMBERS, st.integers(1, 60)), max_size=60), st.integers(1, 60))
def test_spans_let_through_what_a_list_would(numbers, asked):
    condition = filters.numbered(numbers).replace("(-9223372036854775807 - 1)", "-1")
    for theirs, ours in (("AND", "and"), ("OR", "or"), ("false", "False"), ("number IN (", "number in (0, ")):
        condition = condition.replace(theirs, ours)
    assert eval(condition, {"number": asked}) == (asked in numbers)


@given(st.one_of(st.text(), st.floats(), st.binary(), st.none(), st.integers(min_value=1 << 63)))
def test_what_is_no_number_of_64_bits_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        literal(value)


def test_different_scopes_have_different_codes():
    assert len({ScopeCode.of(scope) for scope in ODD_SCOPES}) == len(ODD_SCOPES)


@pytest.mark.skipif(not _ATTACKS.exists(), reason="the attack texts are not beside the project")
def test_attack_texts_as_scopes_reach_no_condition():
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', _ATTACKS.read_text(encoding="utf-8"))
    assert len(texts) > 50
    for text in texts:
        name = json.loads(f'"{text}"')
        assert re.fullmatch(r"[-\d() scopewitnINAD]+", filters.witnessed([ScopeCode.of(name)]))


def test_an_empty_list_lets_nothing_through():
    assert one_of("number", []) == "false"
    assert filters.any_of([]) == "false"
    assert filters.numbered([]) == "false"


def test_the_lowest_number_is_understood(opener):
    table = opener()._table
    assert table.count(one_of("number", [-(1 << 63)])) == 0
    assert table.count(f"number > {literal(-(1 << 63))}") == 1
