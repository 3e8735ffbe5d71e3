"""Text to terms: what the lexical lane compares.

Words are folded (case, width, diacritics) and stand in three forms, each broader than the one before: as written,
stemmed, and by their first letters, which is what finds inflected Polish. Scripts without spaces give single
characters and pairs. Identifiers, paths and addresses are terms of their own besides their parts.
Terms are 64-bit hashes.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

import Stemmer

from memoranda.index.stop_words import CHARACTERS, WORDS

VERSION = 2
"""Raised when the same text would give other terms; an index of another version is rebuilt."""

# Thai, Hangul, kana, Han: where a script that is written without spaces begins and ends.
_UNSPACED = (
    (0x0E00, 0x0E7F), (0x1100, 0x11FF), (0x3041, 0x30FF), (0x3130, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
# A run of leading marks is looked at once, from its beginning: a long row of dots must not cost its square.
_UNIT = re.compile(r"(?:(?<![/~.])[/~.]++)?\w+(?:[-._:/@\\#+~]+\w+)*")
_PART = re.compile(r"[^\W_]+")
_FOLDS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_PREFIX = 4
_QUOTED = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]{2,200})[\"”“»」』]")
_PHRASE_WORDS = 12
_PHRASE_CHARACTERS = 400
_COMPARED, _COMPARED_CHARACTERS = 256, 2_000
# How much a match as written, by its stem, and by its first letters counts; a match of the first is one of all.
EXACT, STEM, PREFIX = 0.2, 0.5, 0.3
# In Polish the same word stands in a dozen forms, and what they share is how it begins.
_INFLECTED = (0.05, 0.05, 0.9)
_POLISH_LETTERS = frozenset("ąćęłńśźż")
_SINGLE = 0.5


class Term(NamedTuple):
    """One word or the like: its forms from the narrowest to the broadest, and how much each counts in a query."""

    text: str
    hashes: tuple[int, ...]
    weights: tuple[float, ...]


def document_terms(text: str) -> tuple[Counter[int], int]:
    """Every form of every word with its count, and the length in words."""
    found: list[int] = []
    length = 0
    for unit in _units(text):
        found += unit.hashes
        length += 1
    return Counter(found), max(length, 1)


def query_terms(text: str) -> list[Term]:
    """What the query asks for, each thing once. Stop words count only when there is nothing else."""
    asked = list(dict.fromkeys(_units(text)))
    wanted = [unit for unit in asked if unit.text not in _stop_words()] or asked
    if not _is_polish(text):
        return wanted
    return [unit._replace(weights=_INFLECTED) if len(unit.weights) == len(_INFLECTED) else unit for unit in wanted]


def _is_polish(text: str) -> bool:
    """Whether a text is in a language whose words change at their ends: letters or small words give it away."""
    words = {word.casefold() for word in _PART.findall(text)}
    if any(char in _POLISH_LETTERS for word in words for char in word):
        return True
    folded = {fold(word) for word in words}
    return len(folded & _polish_words()) > len(folded & _english_words())


def content_words(text: str) -> Iterable[tuple[str, str]]:
    """(folded, as written) of the words that say something, for comparing words that are not the same."""
    for word in _PART.findall(unicodedata.normalize("NFKC", text)):
        folded = fold(word.casefold())
        if folded not in _stop_words():
            yield folded, word


def exactness(query: str) -> Callable[[str], str]:
    """How exactly a text has the words of a query: `identifier`, `other identifier`, `phrase`, `all terms`, or nothing.

    Identifiers are what only one thing is called: an id, a path, an address, a version, a number. A phrase is what
    the query quotes, or the query itself when it is a few words.
    """
    asked = unicodedata.normalize("NFKC", query[:_PHRASE_CHARACTERS]).casefold()
    identifiers = {unit for unit in _UNIT.findall(asked) if _is_identifier(unit)}
    quoted = [_even(found) for found in _QUOTED.findall(query) if found.strip()]
    whole = _even(query)
    phrases = quoted or ([whole] if 1 < len(whole.split()) <= _PHRASE_WORDS else [])
    beginnings = {_beginning(folded) for folded, _ in content_words(query[:_PHRASE_CHARACTERS])}
    if len(beginnings) > _PHRASE_WORDS:
        identifiers = set()  # one thing among many that were asked, not the thing that was asked for

    @lru_cache(maxsize=_COMPARED)
    def how(text: str) -> str:
        even = _even(text[:_COMPARED_CHARACTERS])
        # Whether it is there at all is found out in no time; whether as a word of its own is asked only then.
        if identifiers and all(each in even for each in identifiers) and identifiers <= set(_UNIT.findall(even)):
            return "identifier"
        if identifiers and any(_is_identifier(unit) for unit in _UNIT.findall(even)):
            return "other identifier"
        if phrases and all(phrase in even for phrase in phrases):
            return "phrase"
        if 2 <= len(beginnings) <= _PHRASE_WORDS:
            there = {_beginning(fold(word)) for word in _PART.findall(even)}
            return "all terms" if beginnings <= there else ""
        return ""

    return how


def _is_identifier(unit: str) -> bool:
    """A number of some length (but no year), letters with figures, or parts held together by marks."""
    if not unit.isascii():
        return False
    if unit.isdigit():
        return len(unit) > 2 and not (len(unit) == 4 and unit[:2] in ("19", "20"))
    figures = any(char.isdigit() for char in unit)
    return figures or any(mark in unit for mark in "._/@:\\#")


def _beginning(word: str) -> str:
    """What inflection leaves of a word. A number or a code is not inflected."""
    return word[:_PREFIX] if word.isalpha() else word


def _even(text: str) -> str:
    """Without differences of case, width and spacing, and without marks at its ends."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(".,;:!?…。！？，“”„\"' ")


def name_hash(name: str) -> int:
    """A number for the given name in `Anna Kowalska` or `person:anna`; 0 when there is none."""
    words = _PART.findall(name.rpartition(":")[2].rpartition("/")[2])
    return _hash("n", fold(unicodedata.normalize("NFKC", words[0]).casefold())) if words else 0


def named_hashes(query: str) -> frozenset[int]:
    """The numbers of every name that the words of a query could be."""
    return frozenset(_hash("n", folded) for folded, _ in content_words(query))


def _units(text: str) -> Iterable[Term]:
    for found in _UNIT.findall(unicodedata.normalize("NFKC", text).casefold()):
        if found.isascii() and found.isalnum():  # nearly always
            yield _word(found)
            continue
        for unspaced, run in _runs(found):
            if unspaced:
                yield from _characters(run)
                continue
            parts = _PART.findall(run)
            # The whole is a term of its own when it says more than its parts: a name, a path, an address.
            if len(parts) > 1 or (parts and run[0] in "/~." and len(run) > 2):
                yield _term("i", fold(run))
            yield from (_word(fold(part)) for part in parts)


def _runs(found: str) -> Iterable[tuple[bool, str]]:
    """(without spaces or not, text): a unit may change its script in the middle."""
    if found.isascii():
        return ((False, found),)
    return ((unspaced, "".join(run)) for unspaced, run in groupby(found, _is_unspaced))


def _is_unspaced(char: str) -> bool:
    code = ord(char)
    return code >= 0x0E00 and any(first <= code <= last for first, last in _UNSPACED)


def fold(text: str) -> str:
    """Without diacritics."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_FOLDS))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _characters(run: str) -> Iterable[Term]:
    for char in run:
        yield _term("c", char, _SINGLE)
    for first, second in pairwise(run):
        yield _term("c", first + second)


@lru_cache(maxsize=65_536)
def _word(word: str) -> Term:
    if len(word) < 3 or not word.isalpha():
        return _term("w", word)
    if len(word) < _PREFIX:
        return Term(word, (_hash("w", word), _hash("s", _stem(word))), (EXACT, STEM))
    return Term(
        word,
        (_hash("w", word), _hash("s", _stem(word)), _hash("p", word[:_PREFIX])),
        (EXACT, STEM, PREFIX),
    )


_english = Stemmer.Stemmer("english")


def _stem(word: str) -> str:
    return str(_english.stemWord(word))


@lru_cache(maxsize=65_536)
def _hash(kind: str, term: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{kind}:{term}".encode(), digest_size=8).digest(), "little")


def _term(kind: str, text: str, weight: float = 1.0) -> Term:
    return Term(text, (_hash(kind, text),), (weight,))


@lru_cache(maxsize=1)
def _polish_words() -> frozenset[str]:
    """Small words that are Polish and not English."""
    return frozenset(fold(word) for word in WORDS["pl"].split()) - _english_words()


@lru_cache(maxsize=1)
def _english_words() -> frozenset[str]:
    return frozenset(WORDS["en"].split())


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    words = {fold(word) for words in WORDS.values() for word in words.split()}
    return frozenset(words | CHARACTERS)
