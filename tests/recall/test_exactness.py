"""How exactly a text has the words of a query: an identifier (or another), a phrase, all terms, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.index.tokens import exactness

CASES = [
    ("green lamp", "The GREEN  lamp stands there.", "phrase"),
    ("green lamp?", "a green lamp", "phrase"),
    ("green lamp", "the lamp is green", "all terms"),
    ("which lamp is green", "the green lamps", "all terms"),
    ("green lamp", "the lamp is red", ""),
    ('where is the "green lamp" of Anna', "a green lamp", "phrase"),
    ('where is the "green lamp" of Anna', "Anna, the lamp is green", "all terms"),
    ("„zielona lampa” gdzie", "Zielona lampa stoi tam.", "phrase"),
    ("zielone lampy", "zielona lampa", "all terms"),
    ("「绿色的灯」在哪里", "绿色的灯在书房", "phrase"),
    ("lamp", "the lamp", ""),
    ("boiler year3x", "the boiler of year3x", "identifier"),
    ("boiler year3x", "the boiler of year4x", "other identifier"),
    ("boiler year3x", "the boiler is loud", ""),
    ("state of light.office", "light.office was dimmed", "identifier"),
    ("state of light.office", "light.office_2 was dimmed", "other identifier"),
    ("mail anna@example.org", "write to Anna@Example.org.", "identifier"),
    ("rooms 12 and 14", "rooms 12 and 14 are free", "phrase"),
    ("rooms 12 or 14", "rooms 12 or 15", ""),
]


@pytest.mark.parametrize(("query", "text", "expected"), CASES)
def test_how_exactly(query, text, expected):
    assert exactness(query)(text) == expected


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(query, text):
    assert exactness(query)(text) in ("identifier", "other identifier", "phrase", "all terms", "")
