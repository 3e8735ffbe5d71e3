"""What the language tables say about comparing two sentences, ready to be looked up: small words, negation, frames.

A section has one group of phrases a line, with bars between them. Not a dictionary: a word that no table knows counts
as it stands, so what is missing here costs a duplicate that is kept twice, never two facts that become one.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from memoranda.capture.tables import LANGUAGES, phrases, table

Sort = Literal[
    "word",
    "number",
    "symbol",
    "break",
    "article",
    "small",
    "light",
    "negation",
    "no more",
    "correction",
    "change",
    "addition",
]
BREAK = ","

# Scripts whose every character is a word of its own here: kana, Han, Hangul.
_SINGLE = r"\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(
    rf"[{_SINGLE}]|(?<!\w)[-+][0-9]+(?:[.,:][0-9]+)*"
    rf"|[^\W{_SINGLE}]+(?:[-._:/@\\#+~'&]+[^\W{_SINGLE}]+)*'?[+#]*"
    r"|(?<!\S)[./~]+(?=\w)"
    r"|[.,;:!…。，、；！\n—–]+|[^\s\w]"
)
_BREAKS = frozenset(".,;:!…。，、；！\n—–")
# Quotes, brackets and what Markdown puts around words.
_UNSAID = frozenset("\"'`´“”„«»‹›「」『』《》〈〉【】()[]{}（）*•·-‐‑")
_MEASURED = re.compile(r"([0-9]+(?:[.,:][0-9]+)*)([^\W\d_]+)")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "‚": "'", "−": "-"})
_FOLDS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})
_FIGURES = {char: place for place, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
# From the weakest claim on a phrase to the strongest.
_SECTIONS: tuple[tuple[str, Sort], ...] = (
    ("of one sort", "word"),
    ("no filling", "word"),
    ("opposites", "word"),
    ("times", "word"),
    ("light words", "light"),
    ("plain verbs", "light"),
    ("small words", "small"),
    ("articles", "article"),
    ("same words", "word"),
    ("numbers", "number"),
    ("negation", "negation"),
    ("addition", "addition"),
    ("change", "change"),
    ("correction", "correction"),
    ("no more", "no more"),
)
_DENIED = "denied with it"
_ONE_FOR_ALL = frozenset({"same words", "negation"})
# Not articles and politeness: what is passed over must not decide that it may be.
_MARKING = (
    *("light words", "plain verbs", "negation", "links", "change", "no more", "addition", "one of"),
    *("choosing", "gathering", "rather"),
)

_NONE: Mapping[str, Any] = MappingProxyType({})


class Phrase(NamedTuple):
    """Some words in a row, what they are together, and the word that stands for them."""

    tokens: tuple[str, ...]
    sort: Sort
    stands: str


class Gap(NamedTuple):
    """Two phrases with something between them, as in `ne … plus`."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    sort: Sort


class Vocabulary(NamedTuple):
    """The tables of one language. Folded: for a text that was typed without diacritics, and what it is compared to."""

    language: str
    folded: bool
    by_first: Mapping[str, tuple[Phrase, ...]] = _NONE
    gaps: Mapping[str, tuple[Gap, ...]] = _NONE
    long_forms: Mapping[str, tuple[str, ...]] = _NONE
    opposites: Mapping[str, frozenset[str]] = _NONE
    times: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    """Words that begin a circumstance, or join two sayings."""
    unfit: frozenset[str] = frozenset()
    """Words that fill no frame: "in it" says where nobody lives."""
    light: frozenset[str] = frozenset()
    """Words that are common to too many sayings to tell them apart."""
    verbs: frozenset[str] = frozenset()
    """Light words after which comes what it is that is liked, preferred, wanted."""
    loose: frozenset[str] = frozenset()
    """Words whose coming and going changes nothing, where two sayings are close."""
    degrees: frozenset[str] = frozenset()
    """Words that say how much; without them it is liked as well."""
    denied: Mapping[str, str] = _NONE
    """What is denied together with something weaker: who does not like it does not love it."""
    choosing: frozenset[str] = frozenset()
    """Predicates that leave room for one thing."""
    being: frozenset[str] = frozenset()
    """Predicates of what somebody is, which is one thing of each sort."""
    gathering: frozenset[str] = frozenset()
    """Predicates of which many things are said, beside the plain verbs."""
    many: frozenset[str] = frozenset()
    """What a person has many of, whatever the cue: one allergy does not take the place of another."""
    rather: frozenset[str] = frozenset()
    """Words that make a choice of any predicate."""
    withdrawals: frozenset[str] = frozenset()
    """Words of correction that take something back, and do not only set it right."""
    sorts: Mapping[str, frozenset[int]] = _NONE
    """Things that may take the place of one another, by the lines they stand on."""
    contrasts: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """What makes a verb its opposite when it is written before it, as in Czech."""

    def tokens(self, text: str) -> list[str]:
        """The words, signs and breaks of a text, contractions written out."""
        found: list[str] = []
        for token in _TOKEN.findall(text.translate(_APOSTROPHES)):
            if token[0] in _BREAKS and not token[-1].isalnum():
                found.append(BREAK)
            elif token not in _UNSAID:
                found += self._long((fold(token) or token) if self.folded else token)
        return found

    def _long(self, token: str) -> Sequence[str]:
        if token in self.long_forms:
            return self.long_forms[token]
        head, mark, tail = token.partition("'")
        if mark and tail and head + mark in self.long_forms:
            return (*self.long_forms[head + mark], tail)
        measured = _MEASURED.fullmatch(token)
        return measured.groups() if measured else (token,)


@cache
def vocabulary(language: str, *, folded: bool) -> Vocabulary:
    """The vocabulary of one language."""
    bare = Vocabulary(language, folded)
    long_forms = {}
    for entry in _entries(language, "long forms"):
        short, _, long = entry.partition("=")
        long_forms["".join(bare.tokens(short))] = tuple(bare.tokens(long))
    plain = bare._replace(long_forms=long_forms)
    by_first: dict[str, dict[tuple[str, ...], Phrase]] = {}
    gaps: dict[str, list[Gap]] = {}
    for section, sort in _SECTIONS:
        for phrase in _phrases(plain, section, sort):
            if isinstance(phrase, Gap):
                gaps.setdefault(phrase.first[0], []).append(phrase)
            else:
                by_first.setdefault(phrase.tokens[0], {})[phrase.tokens] = phrase
    return plain._replace(
        by_first={first: tuple(sorted(each.values(), key=_longest)) for first, each in by_first.items()},
        gaps={first: tuple(sorted(each, key=lambda gap: -len(gap.first))) for first, each in gaps.items()},
        opposites=_opposites(plain),
        times=_words(plain, "times"),
        links=_words(plain, "links"),
        unfit=_words(plain, "no filling"),
        verbs=_words(plain, "plain verbs"),
        loose=_words(plain, "loose words"),
        degrees=_words(plain, "loose words") | _words(plain, "degrees"),
        denied=_denied(plain),
        choosing=_words(plain, "choosing"),
        being=_words(plain, "being"),
        gathering=_words(plain, "gathering"),
        many=_words(plain, "many"),
        rather=_words(plain, "rather"),
        withdrawals=_words(plain, "withdrawal"),
        sorts=_sorts(plain),
        light=frozenset(
            phrase.stands for each in by_first.values() for phrase in each.values() if phrase.sort == "light"
        ),
        contrasts=table(language).get("not but", ()),
        prefixes=tuple(entry[:-1] for entry in _entries(language, "negation") if entry.endswith("-")),
    )


def likely(votes: Sequence[int]) -> str:
    """The language with the most votes; the earlier one when two have as many."""
    return LANGUAGES[max(range(len(LANGUAGES)), key=lambda place: votes[place])]


def votes(text: str) -> tuple[int, ...]:
    """For each language, how much of a text speaks for it: characters of its script, words of its tables."""
    kana = hangul = han = 0
    for char in text:
        if char >= "\u3041":
            kana += char <= "\u30ff"
            hangul += "\uac00" <= char <= "\ud7af"
            han += "\u3400" <= char <= "\u9fff"
    script = {"ja": kana * 100, "ko": hangul * 100, "zh": han}
    words = {fold(word) for word in _TOKEN.findall(text.translate(_APOSTROPHES))}
    return tuple(script.get(each, 0) or len(words & _markers(each)) for each in LANGUAGES)


def fold(text: str) -> str:
    """Without diacritics."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.translate(_FOLDS))
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))


def han_number(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    """How many characters from here make a Chinese number, and the number in figures."""
    if start < len(tokens) and tokens[start] in _SCALES and tokens[start] != "十":
        return None  # a hundred of nothing is part of a word
    total, figure, place = 0, -1, start
    while place < len(tokens) and (tokens[place] in _FIGURES or tokens[place] in _SCALES):
        if tokens[place] in _SCALES:
            total += max(figure, 1 if figure < 0 else 0) * _SCALES[tokens[place]]
            figure = -1
        elif figure >= 0:
            break  # figures in a row are a code, one by one
        else:
            figure = _FIGURES[tokens[place]]
        place += 1
    return (place - start, str(total + max(figure, 0))) if place > start else None


@cache
def _markers(language: str) -> frozenset[str]:
    lines = (line for section in _MARKING for line in phrases(section, language))
    return frozenset(fold(word) for line in lines for word in _TOKEN.findall(line.translate(_APOSTROPHES)))


def _entries(language: str, section: str) -> Iterator[str]:
    for line in table(language).get(section, ()):
        yield from (entry.strip() for entry in line.split("|"))


def _words(plain: Vocabulary, section: str) -> frozenset[str]:
    return frozenset(" ".join(plain.tokens(entry)) for entry in _entries(plain.language, section))


def _phrases(plain: Vocabulary, section: str, sort: Sort) -> Iterator[Phrase | Gap]:
    for line in table(plain.language).get(section, ()):
        head = ""
        entries = line.split() if section == "opposites" else line.split("|")
        for entry in map(str.strip, entries):
            if entry.endswith("-"):
                continue
            if sort == "number":
                entry, _, head = entry.rpartition(" ")
            if "…" in entry:
                first, _, second = entry.partition("…")
                yield Gap(tuple(plain.tokens(first)), tuple(plain.tokens(second)), sort)
                continue
            tokens = tuple(plain.tokens(entry))
            if section in _ONE_FOR_ALL:
                head = head or " ".join(tokens)
            yield Phrase(tokens, sort, head or " ".join(tokens))


def _longest(phrase: Phrase) -> int:
    return -len(phrase.tokens)


def _denied(plain: Vocabulary) -> dict[str, str]:
    groups = (
        [" ".join(plain.tokens(each)) for each in line.split("|")] for line in table(plain.language).get(_DENIED, ())
    )
    return {stronger: weak for weak, *others in groups for stronger in others}


def _sorts(plain: Vocabulary) -> dict[str, frozenset[int]]:
    """Names of products are the same in all languages."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate((*table(plain.language).get("of one sort", ()), *table("en")["names of one sort"])):
        for entry in line.split("|"):
            found.setdefault(" ".join(plain.tokens(entry)), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def _opposites(plain: Vocabulary) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in table(plain.language).get("opposites", ()):
        sides = [" ".join(plain.tokens(each)) for each in line.split()]
        for side in sides:
            found.setdefault(side, set()).update(set(sides) - {side})
    return {word: frozenset(others) for word, others in found.items()}
