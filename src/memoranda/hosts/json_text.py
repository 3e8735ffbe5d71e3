"""One member of a JSON text set or taken away, with everything else left byte for byte as it was. Pure.

Other programs and people write these files, too: their order, their spaces and their numbers are theirs.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "
MISSING = object()
"""What stands where nothing does: null is something."""


class _Member(NamedTuple):
    """Where a member stands: from its key to the end of its value."""

    key: str
    start: int
    value_start: int
    end: int


class _Object(NamedTuple):
    """Where an object stands in the text, with its braces, and what is in it."""

    start: int
    end: int
    members: tuple[_Member, ...]

    def named(self, key: str) -> _Member | None:
        """The last of that name, which is the one that counts."""
        return next((each for each in reversed(self.members) if each.key == key), None)


def parsed(text: str) -> dict[str, Any]:
    """What the text says; an error when it is not one JSON object. An empty text says nothing."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deep"
        raise InvalidInput(f"it is not plain JSON ({where})") from error
    if not isinstance(value, dict):
        raise InvalidInput("it is JSON, but not an object")
    return value


def with_member(text: str, keys: Sequence[str], value: Any) -> str:
    """The text in which `value` stands under these names, one inside the other; whatever stood there is replaced."""
    whole = parsed(text)
    wanted = _set(whole, keys, value)
    if member(whole, keys) == value:
        return text
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        return _written(wanted, "", end_of_line) + end_of_line
    return _checked(_spliced(text, keys, value, end_of_line), wanted)


def without_member(text: str, keys: Sequence[str]) -> str:
    """The text in which nothing stands under these names."""
    whole = parsed(text)
    if member(whole, keys) is MISSING:
        return text
    *outer, name = keys
    inside = whole if not outer else member(whole, outer)
    left = {key: each for key, each in inside.items() if key != name}
    new = text
    while (place := _member_in(new, keys)) is not None:  # a name may stand there twice
        new = _cut(new, *place)
    return _checked(new, _set(whole, outer, left) if outer else left)


def member(whole: Any, keys: Sequence[str]) -> Any:
    """What stands under these names; `MISSING` when nothing does."""
    for key in keys:
        if not isinstance(whole, dict) or key not in whole:
            return MISSING
        whole = whole[key]
    return whole


def _set(whole: dict[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = keys
    if not rest:
        return {**whole, first: value}
    inside = whole.get(first, {})
    if not isinstance(inside, dict):
        raise InvalidInput(f"{first!r} in it is not an object")
    return {**whole, first: _set(inside, rest, value)}


def _spliced(text: str, keys: Sequence[str], value: Any, end_of_line: str) -> str:
    place, outer = _object_at(text, _blank(text, 0)), ""
    for depth, key in enumerate(keys, start=1):
        found = place.named(key)
        if found is None:
            for missing in reversed(keys[depth:]):
                value = {missing: value}
            return _added(text, place, key, value, outer, end_of_line)
        outer = _margin_of(text, place, outer + _INDENT)
        if depth == len(keys):
            return text[: found.value_start] + _written(value, outer, end_of_line) + text[found.end :]
        place = _object_at(text, found.value_start)
    return text


def _added(text: str, place: _Object, key: str, value: Any, outer: str, end_of_line: str) -> str:
    """A new last member; `outer` is the margin of the line that the object begins in."""
    margin = _margin_of(text, place, outer + _INDENT)
    member = f"{json.dumps(key)}: {_written(value, margin, end_of_line)}"
    if not place.members:
        return f"{text[: place.start]}{{{end_of_line}{margin}{member}{end_of_line}{outer}}}{text[place.end :]}"
    last = place.members[-1].end
    return f"{text[:last]},{end_of_line}{margin}{member}{text[last:]}"


def _cut(text: str, place: _Object, gone: _Member) -> str:
    at = place.members.index(gone)
    if len(place.members) == 1:
        return f"{text[: place.start]}{{}}{text[place.end :]}"
    if at:  # with the comma before it
        return text[: place.members[at - 1].end] + text[gone.end :]
    return text[: gone.start] + text[place.members[1].start :]


def _member_in(text: str, keys: Sequence[str]) -> tuple[_Object, _Member] | None:
    place = _object_at(text, _blank(text, 0))
    for key in keys[:-1]:
        holder = place.named(key)
        if holder is None:
            return None
        place = _object_at(text, holder.value_start)
    found = place.named(keys[-1])
    return None if found is None else (place, found)


def _object_at(text: str, start: int) -> _Object:
    """The object that begins here. The text was parsed before: it is one."""
    members: list[_Member] = []
    at = _blank(text, start + 1)
    while text[at] != "}":
        key, after = _DECODER.raw_decode(text, at)
        value_start = _blank(text, _blank(text, after) + 1)
        end = _DECODER.raw_decode(text, value_start)[1]
        members.append(_Member(key, at, value_start, end))
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    return _Object(start, at + 1, tuple(members))


def _blank(text: str, at: int) -> int:
    """Where the next sign is."""
    found = _BLANK.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def _margin_of(text: str, place: _Object, otherwise: str = _INDENT) -> str:
    """What stands before the members of an object in their lines."""
    if not place.members:
        return otherwise
    start = place.members[0].start
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before if not before.strip() else otherwise


def _written(value: Any, margin: str, end_of_line: str) -> str:
    lines = json.dumps(value, indent=len(_INDENT), ensure_ascii=False).split("\n")
    return (end_of_line + margin).join(lines)


def _checked(new: str, wanted: dict[str, Any]) -> str:
    if parsed(new) != wanted:
        raise InvalidInput("it cannot be changed without changing something else")
    return new
