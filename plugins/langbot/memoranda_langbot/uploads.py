"""Files that an operator uploads into the memory knowledge base, or pastes behind `import l2`: episodes as JSON."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import memoranda
from memoranda.domain.errors import Conflict, InvalidInput, Refused
from memoranda.domain.memory import State
from memoranda.domain.moving import LeftOut
from memoranda_langbot.places import scope_of_key

FORMAT = "langbot"
_OF_DOCUMENT = "document:"
_PAGE = 500
_HINT = 'Upload a JSON list such as [{"content": "…", "tags": [], "importance": 2, "timestamp": "2026-05-01"}].'


class Taken(NamedTuple):
    """What became of an upload, in numbers."""

    kept: int
    left_out: Mapping[LeftOut, int]
    quarantined: int


def document_tag(document_id: str) -> str:
    return f"{_OF_DOCUMENT}{document_id}"


def shown_tags(tags: tuple[str, ...]) -> list[str]:
    """Without those that only say which upload something came from."""
    return [tag for tag in tags if not tag.startswith(_OF_DOCUMENT)]


def ingest(root: memoranda.LongTermMemory, body: bytes, *, document_id: str, trusted: bool) -> Taken:
    """Keep the episodes of an upload: each in the session that its `user_key` names; without one, for all sessions.

    What names a key that is none of this plugin's is left out, never put elsewhere.
    """
    records = _records(body)
    places = {key: scope_of_key(root.scope, key) for key in map(_key, records) if key}
    owners = {key: scope for key, scope in places.items() if scope is not None}
    with _file(_tagged(records, document_tag(document_id))) as path:
        done = root.import_memories(path, format=FORMAT, owners=owners, trust="trusted" if trusted else "untrusted")
    return _taken(done)


def ingest_here(memory: memoranda.LongTermMemory, text: str, *, trusted: bool) -> Taken:
    """Keep pasted episodes in this very scope, whatever key they name."""
    with _file(_records(text.encode())) as path:
        done = memory.import_memories(
            path, format=FORMAT, foreign="here", dedupe="id_text", trust="trusted" if trusted else "untrusted"
        )
    return _taken(done)


def remove_document(root: memoranda.LongTermMemory, document_id: str) -> int:
    """Let go of all that came from one upload, wherever it went. How many it was.

    As one step back, so that the same file may be uploaded again; one by one when somebody has changed some of it.
    """
    tag, gone = document_tag(document_id), 0
    for memory in _places(root):
        while found := tuple(memory.list(here=True, tags=[tag], states=_THERE, limit=_PAGE)):
            if not gone:
                with suppress(Conflict, Refused):
                    return root.undo(memory.history(found[0])[0].event.sequence, below=True).receipt.memories
            memory.forget_many(found, states=_THERE, reason="the document was deleted", mode="now")
            gone += len(found)
    return gone


def _places(root: memoranda.LongTermMemory) -> Iterator[memoranda.LongTermMemory]:
    """The root, and every scope below it that holds something."""
    place = 0
    while True:
        scopes = root.scopes(limit=_PAGE, offset=place)
        yield from (root.within(each.scope) for each in scopes)
        place += len(scopes)
        if not scopes or place >= scopes.total:
            return


_THERE: tuple[State, ...] = ("live", "superseded", "archived")


def _key(record: Mapping[str, Any]) -> str:
    """Whose it is, as the importer reads it."""
    below = record.get("metadata")
    key = {**record, **below}.get("user_key") if isinstance(below, dict) else record.get("user_key")
    return " ".join(str(key).split()) if isinstance(key, str | int) and not isinstance(key, bool) else ""


def _taken(done: memoranda.Imports) -> Taken:
    return Taken(done.taken, done.audit.left_out, done.audit.quarantined)


def _records(body: bytes) -> list[dict[str, Any]]:
    try:
        read = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("this is not JSON", hint=_HINT) from error
    listed = read.get("episodes") if isinstance(read, dict) else read
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise InvalidInput("this is no list of episodes", hint=_HINT)
    return listed


def _tagged(records: list[dict[str, Any]], tag: str) -> list[dict[str, Any]]:
    """Each with the upload it came from; an id that is theirs is none of ours."""
    tagged = []
    for record in records:
        tags = record.get("tags")
        kept = [each for each in tags if isinstance(each, str)] if isinstance(tags, list) else []
        if isinstance(tags, str) and tags.strip():
            kept = [each.strip() for each in tags.split(",")]
        tagged.append({**record, "tags": [*(each for each in kept if not each.startswith(_OF_DOCUMENT)), tag]})
    return tagged


@contextmanager
def _file(records: list[dict[str, Any]]) -> Iterator[str]:
    """As a file for the importer; only for its owner, and gone afterwards."""
    handle, path = tempfile.mkstemp(prefix="memoranda-", suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(records, file, ensure_ascii=False)
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)
