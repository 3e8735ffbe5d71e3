"""Statements as this room writes them, in the words that PostgreSQL takes."""

import functools
import re

# What is quoted or a cast is passed by; the rest differs.
_PARTS = re.compile(
    r"""
    (?P<quoted> '(?:[^']|'')*' | "(?:[^"]|"")*" )
  | (?P<cast> ::\w+ )
  | :(?P<named>[A-Za-z_]\w*)
  | (?P<placed>\?)
  | (?P<like>\blike\b)
  | (?P<plus>(?<=[\s(])\+(?=[A-Za-z_]))
    """,
    re.VERBOSE,
)


@functools.lru_cache(maxsize=4096)
def translated(statement: str) -> tuple[str, tuple[str, ...] | None]:
    """The statement with numbered parameters, and their names in order; None when they were numbered before.

    `like` knows the cases of ASCII alone and minds none of them in SQLite; so does `ilike` in the order of bytes.
    A plus that keeps SQLite from choosing an index means nothing here.
    """
    places: dict[str, int] = {}
    counted = 0

    def other(match: re.Match[str]) -> str:
        nonlocal counted
        if match["named"]:
            return f"${places.setdefault(match['named'], len(places) + 1)}"
        if match["placed"]:
            counted += 1
            return f"${counted}"
        if match["like"]:
            return "ilike"
        return "" if match["plus"] else match[0]

    text = _PARTS.sub(other, statement)
    return text, None if counted else tuple(places)
