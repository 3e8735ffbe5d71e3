"""Words of large scopes in PostgreSQL: every form of a word in one walk, and common words beside rare ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.ports import IndexQuery
from memoranda.index.embedded import EmbeddedIndex
from memoranda.index.postgres import searching, writer
from memoranda.index.postgres.asking import Postings
from memoranda.index.postgres.rows import POSTING
from memoranda.index.tokens import Term
from memoranda.testing.index_entries import HERE, entry, numbers


@pytest.fixture(params=[200_000, 30], ids=["all words propose", "common words only count"])
def crowded(store, tmp_path, monkeypatch, request):
    """A large scope, in PostgreSQL and embedded, with words of all kinds."""
    monkeypatch.setattr(writer, "SMALL", 10)
    monkeypatch.setattr(searching, "ALL_WORDS_UP_TO", request.param)
    crowd = [entry(n, f"the lamp of room {n}") for n in range(1, 61)]
    crowd += [entry(100 + n, f"a kitchen for guest {n}") for n in range(60)]
    crowd += [entry(200 + n, f"international mail {n}") for n in range(200)]
    crowd += [entry(500 + n, f"garden {n} has a lamp and a kitchen") for n in range(5)]
    crowd += [entry(600, "an interferometer for cats"), entry(601, "the cat sleeps")]
    embedded = EmbeddedIndex(tmp_path / "one.db", fingerprint="x|1")
    index = store.opener()()
    for each in (embedded, index):
        each.apply(put=crowd, drop=(), sequence=1)
    yield index, embedded
    embedded.close()


@pytest.mark.parametrize("again", [1, 3])
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("lamp kitchen", {500, 501, 502, 503, 504}),
        ("interferometer lamp", {600}),
        ("cats", {600, 601}),
        ("mail", set(range(200, 216))),
    ],
)
def test_what_has_the_words_is_found_as_often_as_it_is_asked_for(crowded, text, first, again):
    index, embedded = crowded
    query = IndexQuery((HERE,), text, pool=16)
    for _ in range(again):
        found = index.search(query)
        assert set(numbers(found)[: len(first)]) == first
        assert [each for each in found.candidates if each.number in first] == [
            each for each in embedded.search(query).candidates if each.number in first
        ]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 7)), max_size=40))
def test_forms_are_counted_and_weighed_bit_by_bit(rows):
    terms = (Term("a", (1, 2, 3), (1, 1, 1)), Term("b", (4,), (1,)), Term("c", (5, 6), (1, 1)))
    worths = np.array([1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0])
    begins = (0, 3, 4)
    joined = [
        (at, np.array([(7, 5, forms) for place, forms in rows if place == at], POSTING).tobytes()) for at in range(3)
    ]
    postings = Postings.of(joined)
    ordered = sorted(rows, key=lambda row: row[0])
    has = [
        [begins[place] + bit for bit in range(len(terms[place].hashes)) if forms >> bit & 1] for place, forms in ordered
    ]
    assert postings.often(terms) == tuple(sum(form in forms for forms in has) for form in range(6))
    assert postings.worths(terms, worths).tolist() == [sum(worths[form] for form in forms) for forms in has]
