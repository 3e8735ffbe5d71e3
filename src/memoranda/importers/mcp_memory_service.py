"""mcp-memory-service: its SQLite store, or the JSON that it exports. Vectors, graph and beliefs are not read."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.files import head_of, stream_of
from memoranda.importers.json_pieces import parsed, records
from memoranda.importers.sqlite_file import has_table, is_sqlite, opened
from memoranda.importers.told import importance_of, kept_of, kind_of, moment_of, name_of, share_of, tags_of, text_of

_NEEDED = ("content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at")
_DEFAULT_STORE = "default"
_UNTAGGED = "untagged"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SIGNS = (b'"export_metadata"', b'"content_hash"')
_BY_KIND: dict[Kind, str] = {
    "fact": "fact observation insight learning pattern",
    "preference": "preference preference_signal user_correction",
    "decision": "decision architecture tool_choice approach configuration",
    "entity": "entity stakeholder",
    "episode": "episode session conversation conversation_turn meeting ceremony milestone error bug failure",
    "note": "note document reference research planning communication",
}
_KINDS: dict[str, Kind] = {word: kind for kind, words in _BY_KIND.items() for word in words.split()}
_OF_ITS_OWN = ("superseded_by", "conversation_id", "importance", "importance_score")


class Reader:
    """Memories of mcp-memory-service. What it deleted comes as forgotten, what was superseded as superseded."""

    name = "mcp-memory-service"
    title = "mcp-memory-service: its SQLite store, or its JSON export"

    def reads(self, path: Path) -> bool:
        if is_sqlite(path):
            return has_table(path, "memories", _NEEDED)
        head = head_of(path)
        return all(sign in head for sign in _SIGNS)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        return _rows(path) if is_sqlite(path) else _exported(path)


def _rows(path: Path) -> Iterator[Imported | Unread]:
    with opened(path) as file:
        file.check("memories", _NEEDED, of="mcp-memory-service")
        for number, row in enumerate(file.rows("select * from memories order by rowid"), start=1):
            metadata = parsed(str(row["metadata"] or "{}").encode("utf-8", "replace"))
            yield _memory(row, metadata, place=f"memories row {number}")


def _exported(path: Path) -> Iterator[Imported | Unread]:
    known = False
    with stream_of(path) as stream:
        for found in records(stream, under=("memories",)):
            if isinstance(found, Unread):
                yield found
            elif "content" not in found.value and not known:
                raise InvalidInput(
                    f"{path.name} is no export of mcp-memory-service",
                    hint="Give its SQLite file, or the JSON with export_metadata and memories in it.",
                )
            else:
                known = True
                yield _memory(found.value, found.value.get("metadata"), place=found.place)


def _memory(row: Mapping[str, Any], metadata: Any, *, place: str) -> Imported | Unread:
    text = text_of(row.get("content"))
    if not text:
        return Unread(place, "no content")
    more = metadata if isinstance(metadata, Mapping) else {}
    successor = _identity(row.get("superseded_by")) or _identity(more.get("superseded_by"))
    store = name_of(row.get("store"))
    importance = importance_of(more.get("importance"))
    gone = row.get("deleted_at") is not None
    return Imported(
        text=text,
        id=_identity(row.get("content_hash")),
        place=place,
        kind=kind_of(row.get("memory_type"), _KINDS),
        importance=importance_of(more.get("importance_score")) if importance is None else importance,
        # 1 is what its column has when nobody has said anything.
        confidence=None if row.get("confidence") == 1 else share_of(row.get("confidence")),
        conversation=name_of(more.get("conversation_id")),
        tags=tuple(tag for tag in tags_of(row.get("tags"), [row.get("memory_type")]) if tag != _UNTAGGED),
        metadata=kept_of(more, without=_OF_ITS_OWN),
        state="forgotten" if gone else "superseded" if successor else "live",
        superseded_by=successor,
        created_at=moment_of(row.get("created_at")),
        updated_at=moment_of(row.get("updated_at")),
        owner="" if store == _DEFAULT_STORE else store,
    )


def _identity(given: Any) -> str:
    """The digest of a text, named as one: bare, it would look like a key that somebody left in a text."""
    name = name_of(given)
    return f"sha256:{name}" if _DIGEST.fullmatch(name) else name
