"""Where sentences end, and where they only seem to."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.capture.letters import small, tidied, unquoted
from memoranda.capture.sentences import sentences, spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I like tea. You like coffee!", ["I like tea.", "You like coffee!"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("我喜欢茶。你呢？好！", ["我喜欢茶。", "你呢？", "好！"]),
        ("お茶が好きです。忘れないで。", ["お茶が好きです。", "忘れないで。"]),
        ("- first thing\n- second thing\n3. third", ["first thing", "second thing", "third"]),
        ("one line\nanother line", ["one line", "another line"]),
        ("He said “stop.” Then he left.", ["He said “stop.”", "Then he left."]),
        ("It is on shelf 3. Remember that.", ["It is on shelf 3.", "Remember that."]),
        ("   \n\n ", []),
        ("...", []),
    ],
)
def test_sentences_end_where_a_reader_sees_it(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Novak and Mrs. Lee live at St. James.",
        "Use fruit, e.g. apples, i.e. no nuts.",
        "The lamp is light.office and not light.kitchen.",
        "Write to anna.kowalska@example.com about it.",
        "See https://example.com/a.b?c=d for more.",
        "The train leaves at 6.30 and costs 3.5 euros.",
        "Am 3. Mai fahren wir nach Wien.",
        "Spotkanie jest np. w środę o godz. ósmej.",
        "J. Smith wrote it.",
        "Well... maybe later.",
        "Version 2.0.1 is the one that we run here",
    ],
)
def test_abbreviations_numbers_and_addresses_do_not_end_a_sentence(text):
    assert sentences(text) == [text]


def test_a_line_broken_for_its_length_goes_on():
    text = "I prefer to have my meetings in the morning hours\nbecause the afternoon is for writing."
    assert len(sentences(text)) == 1


@given(st.text(max_size=300))
def test_sentences_never_overlap_and_never_invent(text):
    tidy = tidied(text)
    found = spans(tidy)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(0 <= span.start < span.end <= len(tidy) for span in found)
    kept = sum(char.isalnum() for span in found for char in tidy[span.start : span.end])
    # A bullet such as "1." is all that may be left out.
    assert sum(char.isalnum() for char in tidy) - kept <= 2 * (tidy.count("\n") + 1)


@given(st.text(max_size=300))
def test_small_letters_stand_where_the_letters_stood(text):
    assert len(small(text)) == len(text)
    assert len(unquoted(small(text))) == len(text)


def test_marks_and_cases_are_folded():
    assert small("Zapamiętaj ŁÓDŹ „to” I’m ！？。") == 'zapamietaj lodz "to" i\'m !?.'


def test_what_is_quoted_is_made_dumb():
    assert unquoted('he said "i love tea" and i\'m fine') == 'he said "x xxxx xxx" and i\'m fine'
