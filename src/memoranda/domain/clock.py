"""Time: UTC, integer milliseconds inside, ISO-8601 with Z outside. Nothing else reads the system's clock."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from memoranda.domain.errors import InvalidInput

Moment = int | str | date | datetime

DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The year 9999 in milliseconds; beyond it ISO-8601 has no four-digit year.
MAX_MS = 253_402_300_799_999
_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Clock(Protocol):
    """Tells the time in milliseconds since 1970, UTC."""

    def now(self) -> int: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        return int(datetime.now(UTC).timestamp() * 1000)


def to_ms(moment: Moment, *, name: str) -> int:
    """A date in any form that the facade accepts, as milliseconds. A text without a zone is UTC."""
    if isinstance(moment, bool):
        raise InvalidInput(f"{name}: a date is expected, not {moment!r}")
    if isinstance(moment, int):
        return _bounded(moment, name)
    if isinstance(moment, datetime):
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return _bounded((aware - _EPOCH) // timedelta(milliseconds=1), name)
    if isinstance(moment, date):
        return to_ms(datetime(moment.year, moment.month, moment.day, tzinfo=UTC), name=name)
    if not isinstance(moment, str):
        raise InvalidInput(
            f"{name}: a date is expected, not {type(moment).__name__}",
            hint="Pass ISO-8601 text or a datetime.",
        )
    try:
        return to_ms(datetime.fromisoformat(moment.strip()), name=name)
    except ValueError as error:
        raise InvalidInput(
            f"{name}: not a date: {moment[:40]!r}",
            hint="Write it as 2026-03-01 or 2026-03-01T12:00:00Z.",
        ) from error


def end_of(moment: Moment, *, name: str) -> int:
    """Like `to_ms`, but a bare day means its last millisecond: "as of 1 March" includes 1 March."""
    start = to_ms(moment, name=name)
    bare_text = isinstance(moment, str) and _DATE_ONLY.fullmatch(moment.strip()) is not None
    bare_date = isinstance(moment, date) and not isinstance(moment, datetime)
    return min(start + 86_399_999, MAX_MS) if bare_text or bare_date else start


def zone_offset(zone: str, ms: int) -> int:
    """Milliseconds from UTC to the local time of a zone at a moment; of the machine's own zone when none is named."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    if not zone:
        offset = moment.astimezone().utcoffset()
    else:
        from zoneinfo import ZoneInfo

        offset = moment.astimezone(ZoneInfo(zone)).utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def iso(ms: int) -> str:
    """Milliseconds as ISO-8601 with Z."""
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def _bounded(ms: int, name: str) -> int:
    if not 0 <= ms <= MAX_MS:
        raise InvalidInput(f"{name}: outside the years 1970 to 9999", hint="Give milliseconds since 1970, UTC.")
    return ms
