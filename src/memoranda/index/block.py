"""What a process has in memory of one scope, and how it keeps up with the file."""

import numpy as np

from memoranda.index.container import load_segment, meta
from memoranda.index.search import View
from memoranda.index.segment import Packed, Segment, Tail
from memoranda.ledger.connection import Connection


class Block:
    """What a process has in memory of one scope."""

    def __init__(self) -> None:
        self.reset(-1)

    def reset(self, stamp: int) -> None:
        """Nothing is known of the scope, as of this stamp."""
        self.stamp = stamp
        self.scope = 0
        self.segments: dict[int, Segment] = {}
        self.stamps: dict[int, int] = {}
        self.gone: dict[int, set[int]] = {}
        self.tail: dict[int, Packed] = {}
        self.views: tuple[View, ...] = ()

    def bytes(self) -> int:
        return sum(view.part.bytes for view in self.views)


def refresh(connection: Connection, path: str, block: Block) -> None:
    stamp = int(meta(connection, "stamp"))
    row = connection.execute("select id from scope where path = :path", {"path": path}).fetchone()
    if row is None or int(row[0]) != block.scope:
        # The scope is new, is gone, or was gone and came back under another id: nothing of before counts.
        block.reset(stamp if row is None else -1)
    if row is None:
        return
    block.scope = int(row[0])
    if stamp == block.stamp:
        return
    scope = int(row[0])
    rows = connection.execute("select id, stamp from segment where scope = :scope order by id", {"scope": scope})
    present = {int(identity): int(changed) for identity, changed in rows}
    since = block.stamp
    if present != block.stamps:
        block.segments = {
            identity: block.segments[identity]
            if block.stamps.get(identity) == changed
            else load_segment(connection, identity)
            for identity, changed in present.items()
        }
        block.stamps = present
        block.gone = {identity: set() for identity in present}
        block.tail = {}
        since = -1
    values = {"scope": scope, "since": since}
    changed = since < 0
    for segment, number in connection.execute(
        "select segment, number from gone where scope = :scope and stamp > :since", values
    ):
        changed = True
        if segment:
            block.gone.setdefault(int(segment), set()).add(int(number))
        elif since >= 0:
            block.tail.pop(int(number), None)
    for number, body in connection.execute(
        "select number, body from tail where scope = :scope and stamp > :since", values
    ):
        changed = True
        block.tail[int(number)] = Packed.from_bytes(int(number), bytes(body))
    block.stamp = stamp
    if changed:
        block.views = _views(block)


def _views(block: Block) -> tuple[View, ...]:
    views = []
    for identity, segment in block.segments.items():
        gone = block.gone.get(identity)
        alive = ~np.isin(segment.numbers, np.fromiter(gone, np.int64, len(gone))) if gone else None
        views.append(View(segment, alive))
    if block.tail:
        tail = Tail(list(block.tail.values()))
        views.append(View(tail, None))
    return tuple(views)
