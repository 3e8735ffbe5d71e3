"""The embedded index: one SQLite file as a container, searched in memory.

Entries come into the tail of their scope one by one; full tails become segments, and segments are merged as they
grow. Several processes may read while one applies: a reader notices a commit by the file's data version and takes
in only what is new. An erased entry leaves its segment at once, by rewriting it.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.keys import Key
from memoranda.domain.ports import IndexAnswer, IndexCounts, IndexEntry, IndexQuery, Meaning, Progress
from memoranda.index.block import Block, refresh
from memoranda.index.container import FORMAT, is_prepared, kept, meta, prepare
from memoranda.index.residues import residues
from memoranda.index.search import View, extent, overlaid, search
from memoranda.index.segment import Packed
from memoranda.index.writer import Writer
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.sqlite import SqliteDatabase

CACHE_BYTES = 2 << 30


class EmbeddedIndex:
    """Lexical and semantic lane in one file."""

    def __init__(self, path: Path, *, fingerprint: str, busy_seconds: float = 30.0, key: Key | None = None) -> None:
        self.path = path
        self._database = SqliteDatabase(path, durable=False, busy_seconds=busy_seconds, page_size=16_384, key=key)
        self._blocks: OrderedDict[str, Block] = OrderedDict()
        self._lock = threading.Lock()
        self._seen = threading.local()
        self._outdated: set[str] = set()
        try:
            with self._database.read() as connection:
                prepared = is_prepared(connection)
            if not prepared:  # a write would wait for whoever holds the index
                self._database.write(lambda connection: prepare(connection, fingerprint))
            self.fingerprint = self._meta("fingerprint")
            if self._meta("format") != FORMAT:
                raise LedgerDamaged("the index has another format and has to be built again")
        except BaseException:
            self._database.close()
            raise

    def _meta(self, key: str) -> str:
        with self._database.read() as connection:
            return meta(connection, key)

    @property
    def sequence(self) -> int:
        return int(self._meta("sequence"))

    @property
    def standing(self) -> tuple[int, str]:
        with self._database.read() as connection:
            sequence, mark = meta(connection, "sequence"), meta(connection, "mark")
        return int(sequence), "" if mark == "0" else mark

    def version(self) -> int:
        """A number that changes when anybody commits; it means something only to the thread that asks."""
        return self._database.version()

    # -- writing --

    def adopt(self, fingerprint: str) -> None:
        """Let another vector space move in. Only for an index that has no vectors."""

        def job(connection: Connection) -> None:
            row = connection.execute("select 1 from entry where vector = 1 limit 1").fetchone()
            if row is None:
                Writer(connection).set_meta("fingerprint", fingerprint)

        self._database.write(job)
        self.fingerprint = self._meta("fingerprint")

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
        packed = [(entry.scope, Packed.of(entry)) for entry in put]

        def job(connection: Connection) -> bool:
            if after is not None and int(meta(connection, "sequence")) != after:
                return False
            writer = Writer(connection)
            writer.put(packed)
            if at_once:
                writer.drop(drop)
            else:
                writer.put_aside(drop)
            writer.settle()
            if sequence is not None:
                writer.set_meta("sequence", str(sequence))
                writer.set_meta("mark", mark)
            return True

        return self._database.write(job)

    def add_meanings(self, meanings: Mapping[int, Meaning], *, cheap_only: bool) -> frozenset[int]:
        return self._database.write(lambda connection: Writer(connection).add_meanings(meanings, cheap_only=cheap_only))

    def optimize(self, progress: Progress | None = None) -> None:
        with self._database.read() as connection:
            scopes = [int(row[0]) for row in connection.execute("select id from scope order by id")]
        for done, scope in enumerate(scopes):
            if progress:
                progress(done, len(scopes))
            self._database.write(lambda connection, scope=scope: Writer(connection).merge_all(scope))  # type: ignore[misc]
        if progress:
            progress(len(scopes), len(scopes))

    # -- reading --

    def search(self, query: IndexQuery) -> IndexAnswer:
        views = self._views(query.scopes)
        if query.tail or query.hidden:
            views = overlaid(views, query)
        return search(views, query)

    def extent(self, scopes: Collection[str]) -> tuple[int, int] | None:
        return extent(self._views(scopes))

    def _views(self, scopes: Collection[str]) -> list[View]:
        views: list[View] = []
        with self._lock:
            self._refresh(scopes)
            for scope in scopes:
                block = self._blocks.get(scope)
                if block is not None:
                    self._blocks.move_to_end(scope)
                    views += block.views
        return views

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
                    refresh(connection, scope, self._blocks.setdefault(scope, Block()))
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
            for names, values in in_parts("number", listed):
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
            return residues(gone, kept(connection))

    def close(self) -> None:
        self._database.close()
        with self._lock:
            self._blocks.clear()
