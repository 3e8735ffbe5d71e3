"""One table of a TOML text set or taken away by lines, so that comments and all else stay as they were. Pure.

What stands there in another form, such as an inline table, is refused: it is changed by who wrote it.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.hosts.json_text import MISSING, member

_HEADER = re.compile(r"[ \t]*\[")
_SAYS_NOTHING = re.compile(r"[ \t]*(#.*)?\r?\n?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parsed_toml(text: str) -> dict[str, Any]:
    """What the text says; an error when it is not TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"it is not TOML ({error})") from error


def with_table(text: str, keys: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with a table of these values: where it stands already, or at the end."""
    whole = parsed_toml(text)
    if member(whole, keys) == dict(values):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [_header(keys), *(f"{key} = {_value(value)}" for key, value in values.items())]
    rest, at = _cut(text, keys)
    before, after = rest[:at], rest[at:]
    if before and not before.endswith("\n"):
        before += end
    if before.strip() and not before.endswith(("\n\n", "\r\n\r\n")):
        before += end
    new = before + end.join(lines) + end + (end + after if after.strip() else after)
    return _checked(new, _set(whole, keys, dict(values)))


def without_table(text: str, keys: Sequence[str]) -> str:
    """The text without the table and those inside it."""
    whole = parsed_toml(text)
    if member(whole, keys) is MISSING:
        return text
    rest, at = _cut(text, keys)
    # The empty line that was put before it goes, too.
    if rest[:at].endswith(("\n\n", "\r\n\r\n")) and not rest[at:].strip():
        rest = rest[:at].removesuffix("\n").removesuffix("\r") + rest[at:]
    if _pruned(parsed_toml(rest)) != _pruned(_unset(whole, keys)):
        raise InvalidInput("its table stands there in a form that is not changed here")
    return rest


def _cut(text: str, keys: Sequence[str]) -> tuple[str, int]:
    """The text without the lines of the table and of those inside it, and where it stood; else the end.

    Comments behind it stay: they may speak of what comes next.
    """
    kept: list[str] = []
    behind: list[str] = []
    place, inside = None, False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            kept += behind
            behind = []
            inside = _keys_of(line)[: len(keys)] == list(keys)
            if inside and place is None:
                place = len("".join(kept))
        if not inside:
            kept.append(line)
        elif _SAYS_NOTHING.fullmatch(line):
            behind.append(line)
        else:
            behind = []
    rest = "".join(kept + behind)
    return rest, len(rest) if place is None else place


def _keys_of(line: str) -> list[str]:
    """The names in a header; none when it is not one, as in a list over several lines."""
    try:
        found: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return []
    keys = []
    while found:
        if isinstance(found, list):
            found = found[0]
            continue
        ((key, found),) = found.items()
        keys.append(key)
    return keys


def _header(keys: Sequence[str]) -> str:
    return f"[{'.'.join(key if _BARE.fullmatch(key) else _value(key) for key in keys)}]"


def _value(value: Any) -> str:
    """Strings, numbers, truth and lists of them are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _set(whole: dict[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = keys
    inside = whole.get(first, {})
    if rest and not isinstance(inside, dict):
        raise InvalidInput(f"{first!r} in it is not a table")
    return {**whole, first: _set(inside, rest, value) if rest else value}


def _unset(whole: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    first, *rest = keys
    others = {key: each for key, each in whole.items() if key != first}
    return {**others, first: _unset(whole[first], rest)} if rest else others


def _pruned(value: Any) -> Any:
    """Without empty tables: a header alone says nothing."""
    if not isinstance(value, dict):
        return value
    inside = {key: _pruned(each) for key, each in value.items()}
    return {key: each for key, each in inside.items() if each != {}}


def _checked(new: str, wanted: dict[str, Any]) -> str:
    if parsed_toml(new) != wanted:
        raise InvalidInput("it cannot be changed without changing something else")
    return new
