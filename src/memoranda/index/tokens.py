"""Text to terms: what the lexical lane compares.

Words are folded (case, width, diacritics) and stand in three forms, each broader than the one before: as written,
stemmed, and by their first letters, which is what finds inflected Polish. Scripts without spaces give single
characters and pairs. Identifiers, paths and addresses are terms of their own besides their parts.
Terms are 64-bit hashes, so that an index holds no words.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import Stemmer

from memoranda.index.stop_words import CHARACTERS, WORDS

VERSION = 1
"""Raised when the same text would give other terms; an index of another version is rebuilt."""

_UNSPACED = (
    "\u0e00-\u0e7f"  # Thai
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u3041-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_UNIT = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<compound>[/~.]*[^\W{_UNSPACED}]+(?:[-._:/@\\#+~]+[^\W{_UNSPACED}]+)+)"
    rf"|(?P<word>[^\W{_UNSPACED}]+)"
)
_PART = re.compile(r"[^\W_]+")
_FOLDS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_PREFIX = 4


class QueryTerm(NamedTuple):
    """One thing asked for: its forms from the narrowest to the broadest, and how much each counts."""

    forms: tuple[tuple[int, float], ...]


def document_terms(text: str) -> tuple[Counter[int], int]:
    """Every form of every word with its count, and the length in words."""
    counts: Counter[int] = Counter()
    length = 0
    for unit in _units(text):
        for term, _ in unit:
            counts[term] += 1
        length += 1
    return counts, max(length, 1)


def query_terms(text: str) -> list[QueryTerm]:
    """What the query asks for, each thing once. Stop words count only when there is nothing else."""
    asked = list(dict.fromkeys(_units(text)))
    told = [unit for unit in asked if unit not in _stop_units()]
    return [QueryTerm(unit) for unit in (told or asked)]


def _units(text: str) -> Iterable[tuple[tuple[int, float], ...]]:
    for match in _UNIT.finditer(unicodedata.normalize("NFKC", text).casefold()):
        found = match.group()
        if match.lastgroup == "unspaced":
            yield from _characters(found)
        elif match.lastgroup == "word":
            yield from (_word(fold(part)) for part in _PART.findall(found))
        else:
            yield (_hashed("i", fold(found)),)
            yield from (_word(fold(part)) for part in _PART.findall(found))


def fold(text: str) -> str:
    """Without diacritics."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_FOLDS))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _characters(run: str) -> Iterable[tuple[tuple[int, float], ...]]:
    for char in run:
        yield (_hashed("c", char, 0.5),)
    for first, second in pairwise(run):
        yield (_hashed("c", first + second),)


@lru_cache(maxsize=65_536)
def _word(word: str) -> tuple[tuple[int, float], ...]:
    if len(word) < 3 or not word.isalpha():
        return (_hashed("w", word),)
    forms = [_hashed("w", word, EXACT), _hashed("s", _stem(word), STEM)]
    if len(word) >= _PREFIX:
        forms.append(_hashed("p", word[:_PREFIX], PREFIX))
    return tuple(forms)


EXACT, STEM, PREFIX = 0.2, 0.5, 0.3
_english = Stemmer.Stemmer("english")


def _stem(word: str) -> str:
    return str(_english.stemWord(word))


@lru_cache(maxsize=65_536)
def _hash(kind: str, term: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{kind}:{term}".encode(), digest_size=8).digest(), "little")


def _hashed(kind: str, term: str, weight: float = 1.0) -> tuple[int, float]:
    return _hash(kind, term), weight


@lru_cache(maxsize=1)
def _stop_units() -> frozenset[tuple[tuple[int, float], ...]]:
    words = {_word(fold(word)) for words in WORDS.values() for word in words.split()}
    return frozenset(words | {(_hashed("c", char, 0.5),) for char in CHARACTERS})
