"""Salience: what each sentence of a conversation weighs in a summary.

What was decided, wished and corrected comes first, then facts with numbers or ids, then the rest by how much it is
about what the conversation is about. Small talk weighs nothing. Order and weight only: what fits is chosen elsewhere.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from memoranda.conversations.particulars import ids, particulars
from memoranda.conversations.phrases import LATIN, is_common, languages_of, signs_of, words_of
from memoranda.conversations.sentences import sentences, shortened
from memoranda.domain.tokens import estimated_tokens

_STEM = 5
_LONG = 40
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUESTION = re.compile(r"[?？][\"'”’»)\]」』）]*$|(?:[吗嗎呢]|ですか|ますか|[까나]요)[。.]?$")
_NAME = re.compile(r"[^.!?\s] (?:[A-Z]|[ÁÉÍÓÚŁŚŻŹĆÖÄÜČŠŘŽ])[a-zà-ž]")
# What a sentence loses its sense without.
_NEEDED = frozenset({"negation", "condition", "decision", "preference", "correction", "open"})
_FIRST = frozenset({"decision", "preference"})
_HINTS = frozenset({"open", "habit"})
_PARTICULAR = 6
_BONUS = {"decision": 8, "preference": 2, "habit": 1, "correction": 1, "name": 1, "times": 1}
LEAST = 3
"""So many telling words make a sentence worth quoting that has nothing else."""

FIRST, FACT, HINT, ASIDE, REST, NOTHING = range(6)


class Saying(NamedTuple):
    """One sentence, by whom, and what is known about it."""

    text: str
    who: str
    assistant: bool
    source: int
    """Which message or earlier line it stands in; earlier lines come before all messages."""
    order: int
    marks: frozenset[str]
    particulars: frozenset[str]
    stems: frozenset[str]
    question: bool
    talk: bool
    tokens: int

    @property
    def ids(self) -> frozenset[str]:
        return ids(self.particulars)

    @property
    def level(self) -> int:
        """How soon it is quoted: FIRST before FACT, then HINT, ASIDE and REST; never for NOTHING."""
        if self.talk and not self.particulars:
            return NOTHING
        if self.question:
            return HINT if self.particulars and not self.assistant else REST
        if self.assistant:
            return ASIDE if self.particulars else REST
        if self.marks & _FIRST and (len(self.stems) > 1 or self.particulars):
            return FIRST
        if self.particulars:
            return FIRST if "correction" in self.marks else FACT
        hinted = "times" in self.marks or (self.marks & _HINTS and len(self.stems) >= LEAST)
        return HINT if hinted else REST


Reader = Callable[[str, str, bool, int], list[Saying]]


def reader(texts: Sequence[str]) -> Reader:
    """A function that reads (text, who, whether an assistant, source) as sayings, in the languages of these texts."""
    votes: Counter[str] = Counter()
    for text in texts[:_ENOUGH]:
        votes.update(languages_of(text[:500], words_of(text[:500])))
    usual = tuple(language for language, _ in votes.most_common(1))
    orders = iter(range(1 << 62))

    def read(text: str, who: str, assistant: bool, source: int) -> list[Saying]:
        languages = languages_of(text[:1_000], words_of(text[:1_000])) or usual or LATIN
        if len(languages) > 2 and usual and usual[0] in languages:
            languages = usual
        said = [(next(orders), each) for each in sentences(text)]
        # Nobody says so much in one message: the middle of what was pasted is not looked at.
        said = said if len(said) <= 2 * _MOST_AT_AN_END else said[:_MOST_AT_AN_END] + said[-_MOST_AT_AN_END:]
        # Said twice, it is told once; but what stands on both sides of the second is not side by side.
        places = {sentence: order for order, sentence in reversed(said)}
        told = sorted((order, sentence) for sentence, order in places.items())
        return [_saying(sentence, who, assistant, (source, order), languages) for order, sentence in told]

    return read


_ENOUGH = 400
_MOST_AT_AN_END = 200


def _saying(sentence: str, who: str, assistant: bool, place: tuple[int, int], languages: tuple[str, ...]) -> Saying:
    words = words_of(sentence)
    signs = signs_of(sentence, words, languages)
    tokens = estimated_tokens(sentence)
    if tokens > _LONG and not signs.talk:
        sentence = shortened(sentence, lambda clause: _is_needed(clause, languages))
        words, tokens = words_of(sentence), estimated_tokens(sentence)
    return Saying(
        sentence,
        who,
        assistant,
        *place,
        signs.marks | ({"name"} if _NAME.search(sentence) else set()),
        particulars(sentence),
        stems_of(sentence, words),
        _QUESTION.search(sentence) is not None,
        signs.talk,
        tokens,
    )


def _is_needed(clause: str, languages: tuple[str, ...]) -> bool:
    return bool(particulars(clause)) or bool(signs_of(clause, words_of(clause), languages).marks & _NEEDED)


def stems_of(sentence: str, words: Sequence[str]) -> frozenset[str]:
    """Telling words without their endings; pairs of letters where words have no edges."""
    found = {word[:_STEM] for word in words if not word.isdigit() and not is_common(word)}
    if not sentence.isascii():
        letters = [char if _UNSPACED.match(char) else " " for char in sentence]
        found.update(pair for pair in map("".join, pairwise(letters)) if " " not in pair)
    return frozenset(found)


def weights(sayings: Iterable[Saying]) -> dict[int, float]:
    """For each saying, by its order, how much it is about what the others are about, for the room that it takes."""
    told = [each for each in sayings if not each.talk]
    counts = Counter(stem for each in told for stem in each.stems)
    total = len(told) + 1

    def weight(saying: Saying) -> float:
        central = sum(math.log1p(counts[stem] - 1) * math.log(total / counts[stem]) for stem in saying.stems)
        bonus = sum(_BONUS.get(mark, 0) for mark in saying.marks) + _PARTICULAR * len(saying.particulars)
        share = 0.5 if saying.assistant or saying.question else 1.0
        return share * (central + bonus) / (saying.tokens + 8)

    return {each.order: weight(each) for each in told}
