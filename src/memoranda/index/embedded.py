"""The embedded index: one SQLite file as a container, searched in memory.

Entries come into the tail of their scope one by one; full tails become segments, and segments are merged as they
grow. Several processes may read while one applies: a reader notices a commit by the file's data version and takes
in only what is new. An erased entry leaves its segment at once, by rewriting it.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.ports import IndexAnswer, IndexCounts, IndexEntry, IndexQuery, Progress
from memoranda.index.residues import residues
from memoranda.index.search import View, overlaid, search
from memoranda.index.segment import Packed, Segment, Tail
from memoranda.index.tokens import VERSION as TOKENS_VERSION
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders

FORMAT = f"1.{TOKENS_VERSION}"
TAIL_FULL = 1_024
MERGE_AT = 4
LARGEST = 262_144
CACHE_BYTES = 2 << 30

_SCHEMA = f"""
create table if not exists meta (key text primary key, value text not null) without rowid;
create table if not exists scope (id integer primary key, path text not null unique);
create table if not exists entry (
    number integer primary key, scope integer not null, segment integer not null, vector integer not null
);
create index if not exists entry_bare on entry (number) where vector = 0;
create index if not exists entry_scope on entry (scope, segment);
create table if not exists tail (
    number integer primary key, scope integer not null, stamp integer not null, body blob not null
);
create index if not exists tail_scope on tail (scope, stamp);
create table if not exists gone (
    scope integer not null, stamp integer not null, segment integer not null, number integer not null
);
create index if not exists gone_scope on gone (scope, stamp);
create table if not exists segment (
    id integer primary key autoincrement, scope integer not null, size integer not null,
    {", ".join(f"{name} blob not null" for name in Segment.BLOBS)}
);
create index if not exists segment_scope on segment (scope);
"""
_COLUMNS = ", ".join(Segment.BLOBS)


class _Block:
    """What a process has in memory of one scope."""

    def __init__(self) -> None:
        self.stamp = -1
        self.segments: dict[int, Segment] = {}
        self.gone: dict[int, set[int]] = {}
        self.tail: dict[int, Packed] = {}
        self.views: tuple[View, ...] = ()

    def bytes(self) -> int:
        return sum(view.part.bytes for view in self.views)


class EmbeddedIndex:
    """Lexical and semantic lane in one file."""

    def __init__(self, path: Path, *, fingerprint: str, busy_seconds: float = 30.0) -> None:
        self.path = path
        self._database = Database(path, durable=False, busy_seconds=busy_seconds, page_size=16_384)
        self._blocks: OrderedDict[str, _Block] = OrderedDict()
        self._lock = threading.Lock()
        self._seen = threading.local()
        self._outdated: set[str] = set()
        try:
            with self._database.read() as connection:
                prepared = _is_prepared(connection)
            if not prepared:  # a write would wait for whoever holds the index
                self._database.write(lambda connection: _prepare(connection, fingerprint))
            self.fingerprint = self._meta("fingerprint")
            if self._meta("format") != FORMAT:
                raise LedgerDamaged("the index has another format and has to be built again")
        except BaseException:
            self._database.close()
            raise

    def _meta(self, key: str) -> str:
        with self._database.read() as connection:
            return _meta(connection, key)

    @property
    def sequence(self) -> int:
        return int(self._meta("sequence"))

    # -- writing --

    def adopt(self, fingerprint: str) -> None:
        """Let another vector space move in. Only for an index that has no vectors."""

        def job(connection: apsw.Connection) -> None:
            row = connection.execute("select 1 from entry where vector = 1 limit 1").fetchone()
            if row is None:
                _Writer(connection).set_meta("fingerprint", fingerprint)

        self._database.write(job)
        self.fingerprint = self._meta("fingerprint")

    def apply(
        self, *, put: Sequence[IndexEntry], drop: Collection[int], sequence: int | None, after: int | None = None
    ) -> bool:
        packed = [(entry.scope, Packed.of(entry)) for entry in put]

        def job(connection: apsw.Connection) -> bool:
            if after is not None and int(_meta(connection, "sequence")) != after:
                return False
            writer = _Writer(connection)
            writer.put(packed)
            writer.drop(drop)
            writer.settle()
            if sequence is not None:
                writer.set_meta("sequence", str(sequence))
            return True

        return self._database.write(job)

    def optimize(self, progress: Progress | None = None) -> None:
        with self._database.read() as connection:
            scopes = [int(row[0]) for row in connection.execute("select id from scope order by id")]
        for done, scope in enumerate(scopes):
            if progress:
                progress(done, len(scopes))
            self._database.write(lambda connection, scope=scope: _Writer(connection).merge_all(scope))  # type: ignore[misc]
        if progress:
            progress(len(scopes), len(scopes))

    # -- reading --

    def search(self, query: IndexQuery) -> IndexAnswer:
        views: list[View] = []
        with self._lock:
            self._refresh(query.scopes)
            for scope in query.scopes:
                block = self._blocks.get(scope)
                if block is not None:
                    self._blocks.move_to_end(scope)
                    views += block.views
        if query.tail or query.hidden:
            views = overlaid(views, query)
        return search(views, query)

    def _refresh(self, scopes: Iterable[str]) -> None:
        """Bring these scopes up to date in memory; cheap when nothing was committed."""
        version = self._database.version()
        # The number means something only to the connection that gave it, and each thread has its own.
        if version != getattr(self._seen, "version", None):
            self._seen.version = version
            self._outdated = set(self._blocks)
        wanted = [scope for scope in scopes if scope in self._outdated or scope not in self._blocks]
        if wanted:
            with self._database.read() as connection:
                for scope in wanted:
                    _refresh_block(connection, scope, self._blocks.setdefault(scope, _Block()))
                    self._outdated.discard(scope)
            self._evict(set(scopes))

    def _evict(self, wanted: set[str]) -> None:
        held = sum(block.bytes() for block in self._blocks.values())
        for scope in list(self._blocks):
            if held <= CACHE_BYTES and len(self._blocks) <= 4_096:
                break
            if scope not in wanted:
                held -= self._blocks.pop(scope).bytes()
                self._outdated.discard(scope)

    def missing_vectors(self, limit: int) -> tuple[int, ...]:
        with self._database.read() as connection:
            rows = connection.execute(
                "select number from entry where vector = 0 and number > 0 order by number limit :limit",
                {"limit": limit},
            )
            return tuple(int(row[0]) for row in rows)

    def holds(self, numbers: Collection[int]) -> frozenset[int]:
        found: set[int] = set()
        listed = tuple(numbers)
        with self._database.read() as connection:
            for start in range(0, len(listed), 500):
                names, values = placeholders("number", listed[start : start + 500])
                rows = connection.execute(f"select number from entry where number in ({names})", values)  # noqa: S608
                found.update(int(row[0]) for row in rows)
        return frozenset(found)

    def counts(self) -> IndexCounts:
        with self._database.read() as connection:
            row = connection.execute(
                "select count(*), coalesce(sum(vector), 0), (select count(*) from segment) from entry where number > 0"
            ).fetchone()
        entries, vectors, segments = (int(value) for value in row or (0, 0, 0))
        size = sum(Path(name).stat().st_size for name in self.files())
        return IndexCounts(entries, vectors, size, segments)

    # -- erasing --

    def scrub(self) -> bool:
        return self._database.checkpoint()

    def rewrite(self) -> None:
        """Write the file anew."""
        self._database.vacuum()

    def files(self) -> tuple[str, ...]:
        return self._database.files()

    def residues(self, gone: Sequence[IndexEntry]) -> tuple[bytes, ...]:
        with self._database.read() as connection:
            return residues(gone, _kept(connection))

    def close(self) -> None:
        self._database.close()
        with self._lock:
            self._blocks.clear()


class _Writer:
    """One transaction on the file."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._stamp = int(_meta(connection, "stamp")) + 1
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

    def drop(self, numbers: Collection[int]) -> None:
        in_segments: dict[tuple[int, int], set[int]] = {}
        for number in numbers:
            where = self._where(number)
            if where is None:
                continue
            scope, segment = where
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
        """While there are several segments of about the same size, make one of them."""
        while True:
            classes: dict[int, list[int]] = {}
            for segment, size in self._sizes(scope).items():
                if size < LARGEST:
                    classes.setdefault(max(size, TAIL_FULL).bit_length() // 2, []).append(segment)
            crowded = [segments for segments in classes.values() if len(segments) >= MERGE_AT]
            if not crowded:
                return
            self._rewrite(scope, tuple(crowded[0]))

    def _rewrite(self, scope: int, segments: tuple[int, ...], without: Collection[int] = ()) -> None:
        """These segments as one, without what is dead or to be dropped."""
        parts = []
        for segment in segments:
            loaded = _load_segment(self._connection, segment)
            gone = _gone(self._connection, scope, segment) | set(without)
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
            f"insert into segment (scope, size, {_COLUMNS}) values (:scope, :size, {names})",  # noqa: S608
            {"scope": scope, "size": segment.size, **segment.to_blobs()},
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


def _is_prepared(connection: apsw.Connection) -> bool:
    return connection.execute("select 1 from sqlite_schema where name = 'meta'").fetchone() is not None


def _prepare(connection: apsw.Connection, fingerprint: str) -> None:
    connection.execute(_SCHEMA).fetchall()
    for key, value in (("sequence", "0"), ("stamp", "0"), ("format", FORMAT), ("fingerprint", fingerprint)):
        connection.execute(
            "insert into meta (key, value) values (:key, :value) on conflict (key) do nothing",
            {"key": key, "value": value},
        )


def _meta(connection: apsw.Connection, key: str) -> str:
    row = connection.execute("select value from meta where key = :key", {"key": key}).fetchone()
    return "0" if row is None else str(row[0])


def _kept(connection: apsw.Connection) -> Iterator[tuple[Any, Any]]:
    """Terms and vectors of every entry that is alive: what is dead but still there must be found by the proof."""
    for identity, scope in [(int(row[0]), int(row[1])) for row in connection.execute("select id, scope from segment")]:
        segment = _load_segment(connection, identity)
        listed = connection.execute(
            "select number from entry where scope = :scope and segment = :id", {"scope": scope, "id": identity}
        )
        alive = np.isin(segment.numbers, np.fromiter((row[0] for row in listed), np.int64))
        terms, rows, _ = segment.triples()
        yield np.unique(terms[alive[rows]]), segment.vectors[alive]
    for number, body in connection.execute("select number, body from tail"):
        entry = Packed.from_bytes(int(number), bytes(body))
        yield entry.terms, entry.vector[None, :]


def _load_segment(connection: apsw.Connection, identity: int) -> Segment:
    row = connection.execute(f"select {_COLUMNS} from segment where id = :id", {"id": identity}).fetchone()  # noqa: S608
    assert row is not None
    return Segment.from_blobs(row)


def _gone(connection: apsw.Connection, scope: int, segment: int) -> set[int]:
    rows = connection.execute(
        "select number from gone where scope = :scope and segment = :segment", {"scope": scope, "segment": segment}
    )
    return {int(row[0]) for row in rows}


def _refresh_block(connection: apsw.Connection, path: str, block: _Block) -> None:
    stamp = int(_meta(connection, "stamp"))
    row = connection.execute("select id from scope where path = :path", {"path": path}).fetchone()
    if row is None or stamp == block.stamp:
        block.stamp = stamp
        return
    scope = int(row[0])
    present = {
        int(row[0]) for row in connection.execute("select id from segment where scope = :scope", {"scope": scope})
    }
    since = block.stamp
    if present != block.segments.keys():
        block.segments = {
            identity: block.segments.get(identity) or _load_segment(connection, identity)
            for identity in sorted(present)
        }
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


def _views(block: _Block) -> tuple[View, ...]:
    views = []
    for identity, segment in block.segments.items():
        gone = block.gone.get(identity) or set()
        alive = ~np.isin(segment.numbers, np.fromiter(gone, np.int64, len(gone)))
        views.append(View(segment, alive))
    if block.tail:
        tail = Tail(list(block.tail.values()))
        views.append(View(tail, np.ones(tail.size, np.bool_)))
    return tuple(views)
