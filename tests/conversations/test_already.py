"""What is done already: counted for all deeds at once, and the same as counted one by one."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.already import Already

_stems = st.frozensets(st.sampled_from("abcdefgh"))
_deeds = st.lists(st.tuples(_stems, st.integers(-3, 12), st.integers(-2, 3)), max_size=12)


def one_by_one(deeds, wished, after, apart_from):
    later = [stems for stems, order, source in deeds if order > after and source != apart_from]
    return any(len(stems & wished) >= max(2, len(wished) / 2) for stems in later)


@given(_deeds, _stems, st.integers(-4, 13), st.integers(-2, 3))
def test_counting_all_at_once_says_what_counting_one_by_one_says(deeds, wished, after, apart_from):
    found = Already(deeds).covers(wished, after=after, apart_from=apart_from)
    assert found == one_by_one(deeds, wished, after, apart_from)


@given(_deeds, _stems)
def test_without_an_order_and_a_source_all_deeds_count(deeds, wished):
    assert Already(deeds).covers(wished) == one_by_one(deeds, wished, -100, 100)
