"""OpenClaw's own memory: MEMORY.md and the notes of each day, one memory for each list item, paragraph and table row.

What a program put there (comments, fenced code, blocks between OpenClaw's markers, injected memories) is no memory.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.told import tags_of, text_of

_CURATED = ("MEMORY.md", "memory.md")
_DAYS = "memory"
_LEFT_OUT = frozenset({"node_modules", "venv", "__pycache__"})
_MOST_BYTES = 4_000_000
# A heading says of what kind the things below it are.
_KINDS: Mapping[str, Kind] = {
    "preference": "preference", "preferences": "preference", "decision": "decision", "decisions": "decision",
    "fact": "fact", "facts": "fact", "people": "entity", "contacts": "entity", "devices": "entity",
}  # fmt: skip

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[-_ ]+(.+))?")
_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
# What OpenClaw writes between its markers is made anew by it; between those for people stands what people wrote.
_MADE = re.compile(r"<!--\s*openclaw:(?!human:)([\w:.-]+):start\s*-->.*?(?:<!--\s*openclaw:\1:end\s*-->|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INJECTED = re.compile(
    r"<(/?)(relevant[-_]memories|memory[-_]context|memories|memory|memoranda|system[-_]reminder|untrusted[-_]context)\b"
    r"[^<>]*>",
    re.IGNORECASE,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_ROW = re.compile(r"[ \t]*\|(.*)\|[ \t]*$")
_DASHES = re.compile(r"[ \t]*:?-+:?[ \t]*")


class Reader:
    """Reads a workspace of OpenClaw, or one file of it."""

    name = "openclaw-markdown"
    title = "OpenClaw MEMORY.md and memory/*.md: a workspace, or one of its files"

    def reads(self, path: Path) -> bool:
        try:
            if path.is_dir():
                return any((path / name).is_file() for name in _CURATED) or any((path / _DAYS).glob("*.md"))
            return path.is_file() and (path.name in _CURATED or (path.parent.name == _DAYS and path.suffix == ".md"))
        except OSError:
            return False

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        del options  # there are none
        files = list(_files(path))
        if not files:
            hint = "Give the workspace, such as ~/.openclaw/workspace, or one Markdown file."
            raise InvalidInput(f"{path.name} has no MEMORY.md and no memory/*.md", hint=hint)
        for name, file in files:
            yield from _read(name, file)


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Each with its path in the workspace: what is curated, then day by day. Links lead elsewhere: not followed."""
    if path.is_file():
        day = path.parent.name == _DAYS
        yield (f"{_DAYS}/{path.name}" if day else path.name), path
        return
    there = {each.name for each in path.iterdir()} if path.is_dir() else set()  # some disks know no case
    below = sorted((path / _DAYS).rglob("*.md")) if not (path / _DAYS).is_symlink() else []
    for file in (*(path / name for name in _CURATED if name in there), *below):
        name = file.relative_to(path)
        skipped = any(part.startswith(".") or part in _LEFT_OUT for part in name.parts)
        steps = [path.joinpath(*name.parts[: n + 1]) for n in range(len(name.parts))]
        if not skipped and file.is_file() and not any(step.is_symlink() for step in steps):
            yield name.as_posix(), file


def _read(name: str, file: Path) -> Iterator[Imported | Unread]:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            yield Unread(name, f"it is longer than {_MOST_BYTES:,} bytes")
            return
        text = content.decode("utf-8-sig")
    except OSError as error:
        yield Unread(name, f"it cannot be read: {error.strerror}")
        return
    except UnicodeDecodeError:
        yield Unread(name, "it is not UTF-8")
        return
    page = _page(name, text)
    for each in _pieces(page.lines):
        titles = tuple(_tag(title) for title in each.sections)
        yield Imported(
            text=text_of(each.text),
            id=f"{name}#L{each.line}",
            place=f"{name}#L{each.line}",
            kind=next((_KINDS[word] for title in reversed(titles) if (word := title.lower()) in _KINDS), page.kind),
            tags=tags_of([*page.tags, *titles, *each.tags]),
            created_at=page.day,
            occurred_at=page.day,
        )


# -- a file --


class _Page(NamedTuple):
    """A file without what is no memory: the same number of lines, so that each still has its own."""

    lines: Sequence[str]
    day: int | None
    tags: tuple[str, ...]
    kind: Kind | None


def _page(name: str, text: str) -> _Page:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    matter = _MATTER.match(text)
    said = _said(matter.group(1)) if matter else {}
    # Fences first: a marker or a tag in an example opens nothing.
    text = _without_fences(_blank(_MATTER, text))
    text = _without_injected(_blank(_COMMENT, _blank(_MADE, text)))
    stem = Path(name).stem
    dated = _DAY.fullmatch(stem)
    day = _day(dated.group(1)) if dated else None
    tags = [] if name in _CURATED else [(dated.group(2) or "") if dated and day is not None else stem]
    tags += said.get("tags", [])
    noted = None if day is not None else next((_day(each) for each in said.get("date", [])), None)
    return _Page(
        text.split("\n"),
        noted if day is None else day,
        tuple(_tag(tag) for tag in tags),
        None if day is None else "episode",
    )


def _said(matter: str) -> dict[str, list[str]]:
    """The front matter's tags and date: one line, or a list below."""
    said: dict[str, list[str]] = {}
    name = ""
    for line in matter.split("\n"):
        key, colon, value = line.partition(":")
        if line.startswith((" ", "\t", "-")):
            values = [line.strip().removeprefix("-")]
        elif colon:
            name = {"created": "date"}.get(key.strip().lower(), key.strip().lower())
            values = value.strip().strip("[]").split(",")
        else:
            continue
        said.setdefault(name, []).extend(word for each in values if (word := each.strip(" \t\"'")))
    return {name: said[name] for name in ("tags", "date") if name in said}


def _day(text: str) -> int | None:
    try:
        return to_ms(text[:10], name="date")
    except InvalidInput:
        return None


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Without what the pattern finds; only its line breaks stay."""
    return pattern.sub(lambda found: "\n" * found.group().count("\n"), text)


def _without_injected(text: str) -> str:
    """Without blocks that hosts put before a prompt. One that is never closed was only mentioned, and stays."""
    opened, closed = [], defaultdict[str, list[int]](list)
    for found in _INJECTED.finditer(text):
        name = found.group(2).lower()
        if found.group(1):
            closed[name].append(found.end())
        else:
            opened.append((found.start(), name))
    parts, at = [], 0
    for start, name in opened:
        later = bisect_right(closed[name], start)
        if start >= at and later < len(closed[name]):
            end = closed[name][later]
            parts += [text[at:start], "\n" * text.count("\n", start, end)]
            at = end
    return "".join((*parts, text[at:]))


def _without_fences(text: str) -> str:
    lines, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            closes = found and found.group(1).startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            lines.append("")
        elif found:
            fence = found.group(1)
            lines.append("")
        else:
            lines.append(line)
    return "\n".join(lines)


def _tag(text: str) -> str:
    return text.replace("*", "").replace("`", "").strip(" :#_")


# -- its lines --


class _Piece(NamedTuple):
    """One thing that stands in a file, and under which headings."""

    text: str
    line: int
    sections: tuple[str, ...]
    tags: tuple[str, ...] = ()


class _Open(NamedTuple):
    """A list item, a paragraph or a table row to which lines may still come."""

    line: int
    indent: int
    """Of a list item; -1 for a paragraph."""
    words: list[str]


def _pieces(lines: Sequence[str]) -> Iterator[_Piece]:
    return _Reading().pieces(lines)


class _Reading:
    """Walks through the lines of one file, with what stands above the one it is at."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []
        self._titled = False
        self._open: _Open | None = None
        self._above: list[tuple[int, str]] = []
        """The list items that this one stands below, each with its indent."""
        self._columns: list[str] = []

    def pieces(self, lines: Sequence[str]) -> Iterator[_Piece]:
        for number, line in enumerate(lines, 1):
            yield from self._line(number, line.expandtabs(4))
        yield from self._close()

    def _line(self, number: int, line: str) -> Iterator[_Piece]:
        heading, item, row = _HEADING.match(line), _ITEM.match(line), _ROW.match(line)
        if row is None:
            self._columns = []
        if not line.strip():
            yield from self._close()
        elif heading:
            yield from self._close()
            self._head(len(heading.group(1)), line[heading.end() :])
        elif _UNDERLINE.match(line) and self._open and self._open.indent < 0 and len(self._open.words) == 1:
            title, self._open = self._open.words[0], None
            self._head(1, title)
        elif _RULE.match(line):
            yield from self._close()
        elif row:
            yield from self._close()
            yield from self._row(number, [cell.strip() for cell in row.group(1).split("|")])
        elif item:
            yield from self._close()
            indent = len(item.group(1))
            self._above = [each for each in self._above if each[0] < indent]
            self._open = _Open(number, indent, [item.group(2).strip()])
        elif self._open is None:
            if not line.startswith(" "):
                self._above = []
            self._open = _Open(number, -1, [_unquoted(line)])
        else:
            self._open.words.append(_unquoted(line))

    def _head(self, level: int, title: str) -> None:
        """The first heading of the first level is the name of the file: it says nothing of what stands below."""
        self._above = []
        self._headings = [each for each in self._headings if each[0] < level]
        if level > 1 or self._titled:
            self._headings.append((level, title))
        self._titled = True

    def _row(self, number: int, cells: list[str]) -> Iterator[_Piece]:
        if all(_DASHES.fullmatch(cell) for cell in cells):
            return
        if not self._columns:
            self._columns = cells
            return
        named = zip(self._columns, cells, strict=False)
        text = "; ".join(f"{column}: {cell}" if column else cell for column, cell in named if cell)
        if text:
            yield self._piece(text, number)

    def _close(self) -> Iterator[_Piece]:
        done, self._open = self._open, None
        if done is None:
            return
        text = " ".join(word for word in done.words if word)
        tags: tuple[str, ...] = ()
        if done.indent >= 0 and (box := _BOX.match(text)):
            text, tags = text[box.end() :], ("todo" if box.group(1) == " " else "done",)
        if done.indent >= 0:
            # An item that only opens what stands below it is said with each of them, and not alone.
            opened = next((said for _, said in reversed(self._above) if said), "")
            text = f"{opened} {text}" if opened else text
            self._above.append((done.indent, text if text.rstrip("*_ ").endswith(":") else ""))
        if text.strip() and not (done.indent >= 0 and self._above[-1][1]):
            yield self._piece(text, done.line)._replace(tags=tags)

    def _piece(self, text: str, line: int) -> _Piece:
        return _Piece(text, line, tuple(title for _, title in self._headings))


def _unquoted(line: str) -> str:
    return line.strip().lstrip("> ").strip()
