"""Pasted: which lines of a message are another's words, or text that is only there to be worked on.

A chat with names before its lines, a letter from its salutation to its signature, what follows "translate:" or "Tom
wrote:". It says where; what the lines say is not looked at. Envelopes and quotation marks are stripped before.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from memoranda.capture.letters import small
from memoranda.capture.names import name_at
from memoranda.capture.requests import SECTIONS as REQUESTS
from memoranda.capture.tables import LANGUAGES
from memoranda.capture.triggers import fired, has, places
from memoranda.domain.candidate import Refusal

_LINE = re.compile(r"[^\n]+")
_CLOCK = r"(?:\[?\d{1,2}[:.]\d\d(?::\d\d)?(?: ?[ap]m)?\]?[ ,-]*)?"
_PREFIX = re.compile(
    rf"{_CLOCK}(?:\[(?P<bracket>[^\[\]\n:]{{2,30}})\](?: ?[:：])?|<(?P<angle>[^<>\n]{{2,30}})>"
    r"|(?P<plain>[^\s:：\[(<][^:：\n]{0,30}) ?[:：])(?:\s|(?<=：))\s*(?=\S)"
)
_ONE_WORD = re.compile(r"[^\W\d_][\w'’.-]*")
_DENSE_NAME = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,6}")
_CHECKBOX = re.compile(r"(?:[-*+•] )?\[[ xX]\] ")
_SHORTEST_LETTER = 3
_LONGEST_SIGNATURE = 3
_LONGEST_SALUTATION = 60
_CHAT_FROM = 2


class Piece(NamedTuple):
    """From where to where in the text, and why nothing in it is the speaker's.

    Without a reason it is the speaker's own name before their words.
    """

    start: int
    end: int
    reason: Refusal | None


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    plain: str
    paragraph: int


def pieces(tidy: str, plain: str, *, speaker: str = "", own: Callable[[str], bool] = lambda _: False) -> list[Piece]:
    """The pasted pieces of a tidied text; `own` says which lines are the speaker's whatever they look like."""
    marked = any(mark in plain for mark in ":[<")
    if not marked and "\n" not in tidy:
        return []
    lines = list(_lines(tidy, plain))
    found = list(_letters(lines, speaker)) if len(lines) >= _SHORTEST_LETTER else []
    if marked:
        found += [*_introduced(lines), *_worked_on(lines), *_spoken(lines, speaker, own)]
    return found


def _lines(tidy: str, plain: str) -> Iterator[_Line]:
    paragraph = before = 0
    for line in _LINE.finditer(tidy):
        paragraph += line.start() - before > 1
        before = line.end()
        yield _Line(line.start(), line.end(), line[0], plain[line.start() : line.end()], paragraph)


# -- names before lines --


def _spoken(lines: Sequence[_Line], speaker: str, own: Callable[[str], bool]) -> list[Piece]:
    named = {place: before for place, line in enumerate(lines) if (before := _named(line)) is not None}
    names = {small(name) for name, _ in named.values()}
    chat = len(named) >= _CHAT_FROM and len(names) > 1
    found: list[Piece] = []
    for place, line in enumerate(lines):
        if _CHECKBOX.match(line.text):
            found.append(Piece(line.start, line.end, "nothing to keep"))
            continue
        if place not in named or own(line.plain):
            continue
        name, length = named[place]
        if _is_speaker(name, speaker):
            found.append(Piece(line.start, line.start + length, None))
            continue
        end = line.end
        for later in range(place + 1, len(lines) if chat else place):
            if later in named or lines[later].paragraph != line.paragraph:
                break
            end = lines[later].end
        found.append(Piece(line.start, end, "not the user's words"))
    return found


def _named(line: _Line) -> tuple[str, int] | None:
    """The name that stands before a line, and how much of the line it takes."""
    prefix = _PREFIX.match(line.text)
    if prefix is None:
        return None
    name = prefix["bracket"] or prefix["angle"] or prefix["plain"]
    if not (_ONE_WORD.fullmatch(name) or _DENSE_NAME.fullmatch(name) or name_at(name) == name):
        return None
    plain = small(name)
    if _says(plain, "label") or fired(f"{plain}: x", *REQUESTS, "interjection", around=line.plain):
        return None
    return name, prefix.end()


def _is_speaker(name: str, speaker: str) -> bool:
    plain, known = small(name), small(speaker)
    return bool(known) and (plain == known or plain in known.replace(":", " ").replace("/", " ").split())


# -- letters --


def _letters(lines: Sequence[_Line], speaker: str) -> Iterator[Piece]:
    begin: _Line | None = None
    for place, line in enumerate(lines):
        if len(line.text) > _LONGEST_SALUTATION:
            continue
        if begin is None:
            begin = line if _says(line.plain, "salutation") else None
        elif _says(line.plain, "closing"):
            name = lines[place + 1] if place + 1 < len(lines) and _signs(lines[place + 1]) else None
            if (name or _says(line.plain, "formal closing")) and not (name and _is_speaker(name.text, speaker)):
                yield Piece(begin.start, (name or line).end, "not the user's words")
            begin = None


def _signs(line: _Line) -> bool:
    return len(line.text.split()) <= _LONGEST_SIGNATURE and (
        name_at(line.text.rstrip(".")) == line.text.rstrip(".") or _DENSE_NAME.fullmatch(line.text) is not None
    )


# -- what a sentence says of the text after it --


def _introduced(lines: Sequence[_Line]) -> Iterator[Piece]:
    for place, line in enumerate(lines[:-1]):
        if line.plain.endswith(":") and _says(line.plain, "pasted"):
            yield Piece(line.start, _end_of_paragraph(lines, place + 1), "not the user's words")


def _worked_on(lines: Sequence[_Line]) -> Iterator[Piece]:
    for place, line in enumerate(lines):
        if ":" not in line.plain:
            continue
        # What stands after the colon may be of another language, and hide that of the command.
        starts = [found.start() for each in LANGUAGES for found in places(line.plain, "task", each)]
        if starts:
            follows = place + 1 < len(lines) and line.plain.rstrip("!?. ").endswith(":")
            end = _end_of_paragraph(lines, place + 1 if follows else place)
            yield Piece(line.start + min(starts), end, "quotation")


def _says(plain: str, section: str) -> bool:
    """In any language: a line of one or two words has no sign of its own."""
    return any(has(plain, section, language) for language in LANGUAGES)


def _end_of_paragraph(lines: Sequence[_Line], place: int) -> int:
    end = lines[place].end
    for line in lines[place:]:
        if line.paragraph != lines[place].paragraph:
            break
        end = line.end
    return end
