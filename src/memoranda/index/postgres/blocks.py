"""What a process has in memory of the small scopes of an index in PostgreSQL, and how it keeps up with the tables.

A scope is read once. Afterwards one look at its row says whether anything changed, and only what is new is read.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from memoranda.index.postgres.rows import Scope, fetch
from memoranda.index.postgres.tables import Tables
from memoranda.index.search import View
from memoranda.index.segment import Packed, Tail
from memoranda.ledger.connection import Connection

CACHE_BYTES = 512 << 20
_MOST_BLOCKS = 16_384


class _Block:
    """One scope at one stamp."""

    __slots__ = ("bytes", "id", "rows", "stamp", "views")

    def __init__(self, scope: int, stamp: int, rows: dict[int, Packed]) -> None:
        self.id = scope
        self.stamp = stamp
        self.rows = rows
        part = Tail(list(rows.values()))
        self.views = (View(part, None),)
        self.bytes = 2 * part.bytes + 512 * len(rows)


class Blocks:
    """The scopes that were searched last, as many as there is room for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[str, _Block] = OrderedDict()
        self._bytes = 0

    def views(self, connection: Connection, tables: Tables, scopes: Sequence[Scope]) -> list[View]:
        """Everything of these scopes, as the connection sees it."""
        found: list[View] = []
        for scope in scopes:
            with self._lock:
                block = self._blocks.get(scope.path)
            if block is None or block.id != scope.id or block.stamp != scope.stamp:
                block = self._read(connection, tables, scope, block)
            self._keep(scope.path, block)
            found += block.views
        return found

    def _read(self, connection: Connection, tables: Tables, scope: Scope, before: _Block | None) -> _Block:
        rows: dict[int, Packed] = {}
        since = -1
        # What is newer than this view of the tables is no help, nor is what was there before something went away.
        if before is not None and before.id == scope.id and scope.cut <= before.stamp < scope.stamp:
            rows, since = dict(before.rows), before.stamp
        for number, body in fetch(
            connection,
            f"select number, body from {tables.body} "  # noqa: S608
            f"where scope = :scope{tables.of('root = :root')} and stamp > :since order by number",
            {"scope": scope.id, "root": scope.root, "since": since},
        ):
            rows[int(number)] = Packed.from_bytes(int(number), bytes(body))
        return _Block(scope.id, scope.stamp, rows)

    def _keep(self, path: str, block: _Block) -> None:
        with self._lock:
            there = self._blocks.get(path)
            # Another thread may have read something newer meanwhile.
            if there is None or there.id != block.id or there.stamp < block.stamp:
                self._bytes += block.bytes - (there.bytes if there is not None else 0)
                self._blocks[path] = block
            self._blocks.move_to_end(path)
            while self._bytes > CACHE_BYTES or len(self._blocks) > _MOST_BLOCKS:
                _, oldest = self._blocks.popitem(last=False)
                self._bytes -= oldest.bytes

    def clear(self) -> None:
        with self._lock:
            self._blocks.clear()
            self._bytes = 0
