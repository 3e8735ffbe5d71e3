"""Claude's data export: what Claude remembers of a person and of projects, and what projects are told to do.

Conversations and the documents of projects are no memories and are not read.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.files import heads, parts
from memoranda.importers.json_pieces import Record, records
from memoranda.importers.prose import passages
from memoranda.importers.told import kept_of, made_id, moment_of, name_of, said_of, tags_of, text_of

_MEMORIES = re.compile(r"(?:^|/)memories(?:-\d+)?(?:\.json|/[^/]+\.json)$")
_PROJECTS = re.compile(r"(?:^|/)projects(?:-\d+)?(?:\.json|/[^/]+\.json)$")
_EITHER = re.compile(rf"{_MEMORIES.pattern}|{_PROJECTS.pattern}")
_REMEMBERED = ("conversations_memory", "project_memories", "memory_files")
_SIGNS = tuple(f'"{name}"'.encode() for name in (*_REMEMBERED, "prompt_template"))
_SAID_HOW = re.compile(r"\[(stated|inferred)\][ \t]+")


class Reader:
    """One memory for each paragraph or point of what Claude keeps as prose."""

    name = "claude"
    title = "Claude: the ZIP or folder of a data export, or its memories.json"

    def reads(self, path: Path) -> bool:
        return any(sign in head for head in heads(path, _EITHER).values() for sign in _SIGNS)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        names = _project_names(path)
        known = False
        with parts(path, _EITHER) as found:
            for part in found:
                with part.open() as stream:
                    for record in records(stream, under=(), within=part.name):
                        ours = isinstance(record, Record) and _is_ours(record.value)
                        known = known or ours
                        if isinstance(record, Unread):
                            yield record
                        elif ours:
                            yield from _memories(record, names)
                        else:
                            yield Unread(record.place, "neither memories nor a project")
        if not known:
            raise InvalidInput(
                f"{path.name} has no memories of Claude in it",
                hint="Give the export of claude.ai as it came, or memories.json from it.",
            )


def _is_ours(value: Mapping[str, Any]) -> bool:
    return any(name in value for name in (*_REMEMBERED, "prompt_template"))


def _project_names(path: Path) -> dict[str, str]:
    """What projects are called: their memories only tell their ids."""
    named: dict[str, str] = {}
    with parts(path, _PROJECTS) as found:
        for part in found:
            with part.open() as stream:
                for record in records(stream, under=()):
                    if isinstance(record, Record) and (uuid := name_of(record.value.get("uuid"))):
                        named[uuid] = name_of(record.value.get("name"))
    return named


def _memories(record: Record, names: Mapping[str, str]) -> Iterator[Imported | Unread]:
    value, place = record.value, record.place
    yield from _prose(value.get("conversations_memory"), f"{place}, conversations_memory", tag="conversations")
    yield from _of_projects(value.get("project_memories"), place, names)
    files = value.get("memory_files") or []
    for number, file in enumerate(files if isinstance(files, list) else [], start=1):
        where = f"{place}, memory_files {number}"
        if isinstance(file, Mapping):
            more = {"file": name_of(file.get("path"))}
            yield from _prose(file.get("content"), where, tag="files", at=moment_of(file.get("updated_at")), more=more)
        else:
            yield Unread(where, "not an object")
    if "prompt_template" in value:
        yield from _of_project(record)


def _of_projects(given: Any, place: str, names: Mapping[str, str]) -> Iterator[Imported | Unread]:
    for uuid, text in given.items() if isinstance(given, Mapping) else ():
        project = name_of(uuid)
        more = {"project": project}
        where = f"{place}, project_memories"
        yield from _prose(text, where, tag="project", about=names.get(project) or project, more=more)


def _of_project(record: Record) -> Iterator[Imported | Unread]:
    """What a person told a project: its description, and how to answer in it."""
    value, project = record.value, name_of(record.value.get("name"))
    at, more = moment_of(value.get("updated_at")), {"project": name_of(value.get("uuid"))}
    fields: tuple[tuple[str, Kind], ...] = (("description", "note"), ("prompt_template", "preference"))
    for field, kind in fields:
        where = f"{record.place}, {field}"
        yield from _prose(value.get(field), where, tag="project", kind=kind, about=project, at=at, more=more)


def _prose(
    text: Any,
    place: str,
    *,
    tag: str,
    kind: Kind = "note",
    about: str = "",
    at: int | None = None,
    more: Mapping[str, Any] | None = None,
) -> Iterator[Imported | Unread]:
    if text is None or text == "":
        return
    if not isinstance(text, str):
        yield Unread(place, "not a text")
        return
    for passage in passages(text):
        how = _SAID_HOW.match(passage.text)
        said = text_of(passage.text[how.end() :] if how else passage.text)
        full = said_of(about, said)
        told = {**(more or {}), "section": name_of(passage.heading), "basis": how[1] if how else ""}
        yield Imported(
            text=full,
            id=made_id(about, full),
            place=f"{place}, line {passage.line}",
            kind=kind,
            about=about,
            tags=tags_of([tag, name_of(passage.heading)]),
            metadata=kept_of(told),
            created_at=at,
            updated_at=at,
        )
