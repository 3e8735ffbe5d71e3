"""What engines share that propose rows: pure functions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.ports import IndexQuery, Times
from memoranda.index.lexical import Statistics
from memoranda.index.proposals import FAR, Asked, best, signed, unsigned
from memoranda.index.search import Told, View, search
from memoranda.index.segment import Packed, Tail
from memoranda.testing.index_entries import BESIDE, HERE, entry, many, vector_of

hashes = st.integers(0, (1 << 64) - 1)


@given(hashes)
def test_a_hash_survives_an_engine_with_signed_numbers(value):
    assert -(1 << 63) <= signed(value) < 1 << 63
    assert unsigned(signed(value)) == value


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 5)), max_size=60), st.integers(1, 40))
def test_the_rows_that_are_worth_most_are_chosen_and_equals_in_order(postings, room):
    numbers = np.array([number for number, _ in postings], np.int64)
    worths = np.array([float(worth) for _, worth in postings])
    totals = {}
    for number, worth in postings:
        totals[number] = totals.get(number, 0) + worth
    wanted = sorted(totals, key=lambda number: (-totals[number], number))[:room]
    assert sorted(best(numbers, worths, room).tolist()) == sorted(wanted)


def test_common_forms_propose_nothing_unless_they_are_alone():
    asked = Asked.of(IndexQuery((HERE,), "lamp boiler"))
    assert len(asked.hashes) == 6
    rare = Statistics(1_000, 9_000, (500, 500, 500, 3, 4, 200))
    assert asked.telling(rare).tolist() == [False, False, False, True, True, False]
    common = Statistics(1_000, 9_000, (500, 500, 500, 0, 0, 0))
    assert asked.telling(common).tolist() == [True, True, True, False, False, False]


def test_what_is_replaced_or_hidden_is_named_and_what_is_fresh_is_searched_here():
    tail = (entry(4, "fresh lamp"), entry(5, "elsewhere", scope=BESIDE))
    asked = Asked.of(IndexQuery((HERE,), "lamp", tail=tail, hidden=frozenset({9})))
    assert asked.replaced == {4, 5, 9}
    assert [view.part.numbers.tolist() for view in asked.whole] == [[4]]


def test_rows_that_were_picked_score_what_they_score_among_all():
    everything = many(40)
    packed = [Packed.of(each) for each in everything]
    query = IndexQuery((HERE,), "boiler manual lamp", vector_of("boiler manual lamp"), pool=5)
    whole = search([View(Tail(packed), None)], query)
    asked = Asked.of(query)
    terms = np.array(asked.hashes, np.uint64)
    often = tuple(int(sum(term in row.terms for row in packed)) for term in terms)
    told = Told(Statistics(40, sum(row.length for row in packed), often), 40, 40, {})
    wanted = {each.number for each in whole.candidates}
    picked = asked.ranked(told, [row for row in packed if row.number in wanted or row.number % 3 == 0])
    answer = asked.answer(told, picked)
    by_number = {each.number: each for each in whole.candidates}
    assert {each.number: each for each in answer.candidates} == by_number
    assert answer._replace(candidates=()) == whole._replace(candidates=())


def test_conversations_are_counted_over_what_is_told_and_what_is_here():
    fresh = (entry(7, "third", conversation="c", occurred_at=30),)
    asked = Asked.of(IndexQuery((HERE,), times=Times((), ((2, 2),)), tail=fresh))
    (third,) = asked.whole[-1].part.conversations.tolist()
    assert asked.meant({11: (10, 1), 12: (40, 2)}) == {third}
    assert asked.meant({11: (10, 1), 12: (20, 2)}) == {12}


def test_what_stands_beside_is_asked_for_of_rows_in_a_conversation_only():
    rows = [Packed.of(entry(1, "lamp", conversation="talk")), Packed.of(entry(2, "lamp"))]
    asked = Asked.of(IndexQuery((HERE,), "lamp", tail=(entry(9, "tea", conversation="talk"),)))
    assert [number for _, number in asked.standing_beside(rows)] == [1, 9]
    assert FAR == 2
