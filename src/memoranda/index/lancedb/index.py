"""`LanceIndex`: one generation of the index in LanceDB.

Small scopes are kept in memory and searched as the embedded index searches, with the same answers; in large ones
LanceDB proposes. One step writes entries, takes others away and says how far the index is: a version of the table
always knows its sequence. Whoever writes holds the index, on whatever machine.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np

from memoranda.domain.errors import LedgerDamaged, LedgerLocked
from memoranda.domain.ports import IndexAnswer, IndexCounts, IndexEntry, IndexQuery, Meaning, Progress
from memoranda.index.lancedb import filters, upkeep
from memoranda.index.lancedb.blocks import Blocks
from memoranda.index.lancedb.rows import Row, Standing, to_rows, to_table, unpacked, vector_field
from memoranda.index.lancedb.searching import Counted, search_large
from memoranda.index.lancedb.tables import Table
from memoranda.index.lancedb.upkeep import IndexHealth
from memoranda.index.proposals import Asked
from memoranda.index.residues import residues
from memoranda.index.search import View, extent, overlaid, search
from memoranda.index.segment import Tail
from memoranda.ledger.locking import Busy

EVERY = 64
"""How often a table is written before its small files are joined."""
INLINE = 100_000
"""A table with more entries is seen to by `optimize` alone: it takes too long for somebody who waits."""
_PATIENCE = 5.0
_FEW = 1_024
_PROBES = 1 << 61
"""Numbers from here on are of the probe, and nobody's."""
_SHORTEST_RUN = 4


class Hold(Protocol):
    """A lock between processes and machines; raises `Busy` after `patience` seconds."""

    def __call__(self, name: str, *, patience: float = 0.0) -> AbstractContextManager[None]: ...


class LanceIndex:
    """Lexical and semantic lane in one table."""

    def __init__(self, table: Table, *, hold: Hold) -> None:
        self._table = table
        self._hold = hold
        self._lock = threading.RLock()
        self._blocks = Blocks(table)
        self._counted = Counted()
        self._known: tuple[int, Standing, bool] | None = None
        self._look()

    @property
    def name(self) -> str:
        """Of its table."""
        return self._table.name

    def _look(self) -> tuple[int, Standing, bool]:
        """The latest version, how far it is, and whether the engine can propose."""
        with self._lock:
            version = self._table.version()
            if self._known is None or self._known[0] != version:
                self._known = version, self._table.standing(), upkeep.is_indexed(self._table)
            return self._known

    @property
    def fingerprint(self) -> str:
        return self._look()[1].fingerprint

    @property
    def sequence(self) -> int:
        return self._look()[1].sequence

    @property
    def standing(self) -> tuple[int, str]:
        standing = self._look()[1]
        return standing.sequence, standing.mark

    def version(self) -> int:
        """A number that changes when anybody commits."""
        return self._table.version()

    # -- writing --

    @contextmanager
    def _writing(self) -> Iterator[Standing]:
        queue = self._table.tables.queue(self._table.name)
        if not queue.acquire(timeout=2 * _PATIENCE):
            raise LedgerLocked("another thread writes the index")
        try:
            with self._hold(f"index-{self._table.name}", patience=_PATIENCE):
                yield self._look()[1]
        except Busy as error:
            raise LedgerLocked("another process writes the index") from error
        finally:
            queue.release()

    def adopt(self, fingerprint: str) -> None:
        """Let another vector space move in. Only for an index that has no vectors."""
        with self._writing() as standing:
            if not self._table.count("vectored"):
                self._commit((), standing._replace(fingerprint=fingerprint))

    def apply(
        self,
        *,
        put: Sequence[IndexEntry],
        drop: Collection[int],
        sequence: int | None,
        after: int | None = None,
        at_once: bool = True,
        mark: str = "",
    ) -> bool:
        rows = [Row.of(entry) for entry in {entry.number: entry for entry in put}.values()]
        with self._writing() as standing:
            if after is not None and standing.sequence != after:
                return False
            leaving = self.holds([number for number in drop if number < _PROBES]) if drop else frozenset()
            if at_once:
                # What was put aside before may be erased now: nothing tells which of the dead it is.
                owed = len(drop) if standing.aside else len(leaving)
                standing = standing._replace(owed=standing.owed + owed)
            else:
                standing = standing._replace(aside=standing.aside + len(leaving))
            if sequence is not None:
                standing = standing._replace(sequence=sequence, mark=mark)
            self._commit(rows, standing, gone=drop)
            return True

    def add_meanings(self, meanings: Mapping[int, Meaning], *, cheap_only: bool) -> frozenset[int]:
        """Give entries their vectors. A row is as cheap as any other here: `cheap_only` makes no difference."""
        with self._writing() as standing:
            found = self._table.numbered(meanings, ("number", "scope", "witness", "body"))
            bare = [row for table in found for row in to_rows(table)]
            rows = [row.with_meaning(meanings[row.packed.number]) for row in bare]
            if rows:
                self._commit(rows, standing)
            return frozenset(row.packed.number for row in rows)

    def _commit(self, rows: Sequence[Row], standing: Standing, *, gone: Collection[int] = ()) -> None:
        width = self._widened(rows)
        standing = standing._replace(commits=standing.commits + 1)
        self._table.merge(to_table(rows, standing, width), gone=gone)
        if standing.commits >= EVERY and self._table.count(upkeep.REAL) <= INLINE:
            self._tidied(standing)

    def _widened(self, rows: Sequence[Row]) -> int:
        """The width of the column of vectors, once it fits these."""
        width = self._table.width()
        wanted = next((len(row.vector) for row in rows if row.packed.scale > 0 and row.vector is not None), width)
        if wanted == width or (width and self._table.count("vectored")):
            return width
        if width:
            self._table.asked(lambda handle: handle.drop_columns(["vector"]))
        self._table.asked(lambda handle: handle.add_columns([vector_field(wanted)]))
        self._table.version()
        return wanted

    def optimize(self, progress: Progress | None = None) -> None:
        tell = progress or (lambda done, total: None)
        tell(0, 2)
        with self._writing() as standing:
            if standing.owed or standing.aside:
                self._written_anew(standing)
            elif standing.commits:
                self._tidied(standing)
            tell(1, 2)
            upkeep.make_indexes(self._table, vectors=True)
        tell(2, 2)

    def _tidied(self, standing: Standing) -> None:
        """Few files, and a version that can be gone back to."""
        fresh = standing._replace(commits=0)
        self._table.merge(to_table((), fresh, self._table.width()))
        upkeep.compact(self._table)
        upkeep.make_indexes(self._table, vectors=False)
        upkeep.tag(self._table, fresh)

    def step_back(self, is_known: Callable[[int, str], bool]) -> bool:
        """Go back to the newest version whose sequence and mark the ledger knows; False when there is none.

        For an index that is ahead of its ledger, because a backup was put in the ledger's place.
        """
        with self._writing():
            return upkeep.step_back(self._table, is_known)

    # -- reading --

    def search(self, query: IndexQuery) -> IndexAnswer:
        views, large = self._at_hand(query.scopes)
        if large:
            return search_large(self._table, Asked.of(query, views), large, self._counted.of(self._look()[0]))
        return search(overlaid(views, query) if query.tail or query.hidden else views, query)

    def extent(self, scopes: Collection[str]) -> tuple[int, int] | None:
        views, large = self._at_hand(scopes)
        spans = [] if (near := extent(views)) is None else [near]
        if large:
            where = filters.all_of((filters.scopes(large), "occurred > 0"))
            moments = self._table.rows(where, ("occurred",))["occurred"].to_numpy()
            spans += [(int(moments.min()), int(moments.max()))] if len(moments) else []
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None

    def _at_hand(self, scopes: Collection[str]) -> tuple[list[View], list[filters.ScopeCode]]:
        with self._lock:
            version, _, indexed = self._look()
            return self._blocks.views(scopes, version=version, indexed=indexed)

    def missing_vectors(self, limit: int) -> tuple[int, ...]:
        self._look()
        bare = self._table.rows(f"NOT vectored AND {filters.within('number', 1, _PROBES)}", ("number",))
        return tuple(np.sort(bare["number"].to_numpy())[:limit].tolist())

    def holds(self, numbers: Collection[int]) -> frozenset[int]:
        self._look()
        real = [number for number in numbers if number > 0]
        return frozenset(
            number for table in self._table.numbered(real, ("number",)) for number in table["number"].to_pylist()
        )

    def counts(self) -> IndexCounts:
        self._look()
        vectors = self._table.count("vectored")
        entries = self._table.count(upkeep.REAL)
        return IndexCounts(entries, vectors, upkeep.size(self._table), upkeep.fragments(self._table))

    def health(self) -> IndexHealth:
        """How its table is."""
        return upkeep.health(self._table)

    # -- erasing --

    def scrub(self) -> bool:
        with self._writing() as standing:
            return not standing.owed or self._written_anew(standing)

    def rewrite(self) -> None:
        """Write the table anew."""
        with self._writing() as standing:
            self._written_anew(standing)

    def _written_anew(self, standing: Standing) -> bool:
        if not upkeep.write_anew(self._table):
            return False
        # Said only now: whoever is interrupted before leaves it owed.
        clean = standing._replace(owed=0, aside=0, commits=0)
        self._table.merge(to_table((), clean, self._table.width()))
        upkeep.tag(self._table, clean)
        return True

    @property
    def is_remote(self) -> bool:
        return self._table.folder is None

    def files(self) -> tuple[str, ...]:
        """Its files on this machine; none when it lies in an object store."""
        folder = self._table.folder
        return () if folder is None else tuple(sorted(str(path) for path in folder.rglob("*") if path.is_file()))

    def residues(self, gone: Sequence[IndexEntry]) -> tuple[bytes, ...]:
        self._look()
        wanted = {term for entry in gone for term in Row.of(entry).packed.terms.tolist()}
        return residues(gone, self._kept(np.array(sorted(wanted), np.uint64)))

    def _kept(self, wanted: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Terms, vectors and pieces of what is there: together, and row by row where a row may share a run."""
        none = np.empty((0, 0), np.int8), np.empty(0, np.uint32)
        after = 0
        while True:
            table = self._table.rows(filters.all_of((upkeep.REAL, f"number > {filters.literal(after)}")), ("number",))
            numbers = np.sort(table["number"].to_numpy())[:_FEW].tolist()
            if not numbers:
                return
            after = numbers[-1]
            entries = [e for each in self._table.numbered(numbers, ("number", "body")) for e in unpacked(each)]
            tail = Tail(entries)
            yield np.unique(tail.triples()[0]), tail.vectors, tail.pieces
            for entry in entries:
                if np.isin(entry.terms, wanted).sum() >= _SHORTEST_RUN:
                    yield entry.terms, *none

    def close(self) -> None:
        with self._lock:
            self._blocks.clear()


def opened(table: Table | None, *, hold: Hold) -> LanceIndex:
    """The index in a table; LedgerDamaged when there is none."""
    if table is None:
        raise LedgerDamaged("the index is gone")
    return LanceIndex(table, hold=hold)
