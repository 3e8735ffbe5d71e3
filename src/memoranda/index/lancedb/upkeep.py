"""Keeping a table of LanceDB in shape: its indexes, its small files, its older versions, and the way back to one.

A tag marks a version that is whole. Versions younger than the oldest tag stay, so that the index can step back to
where the ledger is; what was erased must leave those, too, and then the tags go first.
"""

import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, NamedTuple

from memoranda.domain.errors import LedgerError
from memoranda.index.lancedb.filters import literal
from memoranda.index.lancedb.rows import STANDING, Standing
from memoranda.index.lancedb.tables import Table

INDEXED_FROM = 5_000
"""A table with fewer entries is read as quickly without an index."""
TRAINED_FROM = 20_000
"""Vectors get an index when there are so many: below, to look at each is as quick and exact."""
FRAGMENTS_MOST = 64
_TAGS = 4
_TAG = "whole-"
_KEPT = timedelta(minutes=10)
_AT_ONCE = timedelta(milliseconds=1)
REAL = f"number > {literal(STANDING)}"


class IndexHealth(NamedTuple):
    """How a table of LanceDB is: what its engine would say if it were asked."""

    entries: int
    unindexed: int
    """Entries that the index that lags most does not have yet: they are found by looking at each."""
    fragments: int
    versions: int
    tags: int
    bytes: int
    indexes: tuple[str, ...]
    """`column kind` of each, sorted."""
    owed: int
    """Erased entries whose bytes may still be there."""

    @property
    def needs_optimizing(self) -> bool:
        lags = self.unindexed * 4 > max(self.entries, INDEXED_FROM)
        return self.fragments > FRAGMENTS_MOST or lags

    def __str__(self) -> str:
        owed = f"; {self.owed} erased entries are still in its files" if self.owed else ""
        return (
            f"{self.unindexed:,} of {self.entries:,} entries not indexed yet; {self.fragments:,} fragments, "
            f"{self.versions:,} versions, {self.bytes >> 20:,} MiB{owed}"
        )

    def as_json(self) -> dict[str, object]:
        return {**self._asdict(), "indexes": list(self.indexes), "needs_optimizing": self.needs_optimizing}


def health(table: Table) -> IndexHealth:
    """Look at the latest version."""
    table.version()
    listed = table.asked(lambda handle: handle.list_indices())
    return IndexHealth(
        entries=table.count(REAL),
        unindexed=max((int(each.num_unindexed_rows or 0) for each in listed), default=0),
        fragments=fragments(table),
        versions=len(table.asked(lambda handle: handle.list_versions())),
        tags=len(_tags(table)),
        bytes=size(table),
        indexes=tuple(sorted(f"{each.columns[0]} {each.index_type}" for each in listed)),
        owed=table.standing().owed,
    )


def size(table: Table) -> int:
    """Bytes on disk; in an object store, those that its latest version needs."""
    if table.folder is not None:
        return sum(path.stat().st_size for path in table.folder.rglob("*") if path.is_file())
    return int(_stats(table)["total_bytes"]) + sum(
        int(each.size_bytes or 0) for each in table.asked(lambda handle: handle.list_indices())
    )


def fragments(table: Table) -> int:
    return int(_stats(table)["fragment_stats"]["num_fragments"])


def _stats(table: Table) -> Any:
    return table.asked(lambda handle: handle.stats())


def is_indexed(table: Table) -> bool:
    """Whether the engine can propose by words."""
    return {"words", "terms"} <= _columns(table)


def _columns(table: Table) -> set[str]:
    return {each.columns[0] for each in table.asked(lambda handle: handle.list_indices())}


def make_indexes(table: Table, *, vectors: bool, anew: bool = False) -> None:
    """Make the indexes that a table of this size should have and has not, those of vectors only if wanted."""
    kinds: Any = import_module("lancedb.index")
    entries = table.count(REAL)
    wanted: dict[str, Any] = {}
    if entries >= INDEXED_FROM:
        wanted = {
            "number": kinds.BTree(),
            "scope": kinds.BTree(),
            "conversation": kinds.BTree(),
            "valid_from": kinds.BTree(),
            "valid_until": kinds.BTree(),
            "state": kinds.Bitmap(),
            "vectored": kinds.Bitmap(),
            "terms": kinds.LabelList(),
            # Our own terms, a word each: what is a word, and how it is folded, is the same as in the embedded index.
            "words": kinds.FTS(
                base_tokenizer="whitespace",
                lower_case=False,
                stem=False,
                remove_stop_words=False,
                ascii_folding=False,
                with_position=False,
            ),
        }
    if vectors and table.width() and table.count("vectored") >= TRAINED_FROM:
        # Quick to build, and it needs little room; what it rounds away is looked at again (REFINE).
        wanted["vector"] = kinds.IvfRq(distance_type="cosine")
    there = set() if anew else _columns(table)
    for column, kind in wanted.items():
        if column not in there:
            table.asked(lambda handle, column=column, kind=kind: handle.create_index(column, config=kind, replace=True))  # type: ignore[misc]
    table.version()


def compact(table: Table) -> None:
    """Join small files and let the indexes take in what is new. Versions that a tag may need stay."""
    table.compact(older_than=_older_than(table))


def _older_than(table: Table) -> timedelta:
    """Versions older than that may go: never one that has a tag, the engine would refuse to clean at all."""
    tagged = set(_tags(table).values())
    moments = [_moment(each) for each in _versions(table) if int(each["version"]) in tagged]
    if not moments:
        return _KEPT
    now = datetime.now(UTC)  # noqa: TID251 the engine's clock, not the store's
    return max(_KEPT, now - min(moments) + timedelta(seconds=1))


def _versions(table: Table) -> list[dict[str, Any]]:
    return table.asked(lambda handle: list(handle.list_versions()))


def _moment(version: dict[str, Any]) -> datetime:
    moment: datetime = version["timestamp"]
    return moment.astimezone(UTC)  # without a zone it is of here


def write_anew(table: Table) -> bool:
    """Every living row into new files, new indexes over them, and nothing else left. False when something is.

    The engine leaves what was deleted in its files unless much of one is, and in its indexes until they are made anew.
    """
    for name in _tags(table):
        table.asked(lambda handle, name=name: handle.tags.delete(name))  # type: ignore[misc]
    table.version()
    table.copy_into_itself(table.width())
    make_indexes(table, vectors=True, anew=True)
    time.sleep(2 * _AT_ONCE.total_seconds())
    table.compact(older_than=_AT_ONCE, all_files=True)
    # A version that another machine with another clock made may look younger than it is.
    return len(_versions(table)) == 1


# -- the way back --


def tag(table: Table, standing: Standing) -> None:
    """Mark the latest version as whole, and let the oldest marks go."""
    version = table.version()
    known = _tags(table)
    name = f"{_TAG}{version}-{standing.sequence}"
    if name in known:
        return
    table.asked(lambda handle: handle.tags.create(name, version))
    for old in sorted(known, key=lambda each: known[each])[: max(len(known) + 1 - _TAGS, 0)]:
        table.asked(lambda handle, old=old: handle.tags.delete(old))  # type: ignore[misc]


def _tags(table: Table) -> dict[str, int]:
    listed = table.asked(lambda handle: handle.tags.list())
    return {name: int(each["version"]) for name, each in listed.items() if name.startswith(_TAG)}


def step_back(table: Table, is_known: Callable[[int, str], bool]) -> bool:
    """Let the newest version serve that stands where the ledger knows it; False when there is none."""
    candidates = {int(each["version"]) for each in _versions(table)}
    for version in sorted(_stepping_stones(table, candidates), reverse=True):
        try:
            table.asked(lambda handle, version=version: handle.checkout(version))  # type: ignore[misc]
            standing = table.standing()
            if is_known(standing.sequence, standing.mark):
                table.asked(lambda handle: handle.restore())
                return True
        except LedgerError:
            continue  # it was cleaned away meanwhile, or is damaged
        finally:
            table.version()
    return False


def _stepping_stones(table: Table, candidates: Collection[int]) -> set[int]:
    return {version for version in _tags(table).values() if version in candidates}
