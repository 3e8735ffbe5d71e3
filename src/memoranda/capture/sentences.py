"""Sentences: where one ends and the next begins, in prose, lists and lines, with or without spaces between words.

It splits by marks and never by grammar: abbreviations, decimals, times, addresses and identifiers stay whole.
"""

import re
from typing import NamedTuple

from memoranda.capture.letters import tidied

_CLOSING = "\"')\\]”’»」』）"
_BREAK = re.compile(
    rf"(?P<line>\n+)|(?P<full>[。！？!?｡]+[{_CLOSING}]*)|(?P<stop>[.…]+[!?]*[{_CLOSING}]*)(?=\s|$)",
)
_BULLET = re.compile(r"(?:[-*•·‣–—+]|\(?\d{1,2}[.)]|[a-z]\))\s+(?=\S)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]+$")
_MONTH = re.compile(r"(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-z]*\b")
_WRAPPED_FROM = 40
_SHORT = """
    mr mrs ms dr prof st jr sr vs etc e.g i.e eg ie approx no nr inc ltd co corp dept est fig vol p pp a.m p.m cf al
    np m.in tzn tj itd itp ul pl godz min tys mln zł ok inż mgr dot pn wt śr czw pt sob nd ur im św tel str
    z.b d.h bzw usw ca evtl ggf inkl zzgl hr fr bspw u.a o.ä v.a sra srta ud uds p.ej pág núm av ee.uu
    m mm mme mlle ex env c.-à-d např tzv atd apod ing mudr č
"""
_ABBREVIATIONS = frozenset(_SHORT.split())


class Span(NamedTuple):
    """Where a sentence stands in a tidied text, without its bullet."""

    start: int
    end: int
    paragraph: int
    """Counts the empty lines before it."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, tidied."""
    tidy = tidied(text)
    return [tidy[span.start : span.end].replace("\n", " ") for span in spans(tidy)]


def spans(tidy: str) -> list[Span]:
    """The sentences of a tidied text by their places."""
    found: list[Span] = []
    start = paragraph = 0
    for mark in _BREAK.finditer(tidy):
        if mark.lastgroup == "line" and _goes_on(tidy, start, mark):
            continue
        if mark.lastgroup == "full" and not _ends_here(tidy, mark):
            continue
        if mark.lastgroup == "stop" and _is_no_end(tidy, start, mark):
            continue
        _add(found, tidy, start, mark.end(), paragraph)
        if mark.lastgroup == "line" and len(mark[0]) > 1:
            paragraph += 1
        start = mark.end()
    _add(found, tidy, start, len(tidy), paragraph)
    return found


def _add(found: list[Span], tidy: str, start: int, end: int, paragraph: int) -> None:
    while start < end and tidy[start].isspace():
        start += 1
    bullet = _BULLET.match(tidy, start, end) if start == 0 or tidy[start - 1] == "\n" else None
    if bullet:
        start = bullet.end()
    while end > start and tidy[end - 1].isspace():
        end -= 1
    if any(char.isalnum() for char in tidy[start:end]):
        found.append(Span(start, end, paragraph))


def _goes_on(tidy: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a line was only broken because it was long."""
    after = tidy[mark.end() : mark.end() + 1]
    return len(mark[0]) == 1 and mark.start() - start > _WRAPPED_FROM and after.islower() and not _bulleted(tidy, mark)


def _bulleted(tidy: str, mark: re.Match[str]) -> bool:
    return _BULLET.match(tidy, mark.end()) is not None


def _ends_here(tidy: str, mark: re.Match[str]) -> bool:
    """A narrow mark needs a blank after it: "really?!", but not the one in an address."""
    after = tidy[mark.end() : mark.end() + 1]
    return not after or after.isspace() or mark[0][0] in "。！？｡" or not after.isascii()


def _is_no_end(tidy: str, start: int, mark: re.Match[str]) -> bool:
    dots = mark[0].rstrip("\"')]”’»」』）")
    after = tidy[mark.end() : mark.end() + 2].lstrip()
    if len(dots) > 1 or dots == "…":
        return after[:1].islower() and not dots.endswith(("!", "?"))
    # Far enough back for any word, near enough to stay linear.
    word = _LAST_WORD.search(tidy, max(start, mark.start() - 30), mark.start())
    if word is None or not after:
        return False
    last = word[0].lower()
    if last in _ABBREVIATIONS:
        return True
    is_initial = len(last) == 1 and last.isalpha() and last != "i" and word[0].isupper()
    is_ordinal = last.isdigit() and len(last) <= 2 and not mark[0].endswith(tuple(_CLOSING))
    if not is_ordinal:
        return is_initial
    # "3. maja" and "3. Mai" are dates; "shelf 3. Remember" is not.
    return word.start() == start or after.islower() or bool(_MONTH.match(tidy, mark.end() + 1))
