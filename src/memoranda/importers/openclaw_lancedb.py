"""Memories that OpenClaw keeps in LanceDB: the table of its plugin memory-lancedb, and of engines that add columns.

Nothing in the folder is changed, and no vector is read: ours are made by our own embedder.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput, NotFound, ProviderMissing
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import GRADE_FLOORS, Kind
from memoranda.importers.told import importance_of, kept_of, moment_of, name_of, share_of, tags_of, text_of

NAME = "openclaw-lancedb"
TABLE = "memories"
"""What their plugin calls its table."""
KINDS: Mapping[str, Kind] = {
    "preference": "preference",
    "fact": "fact",
    "decision": "decision",
    "entity": "entity",
}
"""Their categories that are kinds of ours; `other` says nothing."""

_SUFFIX = ".lance"
_FIRST_ROW = "__schema__"  # their plugin writes it to make the table, and takes it out again
_NEEDED = ("id", "text")
_TIMES = ("createdAt", "timestamp", "created_at")
_NOTED = ("scope", "trust_tier", "source_kind", "source_ref")
_READ = (*_NEEDED, "importance", "importance_label", "category", *_TIMES, "lang", "agentId", *_NOTED)
_FLOORS: Mapping[str, float] = dict(GRADE_FLOORS)


class Reader:
    """Reads the rows of one table. Options: `table`, and `agent` for the rows of one agent alone."""

    name = NAME
    title = "OpenClaw memory-lancedb: a LanceDB folder, or one table in it"

    def reads(self, path: Path) -> bool:
        try:
            return _is_table(path) or (path.is_dir() and any(map(_is_table, path.iterdir())))
        except OSError:
            return False

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        folder, name = (path.parent, path.stem) if _is_table(path) else (path, options.get("table", ""))
        table = open_table(folder, name)
        columns = [name for name in table.schema.names if name in _READ]
        for needed in _NEEDED:
            if needed not in columns:
                hint = "Name the table of memories with the option table=NAME."
                raise InvalidInput(f"the table {table.name} has no column {needed}", hint=hint)
        rows: list[dict[str, Any]] = table.search().select(columns).to_arrow().to_pylist()
        agent = options.get("agent", "")
        # Where a row stands in the table changes whenever one is written: their times and ids do not.
        for row in sorted(rows, key=_order):
            if row["id"] != _FIRST_ROW and (not agent or row.get("agentId") == agent):
                yield _read(row, owned=not agent)


def open_table(folder: Path, name: str = "") -> Any:
    """A table of a LanceDB folder; without a name theirs, or the only one there is. Makes neither."""
    if importlib.util.find_spec("lancedb") is None:
        raise ProviderMissing("lancedb is not installed", hint='pip install "memoranda[lancedb]"')
    folder = folder.expanduser()
    there = sorted(each.stem for each in folder.iterdir() if _is_table(each)) if folder.is_dir() else []
    if not there:
        raise NotFound(
            f"there is no LanceDB table in {folder}",
            hint="Give the folder of the database: ~/.openclaw/memory/lancedb.",
        )
    chosen = name or (there[0] if len(there) == 1 else TABLE)
    if chosen not in there:
        raise NotFound(f"there is no table {chosen[:80]!r} in {folder}", hint=f"It has: {', '.join(there)}.")
    lancedb: Any = import_module("lancedb")
    try:
        return lancedb.connect(str(folder)).open_table(chosen)
    except (RuntimeError, ValueError, OSError) as error:
        hint = "Open it with OpenClaw first; a copy that was made while it ran may be incomplete."
        raise InvalidInput(f"the table {chosen} cannot be opened: {error}", hint=hint) from error


def _is_table(path: Path) -> bool:
    return path.suffix == _SUFFIX and path.is_dir()


def _order(row: Mapping[str, Any]) -> tuple[int, str]:
    return _created(row) or 0, str(row["id"])


def _read(row: Mapping[str, Any], *, owned: bool) -> Imported | Unread:
    theirs, text = row["id"], text_of(row["text"])
    if not isinstance(theirs, str) or not theirs:
        return Unread("a row without an id", "it has no id")
    if not text:
        return Unread(f"row {theirs}", "it has no text")
    category = name_of(row.get("category"))
    given = row.get("importance")
    importance = share_of(given)
    noted: dict[str, Any] = {name: row.get(name) for name in _NOTED}
    if importance is None:
        # The least that has their label. A number that is out of range means something else: it is only noted.
        label = name_of(row.get("importance_label"))
        importance = _FLOORS.get(label, importance_of(label))
        noted["importance"] = None if given is None else str(given)
    return Imported(
        text=text,
        id=theirs,
        place=f"row {theirs}",
        kind=KINDS.get(category),
        importance=importance,
        tags=() if category in KINDS or category == "other" else tags_of([category]),
        lang=name_of(row.get("lang")),
        metadata=kept_of(noted),
        created_at=_created(row),
        owner=_owner(row) if owned else "",
    )


def _owner(row: Mapping[str, Any]) -> str:
    """Each agent has its own memories; without agents, a scope other than everybody's parts them."""
    scope = name_of(row.get("scope"))
    return name_of(row.get("agentId")) or ("" if scope == "global" else scope)


def _created(row: Mapping[str, Any]) -> int | None:
    """Milliseconds; they keep them as a number with a fraction."""
    return next((at for name in _TIMES if (at := moment_of(row.get(name)))), None)
