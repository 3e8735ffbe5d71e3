"""Frames: sentences with a place to fill, as data. `i live in *` is filled once; who fills it anew has moved.

`_` in a frame is what it is about (`my favourite _ is *`). Frames on one line say the same; those after `>` only lead
there (`i moved to *`). Not a parser: a sentence fits a frame from its first word to its last or not at all.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from memoranda.capture.reading import Word, words_of
from memoranda.capture.tables import table
from memoranda.capture.vocabulary import Sort, Vocabulary, vocabulary

_LONGEST_TEXT = 32
_LONGEST_FILLING, _LONGEST_TOPIC = 12, 8
_PASSED_OVER: frozenset[Sort] = frozenset({"small", "correction"})
_UNFIT: frozenset[Sort] = frozenset({"break", "negation", "no more", "change", "addition", "symbol"})
_TOPIC, _FILLING = "_", "*"

Filled = Literal["nothing", "word", "number", "time", "one of many"]


class Framed(NamedTuple):
    """A sentence that fits a frame."""

    frame: str
    single: bool
    """Whether a person has only one of it."""
    leads: bool
    topic: tuple[str, ...]
    filling: tuple[str, ...]
    rest: tuple[str, ...]
    """What limits the filling: `on weekdays`, `when it rains`."""
    filled: Filled


class Frame(NamedTuple):
    """A frame as it is compared: literal words, `_` and `*`."""

    name: str
    single: bool
    leads: bool
    elements: tuple[str, ...]
    literals: frozenset[str]


def framed(words: Sequence[Word], known: Vocabulary) -> Framed | None:
    """The first frame of the language that the words fit."""
    # "Now" says nothing about where somebody lives; "moved to" does.
    found = _framed(_kept(words), known)
    if found is None and any(word.sort == "change" for word in words):
        found = _framed(_kept([word for word in words if word.sort != "change"]), known)
    return found


def _framed(kept: list[Word], known: Vocabulary) -> Framed | None:
    if not kept or len(kept) > _LONGEST_TEXT:
        return None
    texts = [word.text for word in kept]
    present = frozenset(texts)
    by_first = _frames(known.language, known.folded)
    for frame in (*by_first.get(texts[0], ()), *by_first.get("", ())):
        spans = _spans(frame.elements, texts) if frame.literals <= present else None
        if spans is None:
            continue
        topic = [word for span in spans[_TOPIC] for word in kept[slice(*span)]]
        filling = [word for span in spans[_FILLING] for word in kept[slice(*span)]]
        if not any(word.sort in _UNFIT for word in (*topic, *filling)) and not _is_unfit(filling, known):
            return _filled(frame, topic, filling, known)
    return None


def _kept(words: Sequence[Word]) -> list[Word]:
    """Without politeness, and without what punctuation it leaves at the ends."""
    kept = [word for word in words if word.sort not in _PASSED_OVER]
    while kept and kept[0].sort == "break":
        del kept[0]
    while kept and kept[-1].sort == "break":
        del kept[-1]
    return kept


def _spans(elements: Sequence[str], texts: Sequence[str]) -> dict[str, list[tuple[int, int]]] | None:
    """Where the topic and the filling stand, if the frame fits from end to end."""
    spans: dict[str, list[tuple[int, int]]] = {_TOPIC: [], _FILLING: []}
    place = 0
    for index, element in enumerate(elements):
        if element not in spans:
            if place >= len(texts) or texts[place] != element:
                return None
            place += 1
            continue
        literals = _literals_after(elements, index)
        longest = _LONGEST_TOPIC if element == _TOPIC else _LONGEST_FILLING
        end = _end(texts, place, literals, longest, last=index + len(literals) + 1 == len(elements))
        if end is None:
            return None
        spans[element].append((place, end))
        place = end
    return spans if place == len(texts) else None


def _literals_after(elements: Sequence[str], index: int) -> list[str]:
    found: list[str] = []
    for element in elements[index + 1 :]:
        if element in (_TOPIC, _FILLING):
            break
        found.append(element)
    return found


def _end(texts: Sequence[str], place: int, literals: list[str], longest: int, *, last: bool) -> int | None:
    """Where a gap ends: at the end of the text, or where the next words of the frame begin."""
    if last:
        end = len(texts) - len(literals)
        return end if place < end <= place + longest and list(texts[end:]) == literals else None
    for end in range(place + 1, min(place + longest, len(texts) - len(literals)) + 1):
        if list(texts[end : end + len(literals)]) == literals:
            return end
    return None


def _filled(frame: Frame, topic: Sequence[Word], filling: Sequence[Word], known: Vocabulary) -> Framed:
    cut = next((place for place, word in enumerate(filling) if place and word.text in known.links), len(filling))
    return Framed(
        frame.name,
        frame.single,
        frame.leads,
        _said(topic),
        _said(filling[:cut]),
        _said(filling[cut:]),
        _kind(filling, known),
    )


def _is_unfit(filling: Sequence[Word], known: Vocabulary) -> bool:
    first = next((word.text for word in filling if word.sort != "article"), "")
    return first in known.unfit


def _said(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words if word.sort != "article")


def _kind(filling: Sequence[Word], known: Vocabulary) -> Filled:
    if not filling:
        return "nothing"
    first = filling[0]
    if first.sort == "article":
        return "one of many"
    if first.sort == "number":
        return "number"
    return "time" if first.text in known.times else "word"


@cache
def _frames(language: str, folded: bool) -> dict[str, tuple[Frame, ...]]:
    """By their first word; those that begin with a gap under an empty one."""
    known = vocabulary(language, folded=folded)
    by_first: dict[str, list[Frame]] = {}
    for frame in _all_frames(known):
        first = frame.elements[0]
        by_first.setdefault("" if first in (_TOPIC, _FILLING) else first, []).append(frame)
    return {first: tuple(frames) for first, frames in by_first.items()}


def _all_frames(known: Vocabulary) -> Iterator[Frame]:
    for section, single in (("one of", True), ("ways to say", False)):
        for place, line in enumerate(table(known.language).get(section, ())):
            ways, _, leading = line.partition(">")
            for leads, part in ((False, ways), (True, leading)):
                for way in filter(str.strip, part.split("|")):
                    elements = tuple(_elements(way, known))
                    literals = frozenset(elements) - {_TOPIC, _FILLING}
                    yield Frame(f"{section} {place}", single, leads, elements, literals)


def _elements(way: str, known: Vocabulary) -> Iterator[str]:
    for part in re.split(r"([*_])", way.strip()):
        if part in (_TOPIC, _FILLING):
            yield part
        else:
            yield from (word.text for word in _kept(words_of(part, known)))
