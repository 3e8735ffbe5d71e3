"""The scanner finds exactly what plain searching finds, whatever lies around it, in clear and by fingerprints."""

import os

from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.service import proof
from memoranda.service.proof import Hasher, Pattern, Scanner, glance

ALPHABET = st.sampled_from([b"a", b"b", b"ab", b"\0", b"\xff", "ż".encode()])
BYTES = st.lists(ALPHABET, max_size=80).map(b"".join)
NEEDLES = st.lists(
    st.lists(ALPHABET, min_size=6, max_size=60).map(b"".join), min_size=1, max_size=12
)  # of few letters, so that they overlap and begin alike


def plainly(needles, data):
    return {needle for needle in needles if needle in data}


@given(NEEDLES, st.lists(st.one_of(BYTES, st.integers(0, 11)), max_size=12))
@example([b"aaaaaa"], [b"aaaaa"])
@example([b"a" * 16, b"a" * 17], [b"a" * 16])
def test_it_finds_what_is_there_and_nothing_else(needles, parts):
    data = b"".join(needles[part % len(needles)] if isinstance(part, int) else part for part in parts)
    assert Scanner.of(needles).found_in(data) == plainly(needles, data)


@given(NEEDLES, BYTES, st.integers(0, 11))
def test_fingerprints_find_the_same(needles, around, which):
    hasher = Hasher(b"key")
    marks = {bytes([at]): needle for at, needle in enumerate(dict.fromkeys(needles))}
    by_needle = {needle: mark for mark, needle in marks.items()}
    scanner = Scanner(
        (Pattern(glance(each), hasher.beginning(each), len(each), by_needle[each]) for each in by_needle),
        hasher=hasher,
        mark=lambda piece: by_needle.get(piece, b""),
    )
    data = around + needles[which % len(needles)] + around
    assert {marks[mark] for mark in scanner.found_in(data)} == plainly(needles, data)


@given(st.integers(0, 400), st.integers(6, 70))
def test_over_the_borders_of_what_is_read_at_once(at, length):
    needle = bytes(range(1, length + 1))
    data = b"-" * at + needle + b"-" * 50
    parts = [data[start : start + 64] for start in range(0, len(data), 64)]
    overlap, found, scanner = b"", set(), Scanner.of([needle])
    for part in parts:
        found |= scanner.found_in(overlap + part)
        overlap = (overlap + part)[-scanner.longest :]
    assert found == {needle}


def test_at_every_place_of_a_block_and_over_its_border(monkeypatch):
    monkeypatch.setattr(proof, "_BLOCK", 32)
    needles = [os.urandom(length) for length in (6, 7, 8, 9, 15, 16, 17, 48)]
    scanner = Scanner.of(needles)
    for at in range(70):
        for needle in needles:
            assert scanner.found_in(bytes(at) + needle) == {needle}


def test_many_that_begin_alike_do_not_slow_it_down():
    """A hundred thousand texts with the same first words, in files that have these words everywhere."""
    needles = [f"The user said that they like number {number:06d}".encode() for number in range(20_000)]
    data = b"The user said that they like nothing. " * 20_000
    assert Scanner.of(needles).found_in(data) == set()
    assert Scanner.of(needles).found_in(data + needles[77]) == {needles[77]}
