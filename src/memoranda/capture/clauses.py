"""Clauses: the statements that one sentence joins, "my name is Anna and I prefer tea", each to be judged by itself.

A sentence falls apart only where both sides say something of their own that could be kept: not between "tea and
coffee", not inside of "when I come home and my cat waits", and not where the second half points back at the first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.capture.triggers import fired, has, marked, places
from memoranda.capture.worth import Worth, states, worth_of

_SECTIONS = ("preference", "address", "decision", "fact", "other")
_SLOTS = ("slot name", "slot home", "slot work", "slot birthday", "slot favourite")
JOINED = "joined"
# What covers all of a sentence, wherever in it it is said.
_OF_ALL = ("reported", "hypothetical")
_MARKS = ",;"
_ENDS = (".", "!")


class Clause(NamedTuple):
    """Where a statement stands in its sentence."""

    start: int
    end: int
    subject: str = ""
    """What is said before the joint only: the "I" of "I live in Leeds and work as a nurse"."""

    def of(self, text: str, *, closed: bool = False) -> str:
        """Its words, as a sentence of its own; `closed` with the mark that ends the whole."""
        words = text[self.start : self.end].rstrip(" ,;-") if self.end < len(text) else text[self.start :]
        ends = closed and self.end < len(text) and text.rstrip().endswith(_ENDS)
        return (f"{self.subject} " if self.subject else "") + words + ("." if ends else "")


def clauses(text: str, masked: str, languages: Sequence[str]) -> Sequence[Clause]:
    """The statements of a sentence; one when it is not to be taken apart. `masked` is as `worth_of` takes it.

    `languages` are those that have a joint in it.
    """
    whole = (Clause(0, len(masked)),)
    for language in languages:
        end = states(masked, language)
        if not end or any(has(masked, heading, language) for heading in _OF_ALL):
            continue
        found = _apart(text, masked, end, language)
        if len(found) > 1:
            return found
    return whole


def _apart(text: str, masked: str, end: int, language: str) -> list[Clause]:
    """Each part between two joints goes with the one before it unless both stand alone."""
    found_joints = list(places(masked[:end], JOINED, language))
    starts = [marked(place, place.end()) for place in found_joints]
    joints = [place.start() for place in found_joints]
    first = Clause(0, joints[0] if joints else len(masked))
    found = [first]
    stands = _stands(first, text, masked, language)
    # "Today I ..." is said of all that follows.
    if any(place.start() == 0 for place in places(masked, "passing", language)):
        return found
    for number, start in enumerate(starts):
        last = found[-1]
        part = Clause(start, joints[number + 1] if number + 1 < len(joints) else len(masked))
        subject = _subject(last, part, text, masked, language)
        if masked[joints[number]] in _MARKS and not fired(last.of(masked), *_SLOTS, around=masked):
            subject = None  # a comma alone joins many things
        # With a subject that goes on, what is before the joint says something, worth keeping or not.
        before = stands or (subject and _is_open(last.of(masked), language))
        if subject is not None and before and _stands(part._replace(subject=subject), text, masked, language, new=True):
            stands = _is_open(part.of(masked), language)
            found[-1] = last._replace(end=joints[number])
            found.append(part._replace(subject=subject))
        else:
            found[-1] = last._replace(end=part.end)
            stands = _stands(found[-1], text, masked, language)
    return found


def _stands(clause: Clause, text: str, masked: str, language: str, *, new: bool = False) -> bool:
    """Whether a clause says what could be kept, or be refused for what it says, without those beside it."""
    said = clause.of(masked).lower()
    said = said[: states(said, language)]
    if not _is_open(said, language) and not new:
        return False
    if new and has(said, "points back", language):
        return False
    headings = [each for each in fired(said, *_SECTIONS, around=masked) if each[0] == language]
    if new:
        headings = [each for each in headings if any(place.start() == 0 for place in places(said, each[1], language))]
    elif fired(said, *_SLOTS, around=masked):
        return True  # its value would be all that is seen of the two
    worth = worth_of(clause.of(text), said, headings)
    return isinstance(worth, Worth) or worth != "nothing to keep"


def _is_open(said: str, language: str) -> bool:
    """Whether what follows a joint stands beside this, and not inside of a part or a bracket that it has begun."""
    return not has(said, "subordinate", language) and said.count("(") == said.count(")")


def _subject(last: Clause, part: Clause, text: str, masked: str, language: str) -> str | None:
    """The subject that a part has left out: nothing when it has its own, None when it is not known."""
    said = part.of(masked)
    if not has(said, "subject left out", language):
        return ""
    before = last.of(masked).lower()
    place = next(places(before, "subject goes on", language), None)
    if place is None or "," in before or has(before, "subject ends", language):
        return None
    if last.subject:
        return last.subject
    start = last.start + marked(place, 0)
    return text[start : place.end() + last.start].partition(" ")[0].partition("'")[0].partition("’")[0]
