"""What we know of memories, back into OpenClaw's LanceDB table: how important they are, for whom, whether trusted.

A row's text, its vector and every column that is not ours to write stay as they are. Ids and values go into the table
as data: no filter is ever made of them. Somebody else may write meanwhile: what is only to be filled is filled only if
it is still empty then, and what could not be written is told.
"""

import re
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.ids import is_whole_id
from memoranda.domain.looking import checked_whole
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.ports import Progress
from memoranda.domain.scope import Scope
from memoranda.domain.writeback import FIELDS, WriteBack, WriteBackField, checked_fields
from memoranda.importers.openclaw_lancedb import KINDS, NAME, open_table
from memoranda.ledger.origins import came_from
from memoranda.service.engine import Engine

MOST = 1_000_000
_TRIES = 5
_PAUSE_SECONDS = 0.1
_PARTED = "agentId"
"""A column of tables in which `scope` parts the memories of an agent: filled by us, it would hide them from it."""
_THEIR_SCOPE = re.compile(r"[a-z0-9][a-z0-9._:/-]{0,63}")
_NO_CATEGORY = "other"
Row = Mapping[str, Any]


def write_back(
    engine: Engine,
    scope: Scope,
    path: str | Path,
    *,
    table: str = "memories",
    limit: int = 50,
    batch: int = 25,
    mode: str = "now",
    force: bool = False,
    force_fields: Sequence[str] = (),
    progress: Progress | None = None,
) -> WriteBack:
    """Write into the rows that memories of this scope came from, those that changed last first.

    Only what is empty there is filled. `force` also overwrites, in the fields that are named or else the usual ones.
    Trust is written only when it is named, also where nothing stands: most of what was imported is not trusted here,
    and programs that go by it would hold back all of the owner's own memory. `preview` writes nothing and says what
    would be.
    """
    checked_choice(mode, ("now", "preview"), name="mode")
    checked_whole(limit, name="limit", most=MOST)
    checked_whole(batch, name="batch", most=MOST)
    fields = checked_fields(force_fields)
    folder = Path(path).expanduser()
    there = _Table(folder, table)
    overwrites = _overwrites(there, fields if force else (), named=bool(force_fields))
    run = _Run(there, overwrites, _filled(there, force_fields), dry=mode == "preview")
    candidates = _candidates(engine, scope, there)
    chosen = dict(islice(candidates.items(), limit))
    rows = there.rows(chosen)
    known = [theirs for theirs in chosen if theirs in rows]
    for start in range(0, len(known), batch):
        run.write({theirs: chosen[theirs] for theirs in known[start : start + batch]}, rows)
        if progress is not None:
            progress(min(start + batch, len(known)), len(known))
    return WriteBack(
        dry_run=mode == "preview",
        db=str(folder),
        table=there.name,
        limit=limit,
        batch=batch,
        force=force,
        force_fields=fields if force else (),
        checked=len(chosen),
        updated=run.updated,
        overwritten=run.overwritten,
        overwritten_fields={field: run.fields[field] for field in FIELDS if run.fields[field]},
        skipped=run.skipped,
        missing_ids=tuple(theirs for theirs in chosen if theirs not in rows),
        error_ids=tuple(run.errors),
        candidates=len(candidates),
    )


def _candidates(engine: Engine, scope: Scope, there: "_Table") -> dict[str, Memory]:
    """Their ids, and what came of each here; of several only the one that changed last."""
    own = [each for each in there.ids() if is_whole_id(each)]
    found: dict[str, Memory] = {}
    for memory in came_from(engine.ledger.database, scope, NAME, own):
        system, _, theirs = memory.source_ref.partition(":")
        found.setdefault(theirs if system == NAME else memory.id, memory)
    return found


def _overwrites(there: "_Table", fields: Sequence[WriteBackField], *, named: bool) -> frozenset[WriteBackField]:
    if there.parted and not named:
        return frozenset(fields) - {"scope"}
    return frozenset(fields)


def _filled(there: "_Table", named: Sequence[str]) -> frozenset[WriteBackField]:
    """What is written where nothing stands."""
    by_name = {"trust_tier", "scope"} if there.parted else {"trust_tier"}
    return frozenset(field for field in FIELDS if field not in by_name or field in named)


class _Change(NamedTuple):
    """What is to be written into one row, and which of it stands over something."""

    values: dict[WriteBackField, Any]
    over: frozenset[WriteBackField]


class _Table:
    """Their table: read whole but for texts and vectors, written a few rows at a time."""

    def __init__(self, folder: Path, name: str) -> None:
        self._table = open_table(folder, name)
        self._arrow: Any = import_module("pyarrow")
        self._schema: Any = self._table.schema  # made anew by LanceDB whenever it is asked for
        self.name: str = self._table.name
        self.parted = _PARTED in self._schema.names
        if "id" not in self._schema.names:
            raise InvalidInput(f"the table {self.name} has no column id", hint="Name the table of memories.")
        for field in FIELDS:
            self._check(field)

    def _check(self, field: WriteBackField) -> None:
        types = self._arrow.types
        if field not in self._schema.names:
            return
        kind = self._schema.field(field).type
        text = types.is_string(kind) or types.is_large_string(kind)
        if not (types.is_floating(kind) if field == "importance" else text):
            raise Conflict(
                f"the column {field} of {self.name} is of the type {kind}, which it cannot be written back to",
                hint="Is this the table of memories? Name another one with --table.",
            )

    def ids(self) -> list[str]:
        return [each for each in self._table.search().select(["id"]).to_arrow()["id"].to_pylist() if each]

    def rows(self, wanted: Container[str]) -> dict[str, Row]:
        """What stands in these rows now. They are picked out here: an id is never part of a query."""
        self._table.checkout_latest()
        self._schema = self._table.schema
        columns = ["id", *(field for field in FIELDS if field in self._schema.names)]
        found: dict[str, Row] = {}
        for part in self._table.search().select(columns).to_batches():
            for row in part.to_pylist():
                if row["id"] in wanted:
                    found[row["id"]] = row
        return found

    def as_kept(self, field: WriteBackField, value: Any) -> Any:
        """A value as this table would give it back: it may keep numbers with fewer digits."""
        if field != "importance" or field not in self._schema.names:
            return value
        number = self._arrow.scalar(value, type=self._arrow.float64())
        return number.cast(self._schema.field(field).type).as_py()

    def add_missing(self, fields: Iterable[WriteBackField]) -> None:
        """New columns, empty in every row."""
        arrow = self._arrow
        new = [
            arrow.field(name, arrow.float64() if name == "importance" else arrow.string())
            for name in fields
            if name not in self._schema.names
        ]
        if new:
            self._table.add_columns(new)
            self._schema = self._table.schema

    def write(self, changes: Mapping[str, _Change]) -> int:
        """The same fields of several rows in one commit; how many rows took it.

        A row is left when something is no longer empty that was to be filled.
        """
        first = next(iter(changes.values()))
        columns = {"id": self._arrow.array(list(changes), type=self._schema.field("id").type)}
        for field in first.values:
            values = [change.values[field] for change in changes.values()]
            columns[field] = self._arrow.array(values, type=self._schema.field(field).type)
        # Names of our own fields only, and no value.
        empty = [
            f"target.{name} IS NULL" if name == "importance" else f"(target.{name} IS NULL OR target.{name} = '')"
            for name in first.values
            if name not in first.over
        ]
        merge = self._table.merge_insert("id").when_matched_update_all(where=" AND ".join(empty) or None)
        merge.use_index(False)  # with an index on the ids, LanceDB 0.40 fails on a part of the columns
        return int(merge.execute(self._arrow.table(columns)).num_updated_rows)


class _Run:
    """One write-back, batch after batch."""

    def __init__(
        self, table: _Table, overwrites: frozenset[WriteBackField], fills: frozenset[WriteBackField], *, dry: bool
    ) -> None:
        self._table = table
        self._overwrites = overwrites
        self._fills = fills
        self._dry = dry
        self.updated = 0
        self.overwritten = 0
        self.fields: Counter[WriteBackField] = Counter()
        self.errors: list[str] = []
        self.skipped = 0

    def write(self, wanted: Mapping[str, Memory], rows: Mapping[str, Row]) -> None:
        """Until each row has what it is to have, or will not take it."""
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE_SECONDS * 2 ** (attempt - 1))
                rows = self._table.rows(wanted)
            changes = {theirs: self._change(wanted[theirs], rows[theirs]) for theirs in wanted if theirs in rows}
            changes = {theirs: change for theirs, change in changes.items() if change.values}
            self.skipped += len(wanted) - len(changes)
            written = self._written(changes)
            wanted = {theirs: wanted[theirs] for theirs in changes if theirs not in written}
            if not wanted:
                return
        self.errors += wanted

    def _written(self, changes: Mapping[str, _Change]) -> set[str]:
        done = set(changes) if self._dry else self._commit(changes)
        for theirs in done:
            self.updated += 1
            self.overwritten += bool(changes[theirs].over)
            self.fields.update(changes[theirs].over)
        return done

    def _commit(self, changes: Mapping[str, _Change]) -> set[str]:
        """Rows with the same fields together; those that have them now. What did not go through is tried again."""
        groups: dict[tuple[Any, ...], dict[str, _Change]] = {}
        for theirs, change in changes.items():
            groups.setdefault((tuple(change.values), change.over), {})[theirs] = change
        done: set[str] = set()
        for (fields, _), group in groups.items():
            try:
                self._table.add_missing(fields)
                if self._table.write(group) >= len(group):
                    done |= group.keys()
                    continue
            except (RuntimeError, ValueError, OSError):
                pass  # another writer was first: every kind of conflict comes as one of these
            done |= self._found(group)
        return done

    def _found(self, group: Mapping[str, _Change]) -> set[str]:
        """Which rows of a commit that may not have gone through as a whole say what was to be written."""
        rows = self._table.rows(group)
        return {
            theirs
            for theirs, change in group.items()
            if all(rows.get(theirs, {}).get(field) == value for field, value in change.values.items())
        }

    def _change(self, memory: Memory, row: Row) -> _Change:
        values: dict[WriteBackField, Any] = {}
        over: set[WriteBackField] = set()
        for field, ours in _known(memory):
            value, there = self._table.as_kept(field, ours), row.get(field)
            if there in (None, ""):
                if field in self._fills:
                    values[field] = value
            elif field in self._overwrites and there != value and (field, value) != ("category", _NO_CATEGORY):
                values[field] = value
                over.add(field)
        return _Change(values, frozenset(over))


def _known(memory: Memory) -> Iterator[tuple[WriteBackField, Any]]:
    """What we can say of a memory in their words; what we do not know is left out."""
    if memory.importance is not None:
        yield "importance", memory.importance
        yield "importance_label", memory.grade
    if _THEIR_SCOPE.fullmatch(memory.scope):
        yield "scope", memory.scope
    yield "category", memory.kind if memory.kind in KINDS else _NO_CATEGORY
    yield "trust_tier", memory.trust
