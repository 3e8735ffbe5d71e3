"""One segment of a scope for any name of a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import InvalidInput
from memoranda.domain.scope import Scope, segment


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_every_name_has_a_segment_and_no_two_the_same(one, other):
    for name in (one, other):
        assert "/" not in segment(name)
        assert Scope(f"bot/{segment(name)}").path == f"bot/{segment(name)}"
    assert (segment(one) == segment(other)) == (one == other)


def test_a_name_that_can_be_a_segment_stays_readable():
    assert segment("group_42") == "group_42"
    assert segment("anna@example.org") == "anna@example.org"
    assert segment("群 1") == "0~~~~E7~BE~A4~201"


@pytest.mark.parametrize(
    ("one", "other"), [("a/b", "a~2Fb"), ("~", "0~~~7E"), ("_a", "0~~~_a"), ("é", "e"), ("a" * 64, "a" * 65)]
)
def test_names_that_look_like_others_written_out_are_not_them(one, other):
    assert segment(one) != segment(other)


def test_no_name_is_no_scope():
    with pytest.raises(InvalidInput):
        segment("")
