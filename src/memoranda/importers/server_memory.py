"""The reference MCP server-memory: its JSONL file of entities, observations and relations. It keeps no times."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.files import head_of, stream_of
from memoranda.importers.json_pieces import Record, parsed, records
from memoranda.importers.told import kept_of, kind_of, made_id, name_of, said_of, sentence, tags_of, text_of

_KINDS: dict[str, Kind] = {
    "decision": "decision",
    "preference": "preference",
    "event": "episode",
    "meeting": "episode",
    "episode": "episode",
    "note": "note",
    "document": "note",
}


class Reader:
    """Entities become what they are about; each observation and each relation becomes a memory."""

    name = "server-memory"
    title = "MCP server-memory: its memory.jsonl"

    def reads(self, path: Path) -> bool:
        first = next((line for line in head_of(path).splitlines() if line.strip()), b"")
        value = parsed(first)
        return isinstance(value, Mapping) and _is_ours(value)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        ours = others = 0
        with stream_of(path) as stream:
            for found in records(stream, under=("entities", "relations")):
                if isinstance(found, Record) and (found.under or _is_ours(found.value)):
                    ours += 1
                    yield from _memories(found)
                else:
                    others += 1
                    if others > 100 and not ours:
                        raise _foreign(path)
                    yield found if isinstance(found, Unread) else Unread(found.place, "neither entity nor relation")
        if others and not ours:
            raise _foreign(path)


def _foreign(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path.name} holds no entities and no relations",
        hint="Give the file that MEMORY_FILE_PATH of the server names.",
    )


def _is_ours(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return (kind == "entity" and "name" in value) or (kind == "relation" and "from" in value and "to" in value)


def _memories(found: Record) -> Iterator[Imported | Unread]:
    value = found.value
    if value.get("type", "relation" if "relationType" in value else "entity") == "relation":
        yield _relation(value, found.place)
        return
    name, observations = name_of(value.get("name")), value.get("observations", [])
    if not name or not isinstance(observations, list):
        yield Unread(found.place, "no name" if not name else "observations are no list")
        return
    sort = name_of(value.get("entityType"))
    kind = kind_of(sort, _KINDS)
    if not observations:
        # Nothing is known of it but that it is there.
        text = f"{name} is of the kind {sort}." if sort else name
        yield _imported(text, found.place, about=name, kind="entity", sort=sort)
    for number, observation in enumerate(observations, start=1):
        text, place = text_of(observation), f"{found.place}, observation {number}"
        if text:
            yield _imported(said_of(name, text), place, about=name, kind=kind or "fact", sort=sort)
        else:
            yield Unread(place, "no text")


def _relation(value: Mapping[str, Any], place: str) -> Imported | Unread:
    subject, target = name_of(value.get("from")), name_of(value.get("to"))
    relation = name_of(value.get("relationType"))
    if not subject or not target:
        return Unread(place, "a relation without two ends")
    imported = _imported(sentence(subject, relation, target), place, about=subject, kind="fact", sort="relation")
    return imported._replace(metadata=kept_of({"relation": relation, "to": target}))


def _imported(text: str, place: str, *, about: str, kind: Kind, sort: str) -> Imported:
    return Imported(text, id=made_id(about, text), place=place, kind=kind, about=about, tags=tags_of([sort]))
