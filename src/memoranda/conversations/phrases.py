"""Phrases by which a sentence is known for what it is: a decision, a wish, something to do, or small talk.

The tables are data, one file for each language in `signs/`: headings in brackets, phrases divided by `|`, and `*` for
any ending of a word. They say what is likely, in words that people use; a sentence without a phrase says nothing less.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

LATIN = ("en", "pl", "de", "es", "fr", "cs")
_UNSPACED = ("zh", "ja", "ko")
_FOLDER = Path(__file__).parent / "signs"
_HANGUL = re.compile("[\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile("[a-z]+|[0-9]+")
_NO_LETTER = re.compile(r"[\W\d_]+")
_PLAIN = str.maketrans("łøđı", "lodi")
# An assistant says what it did at the beginning of a sentence.
_EARLY = 3
_SHORT_TALK = 14
_KEY = 3
_BY_WORD = ("common", "chat")


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    open_end: bool
    heading: str


class _Table(NamedTuple):
    single: dict[str, frozenset[str]]
    """The headings of a word."""
    begun: dict[str, tuple[_Phrase, ...]]
    """Words with any ending, by their first letters."""
    longer: dict[str, tuple[_Phrase, ...]]
    """Phrases of several words, by the first."""
    words: dict[str, frozenset[str]]
    """Words that are looked at one by one, by heading."""
    strings: dict[str, tuple[str, ...]]
    """As they are written, longest first, by heading: for scripts whose words have no edges."""


class Signs(NamedTuple):
    """What the tables say about one sentence."""

    marks: frozenset[str]
    """Headings that have a phrase in it."""
    talk: bool
    """Whether it is small talk and nothing else."""


def words_of(text: str) -> list[str]:
    """The Latin words and the numbers of a text, in small letters without marks."""
    folded = text.casefold()
    if not folded.isascii():
        spread = unicodedata.normalize("NFD", folded.translate(_PLAIN))
        folded = "".join(char for char in spread if not unicodedata.combining(char))
    return _WORD.findall(folded)


def languages_of(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The languages that a text may be in, by its script and its commonest words; none when there is no sign."""
    found: list[str] = []
    if not text.isascii():
        if _HANGUL.search(text):
            found.append("ko")
        if _KANA.search(text):
            found.append("ja")
        elif _HAN.search(text):
            found.append("zh")
    counts = Counter(language for word in words for language in _common(word))
    most = max(counts.values(), default=0)
    return (*found, *(each for each in LATIN if most and counts[each] == most))


def signs_of(sentence: str, words: Sequence[str], languages: Collection[str]) -> Signs:
    """What these languages' tables say about a sentence and its words."""
    marks: set[str] = set()
    talk = False
    for language in languages:
        table = _table(language)
        if language in LATIN:
            marks |= _marks(words, table)
            talk = talk or _is_talk(words, table.words["chat"], marks)
        else:
            marks |= {head for head, strings in table.strings.items() if any(each in sentence for each in strings)}
            marks.discard("chat")
            talk = talk or _is_unspaced_talk(sentence, table.strings["chat"])
    return Signs(frozenset(marks), talk)


def is_common(word: str) -> bool:
    """Whether a word says nothing by itself, in any language."""
    return len(word) < 3 or bool(_common(word)) or word in _small_talk()


def _marks(words: Sequence[str], table: _Table) -> set[str]:
    found: set[str] = set()
    for place, word in enumerate(words):
        headings = {*table.single.get(word, ())}
        headings.update(each.heading for each in table.begun.get(word[:_KEY], ()) if word.startswith(each.words[0]))
        headings.update(each.heading for each in table.longer.get(word, ()) if _stands_at(words, place, each))
        if place >= _EARLY:
            headings.discard("done")
        found |= headings
    return found


def _stands_at(words: Sequence[str], place: int, phrase: _Phrase) -> bool:
    *first, last = phrase.words
    end = place + len(first)
    if end >= len(words) or list(words[place:end]) != first:
        return False
    return words[end].startswith(last) if phrase.open_end else words[end] == last


def _is_talk(words: Sequence[str], talk: frozenset[str], marks: set[str]) -> bool:
    """Few words, nearly all of them small talk."""
    if not words or len(words) > _SHORT_TALK:
        return False
    other = sum(word not in talk for word in words)
    return not other or (other <= len(words) // 4 and not marks & _WEIGHTY)


_WEIGHTY = frozenset({"decision", "preference", "open", "times"})


def _is_unspaced_talk(sentence: str, strings: Iterable[str]) -> bool:
    rest = sentence
    for each in strings:
        rest = rest.replace(each, " ")
    left = len(_NO_LETTER.sub("", rest))
    return left <= 1 or left * 6 <= len(sentence)


@cache
def _common(word: str) -> frozenset[str]:
    return frozenset(language for language in LATIN if word in _table(language).words["common"])


@cache
def _small_talk() -> frozenset[str]:
    return frozenset().union(*(_table(language).words["chat"] for language in LATIN))


@cache
def _table(language: str) -> _Table:
    sections = _sections((_FOLDER / f"{language}.txt").read_text(encoding="utf-8"))
    if language in _UNSPACED:
        strings = {head: tuple(sorted(each, key=len, reverse=True)) for head, each in sections.items()}
        return _Table({}, {}, {}, {}, strings)
    phrases = [
        _Phrase(tuple(words_of(text)), text.endswith("*"), heading)
        for heading, texts in sections.items()
        if heading not in _BY_WORD
        for text in texts
    ]
    single: dict[str, set[str]] = {}
    begun: dict[str, list[_Phrase]] = {}
    longer: dict[str, list[_Phrase]] = {}
    for phrase in phrases:
        first = phrase.words[0]
        if len(phrase.words) > 1:
            longer.setdefault(first, []).append(phrase)
        elif phrase.open_end:
            begun.setdefault(first[:_KEY], []).append(phrase)
        else:
            single.setdefault(first, set()).add(phrase.heading)
    return _Table(
        {word: frozenset(headings) for word, headings in single.items()},
        {key: tuple(each) for key, each in begun.items()},
        {word: tuple(each) for word, each in longer.items()},
        {heading: frozenset(words_of(" ".join(sections[heading]))) for heading in _BY_WORD},
        {},
    )


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    heading = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("["):
            heading = line.strip("[]")
        elif line:
            sections.setdefault(heading, []).extend(each.strip() for each in line.split("|"))
    return sections
