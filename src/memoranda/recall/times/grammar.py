"""How words of time combine: rules over the kinds of atoms, one letter each.

    N digits, w a number in words, o "a", O ordinal, Y year, X a date in figures, x half of one
    M month, W weekday, S season, Q quarter, P part of a day, D day from today, U unit (u: one of it), k 月, j 日
    H this, previous, next; L last; R past; A ago, a "il y a"; v "vor": before or ago; d 第
    I in, on; F from, since; B between; T to; n and; C since, before, after; c the same, behind; E, e early, late
    G conversation; V every; t the; f what may stand between; z 's; "." and "," anything else

A point is one expression of time. It is weak when its word has other uses, so that it needs a preposition.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, NamedTuple

from memoranda.recall.times import spans as calendar
from memoranda.recall.times.reader import Token
from memoranda.recall.times.spans import Asking, Point, Span

_BETWEEN = "[ft]{0,2}"
_REACH = 40


class Found(NamedTuple):
    """A point, the place behind it, and whether it needs a preposition."""

    point: Point
    end: int
    weak: bool


Parts = dict[str, list[Any]]
"""The values of the atoms that matched, by kind."""
Build = Callable[[Parts, Asking], Point | None]


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    build: Build
    weak: bool


def _rule(kinds: str, build: Build, *, weak: bool = False) -> _Rule:
    """Fillers may stand between the parts of a rule, but not around it."""
    first, *others = kinds.split()
    pattern = first
    for part in others:
        pattern += f"(?:{_BETWEEN}{part[:-1]})?" if part.endswith("?") else _BETWEEN + part
    return _Rule(re.compile(pattern), build, weak)


def point_at(kinds: str, tokens: list[Token], place: int, at: Asking) -> Found | None:
    """The longest expression that begins here."""
    best: Found | None = None
    for rule in _RULES.get(kinds[place], ()):
        match = rule.pattern.match(kinds, place, place + _REACH)
        if match is None or (best is not None and match.end() <= best.end):
            continue
        parts: Parts = {}
        for token in tokens[place : match.end()]:
            parts.setdefault(token.kind, []).append(token.value)
        try:
            point = rule.build(parts, at)
        except (ValueError, OverflowError):
            continue  # no such day
        if point is not None:
            best = Found(point, match.end(), rule.weak)
    return best


def _fixed(span: Span) -> Point:
    return Point((span,))


def _yearly(build: Callable[[int], Span], year: int | None) -> Point:
    return Point(yearly=build) if year is None else _fixed(build(year))


def _year_of(parts: Parts, at: Asking) -> int | None:
    if "Y" in parts:
        return int(parts["Y"][0])
    if "H" in parts or "L" in parts:
        return at.today.year + _shift(parts)
    return None


def _shift(parts: Parts) -> int:
    return int((parts.get("H") or parts["L"])[0])


def _unit(parts: Parts) -> str:
    return str((parts.get("U") or parts["u"])[0])


def _count(parts: Parts) -> tuple[int, int]:
    for kind in "Nwo":
        if kind in parts:
            low, high = parts[kind][0]
            return int(low), int(high)
    return (parts["Y"][0], parts["Y"][0]) if "Y" in parts else (1, 1)


def _day_numbers(parts: Parts) -> list[int]:
    return [number[0] for number in parts.get("N", ())] + list(parts.get("O", ()))


# -- builders --


def _literal(parts: Parts, at: Asking) -> Point | None:
    spans = []
    for year, number, day in parts["X"][0]:
        try:
            spans.append(calendar.days(date(year, number, day)))
        except ValueError:
            continue
    return Point(tuple(spans)) if spans else None


def _half_literal(parts: Parts, at: Asking) -> Point | None:
    year, number, day = parts["x"][0]
    if year:
        return _fixed(calendar.month(year, number))
    date(2000, number, day)
    return Point(yearly=lambda each: calendar.days(date(each, number, day)))


def _dated(parts: Parts, at: Asking) -> Point | None:
    number, day = parts["M"][0], _day_numbers(parts)[0]
    date(2000, number, day)
    return _yearly(lambda year: calendar.days(date(year, number, day)), _year_of(parts, at))


def _dated_run(parts: Parts, at: Asking) -> Point | None:
    number, (one, two) = parts["M"][0], sorted(_day_numbers(parts))
    date(2000, number, two)
    return _yearly(lambda year: calendar.days(date(year, number, one), two - one + 1), _year_of(parts, at))


def _month(parts: Parts, at: Asking) -> Point | None:
    number = parts["M"][0]
    return _yearly(lambda year: calendar.month(year, number), _year_of(parts, at))


def _figures(parts: Parts, at: Asking) -> Point | None:
    """5月, 5月7日, with or without a year."""
    if "U" in parts and _unit(parts) != "year":
        return None
    numbers = _day_numbers(parts)
    date(2000, *(numbers if len(numbers) == 2 else (numbers[0], 1)))
    if len(numbers) == 2:
        return _yearly(lambda year: calendar.days(date(year, *numbers)), _year_of(parts, at))
    return _yearly(lambda year: calendar.month(year, numbers[0]), _year_of(parts, at))


def _month_shifted(parts: Parts, at: Asking) -> Point | None:
    number, shift = parts["M"][0], _shift(parts)
    this = (at.today.year, at.today.month)
    year = at.today.year + (shift if shift < -1 else 0)
    if shift == -1 and (year, number) >= this:
        year -= 1
    if shift > 0 and (year, number) <= this:
        year += 1
    return _fixed(calendar.month(year, number))


def _of_year_shifted(parts: Parts, at: Asking) -> Point | None:
    if _unit(parts) != "year":
        return None
    return _season(parts, at) if "S" in parts else _dated(parts, at) if _day_numbers(parts) else _month(parts, at)


def _season(parts: Parts, at: Asking) -> Point | None:
    number = parts["S"][0]
    return _yearly(lambda year: calendar.season(year, number), _year_of(parts, at))


def _season_shifted(parts: Parts, at: Asking) -> Point | None:
    number, shift = parts["S"][0], _shift(parts)
    spans = [calendar.season(at.today.year + each, number) for each in (-2, -1, 0, 1)]
    if shift < 0:
        return _fixed([span for span in spans if span.until <= at.now][-1])
    if shift > 0:
        return _fixed(next(span for span in spans if span.start > at.now))
    return _fixed(next(span for span in spans if span.until > at.now))


def _year(parts: Parts, at: Asking) -> Point | None:
    if ("U" in parts or "u" in parts) and _unit(parts) != "year":
        return None
    one, two = parts["Y"][0], parts["Y"][-1]
    return _fixed(calendar.month(one, 1, 12 * (two - one + 1))) if one <= two else None


def _quarter(parts: Parts, at: Asking) -> Point | None:
    if "U" in parts and parts["U"][-1] != "quarter":
        return None
    number = (parts.get("Q") or _day_numbers(parts))[0]
    if not 1 <= number <= 4:
        return None
    return _yearly(lambda year: calendar.month(year, number * 3 - 2, 3), _year_of(parts, at))


def _day(parts: Parts, at: Asking) -> Point | None:
    day = at.today + timedelta(days=parts["D"][0])
    return _fixed(calendar.hours(day, parts["P"][0]) if "P" in parts else calendar.days(day))


def _part_shifted(parts: Parts, at: Asking) -> Point | None:
    return _fixed(calendar.hours(at.today + timedelta(days=_shift(parts)), parts["P"][0]))


def _weekday(parts: Parts, at: Asking) -> Point | None:
    shift = -1 if "R" in parts or not ("H" in parts or "L" in parts) else _shift(parts)
    if "H" in parts and "L" in parts:
        shift = -1
    span = calendar.weekday(parts["W"][0], at.today, shift)
    return _fixed(calendar.hours(calendar.day_at(span.start), parts["P"][0]) if "P" in parts else span)


def _weekday_of_week(parts: Parts, at: Asking) -> Point | None:
    if _unit(parts) != "week":
        return None
    week = calendar.unit_around("week", at.today, _shift(parts))
    return _fixed(calendar.days(calendar.day_at(week.start) + timedelta(days=parts["W"][0])))


def _unit_shifted(parts: Parts, at: Asking) -> Point | None:
    """ "the next day" and "this minute" are no times to look for."""
    unit = _unit(parts) if "k" not in parts else "month"
    if unit in ("day", "minute") or (unit == "hour" and _shift(parts) >= 0):
        return None
    if unit == "hour":
        return _fixed(calendar.rolling(unit, 1, at.now))
    if unit == "weekend" and _shift(parts) == -1:
        # On a Sunday the last weekend is the one before.
        span = calendar.unit_around("weekend", at.today, 0)
        return _fixed(span if span.until <= at.now else calendar.unit_around("weekend", at.today, -1))
    return _fixed(calendar.unit_around(unit, at.today, _shift(parts)))


def _weekend(parts: Parts, at: Asking) -> Point | None:
    """ "on the weekend" is the last one; the other units need a word that says which."""
    return _unit_shifted({"U": ["weekend"], "H": [-1]}, at) if _unit(parts) == "weekend" else None


def _rolling(parts: Parts, at: Asking) -> Point | None:
    unit = _unit(parts)
    if unit == "weekend" and not set("Nwo") & parts.keys():
        return _weekend(parts, at)
    if unit == "day" and not set("NwoR") & parts.keys():
        return None
    return _fixed(calendar.rolling(unit, _count(parts)[1], at.now))


def _ago(parts: Parts, at: Asking) -> Point | None:
    return _fixed(calendar.ago(_unit(parts), _count(parts), at.now))


def _unit_of_month(parts: Parts, at: Asking) -> Point | None:
    """The first week of May, the last weekend of June 2023."""
    unit = _unit(parts)
    which = -1 if "L" in parts else parts["O"][0]
    if unit not in ("week", "weekend", "day") or not (which == -1 or 1 <= which <= 5):
        return None
    months = 12 if "M" not in parts else 1
    number = parts["M"][0] if "M" in parts else 1
    year = parts["Y"][0] if "Y" in parts else None
    return _yearly(lambda each: _nth(unit, which, calendar.month(each, number, months)), year)


def _nth(unit: str, which: int, whole: Span) -> Span:
    size = {"week": 7, "weekend": 2, "day": 1}[unit]
    first, last = calendar.day_at(whole.start), calendar.day_at(whole.until - 1)
    if unit == "weekend":
        saturday = first + timedelta(days=(5 - first.weekday()) % 7)
        final = last - timedelta(days=(last.weekday() - 5) % 7)
        return calendar.days(final if which == -1 else saturday + timedelta(weeks=which - 1), 2)
    begin = last - timedelta(days=size - 1) if which == -1 else first + timedelta(days=size * (which - 1))
    return calendar.days(begin, size)


_ANY = "[NwoY]"
_ALL = (
    _rule("X", _literal),
    _rule("x", _half_literal, weak=True),
    *(_rule(f"{day}[NO] M Y?", _dated) for day in ("", "W ")),
    *(_rule(f"{day}M [NO] Y?", _dated) for day in ("", "W ")),
    *(_rule(f"{day}M [NO] [Tn] [NO] Y?", _dated_run) for day in ("", "W ")),
    _rule("[NO] [Tn] [NO] M Y?", _dated_run),
    _rule("M Y", _month),
    _rule("M", _month, weak=True),
    _rule("[HL] M", _month_shifted),
    _rule("M [HL]", _month_shifted),
    *(_rule(kinds, _of_year_shifted) for kinds in ("M [HL] [Uu]", "[HL] [Uu] M", "S [HL] [Uu]", "[HL] [Uu] S")),
    *(_rule(kinds, _of_year_shifted) for kinds in ("[NO] M [HL] [Uu]", "M [NO] [HL] [Uu]")),
    *(_rule(kinds, _figures) for kinds in ("Y U? N k", "Y U? N k N j", "N k", "N k N j", "H U N k", "H U N k N j")),
    _rule("Y [Uu]", _year),
    _rule("[Uu] Y", _year, weak=True),
    _rule("Y", _year, weak=True),
    _rule("Y T Y", _year, weak=True),
    _rule("S Y", _season),
    _rule("Y U? S", _season),
    _rule("S Y T Y", _season),
    _rule("S", _season, weak=True),
    _rule("[HL] S", _season_shifted),
    _rule("S [HL]", _season_shifted),
    *(_rule(kinds, _quarter) for kinds in ("Q Y", "Y Q", "O U Y", "Y U? d N U")),
    *(_rule(kinds, _quarter, weak=True) for kinds in ("Q", "O U", "d N U")),
    _rule("D", _day),
    _rule("D P", _day),
    _rule("H P", _part_shifted),
    _rule("L P", _part_shifted),
    _rule("W", _weekday, weak=True),
    _rule("W P", _weekday),
    *(_rule(kinds, _weekday) for kinds in ("[HL] W P?", "W [HL] P?", "H [LR] W", "R W")),
    *(_rule(kinds, _weekday_of_week) for kinds in ("W [HL] [Uu]", "[HL] [Uu] W", "W I? [HL] [Uu]")),
    *(_rule(kinds, _unit_shifted) for kinds in ("[HL] [Uuk]", "[Uu] [HL]")),
    *(_rule(kinds, _weekend) for kinds in ("I U", "I t U")),
    *(_rule(kinds, _rolling) for kinds in ("t L [Uu]", "H [LR] [Uu]", "R [Uu]")),
    *(_rule(kinds, _rolling) for kinds in (f"[LR] {_ANY} [Uu]", f"{_ANY} [LR] [Uu]", f"H [LR] {_ANY} [Uu]")),
    *(_rule(kinds, _ago) for kinds in (f"{_ANY} [Uu] A", "u A", f"[av] {_ANY} [Uu]", "[av] u", "N U c")),
    *(_rule(kinds, _unit_of_month) for kinds in ("[OL] U M Y?", "[OL] U Y", "t [OL] U M Y?", "t [OL] U Y")),
)


def _by_first(rules: tuple[_Rule, ...]) -> dict[str, tuple[_Rule, ...]]:
    """Only the rules that can begin with a kind are tried at an atom of it."""
    kinds = "NwoOYXxMWSQPDUukjHLRAavdIFBTnCcEeGVtfz"
    begins: dict[str, tuple[_Rule, ...]] = {}
    for kind in kinds:
        fitting = tuple(rule for rule in rules if re.match(_head(rule.pattern.pattern), kind))
        if fitting:
            begins[kind] = fitting
    return begins


def _head(pattern: str) -> str:
    return pattern[: pattern.index("]") + 1] if pattern[0] == "[" else pattern[0]


_RULES = _by_first(_ALL)
