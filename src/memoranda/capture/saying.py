"""`Saying`: a sentence in the forms by which it is compared with another. Read once, kept for the next comparison."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from memoranda.capture.frames import Framed, framed
from memoranda.capture.reading import Word, core_of, even, words_of
from memoranda.capture.vocabulary import Sort, Vocabulary, fold, likely, vocabulary, votes

_READ = 4_096
_STEM = 5
_INFLECTED = frozenset({"pl", "cs"})
_UNSAID: frozenset[Sort] = frozenset({"small", "article", "correction"})


Cue = Literal["", "change", "correction", "withdrawal"]


class Saying(NamedTuple):
    """What a sentence says: in words, in fewer words, and what it does to what was said before."""

    words: tuple[str, ...]
    """All that must agree: everything but articles, politeness and words that only say that this is a correction."""
    skeleton: tuple[str, ...]
    """The same without loose words."""
    clauses: tuple[tuple[Word, ...], ...]
    core: tuple[str, ...]
    """What it is about: without negation and words of change."""
    rare: frozenset[str]
    """The beginnings of its telling words, and pairs of characters."""
    negated: bool
    ended: bool
    cue: Cue
    """By what it says that it corrects something; from "now" to "scratch that"."""
    adds: bool
    frame: Framed | None


def sayings(one: str, other: str) -> tuple[Saying, Saying, Vocabulary]:
    """Both texts, read in the same language. A text typed without diacritics is compared without them."""
    both = [first + second for first, second in zip(_votes(one), _votes(other), strict=True)]
    words = vocabulary(likely(both), folded=one.isascii() or other.isascii())
    return _saying(one, words.language, words.folded), _saying(other, words.language, words.folded), words


@lru_cache(maxsize=_READ)
def _votes(text: str) -> tuple[int, ...]:
    return votes(even(text))


@lru_cache(maxsize=_READ)
def _saying(text: str, language: str, folded: bool) -> Saying:
    known = vocabulary(language, folded=folded)
    read = words_of(text, known)
    said = [word for word in read if word.sort not in _UNSAID]
    # "No, I live here" is not "no I live here": a break after a negation counts, no other does.
    words = tuple(
        word.text
        for before, word in zip([None, *said], said, strict=False)
        if word.sort != "break" or (before is not None and before.sort == "negation")
    )
    core = core_of(read)
    sorts = {word.sort for word in read}
    return Saying(
        words,
        tuple(word for word in words if word not in known.loose),
        tuple(_clauses(read)),
        core,
        rare(core, known),
        "negation" in sorts,
        "no more" in sorts,
        _cue(read, known),
        "addition" in sorts,
        framed(read, known),
    )


def _cue(words: Sequence[Word], known: Vocabulary) -> Cue:
    cues = {word.sort: word.text for word in words if word.sort in ("change", "correction")}
    if known.withdrawals.intersection(cues.values()):
        return "withdrawal"
    return "correction" if "correction" in cues else "change" if cues else ""


def _clauses(words: Sequence[Word]) -> Iterable[tuple[Word, ...]]:
    clause: list[Word] = []
    for word in words:
        if word.sort == "break":
            if clause:
                yield tuple(clause)
            clause = []
        else:
            clause.append(word)
    if clause:
        yield tuple(clause)


def rare(words: Iterable[str], known: Vocabulary) -> frozenset[str]:
    """What tells a saying from others: the beginnings of its words, and characters in pairs."""
    found = set()
    before = ""
    for word in words:
        if word in known.light or word in known.links:
            before = ""
        elif len(word) == 1 and word >= "\u3041":
            if before:
                found.add(before + word)
            before = word
        else:
            before = ""
            found.add(_stem(word, known.language))
    return frozenset(found)


def _stem(word: str, language: str) -> str:
    """What inflection leaves of a word, roughly: enough to see that two sayings share a subject."""
    if not word.isalpha():
        return word
    length = min(_STEM, max(3, len(word) - 1)) if language in _INFLECTED else _STEM
    return fold(word)[:length]
