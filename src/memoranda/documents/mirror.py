"""The mirror: memories as Markdown that people read and edit. Here is what they look like and where they stand.

One file for each scope and shelf; a shelf is a kind, or the profile. The same memories give the same bytes: nothing in
a file changes unless a memory does. Pure: nothing here reads or writes a disk. `mirror_reading` is the way back.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Kind, Memory
from memoranda.domain.profile import is_entry
from memoranda.domain.scope import Scope

Shelf = Literal["fact", "preference", "decision", "entity", "episode", "note", "profile"]
SHELVES: tuple[Shelf, ...] = get_args(Shelf)
_FILES: Mapping[Shelf, str] = {
    "fact": "facts.md",
    "preference": "preferences.md",
    "decision": "decisions.md",
    "entity": "entities.md",
    "episode": "episodes.md",
    "note": "notes.md",
    "profile": "profile.md",
}
_SHELF_OF = {name: shelf for shelf, name in _FILES.items()}
CONFLICT = "conflict"
"""The tag of an edit that was kept beside what the store has."""

HEAD = "<!-- memoranda mirror 1"
UNREAD = "<!-- What stands below is not a list item, and was not read. -->"
HOW = (
    "<!-- Correct a line to supersede it, delete it to forget it, add `- ...` to remember something new. -->",
    "<!-- Leave the m: comments where they are. Then run `memoranda mirror` on this folder again. -->",
)
INDENT = "  "
FENCE = re.compile(r"[`~]{3}")
_BREAKS_A_PAGE = re.compile(r"#{1,6}(?:\s|$)|[-=_*](?:\s*[-=_*])*\s*$")
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_JOINERS = "\u200c\u200d"
_AMBIGUOUS = re.compile(r"&(?=#x)|<(?=!--)")
_NOT_IN_A_COMMENT = re.compile(r"[^\w.:@/+, ]+|-{2,}")
_LONGEST_DETAIL = 80

_LONGEST_NAME = 100
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))}
)
_TOKEN = re.compile(r"%([0-9a-f]{2})|=([a-z])|([a-z0-9_.@+-])")


class Place(NamedTuple):
    """Which memories a file has: those of one scope on one shelf."""

    scope: str
    shelf: Shelf

    @property
    def path(self) -> str:
        """Relative to the folder of the mirror, with forward slashes."""
        return "/".join((*folders_of(self.scope), _FILES[self.shelf]))

    @property
    def kind(self) -> Kind:
        """The kind of what is newly written here."""
        return "note" if self.shelf == "profile" else self.shelf


class Raw(NamedTuple):
    """A line that stays as somebody wrote it, because it could not be taken; where a memory stands, if it is one's."""

    lines: tuple[str, ...]
    id: str = ""


class Page(NamedTuple):
    """What goes into one file."""

    place: Place
    memories: tuple[Memory, ...] = ()
    raw: tuple[Raw, ...] = ()
    unread: tuple[tuple[str, ...], ...] = ()

    @property
    def mark(self) -> str:
        return mark_of(memory.id for memory in self.memories)

    @property
    def empty(self) -> bool:
        return not (self.memories or self.raw or self.unread)


def place_of(memory: Memory) -> Place:
    """Where a memory stands."""
    return Place(memory.scope, "profile" if is_entry(memory) else memory.kind)


def is_shown(memory: Memory) -> bool:
    """Whether it is in the mirror at all. What waits for a person's yes is looked at in the review, not here."""
    return memory.state == "live" and memory.trust != "quarantined"


def mark_of(ids: Iterable[str]) -> str:
    """A short name for exactly these ids: which version of a file somebody has edited."""
    return hashlib.blake2b("\n".join(sorted(ids)).encode(), digest_size=6).hexdigest()


# -- files --


def folders_of(scope: str) -> tuple[str, ...]:
    """The folders of a scope. Names that some system would refuse, confuse or hide are escaped."""
    return tuple(name for segment in scope.split("/") for name in _names(segment))


def _names(segment: str) -> list[str]:
    """A segment as the name of a folder; a long one goes on in a folder inside, which `%` at its end says."""
    pieces = [""]
    for char in segment:
        token = f"={char.lower()}" if "A" <= char <= "Z" else f"%{ord(char):02x}" if char in ":~" else char
        if len(pieces[-1]) + len(token) > _LONGEST_NAME:
            pieces.append("")
        pieces[-1] += token
    last = len(pieces) - 1
    return [
        _harmless(piece, whole=place == last) + ("" if place == last else "%") for place, piece in enumerate(pieces)
    ]


def _harmless(name: str, *, whole: bool) -> str:
    if name.partition(".")[0] in _RESERVED or name.startswith("."):
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if whole and name.endswith("."):
        name = f"{name[:-1]}%2e"
    return f"{name[:-3]}%2emd" if whole and name.endswith(".md") else name


def place_at(path: str) -> Place | None:
    """The place of a file by its path, or None when no file of a mirror has such a path."""
    *folders, name = path.split("/")
    shelf = _SHELF_OF.get(name)
    segments = [""]
    for folder in folders:
        goes_on = folder.endswith("%")
        segments[-1] += _decoded(folder.removesuffix("%"))
        if not goes_on:
            segments.append("")
    if shelf is None or segments.pop() != "" or not segments:
        return None
    try:
        place = Place(Scope("/".join(segments)).path, shelf)
    except InvalidInput:
        return None
    return place if place.path == path else None


def _decoded(name: str) -> str:
    """What `_names` made of it; what it cannot have made is no scope."""
    if _TOKEN.sub("", name):
        return "/"
    return _TOKEN.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else found[2].upper() if found[2] else found[3], name
    )


# -- text --


def escaped_lines(text: str) -> list[str]:
    """A text as the lines of a list item, without indentation. What an editor would drop or nobody would see is
    written as `&#x...;`, which is how Markdown says it, too."""
    body = text.rstrip("\n")
    lines = body.split("\n")
    fenced = sum(FENCE.match(line) is not None for line in lines) % 2 == 0
    shown = [_escaped(line, first=place == 0, fenced=fenced) for place, line in enumerate(lines)]
    shown[-1] += "&#xa;" * (len(text) - len(body))
    return shown


def _escaped(line: str, *, first: bool, fenced: bool) -> str:
    special = {found.start() for found in _AMBIGUOUS.finditer(line)}
    if not (line.isascii() and line.isprintable()):
        special.update(place for place in range(len(line)) if _is_hidden(line, place))
    if line[-1:].isspace():
        special.add(len(line) - 1)
    if (first and line[:1].isspace()) or _BREAKS_A_PAGE.match(line) or (not fenced and FENCE.match(line)):
        special.add(0)
    if not special:
        return line
    return "".join(f"&#x{ord(char):x};" if place in special else char for place, char in enumerate(line))


def _is_hidden(line: str, place: int) -> bool:
    char = line[place]
    if char.isascii():
        return char < " " or char == "\x7f"
    if char in _JOINERS and 0 < place < len(line) - 1:
        # Between letters of other scripts, or inside an emoji, it belongs to the spelling.
        return line[place - 1].isascii() or line[place + 1].isascii()
    return unicodedata.category(char) in _HIDDEN


# -- pages --


def item_lines(memory: Memory) -> list[str]:
    """A memory as a list item, with its id in a comment at its end."""
    lines = escaped_lines(memory.text)
    comment = f"<!-- m:{memory.id}{_details(memory)} -->"
    if len(lines) > 1 and FENCE.match(lines[-1]):
        lines.append(comment)  # behind a fence it would keep it from closing
    else:
        lines[-1] = f"{lines[-1]} {comment}" if lines[-1] else comment
    return [f"- {lines[0]}".rstrip(), *(INDENT + line if line else "" for line in lines[1:])]


def _details(memory: Memory) -> str:
    """What else there is to know of it. For people: it is not read back."""
    parts = [f"{name} {_in_a_comment(value)}" for name, value in _named(memory) if value]
    parts += [
        word for word, so in (("untrusted", memory.trust != "trusted"), (CONFLICT, CONFLICT in memory.tags)) if so
    ]
    return f" {', '.join(parts)}" if parts else ""


def _named(memory: Memory) -> tuple[tuple[str, str], ...]:
    return (
        ("about", memory.about),
        ("attribute", memory.attribute),
        ("context", memory.context),
        ("said by", memory.speaker),
    )


def _in_a_comment(value: str) -> str:
    return _NOT_IN_A_COMMENT.sub("_", value)[:_LONGEST_DETAIL]


def rendered(page: Page) -> str:
    """A file, with line feeds. Oldest first; what was not taken stands where it belongs, or at the end."""
    instead: dict[str, list[str]] = {}
    for raw in page.raw:
        if raw.id:
            instead.setdefault(raw.id, []).extend(raw.lines)
    ordered = sorted(page.memories, key=lambda memory: (memory.created_at, memory.id))
    lines = [f"{HEAD} {page.place.scope} {page.place.shelf} {page.mark} -->", *HOW, "", heading(page.place), ""]
    for memory in ordered:
        lines += instead.pop(memory.id, ()) or item_lines(memory)
    for kept in (*instead.values(), *(raw.lines for raw in page.raw if not raw.id)):
        lines += kept
    if page.unread:
        lines += ["", UNREAD]
        for block in page.unread:
            lines += ["", *block]
    return "\n".join(lines).rstrip("\n") + "\n"


def heading(place: Place) -> str:
    """The first line that is shown."""
    return f"# {_FILES[place.shelf].removesuffix('.md').capitalize()} of {place.scope}"
