from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import InvalidInput
from memoranda.domain.contexts import (
    KNOWN,
    Circumstance,
    applies,
    canonical,
    checked_context,
    conditions,
    perhaps_meant,
)

MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
PARTS = ("morning", "afternoon", "evening", "nighttime")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = ("winter", "spring", "summer", "autumn")
WORDS = st.sampled_from(
    [*PARTS, *DAYS, *SEASONS, "weekday", "weekend", "after_sunset", "daytime", "place:office", "at_home", "guests",
     "06:30-08:00", "22:00-06:00", "july"]
)  # fmt: skip


def at(text, **more):
    return Circumstance.of(datetime.fromisoformat(text).replace(tzinfo=UTC), **more)


@pytest.mark.parametrize(
    ("context", "moment", "holds"),
    [
        ("", "2026-01-16T03:00", True),
        ("after_sunset", "2026-01-16T17:59", False),
        ("after_sunset", "2026-01-16T18:00", True),
        ("after_sunset", "2026-01-16T03:00", True),
        ("before_sunrise", "2026-01-16T05:59", True),
        ("before_sunrise", "2026-01-16T06:00", False),
        ("before_sunrise", "2026-01-16T20:00", False),
        ("nighttime", "2026-01-16T22:00", True),
        ("nighttime", "2026-01-16T21:59", False),
        ("morning", "2026-01-16T06:00", True),
        ("morning", "2026-01-16T12:00", False),
        ("evening", "2026-01-16T18:00", True),
        ("evening", "2026-01-16T22:00", False),
        ("weekday", "2026-01-16T08:00", True),
        ("weekday", "2026-01-17T08:00", False),
        ("weekend", "2026-01-18T23:59", True),
        ("friday", "2026-01-16T08:00", True),
        ("winter", "2026-12-01T08:00", True),
        ("summer", "2026-08-31T08:00", True),
        ("july", "2026-07-04T08:00", True),
        ("weekday+morning", "2026-01-16T08:00", True),
        ("weekday+morning", "2026-01-16T13:00", False),
        ("06:30-08:00", "2026-01-16T06:30", True),
        ("06:30-08:00", "2026-01-16T08:00", False),
        ("22:30-06:15", "2026-01-16T06:14", True),
        ("22:30-06:15", "2026-01-16T22:29", False),
        ("18:00-24:00", "2026-01-16T23:59", True),
        ("guests", "2026-01-16T08:00", False),
        ("at_home", "2026-01-16T08:00", False),
    ],
)
def test_a_context_holds_when_the_clock_says_so(context, moment, holds):
    assert applies(context, at(moment)) is holds


def test_places_and_flags_come_from_the_caller():
    assert applies("place:office", at("2026-01-16T08:00", place="Office"))
    assert not applies("place:office", at("2026-01-16T08:00", place="home"))
    assert applies("at_home", at("2026-01-16T08:00", place="home"))
    assert applies("guests+evening", at("2026-01-16T19:00", flags=["Guests"]))


def test_what_the_caller_says_wins_over_the_clock():
    winter_afternoon = at("2026-01-16T16:30", flags=["after_sunset"])
    assert applies("after_sunset", winter_afternoon)
    assert not applies("daytime", winter_afternoon)
    summer_evening = at("2026-06-16T20:30", flags=["before_sunset"])
    assert not applies("after_sunset", summer_evening)
    assert applies("daytime", summer_evening)
    a_holiday = at("2026-01-16T08:00", flags=["weekend"])
    assert applies("weekend", a_holiday)
    assert not applies("weekday", a_holiday)
    down_under = at("2026-01-16T08:00", flags=["summer"])
    assert not applies("winter", down_under)


@given(MOMENTS)
def test_there_is_always_exactly_one_part_of_the_day_one_day_and_one_season(moment):
    now = Circumstance.of(moment)
    for group in (PARTS, DAYS, SEASONS, ("weekday", "weekend"), ("daytime", "after_sunset")):
        assert sum(applies(each, now) for each in group) == 1


@given(st.lists(WORDS, min_size=1, max_size=4), MOMENTS)
def test_a_context_holds_exactly_when_each_of_its_conditions_does(words, moment):
    now = Circumstance.of(moment, place="home", flags=["guests"])
    assert applies("+".join(words), now) == all(applies(word, now) for word in words)


@given(st.lists(WORDS, min_size=1, max_size=4), st.randoms())
def test_the_order_and_the_spelling_of_conditions_do_not_matter(words, random):
    shuffled = [word.upper() for word in words]
    random.shuffle(shuffled)
    first = canonical("+".join(words))
    assert canonical(" + ".join(shuffled)) == first
    assert canonical(first) == first
    assert sorted(conditions(first)) == sorted(set(words))


@given(st.text(max_size=40))
def test_any_text_is_read_and_what_is_kept_of_it_is_one_text(text):
    applies(text, at("2026-01-16T08:00"))
    with suppress(InvalidInput):
        assert canonical(canonical(text)) == canonical(text)


@given(MOMENTS, st.integers(0, 1439), st.integers(0, 1439))
def test_a_span_and_its_opposite_share_the_day(moment, start, end):
    if start == end:
        return
    first = f"{start // 60:02}:{start % 60:02}"
    second = f"{end // 60:02}:{end % 60:02}"
    now = Circumstance.of(moment)
    assert applies(f"{first}-{second}", now) != applies(f"{second}-{first}", now)


@pytest.mark.parametrize("context", ["weekday+", "+", "25:00-26:00", "10:70-11:00", "08:00-08:00"])
def test_a_context_that_says_nothing_is_refused(context):
    with pytest.raises(InvalidInput):
        canonical(context)


@pytest.mark.parametrize(
    "context",
    ["guests", "after_sunset+guests", "place:office", "place:living room", "at_home", "06:30-08:00", "film-night2",
     "goście", "有客人", "हिन्दी", "weekday+morning", ""],
)  # fmt: skip
def test_what_is_known_and_what_is_a_plain_flag_is_kept(context):
    assert checked_context(context) == canonical(context)


@pytest.mark.parametrize(
    "context",
    ["bogus context!!", "place:", "place: ", "after_sunset+place:", "place:a/b", "a:b", "sensor.rain", "--", "_", "a,b",
     "morning|evening", "<b>", "guests?", "after sunset, weekdays", "\u200b", "06:30", "\N{GRINNING FACE}"],
)  # fmt: skip
def test_what_can_never_hold_is_refused_with_the_words_that_are_known(context):
    with pytest.raises(InvalidInput, match="context: ") as caught:
        checked_context(context)
    for word in ("after_sunset", "weekday", "monday", "july", "at_home", "place:office", "06:30-08:00", "flag"):
        assert word in caught.value.hint


@given(st.text(max_size=40))
def test_a_context_that_is_kept_is_kept_in_the_same_words_again(text):
    with suppress(InvalidInput):
        kept = checked_context(text)
        assert checked_context(kept) == kept == canonical(kept)


@pytest.mark.parametrize(
    ("context", "meant"),
    [
        ("after_sunsett", (("after_sunsett", "after_sunset"),)),
        ("weekday+mornig", (("mornig", "morning"),)),
        ("weekdya", (("weekdya", "weekday"),)),
        ("nigth", (("nigth", "night"),)),
        ("at_hone", (("at_hone", "at_home"),)),
        ("Sumer + jully", (("jully", "july"), ("sumer", "summer"))),
        ("guests", ()),
        ("after_sunset+guests", ()),
        ("after_the_sunset", ()),
        ("place:mornin", ()),
        ("", ()),
    ],
)
def test_a_flag_that_is_one_slip_from_a_known_word_is_noticed(context, meant):
    assert tuple(sorted(perhaps_meant(context))) == meant


@given(st.sampled_from(KNOWN), st.integers(0, 30), st.sampled_from(["more", "less", "other", "swapped"]), st.data())
def test_one_slip_in_any_known_word_is_noticed_unless_it_is_a_word(word, place, how, data):
    at = place % len(word)
    letter = data.draw(st.sampled_from("abcxyz"))
    slipped = {
        "more": word[:at] + letter + word[at:],
        "less": word[:at] + word[at + 1 :],
        "other": word[:at] + letter + word[at + 1 :],
        "swapped": word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[how]
    if conditions(slipped) != (slipped,) or slipped in KNOWN:
        return
    assert [flag for flag, _ in perhaps_meant(slipped)] == [slipped]


def test_a_span_goes_over_midnight():
    late = at("2026-01-16T23:30")
    assert applies("23:00-01:00", late)
    assert applies("23:00-01:00", late._replace(local=late.local + timedelta(hours=1)))
