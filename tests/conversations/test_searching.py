"""Passages of transcripts: hits with what was said around them, joined where they touch, ended by a silence."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.searching import TranscriptHit, grouped

from .made import MINUTE, NOON, kept, places

GAP = 10 * MINUTE


def said(minutes, texts=None, first=0):
    """A conversation whose messages were said at these minutes."""
    return [
        kept(first + place, "user", texts[place] if texts else f"message {place}", at=NOON + minute * MINUTE)
        for place, minute in enumerate(minutes)
    ]


def store(*conversations):
    """Neighbours by number, as a ledger would load them."""

    def neighbours(number, context):
        for messages in conversations:
            for place, message in enumerate(messages):
                if message.number == number:
                    return messages[max(0, place - context) : place + context + 1]
        return []

    return neighbours


def search(found, *conversations, **options):
    """`found` is by place in the first conversation."""
    hits = [TranscriptHit(place + 1, score, "home") for place, score in found.items()]
    return grouped(hits, store(*conversations), **options)


def test_a_hit_comes_with_two_messages_before_and_after():
    (passage,) = search({5: 0.9}, said(range(10)))
    assert places(passage.messages) == [3, 4, 5, 6, 7]
    assert (passage.hits, passage.score, passage.truncated) == ((6,), 0.9, False)


def test_hits_whose_surroundings_touch_are_one_passage():
    (passage,) = search({2: 0.5, 7: 0.9}, said(range(12)))
    assert places(passage.messages) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert (passage.hits, passage.score) == ((3, 8), 0.9)


def test_hits_further_apart_are_passages_of_their_own():
    passages = search({2: 0.5, 8: 0.9}, said(range(12)))
    assert [places(each.messages) for each in passages] == [[6, 7, 8, 9, 10], [0, 1, 2, 3, 4]]


def test_a_silence_ends_what_belongs_together():
    (passage,) = search({3: 0.9}, said([0, 1, 11, 12, 13, 22.9, 40]))
    assert places(passage.messages) == [2, 3, 4, 5]
    before, after = search({1: 0.8, 2: 0.9}, said([0, 1, 11, 12]))
    assert (places(before.messages), places(after.messages)) == ([2, 3], [0, 1])


def test_the_best_is_first_and_of_equal_ones_the_newest():
    passages = search({0: 0.5, 10: 0.5, 20: 0.7}, said(range(30)), context=1)
    assert [each.hits for each in passages] == [(21,), (11,), (1,)]


def test_places_of_two_conversations_are_never_joined():
    ours, theirs = said(range(3)), [each._replace(number=each.number + 50) for each in said(range(3))]
    hits = [TranscriptHit(2, 0.5, "ours"), TranscriptHit(52, 0.6, "theirs")]
    passages = grouped(hits, store(ours, theirs))
    assert [(each.conversation, each.hits) for each in passages] == [("theirs", (52,)), ("ours", (2,))]


def test_a_hit_that_is_gone_is_passed_over_and_one_found_twice_counts_once():
    hits = [TranscriptHit(99, 1.0), TranscriptHit(1, 0.2), TranscriptHit(1, 0.8)]
    (passage,) = grouped(hits, store(said([0])))
    assert (passage.hits, passage.score) == ((1,), 0.8)
    assert grouped([], store()) == ()


def test_what_stands_farthest_from_the_hit_is_left_out_first():
    (passage,) = search({2: 0.9}, said(range(5), ["x" * 100] * 5), most_chars=350)
    assert places(passage.messages) == [1, 2, 3]
    assert passage.truncated


def test_the_best_hit_of_a_passage_is_kept_when_not_all_fit():
    (passage,) = search({0: 0.5, 3: 0.9}, said(range(5), ["x" * 100] * 5), most_chars=150)
    assert (places(passage.messages), passage.hits, passage.score) == ([3], (4,), 0.9)


def test_a_hit_longer_than_the_room_is_cut():
    (passage,) = search({0: 0.9}, said([0], ["word " * 10_000]), most_chars=1_000)
    assert passage.characters == 1_000
    assert passage.messages[0].text.endswith("[...]")
    assert passage.truncated


def test_when_later_passages_find_no_room_the_last_one_says_so():
    passages = search({0: 0.9, 9: 0.5}, said(range(10), ["x" * 100] * 10), context=0, most_chars=120)
    assert [(each.hits, each.truncated) for each in passages] == [((1,), True)]


@st.composite
def searches(draw):
    gaps = draw(st.lists(st.sampled_from([0, 1, 2, 9, 10, 11, 60]), min_size=1, max_size=25))
    minutes = [sum(gaps[: place + 1]) for place in range(len(gaps))]
    texts = draw(st.lists(st.text(max_size=300), min_size=len(gaps), max_size=len(gaps)))
    found = draw(st.dictionaries(st.integers(0, len(gaps) - 1), st.floats(0, 1), min_size=1, max_size=6))
    return said(minutes, texts), found


@given(searches(), st.integers(0, 4))
def test_every_hit_is_in_one_passage_with_its_surroundings_and_no_message_is_shown_twice(search_of, context):
    messages, found = search_of
    passages = search(found, messages, context=context, most_chars=10**9)
    assert sorted(number for each in passages for number in each.hits) == sorted(place + 1 for place in found)
    shown = [message.place for each in passages for message in each.messages]
    assert len(shown) == len(set(shown))
    assert all(min(abs(place - hit) for hit in found) <= context for place in shown)
    assert [each.score for each in passages] == sorted((each.score for each in passages), reverse=True)


@given(searches(), st.integers(0, 4))
def test_no_passage_has_a_hole_or_a_silence_in_it_and_no_two_touch(search_of, context):
    messages, found = search_of
    passages = search(found, messages, context=context, most_chars=10**9)
    for each in passages:
        for before, after in pairwise(each.messages):
            assert after.place == before.place + 1
            assert after.at - before.at < GAP
    spans = [(each.messages[0], each.messages[-1]) for each in sorted(passages, key=lambda each: each.hits)]
    for (_, last), (first, _) in pairwise(spans):
        assert first.place > last.place + 1 or first.at - last.at >= GAP


@given(searches(), st.integers(0, 1_500))
def test_the_characters_are_bounded_and_what_is_left_out_is_told(search_of, most):
    messages, found = search_of
    passages = search(found, messages, most_chars=most)
    assert sum(each.characters for each in passages) <= most
    every = search(found, messages, most_chars=10**9)
    if passages and len(passages) < len(every):
        assert passages[-1].truncated
    assert all(each.hits for each in passages)
    if sum(each.characters for each in every) <= most:
        assert passages == every


@given(searches(), st.randoms())
def test_the_order_of_the_hits_does_not_matter(search_of, chance):
    messages, found = search_of
    shuffled = list(found.items())
    chance.shuffle(shuffled)
    assert search(dict(shuffled), messages) == search(found, messages)
