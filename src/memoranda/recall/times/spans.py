"""Intervals of the calendar, in UTC milliseconds, half-open."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from memoranda.domain.clock import MAX_MS

HOUR = 3_600_000
DAY = 24 * HOUR
_EPOCH = date(1970, 1, 1).toordinal()
# Beyond so many years back a date without a year is not looked for.
_YEARS = 50


class Span(NamedTuple):
    """From `start` up to, but not including, `until`."""

    start: int
    until: int


class Asking(NamedTuple):
    """The moment of asking, and from when to when there is something to find."""

    now: int
    today: date
    first: int | None
    last: int | None


class Point(NamedTuple):
    """One expression of time: fixed spans, or one for each year when the year is not said."""

    spans: tuple[Span, ...] = ()
    yearly: Callable[[int], Span] | None = None


def asking(now: int, first: int | None, last: int | None) -> Asking:
    """The circumstances, brought into the years that a calendar has."""
    now = min(max(now, 0), MAX_MS)
    return Asking(now, day_at(now), first, last)


def day_at(moment: int) -> date:
    return date.fromordinal(min(max(moment, 0), MAX_MS) // DAY + _EPOCH)


def days(first: date, count: int = 1) -> Span:
    start = (first.toordinal() - _EPOCH) * DAY
    return Span(start, start + count * DAY)


def hours(day: date, part: tuple[int, int]) -> Span:
    start = days(day).start
    return Span(start + part[0] * HOUR, start + part[1] * HOUR)


def month(year: int, number: int, count: int = 1) -> Span:
    """`count` months from this one on; 0 is December of the year before, 13 is January of the next."""
    last = shifted(year, number + count - 1)
    return Span(days(shifted(year, number)).start, days(last, monthrange(last.year, last.month)[1]).until)


def shifted(year: int, number: int) -> date:
    """The first day of a month that may lie outside its year."""
    return date(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)


def season(year: int, number: int) -> Span:
    """Spring is March to May; the winter of a year begins in its December."""
    return month(year, number * 3, 3)


def unit_around(unit: str, today: date, shift: int) -> Span:
    """This, the last (-1) or the next (+1) week, month, quarter, year or weekend of the calendar."""
    if unit == "week":
        return days(monday(today) + timedelta(weeks=shift), 7)
    if unit == "weekend":
        return days(monday(today) + timedelta(weeks=shift, days=5), 2)
    if unit == "month":
        return month(today.year, today.month + shift)
    if unit == "quarter":
        return month(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * shift, 3)
    if unit == "year":
        return month(today.year + shift, 1, 12)
    return days(today + timedelta(days=shift))


def is_year(span: Span) -> bool:
    return 365 * DAY <= span.until - span.start <= 366 * DAY


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def ago(unit: str, many: tuple[int, int], moment: int, sign: int = -1) -> Span:
    """Some units back, or forth. Days and longer are the calendar's; "two weeks ago" is the week around that day."""
    low, high = sorted(sign * each for each in many)
    if unit in ("minute", "hour"):
        size = HOUR // 60 if unit == "minute" else HOUR
        return Span(moment + low * size - size // 2, moment + high * size + size // 2)
    today = day_at(moment)
    if unit == "day":
        return days(today + timedelta(days=low), high - low + 1)
    if unit in ("week", "weekend"):
        return days(today + timedelta(days=low * 7 - 3), (high - low) * 7 + 7)
    return Span(unit_around(unit, today, low).start, unit_around(unit, today, high).until)


def rolling(unit: str, count: int, moment: int) -> Span:
    """The last so many units up to the moment, from the beginning of the day on which they began."""
    if unit in ("minute", "hour"):
        return Span(moment - count * (HOUR // 60 if unit == "minute" else HOUR), moment + 1)
    today = day_at(moment)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        begin = today - timedelta(days=count * (1 if unit == "day" else 7))
    else:
        head = shifted(today.year, today.month - months * count)
        begin = head.replace(day=min(today.day, monthrange(head.year, head.month)[1]))
    return Span(days(begin).start, days(today).until)


def weekday(number: int, today: date, shift: int) -> Span:
    """The last one before today, the one of this week, or the next one after today."""
    if shift == 0:
        return days(monday(today) + timedelta(days=number))
    if shift > 0:
        return days(today + timedelta(days=(number - today.weekday() - 1) % 7 + 1))
    return days(today - timedelta(days=(today.weekday() - number - 1) % 7 + 1))


def third(span: Span, which: int) -> Span:
    """The early, the middle or the late part, in whole days when it is longer than a few."""
    step = (span.until - span.start) // 3
    step = step // DAY * DAY or step
    start = span.start + which * step
    return Span(start, span.until if which == 2 else start + step)


def resolved(point: Point, at: Asking) -> tuple[Span, ...]:
    """The spans meant: for each year in which there is something to find, else the latest that has begun."""
    if point.yearly is None:
        return point.spans
    if at.first is not None and at.last is not None and at.first <= at.last:
        newest = day_at(at.last).year
        oldest = max(day_at(at.first).year - 1, newest - _YEARS)
        found = [span for year in range(oldest, newest + 1) if (span := _of_year(point, year))]
        inside = tuple(span for span in found if span.start <= at.last and span.until > at.first)
        if inside:
            return inside
    return latest(point, at.now)


def latest(point: Point, moment: int) -> tuple[Span, ...]:
    """The latest that has begun by a moment. The 29 February may lie eight years back."""
    if point.yearly is None:
        return point.spans
    year = day_at(moment).year
    spans = (_of_year(point, each) for each in range(year, year - 9, -1))
    return next(((span,) for span in spans if span and span.start <= moment), ())


def following(point: Point, moment: int) -> tuple[Span, ...]:
    """The first that ends after a moment."""
    if point.yearly is None:
        return point.spans
    year = day_at(moment).year
    spans = (_of_year(point, each) for each in range(year - 1, year + 9))
    return next(((span,) for span in spans if span and span.until > moment), ())


def _reaching(start: int, end: Point) -> Span:
    spans = following(end, start)
    if not spans:
        raise ValueError("the calendar ends before it")
    return Span(start, spans[0].until)


def _of_year(point: Point, year: int) -> Span | None:
    """None where the year does not have it, such as 29 February."""
    assert point.yearly is not None
    try:
        return point.yearly(year)
    except (ValueError, OverflowError):
        return None


def bounded(span: Span) -> Span | None:
    """Within the years that are kept, or nothing."""
    start, until = max(span.start, 0), min(span.until, MAX_MS + 1)
    return Span(start, until) if start < until else None


Change = Callable[[Span], Span]


def beside(unit: str, span: Span, sign: int) -> Span:
    """The unit right before a span, or right after it."""
    if unit == "weekend":
        around = unit_around("weekend", day_at(span.start), 0)
        if sign < 0:
            return around if around.until <= span.start else Span(around.start - 7 * DAY, around.until - 7 * DAY)
        return around if around.start >= span.until else Span(around.start + 7 * DAY, around.until + 7 * DAY)
    size = {"minute": HOUR // 60, "hour": HOUR, "day": DAY, "week": 7 * DAY, "month": 30 * DAY, "quarter": 91 * DAY}
    length = size.get(unit, 365 * DAY)
    return Span(span.start - length, span.start) if sign < 0 else Span(span.until, span.until + length)


def from_to(one: Point, two: Point) -> Point | None:
    """From the beginning of one to the end of the other; a year said with one of them counts for both."""
    if one.yearly is not None and two.yearly is not None:
        begin = one.yearly
        return Point(yearly=lambda year: _reaching(begin(year).start, two))
    if not one.spans and two.spans:
        first, last = latest(one, two.spans[0].start), two.spans
    elif one.spans and not two.spans:
        first, last = one.spans, following(two, one.spans[0].start)
    else:
        first, last = one.spans, two.spans
    if not first or not last:
        return None
    start, until = first[0].start, last[-1].until
    if until <= start < until + 7 * DAY:
        start -= 7 * DAY  # Friday to Monday: the Friday before
    return Point((Span(start, until),)) if start < until else None
