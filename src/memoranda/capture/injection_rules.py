"""The rules of aim: what text looks like that steers a model or its memory. One file of data for each language.

A file has headings in brackets and one expression a line; an indented line goes on with the one above, and a line
that begins with `#` is a remark. Expressions are for the folded form without accents. In them `…` is anything within
a sentence, up to 40 bytes, and `‥` up to 20; `%name%` is an expression from `[pieces]`. They are matched as bytes: a
letter beyond ASCII stands in no class, and is not repeated without a group around it. Rules are for kinds of attack;
none is for one text.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from memoranda.capture.injection import Severity

LANGUAGES = ("en", "pl", "zh", "de", "es", "fr", "cs", "ja", "ko")
_FOLDER = Path(__file__).parent / "injections"
_PIECES = "pieces"
_EXCUSED = "excused"
_HEADING = re.compile(rf"\[({_PIECES}|{_EXCUSED}|(?:injection|acting): [^\[\]]+)\]")
# Within one sentence: a mark that ends one counts only when it is in the middle of something, as in a name.
_GAPS = {"…": r"(?:[^.?!\n]|[.?!]\S){0,40}", "‥": r"(?:[^.?!\n]|[.?!]\S){0,20}"}


class Rule(NamedTuple):
    """One expression of one kind of attack."""

    name: str
    severity: Severity
    pattern: bytes


@cache
def rules() -> tuple[Rule, ...]:
    """All rules of all languages, those of injection first."""
    found = [
        Rule(name if language == "en" else f"{name} ({language})", cast(Severity, severity), _bytes(pattern))
        for language in LANGUAGES
        for heading, pattern in _expressions(language)
        for severity, _, name in (heading.partition(": "),)
        if name
    ]
    return tuple(sorted(found, key=lambda rule: rule.severity == "acting"))


@cache
def excused() -> bytes:
    """What is taken out of a text before a rule is believed: said of people, it is no order."""
    patterns = (each for language in LANGUAGES for heading, each in _expressions(language) if heading == _EXCUSED)
    return b"|".join(map(_bytes, patterns))


def _expressions(language: str) -> Iterator[tuple[str, str]]:
    """Heading and expression, with the pieces put in."""
    heading = ""
    pieces: dict[str, str] = {}
    for line in _lines(language):
        if found := _HEADING.fullmatch(line):
            heading = found[1]
        elif heading == _PIECES:
            name, _, piece = line.partition(" = ")
            pieces[name] = piece
        else:
            yield heading, re.sub("%([a-z]+)%", lambda found: pieces[found[1]], line)


def _lines(language: str) -> Iterator[str]:
    text = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?!    )", text):
        if block.strip() and not block.startswith("#"):
            yield block.replace("\n    ", "")


def _bytes(pattern: str) -> bytes:
    for gap, meaning in _GAPS.items():
        pattern = pattern.replace(gap, meaning)
    return pattern.encode()
