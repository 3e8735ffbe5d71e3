"""What a query says about time: absolute spans, ordinals of conversations, and what else it asks.

A grammar over words of time in English, Polish, Chinese, German, Spanish and French; no clock is read and nothing is
guessed. "When did it happen?" asks for a time but says none.
"""

import re
from functools import cache
from typing import NamedTuple

from memoranda.recall.times.asking_words import ACCOUNT, ACCOUNT_HAN, ANY_ASKING, ASKING_HAN, CONNECTIVES
from memoranda.recall.times.expressions import Expression, Reading
from memoranda.recall.times.reader import fold, read
from memoranda.recall.times.spans import Span, asking

__all__ = ["Span", "When", "when"]

# A longer text is a document handed over, not a question about a time.
_LIMIT = 4_000
_MOST = 64
_WORD = re.compile(r"[^\W_]+")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?…，。？！])")


class When(NamedTuple):
    """The times that a query names.

    `spans` are absolute, several when the year is not said. `sessions` are ordinals of conversations, both ends
    inclusive: (3, 3) is the third, (1, 3) the first to the third, (-1, -1) the last. `rest` is the query without the
    expressions of time; `only` says that the rest asks for an account of that
    time and for nothing in particular.
    """

    spans: tuple[Span, ...]
    sessions: tuple[tuple[int, int], ...]
    rest: str
    only: bool


def when(query: str, *, now: int, first: int | None = None, last: int | None = None) -> When | None:
    """The times in a query, or None when it says none.

    `now` is the moment of asking; `first` and `last` are the oldest and the newest moment in the searched scope. A date
    without a year is looked for in every year between them.
    """
    if len(query) > _LIMIT:
        return None
    expressions = Reading(tokens := read(query), asking(now, first, last)).expressions()
    if not expressions:
        return None
    rest = _without(query, [(tokens[each.start].start, tokens[each.end - 1].end) for each in expressions])
    sessions = tuple(dict.fromkeys(ordinal for each in expressions for ordinal in each.sessions))
    only = not _says_something(rest) and (bool(sessions) or _wants_an_account(rest))
    return When(_combined(expressions), sessions, rest, only)


def _combined(expressions: list[Expression]) -> tuple[Span, ...]:
    """Two expressions that can both hold narrow each other ("in 2023, in May"); otherwise either is meant."""
    combined: tuple[Span, ...] = ()
    for each in expressions:
        common = [Span(max(a.start, b.start), min(a.until, b.until)) for a in combined for b in each.spans]
        narrowed = tuple(span for span in common if span.start < span.until)
        combined = (narrowed or combined + each.spans)[:_MOST]
    return tuple(sorted(set(combined)))


def _without(query: str, cuts: list[tuple[int, int]]) -> str:
    kept, place = "", 0
    for start, end in cuts:
        kept += query[place:start] + " "
        place = end
    text = " ".join((kept + query[place:]).split())
    return _BEFORE_MARK.sub(r"\1", text).strip(" ,，、")


@cache
def _asking_han() -> re.Pattern[str]:
    return re.compile("|".join(ASKING_HAN))


def _says_something(rest: str) -> bool:
    """Whether a word of content is left."""
    plain = rest if rest.isascii() else _asking_han().sub(" ", rest)
    return any(fold(word) not in ANY_ASKING for word in _WORD.findall(plain))


def _wants_an_account(rest: str) -> bool:
    """Whether it asks what was said or done; a bare time does, too."""
    words = {fold(word) for word in _WORD.findall(rest)}
    return words <= CONNECTIVES or bool(words & ACCOUNT) or any(word in rest for word in ACCOUNT_HAN)
