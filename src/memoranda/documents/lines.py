"""Lines of Markdown: where they end, and which of them are headings and fences. No parser: one line at a time."""

import re
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Heading(NamedTuple):
    """A heading that is written with number signs."""

    level: int
    title: str


def lines_of(text: str) -> list[str]:
    """The lines as editors count them: a line ends with LF, CR LF or CR, and with nothing else."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def heading_of(line: str) -> Heading | None:
    """The heading that a line is, if it is one."""
    found = _HEADING.fullmatch(line)
    if found is None:
        return None
    title = (found[2] or "").strip()
    bare = title.rstrip("#")
    # Signs at the end are no part of a title, unless they touch it.
    return Heading(len(found[1]), title if bare and not bare[-1].isspace() else bare.rstrip())


def opens_fence(line: str) -> str:
    """The marks of the fence that a line opens; empty when it opens none."""
    found = _FENCE.fullmatch(line)
    # Backticks after backticks are code within a line.
    return "" if found is None or (found[1][0] == "`" and "`" in found[2]) else found[1]


def closes_fence(line: str, marks: str) -> bool:
    """Whether a line closes the fence that these marks opened."""
    bare = line.strip(" \t")
    indented = len(line) - len(line.lstrip(" ")) > 3
    return not indented and len(bare) >= len(marks) and bare.strip(marks[0]) == ""
