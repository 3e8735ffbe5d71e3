"""mem0: what `get_all()` and the platform's export give as JSON, or the history that it keeps in SQLite.

Its local vector store (Qdrant) holds Python pickles. Opening one can run whatever is in it, so that it is never read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.clock import DAY_MS, MAX_MS
from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.files import head_of, stream_of
from memoranda.importers.json_pieces import Record, records
from memoranda.importers.sqlite_file import has_table, is_sqlite, opened
from memoranda.importers.told import kept_of, kind_of, made_id, moment_of, name_of, sentence, tags_of, text_of

_HISTORY = ("memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at")
_HISTORY_FILE = "history.db"
_POINTS = ("id", "point")
_POINTS_FILE = "storage.sqlite"
_SIGNS = (b'"memory"', b'"id"')
_OWNERS = (b'"user_id"', b'"agent_id"', b'"run_id"', b'"app_id"', b'"hash"')
_BY_KIND: dict[Kind, str] = {
    "preference": "preference preferences user_preferences",
    "decision": "decision decisions",
    "entity": "entity entities people",
    "episode": "episode episodes events milestones",
    "fact": "fact facts personal_details personal_information family health professional_details",
    "note": "note notes misc miscellaneous",
}
_KINDS: dict[str, Kind] = {word: kind for kind, words in _BY_KIND.items() for word in words.split()}
# The last row of a memory says how it stands; with one max() SQLite takes the other columns from the same row.
_LAST_OF_EACH = "select max(rowid), * from history group by memory_id order by 1"


class Reader:
    """Memories of mem0. Of the history the last text of each counts; what was deleted comes as forgotten."""

    name = "mem0"
    title = "mem0: JSON of get_all() or of its platform, or its history.db"

    def reads(self, path: Path) -> bool:
        if path.is_dir():
            return has_table(path / _HISTORY_FILE, "history", _HISTORY) or _pickled(path) is not None
        if is_sqlite(path):
            return has_table(path, "history", _HISTORY) or has_table(path, "points", _POINTS)
        head = head_of(path)
        return all(sign in head for sign in _SIGNS) and any(sign in head for sign in _OWNERS)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        given = path / _HISTORY_FILE if path.is_dir() else path
        if not given.is_file() or has_table(given, "points", _POINTS):
            raise InvalidInput(
                f"{path.name} has only mem0's vector store, which is made of pickles and is not read",
                hint="Give history.db, or write get_all(filters=..., top_k=...) of each owner to a JSON file.",
            )
        return _rows(given) if is_sqlite(given) else _listed(given)


def _pickled(folder: Path) -> Path | None:
    """A collection of Qdrant in its folder, wherever mem0 was told to put it."""
    places = (folder / _POINTS_FILE, *sorted(folder.glob(f"collection/*/{_POINTS_FILE}")))
    return next((place for place in places if has_table(place, "points", _POINTS)), None)


def _rows(path: Path) -> Iterator[Imported | Unread]:
    with opened(path) as file:
        file.check("history", _HISTORY, of="mem0")
        for number, row in enumerate(file.rows(_LAST_OF_EACH), start=1):
            gone = name_of(row["event"]).upper() == "DELETE" or bool(row.get("is_deleted"))
            named = {"id": row["memory_id"], "memory": row["old_memory"] if gone else row["new_memory"]}
            found = _memory({**row, **named}, place=f"history of memory {number}")
            yield found._replace(state="forgotten") if gone and isinstance(found, Imported) else found


def _listed(path: Path) -> Iterator[Imported | Unread]:
    known = False
    with stream_of(path) as stream:
        for found in records(stream, under=("results", "memories", "relations")):
            if isinstance(found, Unread):
                yield found
            elif found.under == "relations":
                yield _relation(found)
            elif not known and "memory" not in found.value:
                raise InvalidInput(
                    f"{path.name} is no list of memories of mem0",
                    hint="Write what get_all() gives to a JSON file, and give that.",
                )
            else:
                known = True
                yield _memory(found.value, place=found.place)


def _memory(row: Mapping[str, Any], *, place: str) -> Imported | Unread:
    text = text_of(row.get("memory"))
    if not text:
        return Unread(place, "no memory in it")
    given = row.get("metadata")
    more: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    categories = tags_of(row.get("categories"), more.get("category"), more.get("categories"))
    others = {name: row.get(name) for name in ("agent_id", "app_id", "role")}
    return Imported(
        text=text,
        id=name_of(row.get("id")),
        place=place,
        kind=next((kind for word in categories if (kind := kind_of(word, _KINDS))), None),
        speaker=name_of(row.get("actor_id")),
        conversation=name_of(row.get("run_id")),
        tags=tags_of(categories, more.get("tags")),
        metadata=kept_of({**more, **others}, without=("category", "categories", "tags")),
        created_at=moment_of(row.get("created_at")),
        updated_at=moment_of(row.get("updated_at")),
        valid_until=_end_of_day(row.get("expiration_date")),
        owner=_owner(row),
    )


def _owner(row: Mapping[str, Any]) -> str:
    """A user by name; agents, apps and runs with what they are, since they may be called the same."""
    if user := name_of(row.get("user_id")):
        return user
    named = ((sort, name_of(row.get(f"{sort}_id"))) for sort in ("agent", "app", "run"))
    return next((f"{sort}:{name}" for sort, name in named if name), "")


def _end_of_day(given: Any) -> int | None:
    """It holds on the day that it expires, and no longer."""
    day = moment_of(given)
    return None if day is None else min(day - day % DAY_MS + DAY_MS, MAX_MS)


def _relation(found: Record) -> Imported | Unread:
    """One of graph memory."""
    value = found.value
    subject, relation = name_of(value.get("source")), name_of(value.get("relationship") or value.get("relation"))
    target = name_of(value.get("target") or value.get("destination"))
    if not subject or not target:
        return Unread(found.place, "a relation without two ends")
    text = sentence(subject, relation, target)
    return Imported(text, id=made_id(subject, text), place=found.place, kind="fact", about=subject, owner=_owner(value))
