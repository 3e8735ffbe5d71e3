"""Markdown in passages: each paragraph and each point of a list is one, with the heading that it stands under."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_BOLD_LINE = re.compile(r"\*\*([^*]{1,200})\*\*:?")
_POINT = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"[ ]{0,3}(?:-[ \t]*){3,}|[ ]{0,3}(?:\*[ \t]*){3,}")


class Passage(NamedTuple):
    """A piece of a text that can be understood alone."""

    heading: str
    text: str
    line: int
    """The line that it begins in, from 1."""
    point: bool
    """Whether it is a point of a list; its mark is not in the text."""


class _Open(NamedTuple):
    lines: list[str]
    line: int
    point: bool


def passages(text: str, *, first_line: int = 1) -> Iterator[Passage]:
    """The passages of a text, in its order. Headings are not passages; a block of code stays in one piece."""
    heading, fence = "", ""
    current: _Open | None = None

    def closed() -> Iterator[Passage]:
        if current is not None and (said := "\n".join(current.lines).strip()):
            yield Passage(heading, said, current.line, current.point)

    for number, line in enumerate(text.splitlines(), start=first_line):
        mark = _FENCE.match(line)
        title = None if fence else _HEADING.fullmatch(line) or _BOLD_LINE.fullmatch(line.strip())
        point = None if fence else _POINT.fullmatch(line)
        if title is not None:
            yield from closed()
            current, heading = None, title[1].rstrip(" \t#").strip()
        elif not fence and (not line.strip() or _RULE.fullmatch(line)):
            yield from closed()
            current = None
        elif point is not None:
            yield from closed()
            current = _Open([point[1]], number, True)
        elif current is None:
            current = _Open([line], number, False)
        else:
            current.lines.append(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
    yield from closed()
