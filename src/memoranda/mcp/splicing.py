"""One member of a JSON text set or taken away, with everything else left byte for byte as it was. Pure.

Other programs and people write these files, too: their order, their spaces and their numbers are theirs.
"""

import json
import re
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "


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


def with_member(text: str, section: str, name: str, value: Any) -> str:
    """The text in which `section` has `value` under `name`; whatever stood there is replaced."""
    whole = parsed(text)
    inside = whole.get(section, {})
    if not isinstance(inside, dict):
        raise InvalidInput(f"{section!r} in it is not an object")
    if inside.get(name) == value and name in inside:
        return text
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        return _written({section: {name: value}}, "", end_of_line) + end_of_line
    new = _spliced(text, section, name, value, end_of_line)
    return _checked(new, {**whole, section: {**inside, name: value}})


def without_member(text: str, section: str, name: str) -> str:
    """The text in which `section` has nothing under `name`."""
    whole = parsed(text)
    inside = whole.get(section)
    if not isinstance(inside, dict) or name not in inside:
        return text
    new = text
    while (place := _member_in(new, section, name)) is not None:  # a name may stand there twice
        new = _cut(new, *place)
    return _checked(new, {**whole, section: {key: each for key, each in inside.items() if key != name}})


def _spliced(text: str, section: str, name: str, value: Any, end_of_line: str) -> str:
    root = _object_at(text, _blank(text, 0))
    holder = root.named(section)
    if holder is None:
        return _added(text, root, section, {name: value}, "", end_of_line)
    inner = _object_at(text, holder.value_start)
    margin = _margin_of(text, root)
    old = inner.named(name)
    if old is None:
        return _added(text, inner, name, value, margin, end_of_line)
    written = _written(value, _margin_of(text, inner, margin + _INDENT), end_of_line)
    return text[: old.value_start] + written + text[old.end :]


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


def _member_in(text: str, section: str, name: str) -> tuple[_Object, _Member] | None:
    holder = _object_at(text, _blank(text, 0)).named(section)
    if holder is None:
        return None
    inner = _object_at(text, holder.value_start)
    found = inner.named(name)
    return None if found is None else (inner, found)


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
