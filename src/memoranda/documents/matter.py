"""What a document says of itself: in its front matter, its first heading and its name.

Of YAML only `key: value`, lists and quotes are read. What is not understood is left out with a note that names its
line; it is never an error, and a note never holds text of the document.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from memoranda.documents.lines import closes_fence, heading_of, lines_of, opens_fence
from memoranda.domain.clock import DAY_MS, to_ms
from memoranda.domain.document import Matter
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import MAX_TAGS, TRUSTS, Trust, outranks

EVERGREEN = frozenset({"MEMORY.md", "memory.md", "USER.md"})
_MOST_LINES = 200
_MOST_CHARACTERS = 200
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?")
_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*$|^#.*$")
_COMMENT_AFTER_LIST = re.compile(r"\][ \t]+#[^\]]*$")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?:#.*)?""")
_IN_LIST = re.compile(r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')|([^,"'\[\]]++)|(,)|(.)""")
_DAY = re.compile(r"(?<!\d)(\d{4})([-_./]?)(\d{2})\2(\d{2})(?:(?:\d\d){2,3})?(?!\d)")
_WEEK = re.compile(r"(?<!\d)(\d{4})-?W(\d{2})(?!\d)")
_LOOSE_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_YEARS = range(1970, 2200)
_KNOWN = frozenset({"title", "tags", "tag", "date", "created", "updated", "trust", "evergreen", "pinned"})
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off", "")

_Value = str | list[str]


class Told(NamedTuple):
    """What a document says of itself, and what could not be understood."""

    matter: Matter
    notes: tuple[str, ...] = ()


class _Fields:
    """The fields of a front matter, and notes on those that make no sense."""

    def __init__(self) -> None:
        self.values: dict[str, _Value] = {}
        self.lines: dict[str, int] = {}
        self.notes: list[str] = []

    def note(self, name: str, said: str) -> None:
        self.notes.append(f"line {self.lines[name]}: {name} {said}")

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        if isinstance(value, list):
            self.note(name, "is a list where one value is expected")
            return ""
        return value

    def day(self, name: str) -> int | None:
        value = self.text(name)
        if not value:
            return None
        found = _moment(value)
        if found is None:
            self.note(name, "is not a date")
        return found

    def flag(self, name: str) -> bool:
        value = self.text(name).casefold()
        if value not in _YES + _NO:
            self.note(name, "is neither true nor false")
        return value in _YES


def matter_of(path: str, text: str) -> Told:
    """What a document at this path, with this text, says of itself."""
    lines = lines_of(text)
    length = front_length(lines)
    fields = _fields(lines[1 : max(length - 1, 1)])
    name = path.rsplit("/", 1)[-1]
    evergreen = any([name in EVERGREEN, fields.flag("evergreen"), fields.flag("pinned")])
    told = (fields.day("date"), _day_of_name(path), fields.day("updated"), fields.day("created"))
    dated = next((day for day in told if day is not None), None)
    matter = Matter(
        title=(fields.text("title") or _first_title(lines[length:]))[:_MOST_CHARACTERS],
        tags=_tags(fields),
        dated=None if evergreen else dated,
        trust=_trust(fields),
        evergreen=evergreen,
    )
    return Told(matter, tuple(fields.notes))


def front_length(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, with the marks around it; 0 when there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for place, line in enumerate(lines[1:_MOST_LINES], 1):
        if line.rstrip() in ("---", "..."):
            # A text between two rules is a text: front matter begins with a key.
            said = next((each for each in lines[1:place] if each.strip() and not each.startswith("#")), "")
            return place + 1 if _KEY.fullmatch(said) else 0
    return 0


def trust_with(source: Trust, asked: Trust | None) -> Trust:
    """The trust of a document whose source is trusted so far and that asks for so much: the lesser of the two."""
    return source if asked is None or outranks(asked, source) else asked


def _fields(lines: Sequence[str]) -> _Fields:
    fields = _Fields()
    current = ""
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if key := _KEY.fullmatch(line):
            current = key[1].casefold()
            value = _value(key[2] or "")
            fields.values[current] = value or ""
            fields.lines[current] = number
            if value is None and current in _KNOWN:
                fields.note(current, "is not understood")
        elif (item := _ITEM.fullmatch(line)) and current:
            held = fields.values[current]
            items = [held] if held and isinstance(held, str) else list(held)
            fields.values[current] = [*items, _scalar(item[1] or "")]
        elif not line[0].isspace():
            fields.notes.append(f"line {number} is not understood")
    return fields


def _value(text: str) -> _Value | None:
    """A value; None when it is written in a way that is not read here."""
    bare = text.strip()
    if bare.startswith(("{", "&", "*", "!", "|", ">")):
        return None
    if not bare.startswith("["):
        return _scalar(bare)
    # A sign within the brackets begins a tag as people write it, not a remark.
    inside = _COMMENT_AFTER_LIST.sub("]", bare)
    if not inside.endswith("]"):
        return None
    items = [""]
    for found in _IN_LIST.finditer(inside[1:-1]):
        quoted, plain, comma, odd = found.groups()
        if odd:
            return None
        items[-1] += _unquoted(quoted) if quoted else (plain or "").strip()
        items += [""] * (comma is not None)
    return [item for item in items if item]


def _scalar(text: str) -> str:
    bare = text.strip()
    quoted = _QUOTED.fullmatch(bare)
    return _unquoted(quoted[1]) if quoted else _COMMENT.sub("", bare).strip()


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "\"'":
        return text
    inside = text[1:-1]
    return inside.replace("''", "'") if text[0] == "'" else re.sub(r"\\(.)", r"\1", inside)


def _tags(fields: _Fields) -> tuple[str, ...]:
    value = fields.values.get("tags", fields.values.get("tag", []))
    items = value if isinstance(value, list) else value.split(",")
    tags = (item.strip().lstrip("#")[:_MOST_CHARACTERS] for item in items)
    unique = tuple(dict.fromkeys(tag for tag in tags if tag))
    if len(unique) > MAX_TAGS:
        fields.notes.append(f"there are more than {MAX_TAGS} tags")
    return unique[:MAX_TAGS]


def _trust(fields: _Fields) -> Trust | None:
    asked = fields.text("trust").casefold()
    if asked in TRUSTS and asked != TRUSTS[0]:
        return asked
    if asked:
        fields.note("trust", "can only be lowered" if asked == TRUSTS[0] else f"is none of {', '.join(TRUSTS[1:])}")
    return None


def _first_title(lines: Sequence[str]) -> str:
    marks = ""
    for line in lines[:_MOST_LINES]:
        if marks:
            marks = "" if closes_fence(line, marks) else marks
            continue
        marks = opens_fence(line)
        heading = heading_of(line)
        if heading is not None and heading.level == 1:
            return heading.title
    return ""


def _moment(text: str) -> int | None:
    """The day of a date as people write it, in milliseconds."""
    try:
        moment = to_ms(text, name="date")
        return moment - moment % DAY_MS
    except InvalidInput:
        found = _LOOSE_DAY.match(text)
        return _day(int(found[1]), int(found[2]), int(found[3])) if found else None


def _day_of_name(path: str) -> int | None:
    """The last day that a path names. `2026/03/01.md` and `2026-03-01/notes.md` are dated, too."""
    days = [_day(int(found[1]), int(found[3]), int(found[4])) for found in _DAY.finditer(path)]
    days += [_monday(int(found[1]), int(found[2])) for found in _WEEK.finditer(path)]
    return next((day for day in reversed(days) if day is not None), None)


def _day(year: int, month: int, day: int) -> int | None:
    try:
        return to_ms(date(year, month, day), name="date") if year in _YEARS else None
    except ValueError:
        return None


def _monday(year: int, week: int) -> int | None:
    try:
        return to_ms(date.fromisocalendar(year, week, 1), name="date") if year in _YEARS else None
    except ValueError:
        return None
