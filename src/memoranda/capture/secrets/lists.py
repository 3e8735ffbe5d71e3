"""Several codes in a row, and the words from which a wallet can be made again."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from memoranda.capture.secrets.secret import Secret

_WINDOW = 800
_CODE = re.compile(r"[A-Za-z0-9]{3,}(?:-[A-Za-z0-9]{3,})*")
_BETWEEN = re.compile(r"[\s,;|•*\"'`]*(?:\d{1,2}[.):]\s+)?[\s\"'`]*")
_LEAD = re.compile(
    r"\S{0,2}(?:\s+[^\s:=\d]{1,15}){0,6}?\s*(?::|=|-|–|是|は|：|\bare\b|\bis\b|\bsind\b|\bson\b|\bsont\b|\bto\b|\bsą\b)?[\s\"'`]*"
)
_FOUR_LETTERS = re.compile(r"[a-z]{4}(?:[ -][a-z]{4}){3}\b")
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 12
_LONGEST_LEAD = 60
_LONGEST_OVERLAP = 40
_PARTS = " \n\t,;.:)-0123456789|\"'"
# No list of seed words has them, and hardly a dozen words of prose go without one.
_PROSE = frozenset(
    {
        "the",
        "and",
        "for",
        "was",
        "are",
        "with",
        "not",
        "but",
        "from",
        "has",
        "had",
        "his",
        "her",
        "she",
        "who",
        "which",
        "would",
        "our",
        "their",
        "them",
        "than",
        "here",
        "been",
        "were",
    }
)


def codes_after(text: str, at: int) -> Iterator[Secret]:
    """The codes after a word for them, from the first to the last."""
    window = text[at : at + _WINDOW]
    lead = _LEAD.match(window)
    start = place = lead.end() if lead else 0
    letters = _FOUR_LETTERS.match(window, place)
    if letters:
        yield Secret("recovery code", at + letters.start(), at + letters.end())
        return
    end = start
    while code := _CODE.match(window, between.end() if (between := _BETWEEN.match(window, place)) else place):
        if not any(c.isdigit() for c in code[0]) or len(code[0]) < 4:
            break
        start = start if end > start else code.start()
        end = place = code.end()
    if end > start:
        yield Secret("recovery code", at + start, at + end)


def phrases(text: str, ends: list[int]) -> Iterator[Secret]:
    """A dozen or more short plain words in a row, soon after one of these places, with no word that prose needs."""
    first = last = None
    count = 0
    for word in _WORD.finditer(text):
        plain = 3 <= len(word[0]) <= 8 and word[0].lower() not in _PROSE and word[0][1:].islower()
        if plain and last is not None and not text[last.end() : word.start()].strip(_PARTS):
            last = word
            count += 1
            continue
        if first is not None and last is not None and count >= _FEWEST_WORDS and _is_soon(first.start(), ends):
            yield Secret("seed phrase", first.start(), last.end())
        first, last, count = (word, word, 1) if plain else (None, None, 0)
    if first is not None and last is not None and count >= _FEWEST_WORDS and _is_soon(first.start(), ends):
        yield Secret("seed phrase", first.start(), last.end())


def _is_soon(start: int, ends: list[int]) -> bool:
    """Whether one of the places is close before the row, or is the beginning of it."""
    place = bisect_right(ends, start + _LONGEST_OVERLAP) - 1
    return place >= 0 and start - ends[place] < _LONGEST_LEAD
