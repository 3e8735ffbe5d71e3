"""A line that does not fit into a chunk, in pieces that do: at the ends of sentences, else between words, else anywhere
between characters. Nothing is added or lost: the pieces together are the line."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

# Chinese and Japanese put no space after a sentence.
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s+|[。！？；]+[”’」』）]*\s*")
_SPACES = re.compile(r"\s+")
_JOINERS = "\u200d\ufe0e\ufe0f"


class Piece(NamedTuple):
    """A part of a line, and how many tokens it has when the line ends after it."""

    text: str
    cost: int
    glued: bool
    """Whether something of the line stands before it."""


def pieces_of(line: str, tokens: int, count: Callable[[str], int]) -> Iterator[Piece]:
    """The line, from left to right."""
    glued = False
    for sentence in _cut(line, _SENTENCE):
        cost = count(sentence + "\n")
        fits = cost <= tokens
        for text in (sentence,) if fits else _smaller(sentence, tokens, count):
            yield Piece(text, cost if fits else count(text + "\n"), glued)
            glued = True


def _smaller(sentence: str, tokens: int, count: Callable[[str], int]) -> Iterator[str]:
    """A sentence that does not fit, as many words at a time as do."""
    room = tokens - count("\n")
    held: list[str] = []
    cost = 0
    for word in _cut(sentence, _SPACES):
        more = count(word)
        if held and cost + more > room:
            yield "".join(held)
            held, cost = [], 0
        if more > room:
            yield from _characters(word, more, tokens, count)
        else:
            held.append(word)
            cost += more
    if held:
        yield "".join(held)


def _cut(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    """The parts of a text, each with the end that the expression finds."""
    at = 0
    for found in ends.finditer(text):
        yield text[at : found.end()]
        at = found.end()
    if at < len(text):
        yield text[at:]


def _characters(word: str, cost: int, tokens: int, count: Callable[[str], int]) -> Iterator[str]:
    guess = max(1, len(word) * tokens // cost)
    at = 0
    while at < len(word):
        size = min(guess, len(word) - at)
        while size > 1 and count(word[at : at + size] + "\n") > tokens:
            size = size * 7 // 8
        end = _before_marks(word, at, at + size)
        yield word[at:end]
        at = end


def _before_marks(word: str, at: int, end: int) -> int:
    """A place to cut that does not take an accent, or a part of an emoji, from what it belongs to."""
    place = end
    while at + 1 < place < len(word) and end - place < 16:
        if not (unicodedata.combining(word[place]) or word[place] in _JOINERS or word[place - 1] == "\u200d"):
            return place
        place -= 1
    return end
