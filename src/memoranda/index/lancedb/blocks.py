"""What a process has in memory of small scopes: read once, and then only what has changed."""

from collections import OrderedDict
from collections.abc import Collection, Iterable

import numpy as np

from memoranda.index.lancedb import filters
from memoranda.index.lancedb.filters import ScopeCode
from memoranda.index.lancedb.rows import unpacked
from memoranda.index.lancedb.tables import Table
from memoranda.index.search import View
from memoranda.index.segment import Packed, Segment, Tail

SMALL = 20_000
"""A scope with at most so many entries is searched in memory, as a whole."""
CACHE_BYTES = 512 << 20
_MOST_BLOCKS = 4_096
_TAIL_FULL = 512


class Block:
    """One scope in memory."""

    def __init__(self) -> None:
        self.version = -1
        self.large = False
        self.clear()

    def clear(self) -> None:
        self.stamps: dict[int, int] = {}
        self.views: tuple[View, ...] = ()
        self._segment: Segment | None = None
        self._tail: dict[int, Packed] = {}

    def bytes(self) -> int:
        return sum(view.part.bytes for view in self.views)

    def take(self, stamps: dict[int, int], fresh: Iterable[Packed]) -> None:
        """These numbers are there now, and these entries are new or other than before."""
        self.stamps = stamps
        self._tail.update((entry.number, entry) for entry in fresh)
        self._tail = {number: entry for number, entry in self._tail.items() if number in stamps}
        if len(self._tail) > _TAIL_FULL:
            tail = Tail(list(self._tail.values()))
            parts = [(view.part, _alive(view)) for view in self._old()]
            self._segment = Segment.merged([*parts, (tail, np.ones(tail.size, np.bool_))])
            self._tail = {}
        self.views = (*self._old(), *((View(Tail(list(self._tail.values())), None),) if self._tail else ()))

    def _old(self) -> tuple[View, ...]:
        """The segment without what is gone or stands in the tail."""
        if self._segment is None:
            return ()
        numbers = self._segment.numbers
        there = np.fromiter((number for number in self.stamps if number not in self._tail), np.int64)
        alive = np.isin(numbers, there)
        return (View(self._segment, None if alive.all() else alive),)


def _alive(view: View) -> np.ndarray:
    return np.ones(view.part.size, np.bool_) if view.alive is None else view.alive


class Blocks:
    """The scopes that were asked for last."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._blocks: OrderedDict[ScopeCode, Block] = OrderedDict()

    def clear(self) -> None:
        self._blocks.clear()

    def views(self, scopes: Collection[str], *, version: int, indexed: bool) -> tuple[list[View], list[ScopeCode]]:
        """What is at hand of these scopes as of a version, and those that are too large to be.

        Where the engine has no index of words, no scope is too large.
        """
        codes = [ScopeCode.of(scope) for scope in scopes]
        views: list[View] = []
        large: list[ScopeCode] = []
        for code in codes:
            block = self._blocks.setdefault(code, Block())
            self._blocks.move_to_end(code)
            if block.version != version:
                self._refresh(block, code, most=SMALL if indexed else None)
                block.version = version
            views += block.views
            if block.large:
                large.append(code)
        self._evict(set(codes))
        return views, large

    def _refresh(self, block: Block, code: ScopeCode, *, most: int | None) -> None:
        where = filters.witnessed([code])
        block.large = most is not None and self._table.count(filters.scopes([code])) > most
        if block.large:
            block.clear()
            return
        listed = self._table.rows(where, ("number", "stamp"))
        stamps = dict(zip(listed["number"].to_pylist(), listed["stamp"].to_pylist(), strict=True))
        changed = [number for number, stamp in stamps.items() if block.stamps.get(number) != stamp]
        if not changed and len(stamps) == len(block.stamps):
            return
        if len(changed) * 2 > len(stamps):
            found = [self._table.rows(where, ("number", "stamp", "body"))]
        else:
            found = self._table.numbered(changed, ("number", "stamp", "body"), where=where)
        fresh = [entry for table in found for entry in unpacked(table)]
        # Somebody may have written in between: what was loaded counts, not what was listed.
        now = dict(stamps)
        for table in found:
            now.update(zip(table["number"].to_pylist(), table["stamp"].to_pylist(), strict=True))
        loaded = {entry.number for entry in fresh}
        kept = {number: stamp for number, stamp in now.items() if number in loaded or block.stamps.get(number) == stamp}
        block.take(kept, fresh)

    def _evict(self, wanted: set[ScopeCode]) -> None:
        held = sum(block.bytes() for block in self._blocks.values())
        for code in list(self._blocks):
            if held <= CACHE_BYTES and len(self._blocks) <= _MOST_BLOCKS:
                break
            if code not in wanted:
                held -= self._blocks.pop(code).bytes()
