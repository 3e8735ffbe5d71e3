"""`PostgresIndex`: one generation of an index in the database that holds the ledger.

It may be searched and written to by processes on many machines. Its answers in small scopes are those of the embedded
index, number for number; in large ones only what PostgreSQL proposes is looked at, and scored by the same code.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg.errors import UndefinedTable

from memoranda.domain.errors import LedgerDamaged, LedgerLocked
from memoranda.domain.ports import IndexAnswer, IndexCounts, IndexEntry, IndexQuery, Meaning, Progress
from memoranda.index.postgres import generations
from memoranda.index.postgres.blocks import Blocks
from memoranda.index.postgres.erasing import residues_of
from memoranda.index.postgres.rows import fetch
from memoranda.index.postgres.scopes import large_scopes
from memoranda.index.postgres.searching import answered, extent
from memoranda.index.postgres.tables import Tables, are_there, as_made, make_words
from memoranda.index.postgres.upkeep import make_graph, scopes_without_graph, size, tidy_words, written_anew
from memoranda.index.postgres.writer import Writer
from memoranda.index.segment import Packed
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database

SCRUBBED_BYTES = 1 << 30
"""Tables larger than this are not written anew while somebody waits: nobody could read them meanwhile."""
_PATIENCE = 12.0

T = TypeVar("T")


class PostgresIndex:
    """Every lane, over the tables of one generation. Closing it leaves the database open: it is the store's."""

    def __init__(self, database: Database, tables: Tables) -> None:
        self._database = database
        self._blocks = Blocks()
        with database.read() as connection:
            if not are_there(connection, tables):
                raise LedgerDamaged("tables of the index are missing; it has to be built again")
            self.tables = as_made(connection, tables)
            self.fingerprint, made_as = (str(value) for value in self._noted(connection, "fingerprint, format"))
        if made_as != generations.FORMAT:
            raise LedgerDamaged("the index has another format and has to be built again")

    def _noted(self, connection: Connection, columns: str) -> tuple[Any, ...]:
        row = connection.execute(
            f"select {columns} from index_generation where corpus = :corpus and number = :number",  # noqa: S608
            {"corpus": self.tables.corpus, "number": self.tables.generation},
        ).fetchone()
        if row is None:
            raise LedgerLocked("this index was replaced by another", hint="Ask again: the other one answers.")
        return tuple(row)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._watched(), self._database.read() as connection:
            yield connection

    def _write(self, job: Callable[[Connection], T]) -> T:
        with self._watched():
            return self._database.write(job, derived=True)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Tables that are gone were replaced together with their index, or removed by somebody's hand."""
        try:
            yield
        except UndefinedTable as error:
            with self._database.read() as connection:
                self._noted(connection, "number")
            raise LedgerDamaged("tables of the index are missing; it has to be built again") from error

    @property
    def sequence(self) -> int:
        return self.standing[0]

    @property
    def standing(self) -> tuple[int, str]:
        with self._reading() as connection:
            sequence, mark = self._noted(connection, "sequence, mark")
        return int(sequence), str(mark)

    def version(self) -> int:
        """A number that changes when anybody commits."""
        return self._database.version()

    # -- writing --

    def adopt(self, fingerprint: str) -> None:
        """Let another vector space move in. Only for an index that has no vectors."""

        def job(connection: Connection) -> None:
            self._note(
                connection,
                "fingerprint = :fingerprint",
                f"and not exists (select 1 from {self.tables.entry} where dimensions > 0)",  # noqa: S608
                fingerprint=fingerprint,
            )

        self._write(job)
        with self._reading() as connection:
            self.fingerprint = str(self._noted(connection, "fingerprint")[0])

    def _note(self, connection: Connection, changed: str, condition: str = "", **values: Any) -> None:
        connection.execute(
            f"update index_generation set {changed} where corpus = :corpus and number = :number {condition}",  # noqa: S608
            {"corpus": self.tables.corpus, "number": self.tables.generation, **values},
        )

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
        """As the port says. A deleted row's bytes leave by `scrub`, if they are to go at once; else by chance."""
        placed = [(entry.scope, Packed.of(entry)) for entry in put]

        def job(connection: Connection) -> bool:
            stands, serving = self._noted(connection, "sequence, serving")
            if after is not None and int(stands) != after:
                return False
            writer = Writer(connection, self.tables, owing=at_once)
            writer.put(placed)
            writer.drop(drop)
            writer.settle(with_words=bool(serving))
            if sequence is not None:
                self._note(connection, "sequence = :sequence, mark = :mark", sequence=sequence, mark=mark)
            return True

        return self._write(job)

    def add_meanings(self, meanings: Mapping[int, Meaning], *, cheap_only: bool) -> frozenset[int]:
        """As the port says. A row is as cheap to write as another."""

        def job(connection: Connection) -> frozenset[int]:
            self._noted(connection, "serving")
            writer = Writer(connection, self.tables)
            done = writer.add_meanings(meanings)
            writer.settle(with_words=False)
            return done

        return self._write(job)

    def optimize(self, progress: Progress | None = None) -> None:
        """Make the indexes that large scopes lack, and let those go small that have shrunk."""

        def job(connection: Connection) -> None:
            writer = Writer(connection, self.tables)
            writer.let_shrink()
            writer.settle(with_words=False)
            if large_scopes(connection, self.tables):
                make_words(connection, self.tables)

        self._write(job)
        tidy_words(self._database, self.tables)
        with self._reading() as connection:
            wanted = scopes_without_graph(connection, self.tables)
        for done, (scope, dimensions) in enumerate(wanted):
            if progress:
                progress(done, len(wanted))
            make_graph(self._database, self.tables, scope, dimensions)
        if progress:
            progress(len(wanted), len(wanted))

    # -- reading --

    def search(self, query: IndexQuery) -> IndexAnswer:
        with self._reading() as connection:
            return answered(connection, self.tables, self._blocks, query)

    def extent(self, scopes: Collection[str]) -> tuple[int, int] | None:
        with self._reading() as connection:
            return extent(connection, self.tables, scopes)

    def missing_vectors(self, limit: int) -> tuple[int, ...]:
        return self._numbers("dimensions = 0 order by number limit :limit", limit=limit)

    def holds(self, numbers: Collection[int]) -> frozenset[int]:
        return frozenset(self._numbers("number = any(cast(:numbers as bigint[]))", numbers=list(numbers)))

    def _numbers(self, wanted: str, **values: Any) -> tuple[int, ...]:
        with self._reading() as connection:
            rows = fetch(connection, f"select number from {self.tables.entry} where {wanted}", values)  # noqa: S608
        return tuple(int(row[0]) for row in rows)

    def numbers_from(self, lowest: int) -> tuple[int, ...]:
        """The numbers of entries from this one on."""
        return self._numbers("number >= :lowest order by number", lowest=lowest)

    def counts(self) -> IndexCounts:
        with self._reading() as connection:
            (row,) = fetch(
                connection,
                f"select count(*), count(*) filter (where dimensions > 0) from {self.tables.entry}",  # noqa: S608
                {},
            )
            large = len(large_scopes(connection, self.tables))
            return IndexCounts(int(row[0]), int(row[1]), size(connection, self.tables), large)

    # -- erasing --

    def scrub(self) -> bool:
        """Make removed bytes leave the tables, if any were removed since. False when they are too large for that,
        somebody reads them, or an older view is open.

        Until then nobody can read them but who reads the server's own files. `rewrite` does it at any size.
        """
        with self._reading() as connection:
            owing = generations.owing(connection, self.tables.corpus)
            held = sum(size(connection, tables) for tables in self._generations(owing))
        return not owing or (held <= SCRUBBED_BYTES and self._settled(owing))

    def rewrite(self) -> None:
        """Write the tables anew; nobody else reads them meanwhile."""
        with self._reading() as connection:
            owing = generations.owing(connection, self.tables.corpus)
        self._settled({self.tables.generation: 0} | owing)

    def _settled(self, owing: dict[int, int]) -> bool:
        """Also of those that another program has beside this one: it may be long until that one does it."""
        for tables in self._generations(owing):
            if not written_anew(self._database, tables, patience=_PATIENCE):
                return False
        self._write(lambda connection: generations.settle(connection, self.tables.corpus, owing))
        return True

    def _generations(self, numbers: Collection[int]) -> list[Tables]:
        return [self.tables._replace(generation=number) for number in numbers]

    def files(self) -> tuple[str, ...]:
        """None on this machine."""
        return ()

    def residues(self, gone: Sequence[IndexEntry]) -> tuple[bytes, ...]:
        with self._reading() as connection:
            return residues_of(connection, self.tables, gone)

    def close(self) -> None:
        """Let go of what is in memory. May be called twice."""
        self._blocks.clear()
