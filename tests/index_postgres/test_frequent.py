"""Common words of large scopes: counted once, then left out where rarer ones say enough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.ports import IndexQuery
from memoranda.index.postgres import frequent, searching, writer
from memoranda.index.postgres.asking import Asking, Postings
from memoranda.index.postgres.frequent import Frequent
from memoranda.index.postgres.rows import POSTING
from memoranda.index.tokens import Term, query_terms
from memoranda.testing.index_entries import HERE, entry, numbers

QUERY = IndexQuery((HERE,), text="lamp boiler", pool=8)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    monkeypatch.setattr(writer, "SMALL", 10)
    monkeypatch.setattr(frequent, "FEW", 50)
    monkeypatch.setattr(searching, "CROWD", 60)


@pytest.fixture
def made(store):
    index = store.opener()()
    crowd = [entry(n, f"the lamp of room {n}") for n in range(1, 201)]
    some = [entry(1_000 + n, f"boiler {n} stands beside a lamp") for n in range(20)]
    others = [entry(2_000 + n, f"boiler {n} stands alone") for n in range(20)]
    index.apply(put=[*crowd, *some, *others], drop=(), sequence=1)
    return index


@pytest.fixture
def looked_at(monkeypatch):
    """How many rows each search found by words."""
    found = []
    postings = Asking.postings

    def noted(self, places):
        found.append(len((answer := postings(self, places)).numbers))
        return answer

    monkeypatch.setattr(Asking, "postings", noted)
    return found


def test_a_common_word_is_looked_for_once_and_answers_do_not_change(made, looked_at):
    first, second = made.search(QUERY), made.search(QUERY)
    assert looked_at == [260, 40]
    assert second == first
    assert all(1_000 <= number < 1_020 for number in numbers(first)), "what has both words is best"


def test_a_common_word_does_where_rarer_ones_find_too_little(made, looked_at):
    alone = QUERY._replace(text="lamp xylophone")
    assert made.search(alone) == made.search(alone)
    assert looked_at == [220, 0, 220]


def test_of_a_few_that_are_allowed_all_words_are_looked_for(made, looked_at, monkeypatch):
    monkeypatch.setattr(searching, "LOADED", 1)
    allowed = QUERY._replace(allow=frozenset(range(1, 8)))
    made.search(QUERY)
    assert sorted(numbers(made.search(allowed))) == list(range(1, 8))
    assert looked_at == [260, 260]


def test_a_scope_that_has_grown_is_counted_anew(store, made, looked_at):
    made.search(QUERY)
    made.apply(put=[entry(3_000 + n, "the lamp") for n in range(12)], drop=(), sequence=2)
    made.search(QUERY)
    assert looked_at == [260, 40], "a little more does not matter"
    made.apply(put=[entry(4_000 + n, "the lamp") for n in range(12)], drop=(), sequence=3)
    after = made.search(QUERY)
    assert looked_at[2:] == [284]
    assert after == store.home().open(made.fingerprint).search(QUERY)


def test_what_is_eligible_in_another_way_is_counted_by_itself(made, looked_at):
    made.search(QUERY)
    made.search(QUERY._replace(states=frozenset({"live", "archived"})))
    made.search(QUERY._replace(now=5_000))
    assert looked_at == [260, 260, 260]


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
    has = [[bit for bit in range(len(terms[place].hashes)) if forms >> bit & 1] for place, forms in ordered]
    assert postings.often(terms) == [
        tuple(
            sum(bit in bits for (place, _), bits in zip(ordered, has, strict=True) if place == at) for bit in range(n)
        )
        for at, n in enumerate((3, 1, 2))
    ]
    assert postings.worths(terms, worths).tolist() == [
        sum(worths[begins[place] + bit] for bit in bits) for (place, _), bits in zip(ordered, has, strict=True)
    ]


def test_it_remembers_a_bounded_number_of_places_and_words(monkeypatch):
    monkeypatch.setattr(frequent, "_MOST_PLACES", 2)
    monkeypatch.setattr(frequent, "_MOST_WORDS", 3)
    made = Frequent()
    terms = tuple(query_terms("lamp boiler garden kitchen"))
    counts = {term.hashes: (100,) * len(term.hashes) for term in terms}
    for place in range(4):
        made.note((place,), 1_000, {terms[0].hashes: counts[terms[0].hashes]})
    assert [bool(made.known((place,), 1_000, terms)) for place in range(4)] == [False, False, True, True]
    for term in terms[1:]:
        made.note((3,), 1_000, {term.hashes: counts[term.hashes]})
    assert list(made.known((3,), 1_000, terms)) == [3], "what is too much is begun anew"
    assert made.known((3,), 1_050, terms)[3] == (105,) * 3
    made.clear()
    assert not made.known((3,), 1_000, terms)
