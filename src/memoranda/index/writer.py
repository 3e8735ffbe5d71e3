"""Writing to the container: one transaction at a time.

Entries come into the tail of their scope; full tails become segments; segments are joined as they grow.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from memoranda.domain.ports import Meaning
from memoranda.index.container import COLUMNS, load_segment, meta
from memoranda.index.container import gone as gone_from
from memoranda.index.segment import Packed, Segment, Tail, packed_meaning
from memoranda.ledger.connection import Connection
from memoranda.ledger.sqlite import SqliteConnection

TAIL_FULL = 512
GROWTH = 4
LARGEST = 262_144
DEAD = 4
"""One in so many that are dead makes a segment worth writing anew."""


class Writer:
    """One transaction on the file."""

    def __init__(self, connection: Connection) -> None:
        assert isinstance(connection, SqliteConnection)
        self._connection = connection
        self._stamp = int(meta(connection, "stamp")) + 1
        self._scopes: dict[str, int] = {}
        self._touched: set[int] = set()
        self.set_meta("stamp", str(self._stamp))

    def set_meta(self, key: str, value: str) -> None:
        self._connection.execute(
            "insert into meta (key, value) values (:key, :value) "
            "on conflict (key) do update set value = excluded.value",
            {"key": key, "value": value},
        )

    def put(self, packed: Sequence[tuple[str, Packed]]) -> None:
        for path, entry in packed:
            scope = self._scope(path)
            where = self._where(entry.number)
            if where is not None and where[1]:
                self._note_gone(where[0], where[1], entry.number)
            elif where is not None and where[0] != scope:
                self._note_gone(where[0], 0, entry.number)
            self._connection.execute(
                """
                insert into tail (number, scope, stamp, body) values (:number, :scope, :stamp, :body)
                on conflict (number) do update
                    set scope = excluded.scope, stamp = excluded.stamp, body = excluded.body
                """,
                {"number": entry.number, "scope": scope, "stamp": self._stamp, "body": entry.to_bytes()},
            )
            self._connection.execute(
                """
                insert into entry (number, scope, segment, vector) values (:number, :scope, 0, :vector)
                on conflict (number) do update set scope = excluded.scope, segment = 0, vector = excluded.vector
                """,
                {"number": entry.number, "scope": scope, "vector": int(entry.scale > 0)},
            )
            self._touched.add(scope)

    def add_meanings(self, meanings: Mapping[int, Meaning], *, cheap_only: bool) -> frozenset[int]:
        """Give these entries their vectors and pieces, in place; which got theirs. Cheap are those in the tail."""
        in_segments: dict[int, dict[int, Meaning]] = {}
        done: set[int] = set()
        for number, meaning in meanings.items():
            where = self._where(number)
            if where is not None and where[1]:
                in_segments.setdefault(where[1], {})[number] = meaning
            elif where is not None:
                self._add_to_tail(number, meaning)
                done.add(number)
        if not cheap_only:
            for segment, wanted in in_segments.items():
                self._add_to_segment(segment, wanted)
                done.update(wanted)
        return frozenset(done)

    def _add_to_tail(self, number: int, meaning: Meaning) -> None:
        row = self._connection.execute("select body from tail where number = :number", {"number": number}).fetchone()
        assert row is not None
        scale, vector, pieces = packed_meaning(meaning)
        entry = Packed.from_bytes(number, bytes(row[0]))._replace(scale=scale, vector=vector, pieces=pieces)
        self._connection.execute(
            "update tail set body = :body, stamp = :stamp where number = :number",
            {"body": entry.to_bytes(), "stamp": self._stamp, "number": number},
        )
        self._connection.execute("update entry set vector = 1 where number = :number", {"number": number})

    def _add_to_segment(self, identity: int, wanted: Mapping[int, Meaning]) -> None:
        segment = load_segment(self._connection, identity).with_meanings(wanted)
        names = ("scales", "vectors", "piece_offsets", "pieces")
        blobs = segment.to_blobs()
        self._connection.execute(
            f"update segment set {', '.join(f'{name} = :{name}' for name in names)}, stamp = :stamp "  # noqa: S608
            "where id = :id",
            {**{name: blobs[name] for name in names}, "stamp": self._stamp, "id": identity},
        )
        self._connection.executemany("update entry set vector = 1 where number = ?", ((number,) for number in wanted))

    def drop(self, numbers: Collection[int]) -> None:
        in_segments: dict[tuple[int, int], set[int]] = {}
        scopes: set[int] = set()
        for number in numbers:
            where = self._where(number)
            if where is None:
                continue
            scope, segment = where
            scopes.add(scope)
            self._connection.execute("delete from entry where number = :number", {"number": number})
            if segment:
                in_segments.setdefault((scope, segment), set()).add(number)
            else:
                self._connection.execute("delete from tail where number = :number", {"number": number})
                self._note_gone(scope, 0, number)
        for (scope, segment), gone in in_segments.items():
            self._rewrite(scope, (segment,), without=gone)
        # A replaced entry may still lie dead in a segment: erased means out of that, too.
        for number in numbers:
            rows: list[Any] = self._connection.execute(
                "select scope, segment from gone where number = :number and segment > 0", {"number": number}
            ).fetchall()
            for home, segment_id in rows:
                self._rewrite(int(home), (int(segment_id),))
            self._connection.execute("delete from gone where number = :number and segment > 0", {"number": number})
        for scope in scopes:
            self._let_go_of(scope)

    def put_aside(self, numbers: Collection[int]) -> None:
        """Remove entries from what is found, and their bytes only where many lie dead: a segment is not written anew
        for a handful."""
        touched: set[tuple[int, int]] = set()
        for number in numbers:
            where = self._where(number)
            if where is None:
                continue
            scope, segment = where
            touched.add(where)
            self._connection.execute("delete from entry where number = :number", {"number": number})
            self._connection.execute("delete from tail where number = :number", {"number": number})
            self._note_gone(scope, segment, number)
        for scope, segment in touched:
            if segment and len(gone_from(self._connection, scope, segment)) * DEAD >= self._sizes(scope)[segment]:
                self._rewrite(scope, (segment,))
        for scope in {scope for scope, _ in touched}:
            self._let_go_of(scope)

    def _let_go_of(self, scope: int) -> None:
        """A scope that has nothing left leaves no name behind."""
        left = self._connection.execute("select 1 from entry where scope = :scope limit 1", {"scope": scope}).fetchone()
        if left is None:
            self._connection.execute("delete from segment where scope = :scope", {"scope": scope})
            self._connection.execute("delete from gone where scope = :scope", {"scope": scope})
            self._connection.execute("delete from scope where id = :scope", {"scope": scope})

    def settle(self) -> None:
        """Full tails become segments, and equal segments are merged."""
        for scope in self._touched:
            row = self._connection.execute(
                "select count(*) from tail where scope = :scope", {"scope": scope}
            ).fetchone()
            if row is not None and int(row[0]) >= TAIL_FULL:
                self._flush(scope)
                self._merge(scope)

    def merge_all(self, scope: int) -> None:
        """One segment for the whole scope."""
        self._flush(scope)
        sizes = self._sizes(scope)
        dead = self._connection.execute(
            "select 1 from gone where scope = :scope and segment > 0 limit 1", {"scope": scope}
        ).fetchone()
        if len(sizes) > 1 or dead:
            self._rewrite(scope, tuple(sizes))

    def _flush(self, scope: int) -> None:
        rows: list[Any] = self._connection.execute(
            "select number, body from tail where scope = :scope order by number", {"scope": scope}
        ).fetchall()
        if not rows:
            return
        tail = Tail([Packed.from_bytes(int(number), bytes(body)) for number, body in rows])
        self._store(scope, Segment.merged([(tail, np.ones(tail.size, np.bool_))]))
        self._connection.execute("delete from tail where scope = :scope", {"scope": scope})
        self._connection.execute("delete from gone where scope = :scope and segment = 0", {"scope": scope})

    def _merge(self, scope: int) -> None:
        """Join the newest segments while the one before is not much larger: few segments, and few rewrites."""
        while True:
            sizes = list(self._sizes(scope).items())
            if len(sizes) < 2:
                return
            (before, large), (newest, small) = sizes[-2:]
            if large >= GROWTH * small or large + small > LARGEST:
                return
            self._rewrite(scope, (before, newest))

    def _rewrite(self, scope: int, segments: tuple[int, ...], without: Collection[int] = ()) -> None:
        """These segments as one, without what is dead or to be dropped."""
        parts = []
        for segment in segments:
            loaded = load_segment(self._connection, segment)
            gone = gone_from(self._connection, scope, segment) | set(without)
            parts.append((loaded, ~np.isin(loaded.numbers, np.fromiter(gone, np.int64, len(gone)))))
        merged = Segment.merged(parts)
        for segment in segments:
            self._connection.execute("delete from segment where id = :id", {"id": segment})
            self._connection.execute(
                "delete from gone where scope = :scope and segment = :segment", {"scope": scope, "segment": segment}
            )
        self._store(scope, merged)

    def _store(self, scope: int, segment: Segment) -> None:
        if not segment.size:
            return
        names = ", ".join(":" + name for name in Segment.BLOBS)
        self._connection.execute(
            f"insert into segment (scope, size, stamp, {COLUMNS}) values (:scope, :size, :stamp, {names})",  # noqa: S608
            {"scope": scope, "size": segment.size, "stamp": self._stamp, **segment.to_blobs()},
        )
        identity = self._connection.last_insert_rowid()
        self._connection.executemany(
            "update entry set segment = ? where number = ?", ((identity, int(number)) for number in segment.numbers)
        )

    def _sizes(self, scope: int) -> dict[int, int]:
        rows = self._connection.execute(
            "select id, size from segment where scope = :scope order by id", {"scope": scope}
        )
        return {int(identity): int(size) for identity, size in rows}

    def _where(self, number: int) -> tuple[int, int] | None:
        row = self._connection.execute(
            "select scope, segment from entry where number = :number", {"number": number}
        ).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def _note_gone(self, scope: int, segment: int, number: int) -> None:
        self._connection.execute(
            "insert into gone (scope, stamp, segment, number) values (:scope, :stamp, :segment, :number)",
            {"scope": scope, "stamp": self._stamp, "segment": segment, "number": number},
        )

    def _scope(self, path: str) -> int:
        if path not in self._scopes:
            self._connection.execute(
                "insert into scope (path) values (:path) on conflict (path) do nothing", {"path": path}
            )
            row = self._connection.execute("select id from scope where path = :path", {"path": path}).fetchone()
            assert row is not None
            self._scopes[path] = int(row[0])
        return self._scopes[path]
