"""Of two memories that say nearly the same, the second gives way to something else."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.diversity import diverse

from .made import hit_of

TEXTS = st.sampled_from(["the red lamp in the hall", "the red lamp in the old hall", "tea with milk", "灯在书房", ""])


def test_a_repetition_gives_way_to_something_else():
    lamp = hit_of(1, 0.80, "Anna reads by the green lamp in the bedroom")
    again = hit_of(2, 0.79, "Anna reads by the green lamp in the bedroom!")
    other = hit_of(3, 0.75, "The boiler manual lies in the cellar")
    assert diverse([lamp, again, other], 2) == [lamp, other]
    assert diverse([lamp, again, other], 2, relevance=1.0) == [lamp, again]
    assert diverse([lamp, again, other], 3) == [lamp, again, other]


def test_something_much_less_relevant_does_not_take_its_place():
    lamp = hit_of(1, 0.80, "Anna reads by the green lamp in the bedroom")
    again = hit_of(2, 0.79, "Anna reads by the green lamp in the bedroom!")
    far = hit_of(3, 0.20, "The boiler manual lies in the cellar")
    assert diverse([lamp, again, far], 2) == [lamp, again]


def test_repetitions_are_seen_where_words_have_no_spaces():
    lamp, again = hit_of(1, 0.80, "灯在二楼的书房里"), hit_of(2, 0.79, "灯在二楼的书房里。")
    other = hit_of(3, 0.76, "茶在厨房")
    assert diverse([lamp, again, other], 2) == [lamp, other]


@given(st.lists(st.tuples(st.floats(0.0, 1.0), TEXTS), max_size=70), st.integers(1, 70))
def test_it_chooses_from_what_it_was_given_and_keeps_the_best_and_the_order(drawn, limit):
    hits = [hit_of(n, score, text) for n, (score, text) in enumerate(sorted(drawn, key=lambda each: -each[0]))]
    chosen = diverse(hits, limit)
    places = [hits.index(hit) for hit in chosen]
    assert places == sorted(set(places))
    assert len(chosen) == min(limit, len(hits))
    assert chosen[:1] == hits[:1]
