"""Whole expressions: prepositions, ranges, since and before, what lies so long before a date, and conversations."""

import re
from typing import NamedTuple

from memoranda.domain.clock import MAX_MS
from memoranda.recall.times import spans as calendar
from memoranda.recall.times.asking_words import ANY_ASKING
from memoranda.recall.times.grammar import Found, point_at
from memoranda.recall.times.reader import Token
from memoranda.recall.times.spans import Asking, Point, Span

Sessions = tuple[tuple[int, int], ...]
_LEAD = 4
_ANCHORED = re.compile("t?L?([NwoY]?)([UuW])([Cv])")
_SESSIONS = {
    rule: re.compile(kinds)
    for rule, kinds in {
        "run": "G[ft]{0,2}[NwO][Tn]f{0,2}[NwO]|O[Tn]t?Of{0,2}G",
        "one": "[Od]N?f{0,2}G|G[ft]{0,2}[NwO]",
        "back": "[NwY]f{0,2}GA",
        "last ones": "[LR][Nw]f{0,2}G",
        "first ones": "[OA][Nw]f{0,2}G",
        "before last": "GCt?L",
        "last": "[LH]f{0,2}G",
    }.items()
}
# "Our last conversation about boats" is the last of those, wherever it stands among all.
_NARROWED = frozenset(
    ("about", "regarding", "concerning", "with", "where", "o", "na", "z", "uber", "mit", "sobre", "con", "sur", "avec")
)


class Expression(NamedTuple):
    """What atoms `start` up to `end` say."""

    spans: tuple[Span, ...]
    sessions: Sessions
    start: int
    end: int
    yearly: Point | None = None


class Reading:
    """The atoms of one query, looked at from left to right."""

    def __init__(self, tokens: list[Token], at: Asking) -> None:
        self._tokens = tokens
        self._kinds = "".join(token.kind for token in tokens)
        self._at = at

    def expressions(self) -> list[Expression]:
        """Every expression of time, none inside another."""
        found: list[Expression] = []
        place = 0
        while place < len(self._tokens):
            expression = None if self._kinds[place] in ".," else self._expression(place)
            if expression:
                found.append(expression)
            place = expression.end if expression else place + 1
        return self._with_years(found)

    def _with_years(self, found: list[Expression]) -> list[Expression]:
        """A year said once counts for every date without one: "in 2022, what did we do in May?"."""
        years = [span for each in found for span in each.spans if not each.yearly and calendar.is_year(span)]
        if len(years) != 1:
            return found
        within = self._at._replace(first=years[0].start, last=years[0].until - 1)
        return [each._replace(spans=calendar.resolved(each.yearly, within)) if each.yearly else each for each in found]

    def _expression(self, begin: int) -> Expression | None:
        led = False
        for place in range(begin, min(begin + _LEAD, len(self._tokens))):
            if sessions := self._sessions(place):
                return Expression((), sessions[0], begin, sessions[1])
            timed = self._timed(place, led=led)
            if timed is not None:
                inside = tuple(kept for span in timed.spans if (kept := calendar.bounded(span)))
                end = self._past_endings(timed.end)
                return timed._replace(spans=inside, start=begin, end=end) if inside else None
            if self._kinds[place] not in "Ift":
                return None
            led = led or self._kinds[place] == "I"
        return None

    # -- times --

    def _timed(self, place: int, *, led: bool) -> Expression | None:
        kind, value = self._kinds[place], self._tokens[place].value
        if kind in "BF":
            first = self._point(self._past_fillers(place + 1))
            if first is None:
                return None
            if joined := self._range(first, "Tn" if kind == "B" else "T"):
                return self._resolved(joined, place)
            closed = "T" in self._kinds[place : first.end]
            return self._opened(first, "since", place) if value and not closed else self._resolved(first, place)
        if kind in "Cv" or (kind == "T" and value == "until"):
            inner = self._point(self._past_fillers(place + 1))
            if inner is not None and not (kind == "v" and self._starts_ago(place)):
                return self._opened(inner, str(value), place)
        found = self._point(place)
        if found is None or self._is_habit(place):
            return None
        if (joined := self._range(found, "T")) and (led or not found.weak or not self._weak_behind(found)):
            return self._resolved(joined, place)
        if found.weak and not (led or self._stands_alone(place, found)):
            return None
        if found.weak and self._kinds[place] == "S" and self._names_a_thing(found.end):
            return None
        if self._kind(found.end) == "c":
            return self._opened(found._replace(end=found.end + 1), str(self._tokens[found.end].value), place)
        return self._resolved(found, place)

    def _point(self, place: int) -> Found | None:
        """A point, or one made of another: early in it, a part of its day, so long before it."""
        if place >= len(self._tokens):
            return None
        plain = point_at(self._kinds, self._tokens, place, self._at)
        built = self._anchored(place) or self._within(place)
        best = built if built and (plain is None or built.end > plain.end) else plain
        if best and self._kind(best.end) == "e":
            return self._mapped(best, best.end + 1, lambda span: calendar.third(span, self._number(best.end)))
        return best

    def _within(self, place: int) -> Found | None:
        """Early May; the week of 7 May; the evening of 7 May."""
        token = self._tokens[place]
        if token.kind not in "EUP" or (token.kind == "U" and token.value != "week"):
            return None
        behind = self._past_fillers(place + 1, "ftI")
        inner = point_at(self._kinds, self._tokens, behind, self._at) if behind < len(self._tokens) else None
        if inner is None or (token.kind == "P" and inner.weak):
            return None
        if token.kind == "E":
            return self._mapped(inner, inner.end, lambda span: calendar.third(span, self._number(place)))
        if token.kind == "U":
            return self._mapped(
                inner, inner.end, lambda span: calendar.unit_around("week", calendar.day_at(span.start), 0)
            )
        hours = token.value
        assert isinstance(hours, tuple)
        return self._mapped(inner, inner.end, lambda span: calendar.hours(calendar.day_at(span.start), hours))

    def _anchored(self, place: int) -> Found | None:
        """Two weeks before 11 August; the week after 3 May; the Friday before 10.01.2024."""
        match = _ANCHORED.match(self._kinds, place, place + 6)
        if match is None:
            return None
        sign = {"before": -1, "after": 1}.get(str(self._tokens[match.end() - 1].value))
        inner = self._anchor(self._past_fillers(match.end())) if sign else None
        if sign is None or inner is None:
            return None
        what = self._tokens[match.end() - 2].value
        if match[2] == "W":
            assert isinstance(what, int)
            return self._mapped(
                inner, inner.end, lambda span: calendar.weekday(what, calendar.day_at(span.start), sign)
            )
        unit = str(what)
        if not match[1]:
            return self._mapped(inner, inner.end, lambda span: calendar.beside(unit, span, sign))
        value = self._tokens[match.start(1)].value
        many = value if isinstance(value, tuple) else (value, value)
        return self._mapped(inner, inner.end, lambda span: calendar.ago(unit, many, span.start, sign))

    def _anchor(self, place: int) -> Found | None:
        """What something lies before or after; not itself such a thing, so that no query is read in circles."""
        if place >= len(self._tokens):
            return None
        return self._within(place) or point_at(self._kinds, self._tokens, place, self._at)

    def _mapped(self, found: Found, end: int, change: calendar.Change) -> Found | None:
        """The same done to each span, whether the year is said or not."""
        yearly = found.point.yearly
        try:
            if yearly is None:
                return Found(Point(tuple(change(span) for span in found.point.spans)), end, False)
            return Found(Point(yearly=lambda year: change(yearly(year))), end, False)
        except (ValueError, OverflowError):
            return None

    def _range(self, first: Found, joints: str) -> Found | None:
        if self._kind(first.end) not in joints or not self._kind(first.end):
            return None
        second = self._point(self._past_fillers(first.end + 1, "ftI"))
        if second is None:
            return None
        point = calendar.from_to(first.point, second.point)
        return Found(point, second.end, False) if point else None

    def _resolved(self, found: Found, place: int) -> Expression | None:
        spans = calendar.resolved(found.point, self._at)
        yearly = found.point if found.point.yearly else None
        return Expression(spans, (), place, found.end, yearly) if spans else None

    def _opened(self, found: Found, side: str, place: int) -> Expression | None:
        spans = calendar.resolved(found.point, self._at)
        if not spans:
            return None
        start, until = spans[-1]
        opened = {
            "since": Span(start, MAX_MS + 1),
            "after": Span(until, MAX_MS + 1),
            "before": Span(0, start),
            "until": Span(0, until),
        }[side]
        return Expression((opened,), (), place, found.end)

    # -- conversations --

    def _sessions(self, place: int) -> tuple[Sessions, int] | None:
        for rule, pattern in _SESSIONS.items():
            match = pattern.match(self._kinds, place, place + 12)
            if match is None:
                continue
            tokens = self._tokens[place : match.end()]
            numbers = [_ordinal(token) for token in tokens if token.kind in "NwYO"]
            sessions = _counted(rule, numbers, tokens)
            if sessions and not (rule in ("last", "one") and self._is_narrowed(match.end())):
                return sessions, match.end()
        return None

    def _is_narrowed(self, end: int) -> bool:
        return end < len(self._tokens) and (self._tokens[end].text in _NARROWED or self._names_a_thing(end))

    # -- where an expression stands --

    def _kind(self, place: int) -> str:
        return self._kinds[place] if place < len(self._kinds) else ""

    def _number(self, place: int) -> int:
        value = self._tokens[place].value
        assert isinstance(value, int)
        return value

    def _past_fillers(self, place: int, fillers: str = "ft") -> int:
        limit = place + 3
        while place < min(limit, len(self._kinds)) and self._kinds[place] in fillers:
            place += 1
        return place

    def _past_endings(self, end: int) -> int:
        """What belongs to the expression without changing it: "last year's", "7 maja 2023 roku"."""
        if self._kind(end) in ("U", "u") and self._tokens[end].value == "year" and self._kinds[end - 1] == "Y":
            end += 1
        return end + (self._kind(end) == "z")

    def _starts_ago(self, place: int) -> bool:
        """ "vor drei Tagen" and "przed rokiem" are so long ago, not before something."""
        return point_at(self._kinds, self._tokens, place, self._at) is not None

    def _is_habit(self, place: int) -> bool:
        before = self._kinds[max(place - 2, 0) : place]
        return self._kinds[place] in "WMSPUu" and (before.endswith("V") or before == "VI")

    def _weak_behind(self, found: Found) -> bool:
        second = self._point(self._past_fillers(found.end + 1, "ftI"))
        return second is None or second.weak

    def _stands_alone(self, place: int, found: Found) -> bool:
        """ "What did I eat Monday?", but not "Black Friday" nor "a Sunday roast"."""
        token = self._tokens[place]
        if token.kind != "W" or len(token.text) < 5 or place == 0:
            return False
        before = self._tokens[place - 1]
        behind = self._kind(found.end)
        return before.kind == "." and before.small and behind in ("", ",", "f", "I", "T")

    def _names_a_thing(self, place: int) -> bool:
        """ "during spring break", "in winter boots"."""
        if place >= len(self._tokens):
            return False
        behind = self._tokens[place]
        return behind.kind == "." and behind.small and behind.text not in ANY_ASKING


def _ordinal(token: Token) -> int:
    value = token.value[0] if isinstance(token.value, tuple) else token.value
    assert isinstance(value, int)
    return value


def _counted(rule: str, numbers: list[int], tokens: list[Token]) -> Sessions | None:
    if any(number < 1 for number in numbers):
        return None
    if rule == "run":
        one, two = sorted(numbers)
        joined = any(token.kind == "T" for token in tokens) or two == one + 1
        return ((one, two),) if joined else ((one, one), (two, two))
    if rule == "one":
        return ((numbers[0], numbers[0]),) if len(numbers) == 1 else None
    if rule == "back":
        return ((-numbers[0], -numbers[0]),)
    if rule == "last ones":
        return ((-numbers[0], -1),)
    if rule == "first ones":
        is_first = tokens[0].kind == "A" or numbers[0] == 1
        return ((1, numbers[-1]),) if is_first else None
    if rule == "before last":
        return ((-2, -2),)
    return ((-1, -1),) if tokens[0].value == -1 else None
