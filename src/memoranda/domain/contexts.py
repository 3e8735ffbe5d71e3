"""Contexts: when a preference applies. Conditions joined with `+`, such as `weekday+morning`; all of them must hold.

Words for times of day, days, months and seasons are decided by the clock. `place:office` and `at_home` are decided by
the place; `06:30-08:00` is a span of the day and may go over midnight. Any other word of letters, digits, `_` and `-`
is a flag, which holds when the caller says so. What the caller says also wins over the clock: with the flag
`after_sunset`, it is after sunset.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.domain.text import checked_text

SUNRISE, SUNSET = 6 * 60, 18 * 60

_PARTS_OF_DAY = {
    "morning": (6 * 60, 12 * 60),
    "afternoon": (12 * 60, 18 * 60),
    "evening": (18 * 60, 22 * 60),
    "nighttime": (22 * 60, 6 * 60),
}
_SUN_UP = ("daytime", "after_sunrise", "before_sunset")
_SUN_DOWN = ("after_sunset", "before_sunrise")
_KINDS_OF_DAY = ("weekday", "weekend")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_SEASONS = ("winter", "spring", "summer", "autumn")
# From the most lasting to the most passing: so a context reads the same however it was written.
_GROUPS: tuple[tuple[str, ...], ...] = (
    _SEASONS, _MONTHS, _KINDS_OF_DAY, _DAYS, tuple(_PARTS_OF_DAY), (*_SUN_UP, *_SUN_DOWN),
)  # fmt: skip
_SPANS, _PLACES, _FLAGS = len(_GROUPS), len(_GROUPS) + 1, len(_GROUPS) + 2
_OTHER_WORDS = {"night": "nighttime", "day": "daytime", "fall": "autumn", "place:home": "at_home"}
_SPAN = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_WHOLE_DAY = 24 * 60
_HOME = "at_home"
_PLACE = "place:"
_JOINTS = "_-"

KNOWN: tuple[str, ...] = (*(word for group in _GROUPS for word in group), _HOME)
"""The words that mean something by themselves."""


class Circumstance(NamedTuple):
    """How things are now: the local time, the place, and what else the caller says."""

    local: datetime
    place: str = ""
    flags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, local: datetime, *, place: str = "", flags: Iterable[str] = ()) -> "Circumstance":
        """From what a caller gives, in the form in which conditions are compared."""
        if isinstance(flags, str | bytes | Mapping) or not isinstance(flags, Iterable):
            given = "one text" if isinstance(flags, str) else type(flags).__name__
            raise InvalidInput(f"flags are a list of texts, not {given}", hint="Pass flags=['guests'].")
        said = frozenset(_one_word(flag) for flag in flags)
        return cls(local, _plain(place).removeprefix(_PLACE), said)


def canonical(context: str) -> str:
    """The one way to write a context: the same conditions give the same text, in whatever order they were given."""
    context = checked_text(context, name="context", empty_ok=True)
    conditions = {_one_word(each) for each in context.split("+")} if context.strip() else set()
    if "" in conditions:
        raise InvalidInput(f"context: a condition is empty in {context[:80]!r}", hint="Write it as weekday+morning.")
    for each in conditions:
        if _SPAN.fullmatch(each) and _span(each) is None:
            raise InvalidInput(f"context: {each[:40]!r} is no span of the day", hint="Write it as 22:00-06:30.")
    return "+".join(sorted(conditions, key=lambda each: (_group(each), each)))


def checked_context(context: str) -> str:
    """A context as it is kept, of conditions that can hold one day; anything else is refused."""
    canon = canonical(context)
    for each in conditions(canon):
        name = each.removeprefix(_PLACE)
        if _group(each) >= _PLACES and not _is_plain(name):
            what = "names no place" if each.startswith(_PLACE) else "is no condition"
            raise InvalidInput(
                f"context: {each[:40]!r} {what}",
                hint=f"Use {', '.join(KNOWN)}, place:office, 06:30-08:00, or a flag of your own of letters, digits, "
                "_ and -; join several with +.",
            )
    return canon


def perhaps_meant(context: str) -> tuple[tuple[str, str], ...]:
    """Flags that are one slip away from a word that is known, each with that word."""
    flags = (each for each in conditions(context) if _group(each) == _FLAGS)
    words = (*KNOWN, *(word for word in _OTHER_WORDS if not word.startswith(_PLACE)))
    meant = ((flag, next((word for word in words if _one_slip(flag, word)), "")) for flag in flags)
    return tuple((flag, word) for flag, word in meant if word)


def conditions(context: str) -> tuple[str, ...]:
    """The conditions of a context; none for the empty one, which always applies. Reads whatever was kept."""
    return tuple(dict.fromkeys(word for each in context.split("+") if (word := _one_word(each))))


def applies(context: str, now: Circumstance) -> bool:
    """Whether all the conditions hold."""
    return all(_holds(condition, now) for condition in conditions(context))


def _holds(condition: str, now: Circumstance) -> bool:
    if condition in now.flags:
        return True
    span = _span(condition)
    if span is not None:
        return _within(span, _minute(now.local))
    group = _group(condition)
    if group == _PLACES:
        return bool(now.place) and now.place == ("home" if condition == _HOME else condition.removeprefix(_PLACE))
    if group == _FLAGS:
        return False
    if _GROUPS[group] == (*_SUN_UP, *_SUN_DOWN):
        return _sun(condition, now)
    # Said by the caller: the clock is not asked.
    return now.flags.isdisjoint(_GROUPS[group]) and condition in _by_clock(now.local)


def _sun(condition: str, now: Circumstance) -> bool:
    up = _within((SUNRISE, SUNSET), _minute(now.local))
    if not now.flags.isdisjoint(_SUN_DOWN):
        up = False
    elif not now.flags.isdisjoint(_SUN_UP):
        up = True
    if condition == "before_sunrise":
        return not up and now.local.hour < 12
    return up == (condition in _SUN_UP)


def _by_clock(local: datetime) -> frozenset[str]:
    minute = _minute(local)
    part = next(name for name, span in _PARTS_OF_DAY.items() if _within(span, minute))
    kind = _KINDS_OF_DAY[local.weekday() >= 5]
    season = _SEASONS[local.month % 12 // 3]
    return frozenset((part, kind, season, _DAYS[local.weekday()], _MONTHS[local.month - 1]))


def _minute(local: datetime) -> int:
    return local.hour * 60 + local.minute


def _within(span: tuple[int, int], minute: int) -> bool:
    start, end = span
    return start <= minute < end if start < end else minute >= start or minute < end


def _span(condition: str) -> tuple[int, int] | None:
    """The minutes of the day between which it holds; None when this is no span of a day."""
    found = _SPAN.fullmatch(condition)
    if found is None:
        return None
    hours = [int(each) for each in found.groups()]
    start, end = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
    real = max(hours[1], hours[3]) < 60 and start < _WHOLE_DAY and end <= _WHOLE_DAY and start != end
    return (start, end) if real else None


def _group(condition: str) -> int:
    for place, names in enumerate(_GROUPS):
        if condition in names:
            return place
    if _span(condition) is not None:
        return _SPANS
    return _PLACES if condition == _HOME or condition.startswith(_PLACE) else _FLAGS


def _is_plain(name: str) -> bool:
    """Whether a name has letters and digits of any script, joined by what may join them, and nothing else."""
    kinds = {unicodedata.category(char)[0] for char in name if char not in _JOINTS}
    return bool(kinds & {"L", "N"}) and kinds <= {"L", "N", "M"}


def _one_slip(one: str, other: str) -> bool:
    """Whether one becomes the other by one letter more, less or other, or by two that change places."""
    return one != other and (other in _shorter(one) or one in _shorter(other) or _one_other(one, other))


def _shorter(word: str) -> Iterator[str]:
    return (word[:place] + word[place + 1 :] for place in range(len(word)))


def _one_other(one: str, other: str) -> bool:
    if len(one) != len(other):
        return False
    places = [place for place, (here, there) in enumerate(zip(one, other, strict=True)) if here != there]
    if len(places) == 1:
        return True
    swapped = len(places) == 2 and places[1] == places[0] + 1
    return swapped and one[places[0]] == other[places[1]] and one[places[1]] == other[places[0]]


def _one_word(text: str) -> str:
    plain = _plain(text)
    return _OTHER_WORDS.get(plain, plain)


def _plain(text: str) -> str:
    if not isinstance(text, str):
        hint = "Write conditions, flags and places as text, such as weekday+morning."
        raise InvalidInput(f"context: text is expected, not {type(text).__name__}", hint=hint)
    return "_".join(text.casefold().split())
