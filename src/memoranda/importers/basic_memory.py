"""basic-memory: the Markdown notes of a project. Its database is made from them, so that it is not read."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.domain.text import MAX_TEXT
from memoranda.importers.files import head_of, stream_of
from memoranda.importers.prose import Passage, passages
from memoranda.importers.told import kept_of, kind_of, made_id, moment_of, name_of, said_of, sentence, tags_of, text_of

_LONGEST_NOTE = 4 << 20
_LOOKED_AT = 20
_LONGEST_FRONT = 40
"""So many lines of the front matter are looked at for what a note is."""
_BOM = b"\xef\xbb\xbf"
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_OBSERVATION = re.compile(r"\[([^\[\]()\s][^\[\]()]{0,63})\] (.*)")
_TASK_MARKS = frozenset("xX-/")
_RELATION = re.compile(r"""(?:"([^"\[\]]+)"|'([^'\[\]]+)'|([^\[\]]*?)) ?\[\[([^\[\]]+)\]\] ?(?:\((.*)\))?""")
_CONTEXT = re.compile(r" ?\(([^()]*)\)\Z")
_TAG = re.compile(r"(?<![\w#&])#([^\s#()\[\],;]+)")
_BARE_TAG = re.compile(r"#[^\s#()\[\],;]+")
_BY_KIND: dict[Kind, str] = {
    "fact": "fact observation location",
    "preference": "preference likes dislikes",
    "decision": "decision choice",
    "entity": "entity person",
    "episode": "episode event meeting milestone",
    "note": "note tip idea insight",
}
_KINDS: dict[str, Kind] = {word: kind for kind, words in _BY_KIND.items() for word in words.split()}


class _Note(NamedTuple):
    """What a note says of itself."""

    place: str
    title: str
    permalink: str
    tags: tuple[str, ...]
    created_at: int | None
    updated_at: int | None
    owner: str


class Reader:
    """Observations, relations and, unless `prose=no` is asked for, the paragraphs between them."""

    name = "basic-memory"
    title = "basic-memory: the folder of a project with its Markdown notes"

    def reads(self, path: Path) -> bool:
        notes = _first_notes(path) if path.is_dir() else [path] if path.suffix == ".md" else []
        return any(_has_permalink(head_of(note)) for note in notes)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        folder = path if path.is_dir() else path.parent
        notes = _notes(path) if path.is_dir() else [path]
        if not notes:
            raise InvalidInput(f"{path.name} holds no Markdown notes", hint="Give the folder of the project.")
        with_prose = options.get("prose", "yes") != "no"
        for note in notes:
            yield from _read(note, folder=folder, with_prose=with_prose)


def _first_notes(folder: Path) -> list[Path]:
    """Some notes, if there are any where one looks first: the folder may be a whole disk."""
    try:
        entries = islice(folder.rglob("*"), _LOOKED_AT * 100)
        return list(islice((entry for entry in entries if entry.suffix == ".md"), _LOOKED_AT))
    except OSError:
        return []


def _has_permalink(head: bytes) -> bool:
    """Whether a note names its permalink in its front matter, as each of theirs does."""
    first, *lines = head.removeprefix(_BOM).split(b"\n", _LONGEST_FRONT + 1)
    if first.rstrip() != b"---":
        return False
    for line in lines[:_LONGEST_FRONT]:
        if line.rstrip() == b"---":
            return False
        if line.startswith(b"permalink:"):
            return True
    return False


def _notes(folder: Path) -> list[Path]:
    """Every note of a project by name, without what is hidden or elsewhere."""
    found = [
        note
        for note in folder.rglob("*.md")
        if note.is_file()
        and not note.is_symlink()
        and not any(part.startswith(".") for part in note.relative_to(folder).parts)
    ]
    return sorted(found, key=lambda note: note.relative_to(folder).as_posix())


def _read(path: Path, *, folder: Path, with_prose: bool) -> Iterator[Imported | Unread]:
    place = name_of(path.relative_to(folder).as_posix())
    with stream_of(path) as stream:
        raw = stream.read(_LONGEST_NOTE + 1)
    if len(raw) > _LONGEST_NOTE:
        yield Unread(place, f"longer than {_LONGEST_NOTE >> 20} MB")
        return
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    front = _FRONT.match(text)
    fields = _fields(front[1]) if front else {}
    changed = round(path.stat().st_mtime * 1000)
    note = _Note(
        place=place,
        title=name_of(fields.get("title")) or name_of(path.stem),
        permalink=name_of(fields.get("permalink")) or place.removesuffix(".md"),
        tags=tags_of(fields.get("tags")),
        # Without dates in it a note is as old as its file; so it is in basic-memory.
        created_at=moment_of(fields.get("created")) or changed,
        updated_at=moment_of(fields.get("modified", fields.get("updated"))) or changed,
        owner=name_of(folder.resolve().name),
    )
    first_line = text[: front.end()].count("\n") + 1 if front else 1
    for passage in passages(text[front.end() :] if front else text, first_line=first_line):
        memory = _point(note, passage) if passage.point else None
        if memory is not None or with_prose:
            yield memory or _prose(note, passage)


def _fields(front: str) -> dict[str, str | list[str]]:
    """Of YAML what these notes have: names with values, and lists."""
    fields: dict[str, str | list[str]] = {}
    current = ""
    for line in front.splitlines():
        if field := _FIELD.fullmatch(line):
            current = field[1].casefold()
            bare = field[2].strip()
            listed = bare.startswith("[") and bare.endswith("]")
            fields[current] = [_bare(item) for item in bare[1:-1].split(",")] if listed else _bare(bare)
        elif (item := _ITEM.fullmatch(line)) and current:
            held = fields[current]
            if not isinstance(held, list):
                held = fields[current] = [held] if held else []
            held.append(_bare(item[1]))
    return fields


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _point(note: _Note, passage: Passage) -> Imported | None:
    """A point of a list when it is an observation or a relation; both are short, and stand in one line."""
    if len(passage.text) > MAX_TEXT:
        return None
    line = " ".join(passage.text.split())
    observed = _OBSERVATION.fullmatch(line)
    if observed and observed[1] not in _TASK_MARKS:
        return _observation(note, passage, category=observed[1], text=observed[2])
    related = _RELATION.fullmatch(line)
    return _relation(note, passage, related) if related else None


def _observation(note: _Note, passage: Passage, *, category: str, text: str) -> Imported | None:
    context = _CONTEXT.search(text)
    told = text[: context.start()] if context else text
    said = text_of(_without_last_tags(told))
    if not said:
        return None
    memory = _imported(note, passage, said_of(note.title, said))
    return memory._replace(
        kind=kind_of(category, _KINDS) or "fact",
        context=name_of(context[1]) if context else "",
        tags=tags_of(_TAG.findall(told), [category], note.tags),
    )


def _without_last_tags(text: str) -> str:
    words = text.split(" ")
    while words and _BARE_TAG.fullmatch(words[-1]):
        words.pop()
    return " ".join(words)


def _relation(note: _Note, passage: Passage, related: re.Match[str]) -> Imported:
    relation = name_of(related[1] or related[2] or related[3])
    target = name_of(related[4].partition("|")[0])
    memory = _imported(note, passage, sentence(note.title, relation, target))
    more = {**(memory.metadata or {}), "relation": relation, "to": target}
    return memory._replace(kind="fact", context=name_of(related[5]), metadata=kept_of(more))


def _prose(note: _Note, passage: Passage) -> Imported:
    return _imported(note, passage, said_of(note.title, text_of(passage.text)))._replace(kind="note")


def _imported(note: _Note, passage: Passage, text: str) -> Imported:
    heading = "" if passage.heading == note.title else name_of(passage.heading)
    return Imported(
        text=text,
        id=f"{note.permalink}#{made_id(text)}",
        place=f"{note.place}, line {passage.line}",
        about=note.title,
        tags=note.tags,
        metadata=kept_of({"note": note.permalink, "section": heading}),
        created_at=note.created_at,
        updated_at=note.updated_at,
        owner=note.owner,
    )
