"""Numbers in words."""

import pytest

from memoranda.domain.text import so_many


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("memory",), "0 memories"),
        (1, ("memory",), "1 memory"),
        (2, ("day",), "2 days"),
        (1_234, ("message",), "1,234 messages"),
        (3, ("memory has", "memories have"), "3 memories have"),
        (1, ("memory has", "memories have"), "1 memory has"),
    ],
)
def test_one_is_not_many(number, words, told):
    assert so_many(number, *words) == told
