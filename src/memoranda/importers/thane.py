"""Thane: the table `facts` of its SQLite store. What it deleted comes as forgotten; its vectors are not read."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Kind
from memoranda.importers.sqlite_file import has_table, opened
from memoranda.importers.told import kept_of, kind_of, moment_of, name_of, said_of, share_of, tags_of, text_of

_NEEDED = ("id", "category", "key", "value", "confidence")
_KINDS: dict[str, Kind] = {
    "user": "fact",
    "home": "fact",
    "device": "entity",
    "routine": "fact",
    "preference": "preference",
    "architecture": "note",
}
_ENTITY = "entity:"


class Reader:
    """Facts of Thane."""

    name = "thane"
    title = "Thane: the SQLite file with its table of facts"

    def reads(self, path: Path) -> bool:
        return has_table(path, "facts", _NEEDED)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        with opened(path) as file:
            file.check("facts", _NEEDED, of="Thane")
            for number, row in enumerate(file.rows("select * from facts order by rowid"), start=1):
                yield _fact(row, place=f"facts row {number}")


def _fact(row: Mapping[str, Any], *, place: str) -> Imported | Unread:
    text, key = text_of(row["value"]), name_of(row["key"])
    if not text:
        return Unread(place, "no value")
    subjects = _subjects(row.get("subjects"))
    about = subjects[0].removeprefix(_ENTITY) if subjects else ""
    return Imported(
        # A key is a name: `office_lamp`, or a path of headings for what was read from a document.
        text=said_of(" ".join(key.replace("_", " ").split()), text),
        id=name_of(row["id"]),
        place=place,
        kind=kind_of(row["category"], _KINDS),
        about=about,
        # Without a subject there is no slot: two homes may both have a `wifi`.
        attribute=key if about else "",
        value=text if about else None,
        confidence=share_of(row["confidence"]),
        tags=tags_of([row["category"]]),
        state="live" if row.get("deleted_at") is None else "forgotten",
        metadata=kept_of({"subjects": subjects[1:], "source": row.get("source"), "ref": row.get("ref"), "key": key}),
        created_at=moment_of(row.get("created_at")),
        updated_at=moment_of(row.get("updated_at")),
    )


def _subjects(given: Any) -> list[str]:
    try:
        listed = json.loads(given) if isinstance(given, str) else []
    except (ValueError, RecursionError):
        return []
    return [name for each in listed if (name := name_of(each))] if isinstance(listed, list) else []
