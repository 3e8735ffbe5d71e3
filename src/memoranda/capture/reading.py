"""A text as words: what each one is, as far as the tables of its language know. Not grammar, only looking up."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memoranda.capture.vocabulary import BREAK, Sort, Vocabulary, han_number

_LONGEST_GAP = 8
# Where a negation stands around its verb, the second half says nothing new.
_IN_TWO_HALVES = frozenset({"fr"})
_SIGNS = frozenset("+-0123456789")
_TENS = frozenset(f"{tens}0" for tens in range(2, 10))
_ONES = frozenset("123456789")
_OPEN: frozenset[Sort] = frozenset(
    {"small", "article", "correction", "change", "addition", "negation", "no more", "break"}
)


class Word(NamedTuple):
    """One word or phrase, and what it is."""

    text: str
    sort: Sort


def core_of(words: Iterable[Word]) -> tuple[str, ...]:
    """What some words are about."""
    return tuple(word.text for word in words if word.sort not in _OPEN)


def words_of(text: str, known: Vocabulary) -> list[Word]:
    """The words of a text, the longest phrases of the tables first."""
    return _read(known.tokens(even(text)), known)


def _read(tokens: Sequence[str], known: Vocabulary) -> list[Word]:
    """Tokens as words: phrases, numbers, and halves of phrases that belong together."""
    found: list[Word] = []
    closing: dict[int, int] = {}
    place = 0
    while place < len(tokens):
        if place in closing:
            place += closing[place]
            continue
        token = tokens[place]
        gap = _gap(tokens, place, known)
        if gap is not None:
            length, sort, second, second_length = gap
            found.append(Word(sort, sort))
            closing[second] = second_length
            place += length
            continue
        length, word = _phrase(tokens, place, known) or _number(tokens, place) or (1, Word(token, _sort(token)))
        if not (known.language in _IN_TWO_HALVES and word.sort == "negation" and word in found[-2:]):
            found.append(word)
        place += length
    return found


def even(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _sort(token: str) -> Sort:
    if token == BREAK:
        return "break"
    if token[-1].isdigit() and token[0] in _SIGNS:
        return "number"
    return "word" if token[0].isalnum() else "symbol"


def _gap(tokens: Sequence[str], place: int, known: Vocabulary) -> tuple[int, Sort, int, int] | None:
    for first, second, sort in known.gaps.get(tokens[place], ()):
        begin = place + len(first)
        if tuple(tokens[place:begin]) != first:
            continue
        for there in range(begin + 1, min(begin + _LONGEST_GAP + 1, len(tokens) - len(second) + 1)):
            if tokens[there - 1] == BREAK:
                break
            if tuple(tokens[there : there + len(second)]) == second:
                return len(first), sort, there, len(second)
    return None


def _phrase(tokens: Sequence[str], place: int, known: Vocabulary) -> tuple[int, Word] | None:
    for phrase in known.by_first.get(tokens[place], ()):
        length = len(phrase.tokens)
        if length == 1 or tuple(tokens[place : place + length]) == phrase.tokens:
            word = Word(phrase.stands, phrase.sort)
            return _with_ones(tokens, place + length, known, word) if phrase.sort == "number" else (length, word)
    return None


def _number(tokens: Sequence[str], place: int) -> tuple[int, Word] | None:
    found = han_number(tokens, place)
    return None if found is None else (found[0], Word(found[1], "number"))


def _with_ones(tokens: Sequence[str], place: int, known: Vocabulary, tens: Word) -> tuple[int, Word]:
    """Twenty and one are twenty-one, where both are spelled out."""
    if tens.text in _TENS and place < len(tokens):
        for phrase in known.by_first.get(tokens[place], ()):
            if phrase.sort == "number" and len(phrase.tokens) == 1 and phrase.stands in _ONES:
                return 2, Word(tens.text[0] + phrase.stands, "number")
    return 1, tens
