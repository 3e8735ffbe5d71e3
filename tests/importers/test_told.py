"""What other systems say, taken as it is: whatever stands there, nothing raises and nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import MAX_MS
from memoranda.domain.memory import MAX_TAGS, checked_json
from memoranda.domain.text import checked_text
from memoranda.importers.told import kept_of, kind_of, moment_of, name_of, said_of, sentence, share_of, tags_of, text_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=6,
)


@given(ANYTHING)
def test_anything_becomes_something_that_a_store_takes(value):
    checked_text(text_of(value), name="text", limit=10**9, empty_ok=True)
    assert len(checked_text(name_of(value), name="name", limit=512, empty_ok=True)) <= 512
    at = moment_of(value)
    assert at is None or 0 <= at <= MAX_MS
    share = share_of(value)
    assert share is None or 0 <= share <= 1
    tags = tags_of(value, [value])
    assert len(tags) <= MAX_TAGS
    assert all(checked_text(tag, name="tag", limit=64) == tag.strip() for tag in tags)
    kind_of(value, {})


@given(st.dictionaries(st.text(st.characters()), ANYTHING, max_size=5))
def test_what_is_kept_of_other_fields_is_plain_json(values):
    kept = kept_of(values)
    assert kept is None or checked_json(kept, name="metadata") == kept


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ("2026-03-01", 1_772_323_200_000),
        ("2026-03-01T12:00:00Z", 1_772_366_400_000),
        ("2026-03-01T12:00:00.250+02:00", 1_772_359_200_250),
        (1_772_323_200, 1_772_323_200_000),
        (1_772_323_200.5, 1_772_323_200_500),
        (1_772_323_200_000, 1_772_323_200_000),
        (0, 0),
        (-1, None),
        (10**400, None),
        (float("nan"), None),
        (True, None),
        ("", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_moments_are_read_as_they_are_written(given, at):
    assert moment_of(given) == at


def test_a_text_names_its_subject_once():
    assert said_of("Anna", "prefers tea") == "Anna: prefers tea"
    assert said_of("Anna", "ANNA prefers tea") == "ANNA prefers tea"
    assert said_of("", "prefers tea") == "prefers tea"
    assert sentence("Anna", "works_at", "the library") == "Anna works at the library."
    assert sentence("Anna", "", "Boris") == "Anna relates to Boris."
