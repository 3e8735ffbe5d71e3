"""Worth: whether an unasked sentence says something of the speaker that lasts, or why it does not.

The tables say what a preference, a decision or a fact looks like; here is what takes it back: a question, someone
else's words, a thing only supposed, a passing state, a sentence that points at something outside itself.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.capture.names import name_at
from memoranda.capture.triggers import has, marked, places
from memoranda.domain.candidate import Refusal

_VETOES: tuple[tuple[str, Refusal], ...] = (
    ("reported", "quotation"),
    ("hypothetical", "hypothetical"),
    ("aside", "nothing to keep"),
)
# "the Lakers" says which; "the second" does not, nor does "the Jungle theme".
_NAMED = re.compile(
    r" (?:[A-Z0-9][\w'’.-]* ?)+(?:$|[,;:!?.)]|(?:and|but|because|for|too|so|though|as|since|in|even|more)\b)"
)
_PASSING = {"decision": "passing decision"}


class Worth(NamedTuple):
    """A heading that a sentence bears out, and how much of the sentence does."""

    language: str
    section: str
    end: int


def worth_of(text: str, masked: str, found: Sequence[tuple[str, str]]) -> Worth | Refusal:
    """What makes a sentence worth keeping. `masked` is the sentence in small letters, without what it quotes.

    `found` are the languages and headings that have a phrase in it.
    """
    refusal: Refusal = "nothing to keep"
    for language, section in found:
        outcome = _borne_out(text, masked, language, section)
        if isinstance(outcome, Worth):
            return outcome
        refusal = outcome if refusal == "nothing to keep" else refusal
    return refusal


def _borne_out(text: str, masked: str, language: str, section: str) -> Worth | Refusal:
    end = states(masked, language)
    if end == 0:
        return "question"
    statement = masked[:end]
    for veto, refusal in _VETOES:
        if has(statement, veto, language):
            return refusal
    if has(_without_lasting(statement, language), _PASSING.get(section, "passing"), language):
        return "passing"
    for place in places(statement, section, language):
        if _says_what(text, statement, place, language, section):
            return Worth(language, section, end)
    return "nothing to keep"


def _without_lasting(statement: str, language: str) -> str:
    """The statement without what only looks passing: "por la mañana" is no "mañana"."""
    for place in places(statement, "lasting", language):
        statement = statement[: place.start()] + "_" * (place.end() - place.start()) + statement[place.end() :]
    return statement


def states(masked: str, language: str) -> int:
    """Where the part that states something ends; 0 when all of it asks."""
    if has(masked, "question", language):
        return 0
    if not masked.rstrip(" \"')!").endswith("?"):
        return len(masked)
    tail = next(places(masked, "question after", language), None)
    return 0 if tail is None else tail.start()


def _says_what(text: str, statement: str, place: Any, language: str, section: str) -> bool:
    """Whether what is liked or decided is in the sentence. "I like that one" leaves it to the talk before."""
    start = marked(place, -1)
    if start < 0:
        return True
    thing = statement[start:].lstrip(" ,:-")
    start = len(statement) - len(thing)
    if not any(char.isalnum() for char in thing):
        return False
    if section == "address":
        return has(thing, "manner", language) or (
            bool(name_at(text[start:].rstrip(" .!"))) and not has(thing, "no name", language)
        )
    if has(thing, "thing", language) or (section == "decision" and has(thing, "thing decided", language)):
        return True
    if has(thing, "no thing", language):
        return False
    unnamed = next(places(thing, "thing if named", language), None) if section == "preference" else None
    return unnamed is None or _NAMED.match(text, start + unnamed.end()) is not None
