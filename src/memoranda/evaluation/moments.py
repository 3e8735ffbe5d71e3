"""Dates as the public sets write them, as milliseconds. All are read as UTC: none of them names a zone."""

import re
from datetime import UTC, datetime

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput

MINUTE_MS = 60_000
NO_TIME_MS = 1_767_225_600_000
"""2026-01-01: the clock of a set whose documents have no time."""

_WEEKDAY = re.compile(r"\s*\((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\)|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,?\s+")
_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")
_FORMS = (
    "%I:%M %p on %d %B, %Y",  # 1:56 pm on 8 May, 2023
    "%I:%M:%S %p on %d %B, %Y",  # 11:01:03 AM on Saturday 17 December, 2022
    "%d.%m.%Y, %H:%M:%S",  # 29.12.2023, 22:42:04
    "%Y/%m/%d %H:%M",  # 2023/06/28 (Wed) 00:03
    "%B-%d-%Y",  # March-15-2024
)


def read_moment(text: str, *, name: str) -> int:
    """Milliseconds for a date in one of the known forms, or in ISO-8601."""
    plain = _LONG_FRACTION.sub(r"\1", _WEEKDAY.sub("", text)).strip()
    for form in _FORMS:
        try:
            return to_ms(datetime.strptime(plain, form).replace(tzinfo=UTC), name=name)
        except ValueError:
            continue
    try:
        return to_ms(plain, name=name)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {text[:60]!r} is not a date in a known form") from error


def asked_at(query: int | None, newest: int | None) -> int:
    """When a question is asked: at its own time, or a minute after the newest document that it can see."""
    if query is not None:
        return query
    return NO_TIME_MS if newest is None else newest + MINUTE_MS
