"""ChatGPT's data export: what it was asked to remember, what it showed to remember, and the custom instructions.

An export has no list of saved memories: they are found in its conversations, where the tool `bio` writes them down and
where each conversation was shown them. Conversations themselves are another import.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.files import heads, parts
from memoranda.importers.json_pieces import Record, records
from memoranda.importers.told import made_id, moment_of, name_of, text_of

_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_SIGNS = (b'"mapping"', b'"create_time"')
_TOOL = "bio"
# `1. [2026-03-01]. Anna reads at night.`
_LISTED = re.compile(r"^\d+\.[ \t]+\[(\d{4}-\d{2}-\d{2})\]\.?[ \t]+", re.MULTILINE)
_QUOTED = re.compile(r"```(.*?)```", re.DOTALL)


class _Found(NamedTuple):
    """Something remembered, in one message."""

    text: str
    sort: str
    kind: Kind | None = None
    at: int | None = None


class Reader:
    """Each thing once, however many conversations were shown it."""

    name = "chatgpt"
    title = "ChatGPT: the ZIP or folder of a data export, or its conversations.json"

    def reads(self, path: Path) -> bool:
        return any(all(sign in head for sign in _SIGNS) for head in heads(path, _CONVERSATIONS).values())

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        seen: set[str] = set()
        known = False
        with parts(path, _CONVERSATIONS) as found:
            for part in found:
                with part.open() as stream:
                    for record in records(stream, under=(), within=part.name):
                        ours = isinstance(record, Record) and isinstance(record.value.get("mapping"), Mapping)
                        known = known or ours
                        if isinstance(record, Unread):
                            yield record
                        elif ours:
                            yield from _conversation(record, seen)
                        else:
                            yield Unread(record.place, "no conversation")
        if not known:
            raise InvalidInput(
                f"{path.name} has no conversations of ChatGPT in it",
                hint="Give the export of ChatGPT as it came, or conversations.json from it.",
            )


def _conversation(record: Record, seen: set[str]) -> Iterator[Imported]:
    mapping = record.value["mapping"]
    conversation = name_of(record.value.get("conversation_id")) or name_of(record.value.get("id"))
    begun = moment_of(record.value.get("create_time"))
    for key, node in mapping.items():
        message = _message(node)
        for found in _remembered(message, node, mapping):
            identity = made_id(found.sort, found.text)
            if identity in seen:
                continue
            seen.add(identity)
            at = found.at or moment_of(message.get("create_time")) or begun
            yield Imported(
                text=found.text,
                id=identity,
                place=f"{record.place}, message {name_of(key)}",
                kind=found.kind,
                conversation=conversation,
                tags=(found.sort,),
                created_at=at,
                updated_at=at,
            )


def _message(node: Any) -> Mapping[str, Any]:
    """Nodes without a message only hold the tree together."""
    message = node.get("message") if isinstance(node, Mapping) else None
    return message if isinstance(message, Mapping) else {}


def _remembered(message: Mapping[str, Any], node: Any, mapping: Mapping[str, Any]) -> Iterator[_Found]:
    content = message.get("content")
    if not isinstance(content, Mapping):
        return
    sort = content.get("content_type")
    if sort == "model_editable_context":
        yield from _shown(content.get("model_set_context"))
    elif sort == "user_editable_context":
        yield from _instructions(content, message.get("metadata"))
    elif message.get("recipient") == _TOOL and _answered(node, mapping):
        parts = content.get("parts")
        said = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
        if text := text_of(said or content.get("text")):
            yield _Found(text, "saved")


def _answered(node: Mapping[str, Any], mapping: Mapping[str, Any]) -> bool:
    """Whether the tool did it. A call that nothing came back from was kept by nobody."""
    children = node.get("children")
    names = [child for child in children if isinstance(child, str)] if isinstance(children, list) else []
    authors = [_message(mapping.get(name)).get("author") for name in names]
    return any(isinstance(author, Mapping) and author.get("name") == _TOOL for author in authors)


def _shown(given: Any) -> Iterator[_Found]:
    """The numbered list of memories that a conversation began with."""
    text = given if isinstance(given, str) else ""
    starts = list(_LISTED.finditer(text))
    if not starts and (said := text_of(text)):
        yield _Found(said, "saved")
    ends = [each.start() for each in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=False):
        if said := text_of(text[start.end() : end]):
            yield _Found(said, "saved", at=moment_of(start[1]))


def _instructions(content: Mapping[str, Any], metadata: Any) -> Iterator[_Found]:
    """What a person wrote of themselves, and of how they want to be answered."""
    told = metadata.get("user_context_message_data") if isinstance(metadata, Mapping) else None
    plain: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    fields: tuple[tuple[str, str, Kind], ...] = (
        ("about_user_message", "user_profile", "fact"),
        ("about_model_message", "user_instructions", "preference"),
    )
    for name, wrapped, kind in fields:
        text = text_of(plain.get(name)) or _unwrapped(content.get(wrapped))
        if text:
            yield _Found(text, "instructions", kind=kind)


def _unwrapped(given: Any) -> str:
    """Their words out of the words around them, which are for the model."""
    text = text_of(given)
    quoted = _QUOTED.search(text)
    return quoted[1].strip() if quoted else text
