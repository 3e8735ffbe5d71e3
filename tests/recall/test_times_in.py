"""What a host learns of the times that a question names."""

from datetime import UTC, datetime

import pytest

from memoranda.service.words import times_in

NOON = datetime(2026, 3, 11, 12, tzinfo=UTC)


def moment(day, hour=0):
    return int(datetime(2026, 3, day, hour, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("asked", "start", "until"),
    [
        ("What happened yesterday?", moment(10), moment(11)),
        ("Co się działo wczoraj?", moment(10), moment(11)),
        ("What happened last night?", moment(10, 18), moment(11, 6)),
    ],
)
def test_spans_are_those_of_the_clock_that_was_handed_over(asked, start, until):
    assert times_in(asked, now=int(NOON.timestamp() * 1000)) == ((start, until),)


def test_a_question_without_a_time_names_none():
    assert times_in("What happened?", now=moment(11)) == ()
