"""Which paths the patterns of a source want. Text only, unless a pattern names another extension; nothing hidden,
unless a pattern has the dot."""

import os
import re
from functools import lru_cache
from typing import NamedTuple

from memoranda.documents.globs import expression_of, folders_expression_of
from memoranda.domain.errors import InvalidInput

DEFAULT_PATTERNS = ("MEMORY.md", "memory.md", "USER.md", "memory/**/*.md")
_TEXT_ONLY = r"(?=.*\.(?i:md|markdown|txt)$)"
_WILD = re.compile(r"[*?\[]")


class Wanted(NamedTuple):
    """What the patterns of a source match, and the folders in which that may be."""

    files: re.Pattern[str]
    folders: re.Pattern[str]


@lru_cache(maxsize=64)
def wanted(patterns: tuple[str, ...]) -> Wanted:
    """The patterns, ready for use."""
    files, folders = [], []
    for pattern in checked_patterns(patterns):
        expression = expression_of(pattern, hidden=False)
        if expression is None:
            raise InvalidInput(
                f"pattern: {pattern[:60]!r} can match nothing", hint="Close its bracket, or write `\\[` for the sign."
            )
        files.append(expression if _names_extension(pattern) else _TEXT_ONLY + expression)
        folders.append(folders_expression_of(pattern))
    return Wanted(_any_of(files), _any_of([each for each in folders if each is not None]))


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in expressions) or "(?!)", re.DOTALL)


def _checked_pattern(pattern: str) -> str:
    bare = pattern
    while bare.startswith("./"):
        bare = bare[2:]
    if not bare or os.path.isabs(bare) or bare.startswith(("/", "~")) or re.match(r"[A-Za-z]:", bare):
        raise InvalidInput(
            f"pattern: {pattern[:60]!r} is not relative", hint="Give the folder as the root, and a pattern within it."
        )
    if ".." in bare.split("/"):
        raise InvalidInput(
            f"pattern: {pattern[:60]!r} leads out of the folder", hint="Add the other folder as a source of its own."
        )
    return bare + "**" if bare.endswith("/") else bare


def _names_extension(pattern: str) -> bool:
    name = pattern.rsplit("/", 1)[-1]
    _, dot, extension = name.rpartition(".")
    return not _WILD.search(name) or (dot != "" and not _WILD.search(extension))


def literal_pattern(name: str) -> str:
    """The pattern that matches this one path."""
    return re.sub(r"([*?\[\\])", r"\\\1", name)


def checked_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns relative to the root, or an error that says which one is not."""
    if not patterns:
        raise InvalidInput("no pattern is given", hint="Give at least one, such as **/*.md.")
    return tuple(map(_checked_pattern, patterns))
