"""Moments as people and models write them: a date, or how long ago (`-7d`); and how long ago a moment was, in words."""

import re

from memoranda.domain.clock import DAY_MS, end_of, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.text import so_many

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_UNITS = {"m": _MINUTE_MS, "h": _HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
_AGO = re.compile(r"-([0-9]{1,6})([mhdw])")
_SPANS = ((365 * DAY_MS, "year"), (30 * DAY_MS, "month"), (DAY_MS, "day"), (_HOUR_MS, "hour"), (_MINUTE_MS, "minute"))


def moment(given: str, *, now: int, name: str) -> int:
    """A date in ISO-8601, or `-7d`: so many minutes (m), hours (h), days (d) or weeks (w) before now."""
    return _read(given, now, name, last=False)


def last_moment(given: str, *, now: int, name: str) -> int:
    """Like `moment`, but a bare day means its end."""
    return _read(given, now, name, last=True)


def ago(at: int, now: int) -> str:
    """How long before now a moment was, in words: models and people are poor at reckoning with dates."""
    passed = now - at
    if abs(passed) < _MINUTE_MS:
        return "just now"
    return f"{span(passed)} ago" if passed > 0 else f"in {span(-passed)}"


def span(ms: int) -> str:
    """A length of time in its largest unit, rounded down."""
    length, unit = next(((length, unit) for length, unit in _SPANS if ms >= length), _SPANS[-1])
    count = ms // length
    return so_many(count, unit)


def _read(given: str, now: int, name: str, *, last: bool) -> int:
    back = _AGO.fullmatch(given.strip())
    if back:
        return max(0, now - int(back[1]) * _UNITS[back[2]])
    try:
        return (end_of if last else to_ms)(given, name=name)
    except InvalidInput as error:
        raise InvalidInput(str(error), hint="Write it as 2026-03-01, 2026-03-01T12:00:00Z, or -7d.") from error
