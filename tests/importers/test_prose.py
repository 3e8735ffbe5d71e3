"""Markdown in passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.importers.prose import passages

PIECES = st.sampled_from(
    ["# Head", "**Bold**", "- point", "1. first", "  more", "text", "", "```", "~~~", "---", "* * *"]
)


def test_paragraphs_points_and_code_are_passages_under_their_heading():
    text = "# One\nfirst\nline\n\n- point\n  goes on\n- next\n\n**Two**\n\n```\n# code\n\n- code\n```\nafter\n---\nlast"
    assert [(each.heading, each.text, each.line, each.point) for each in passages(text)] == [
        ("One", "first\nline", 2, False),
        ("One", "point\n  goes on", 5, True),
        ("One", "next", 7, True),
        ("Two", "```\n# code\n\n- code\n```\nafter", 11, False),
        ("Two", "last", 18, False),
    ]


@given(st.lists(PIECES, max_size=20))
def test_no_text_is_lost_or_comes_twice(lines):
    text = "\n".join(lines)
    found = list(passages(text))
    assert [each.line for each in found] == sorted({each.line for each in found})
    said = "\n".join(each.text for each in found)
    for word in ("text", "more", "point", "first"):
        assert said.count(word) == text.count(word)


@pytest.mark.parametrize("mark", ["# ", "- ", "* ", "**", "```", "--- ", "1. "])
@pytest.mark.parametrize("filling", [" ", "#", "-", "*", "`"])
@pytest.mark.timeout(5)
def test_no_line_takes_long_however_it_is_made(mark, filling):
    list(passages(mark + filling * 300_000 + "x"))


@given(st.text())
def test_any_text_has_passages_or_none(text):
    for each in passages(text):
        assert each.text.strip()
