"""From text to atoms of time: words, numbers and dates as written, each with its place in the text.

A query is read in the languages of which it holds the most words, so that a word of one does not mean something in
another ("hier" is here or yesterday). Chinese is read by its characters, beside any of them.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from memoranda.recall.times.asking_words import ASKING
from memoranda.recall.times.words import AMBIGUOUS, LANGUAGES, Atom, lexicon

_HAN = r"\u3007\u3400-\u4dbf\u4e00-\u9fff"
_NOT_INSIDE = r"(?<![\w.,:/$€£¥+-])"
_END = r"(?![\w/:-]|[.,]\d|\s?%)"
_END_HAN = rf"(?![^\W{_HAN}]|[/:-]|[.,]\d|\s?%)"
_CLOCK = r"(?:[T\ ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?"
_TOKEN = re.compile(
    rf"""
    (?P<iso>{_NOT_INSIDE}(\d{{4}})([-/.])(\d{{1,2}})\3(\d{{1,2}}){_CLOCK}{_END_HAN})
    |(?P<day>{_NOT_INSIDE}(\d{{1,2}})([-/.])(\d{{1,2}})\8(\d{{4}}|\d\d){_END_HAN})
    |(?P<half>{_NOT_INSIDE}(?:\d{{4}}-\d\d|\d{{1,2}}/\d{{1,2}}){_END})
    |(?P<amount>[$€£¥]\s?\d[\d.,]*|\d+(?:[.,:]\d+)+|\d+\s?[%€$£])
    |(?P<numerals>[{_HAN}]+)
    |(?P<possessive>['’]s\b)
    |(?P<word>[^\W{_HAN}]+(?:['’-][^\W\d_{_HAN}]+)*)
    |(?P<mark>\S)
    """,
    re.VERBOSE,
)
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
_QUARTER = re.compile(r"q([1-4])")
_FOLDS = str.maketrans({"ł": "l", "Ł": "l", "ß": "ss", "’": "'"})
_WEEKDAY = re.compile(r"(上上|上|这|本|下)?个?(?:周|星期|礼拜)([一二三四五六日天])(?![起直些个次共样定般])")
_WEEKEND = re.compile(r"(上上|上|这|本|下)个?周末")
_NUMERALS = re.compile(r"[〇零一二两三四五六七八九十]{1,5}")
_DIGITS = {char: place for place, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_SHIFTS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "": None}
_LONGEST = 4
_PARTS = 7
_LONGEST_HAN = 5


class Token(NamedTuple):
    """An atom at its place. The text is folded; a small letter at its beginning is remembered."""

    kind: str
    value: object
    start: int
    end: int
    text: str
    small: bool


class _Piece(NamedTuple):
    """A word, a mark, or what is already known by its form."""

    text: str
    start: int
    end: int
    small: bool
    atoms: tuple[Atom, ...] = ()


def read(query: str) -> list[Token]:
    """The query as atoms; what is no word of time is kept as "." so that nothing is joined over it."""
    pieces = [piece for match in _TOKEN.finditer(query) for piece in _pieces(match)]
    words = _merged(_languages([piece.text for piece in pieces if not piece.atoms]))
    tokens: list[Token] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        atoms, used = (piece.atoms, 1) if piece.atoms else _longest(words, pieces, place)
        end = pieces[place + used - 1].end
        tokens += [Token(kind, value, piece.start, end, piece.text, piece.small) for kind, value in atoms]
        place += used
    return _without_lookalikes(tokens)


def fold(text: str) -> str:
    """Without case and diacritics."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_FOLDS).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _pieces(match: re.Match[str]) -> list[_Piece]:
    text, start, end = match[0], match.start(), match.end()
    form = match.lastgroup or ""
    known: tuple[Atom, ...] = ()
    if form == "iso":
        known = (("X", ((int(match[2]), int(match[4]), int(match[5])),)),)
    elif form == "day":
        known = _day_literal(text, match[8])
    elif form == "half":
        known = _half_literal(text)
    elif form == "possessive":
        known = (("z", 0),)
    elif form == "amount":
        known = ((".", 0),)
    elif form == "numerals":
        return _han(text, start)
    elif form == "mark":
        known = ((_MARKS.get(text, ","), ""),)
    else:
        return _word_pieces(text, start)
    return [_Piece(text, start, end, False, known)]


_MARKS = {"-": "T", "–": "T", "—": "T", "~": "T", "～": "T", ",": "f", "，": "f", "、": "f", "#": "f"}


def _day_literal(text: str, mark: str) -> tuple[Atom, ...]:
    one, two, year = text.split(mark)
    # 1.2.13 is a version, 01.02.13 is a day.
    if len(year) == 2 and (mark == "-" or (mark == "." and len(text) < 8)):
        return ((".", 0),)
    full = int(year) if len(year) == 4 else 2000 + int(year)
    day_first, month_first = (full, int(two), int(one)), (full, int(one), int(two))
    # With slashes either may be the month; both readings are kept where both are dates.
    readings = [month_first, day_first] if mark == "/" else [day_first]
    valid = tuple(dict.fromkeys(each for each in readings if each[1] <= 12))
    return (("X", valid),) if valid else ((".", 0),)


def _half_literal(text: str) -> tuple[Atom, ...]:
    if "-" in text:
        year, number = int(text[:4]), int(text[5:])
        return (("x", (year, number, 0)),) if 1 <= number <= 12 and 1900 <= year < 2100 else ((".", 0),)
    one, two = (int(part) for part in text.split("/"))
    return (("x", (0, one, two)),) if one <= 12 else (("x", (0, two, one)),) if two <= 12 else ((".", 0),)


def _word_pieces(text: str, start: int) -> list[_Piece]:
    folded = fold(text)
    if number := _number(folded):
        return [_Piece(folded, start, start + len(text), False, (number,))]
    small = text[0].islower()
    parts = re.split(r"(['’-])", text)
    if len(parts) == 1 or folded in _everything():
        return [_Piece(folded, start, start + len(text), small)]
    known = all(fold(part) in _everything() or _number(fold(part)) for part in parts[::2])
    if len(parts) > _PARTS or (parts[1] == "-" and not known):
        return [_Piece(folded, start, start + len(text), small)]
    found: list[_Piece] = []
    for part in parts:
        if part == "s" and found:
            found.append(_Piece(part, start - 1, start + 1, True, (("z", 0),)))
        elif part == "-":
            # Between two words it joins ("mid-June"), except two of a kind ("Monday-Friday").
            found.append(_Piece(part, start, start + 1, True, (("T" if _is_pair(parts) else "f", ""),)))
        elif part not in ("'", "’"):
            found += _word_pieces(part, start)
        start += len(part)
    return found


def _is_pair(parts: list[str]) -> bool:
    kinds = [{atoms[0][0] for atoms in _everything().get(fold(part), ())} for part in parts[::2]]
    return len(kinds) == 2 and bool(kinds[0] & kinds[1])


def _number(text: str) -> Atom | None:
    if text.isdecimal():
        number = int(text) if len(text) <= 4 else 0
        if len(text) == 4 and 1900 <= number < 2100:
            return "Y", number
        return ("N", (number, number)) if len(text) <= 4 else (".", 0)
    if match := _ORDINAL.fullmatch(text):
        return "O", int(match[1])
    if match := _QUARTER.fullmatch(text):
        return "Q", int(match[1])
    return None


def _han(text: str, start: int) -> list[_Piece]:
    """Characters by the longest phrase known."""
    found: list[_Piece] = []
    place = 0
    words = _of("zh")
    while place < len(text):
        atoms, used = _han_form(text, place)
        for length in range(min(_LONGEST_HAN, len(text) - place), 0, -1):
            if length > used and (known := words.get(text[place : place + length])):
                atoms, used = known, length
                break
        used = used or 1
        piece = text[place : place + used]
        found.append(_Piece(piece, start + place, start + place + used, False, atoms or ((".", 0),)))
        place += used
    return found


def _han_form(text: str, place: int) -> tuple[tuple[Atom, ...], int]:
    if match := _WEEKEND.match(text, place):
        return (("H", _SHIFTS[match[1]]), ("U", "weekend")), len(match[0])
    if match := _WEEKDAY.match(text, place):
        day: Atom = ("W", "一二三四五六日".find(match[2].replace("天", "日")))
        # Without a week said it is still a time of its own, as after a preposition.
        lead: tuple[Atom, ...] = (("H", _SHIFTS[match[1]]), ("U", "week")) if match[1] else (("I", 0),)
        return (*lead, day), len(match[0])
    if match := _NUMERALS.match(text, place):
        number = _han_number(match[0])
        if number is not None:
            year = len(match[0]) == 4 and 1900 <= number < 2100
            return ((("Y", number) if year else ("N", (number, number))),), len(match[0])
    return (), 0


def _han_number(numerals: str) -> int | None:
    if "十" not in numerals:
        return int("".join(str(_DIGITS[char]) for char in numerals)) if len(numerals) <= 4 else None
    tens, _, ones = numerals.partition("十")
    if len(tens) > 1 or len(ones) > 1:
        return None
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _longest(words: dict[str, tuple[Atom, ...]], pieces: list[_Piece], place: int) -> tuple[tuple[Atom, ...], int]:
    run = [pieces[place].text]
    for piece in pieces[place + 1 : place + _LONGEST]:
        if piece.atoms:
            break
        run.append(piece.text)
    for length in range(len(run), 0, -1):
        if known := words.get(" ".join(run[:length])):
            return known, length
    return ((".", 0),), 1


def _without_lookalikes(tokens: list[Token]) -> list[Token]:
    """ "may" and "march" in small letters are months only beside another word of time."""
    result = list(tokens)
    for place, token in enumerate(tokens):
        if token.small and token.text in AMBIGUOUS:
            before = place - 1
            while before >= 0 and tokens[before].kind in "tfE":
                before -= 1
            led = before >= 0 and tokens[before].kind in "IFCHLBTnONv"
            if token.kind == "W" and before != place - 1:
                led = False  # in the sun
            followed = place + 1 < len(tokens) and tokens[place + 1].kind in "OY"
            if not led and not followed:
                result[place] = token._replace(kind=".")
        elif token.text == "." and 0 < place < len(tokens) - 1 and _is_ordinal_dot(*tokens[place - 1 : place + 2]):
            result[place] = token._replace(kind="f")
    return result


def _is_ordinal_dot(before: Token, dot: Token, after: Token) -> bool:
    """As in "7. Mai"; "7. May I" is the end of a sentence."""
    return before.kind == "N" and before.end == dot.start and after.kind == "M" and after.text not in AMBIGUOUS


def _languages(texts: list[str]) -> tuple[str, ...]:
    """Those of which the most words are known; all of them when none is."""
    counts = dict.fromkeys(LANGUAGES, 0)
    for text in texts:
        for language in LANGUAGES:
            counts[language] += text in _of(language) or text in ASKING[language]
    most = max(counts.values())
    return tuple(language for language in LANGUAGES if counts[language] == most)


@lru_cache(maxsize=8)
def _of(language: str) -> dict[str, tuple[Atom, ...]]:
    return lexicon(language)


@lru_cache(maxsize=64)
def _merged(languages: tuple[str, ...]) -> dict[str, tuple[Atom, ...]]:
    """One dictionary; of two meanings the language named first decides."""
    return {phrase: atoms for language in reversed(languages) for phrase, atoms in _of(language).items()}


@lru_cache(maxsize=1)
def _everything() -> dict[str, tuple[tuple[Atom, ...], ...]]:
    found: dict[str, tuple[tuple[Atom, ...], ...]] = {}
    for language in LANGUAGES:
        for phrase, atoms in _of(language).items():
            found[phrase] = (*found.get(phrase, ()), atoms)
    return found
