"""Which things and which kinds of memory a query names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.subjects import named_kinds, named_subjects

KNOWN = [("light.office", "reading lamp"), ("person:anna", "Ania"), ("cover.gate", "brama"), ("light.hall", "走廊灯")]


@pytest.mark.parametrize(
    ("query", "subjects"),
    [
        ("turn on my reading lamp, please", {"light.office"}),
        ("READING  LAMP?", {"light.office"}),
        ("is light.office on?", {"light.office"}),
        ("what did Ania say to anna@example.org", {"person:anna", "anna@example.org"}),
        ("打开走廊灯", {"light.hall"}),
        ("the reading of the lamp", set()),
        ("Aniane is a village", set()),
        ("", set()),
    ],
)
def test_a_thing_is_named_by_its_alias_as_a_whole_or_by_its_identifier(query, subjects):
    assert named_subjects(query, KNOWN) == subjects


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("what did we decide about the archive?", {"decision"}),
        ("co postanowiliśmy w sprawie bramy?", {"decision"}),
        ("我们决定了什么", {"decision"}),
        ("which tea does she prefer?", {"preference"}),
        ("她喜欢什么茶？", {"preference"}),
        ("where is the indecisive preferencing engine", set()),
    ],
)
def test_a_kind_is_named_by_words_that_mean_nothing_else(query, kinds):
    assert named_kinds(query) == kinds


@given(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_nothing_that_can_be_written_is_too_much(query, aliases):
    named_kinds(query)
    assert named_subjects(query, aliases) >= set()
