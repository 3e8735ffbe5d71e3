"""Moments as people write them, and how long ago they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import DAY_MS, MAX_MS, iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.moments import ago, last_moment, moment, span

NOW = 1_767_225_600_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("-7d", NOW - 7 * DAY_MS),
        ("-90m", NOW - 90 * 60_000),
        (" -2h ", NOW - 2 * HOUR),
        ("-1w", NOW - 7 * DAY_MS),
        ("-999999w", 0),
        ("2025-05-01", 1_746_057_600_000),
        ("2025-05-01T12:00:00Z", 1_746_057_600_000 + 12 * HOUR),
        ("2025-05-01T12:00:00+02:00", 1_746_057_600_000 + 10 * HOUR),
    ],
)
def test_a_moment_is_a_date_or_so_long_ago(written, meant):
    assert moment(written, now=NOW, name="after") == meant


def test_the_last_moment_of_a_bare_day_is_its_end_and_of_anything_else_itself():
    assert last_moment("2025-05-01", now=NOW, name="before") == 1_746_057_600_000 + DAY_MS - 1
    assert last_moment("-7d", now=NOW, name="before") == NOW - 7 * DAY_MS


@pytest.mark.parametrize("written", ["", "7d", "-d", "-7", "-7y", "--7d", "-7d ago", "yesterday", "-\u0667d"])
def test_anything_else_is_refused_with_the_forms_that_are_understood(written):
    with pytest.raises(InvalidInput) as caught:
        moment(written, now=NOW, name="after")
    assert "-7d" in caught.value.hint


@given(st.integers(0, MAX_MS), st.integers(0, MAX_MS))
def test_a_date_reads_back_and_every_distance_has_words(at, now):
    assert moment(iso(at), now=now, name="at") == at
    words = ago(at, now)
    assert words == "just now" or words.endswith(" ago") or words.startswith("in ")


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (0, "just now"),
        (59_999, "just now"),
        (60_000, "1 minute ago"),
        (2 * HOUR + 1, "2 hours ago"),
        (DAY_MS, "1 day ago"),
        (45 * DAY_MS, "1 month ago"),
        (800 * DAY_MS, "2 years ago"),
        (-3 * DAY_MS, "in 3 days"),
    ],
)
def test_a_distance_is_told_in_its_largest_unit(passed, words):
    assert ago(NOW - passed, NOW) == words


@given(st.integers(60_000, MAX_MS))
def test_a_longer_span_is_never_told_as_a_shorter_one(ms):
    units = {"minute": 60_000, "hour": HOUR, "day": DAY_MS, "month": 30 * DAY_MS, "year": 365 * DAY_MS}
    count, unit = span(ms).split()
    length = units[unit.removesuffix("s")]
    told = int(count.replace(",", ""))
    assert told * length <= ms < (told + 1) * length
