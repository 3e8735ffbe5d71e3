"""Requests: "remember that ...", wherever in a sentence it is said, and what is left without those words."""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.capture.triggers import has, marked, places

_MARKS = " ,;:.!-"


class Request(NamedTuple):
    """A person asking for something to be kept. `start` and `end` say where in the sentence it stands."""

    language: str
    start: int
    end: int
    points: int = 0
    """-1 when it asks for the sentence before it, 1 for those that follow, 0 for its own."""
    reminder: bool = False


SECTIONS = ("request", "request after", "reminder")


def request_in(sentence: str, found: Sequence[tuple[str, str]]) -> Request | None:
    """The request in a sentence of small letters, or None when it asks for nothing to be kept.

    `found` are the languages and headings that have a phrase in it.
    """
    for language, section in found:
        if section not in SECTIONS:
            continue
        if has(sentence, "no request", language) and not has(sentence, "request anyway", language):
            continue
        if _is_asked(sentence) and not has(sentence, "asking", language):
            continue
        found_request = (
            _after(sentence, language) if section == "request after" else _before(sentence, language, section)
        )
        if found_request is None or not _only_remarks(sentence, found_request):
            return found_request
    return None


def _only_remarks(sentence: str, request: Request) -> bool:
    """ "Note that x must be positive" tells nothing of anybody's world: it remarks, and asks for nothing."""
    language = request.language
    said = sentence[request.start : request.end]
    if request.points or has(said, "own", language):
        return False
    if has(sentence, "remark", language):
        return has(said, "generic", language)
    return has(sentence, "advice", language)


def _is_asked(sentence: str) -> bool:
    return sentence.rstrip(" \"')").endswith("?")


def _before(sentence: str, language: str, section: str) -> Request | None:
    place = next(places(sentence, section, language), None)
    if place is None:
        return None
    start = _skip(sentence, marked(place, place.end()))
    end = len(sentence)
    if _is_asked(sentence):
        end = len(sentence.rstrip(" \"')?"))
    tail = next(places(sentence[:end], "request after", language), None)
    if tail is not None and tail.start() > start:
        end = _back(sentence, tail.start())
    kept = sentence[start:end]
    if has(kept, "only a pointer", language) or not any(char.isalnum() for char in kept):
        if any(char.isalnum() for char in sentence[: place.start()]):
            return Request(language, 0, _back(sentence, place.start()))
        forward = sentence.rstrip().endswith(":") or has(kept, "pointer forward", language)
        return Request(language, start, end, 1 if forward else -1)
    return Request(language, start, end, 0, section == "reminder")


def _after(sentence: str, language: str) -> Request | None:
    place = next(places(sentence, "request after", language), None)
    if place is None:
        return None
    end = _back(sentence, marked(place, place.start()))
    if has(sentence[:end], "only a pointer", language) or not any(char.isalnum() for char in sentence[:end]):
        return Request(language, 0, end, -1)
    return Request(language, 0, end)


def _skip(sentence: str, start: int) -> int:
    while start < len(sentence) and sentence[start] in _MARKS:
        start += 1
    return start


def _back(sentence: str, end: int) -> int:
    while end > 0 and sentence[end - 1] in " ,;:-":
        end -= 1
    return end
