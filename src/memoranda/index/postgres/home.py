"""`PostgresHome`: which generation of an index serves. A rebuild makes the next one; one commit swaps."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memoranda.domain.errors import Conflict, LedgerDamaged
from memoranda.index.home import ServedIndex
from memoranda.index.postgres import generations
from memoranda.index.postgres.index import PostgresIndex
from memoranda.index.postgres.tables import Tables, make, remove
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.locking import Busy


class PostgresHome:
    """The index of one corpus (`memories`, `messages`) in the tables of the store's own database."""

    def __init__(self, database: Database, corpus: str, path: Path, *, partitions: int = 0) -> None:
        """`path` is for what is kept beside it on this machine; nothing of the index is there.

        `partitions` spreads the tables of a generation by the root of the scope, when it is made.
        """
        self.path = path
        self._database = database
        self._corpus = corpus
        self._partitions = partitions
        self._made = False
        self._seen: tuple[int, tuple[int, int]] = (-1, (0, 0))

    def mark(self) -> tuple[int, int]:
        """Changes when another generation begins to serve. Looked up again only after somebody has committed."""
        version = self._database.version()
        known, mark = self._seen
        if known != version:
            with self._database.read() as connection:
                mark = (self._current(connection) or 0, 0)
            self._seen = (version, mark)
        return mark

    def open(self, fingerprint: str) -> PostgresIndex:
        """The index that serves; an empty one with this fingerprint when there is none."""
        current = self._serving(fingerprint)
        try:
            return PostgresIndex(self._database, self._tables(current))
        except LedgerDamaged:
            self._discard(current)
            return PostgresIndex(self._database, self._tables(self._serving(fingerprint)))

    def _serving(self, fingerprint: str) -> int:
        with self._database.read() as connection:
            current = self._current(connection)
        if current is not None:
            return current

        def job(connection: Connection) -> int:
            generations.make_generations(connection)
            there = self._current(connection)
            return there if there is not None else self._make(connection, fingerprint, serving=True)

        return self._database.write(job, derived=True)

    def discard(self) -> None:
        """Throw away what serves now: it turned out to be damaged."""
        with self._database.read() as connection:
            current = self._current(connection)
        if current is not None:
            self._discard(current)

    def _discard(self, number: int) -> None:
        """Throw this one away, unless another serves by now."""

        def job(connection: Connection) -> None:
            if self._current(connection) == number:
                remove(connection, self._tables(number))

        self._database.write(job, derived=True)

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Only one process rebuilds at a time, on whatever machine; another is told so at once."""
        try:
            with self._database.hold(f"rebuilding {self._corpus}"):
                yield
        except Busy as error:
            raise Conflict("another process is rebuilding this index", hint="Wait until it is done.") from error

    def begin(self, fingerprint: str) -> PostgresIndex:
        """A new, empty index that does not serve yet. What an earlier, interrupted rebuild left is removed."""
        self.tidy()

        def job(connection: Connection) -> int:
            generations.make_generations(connection)
            return self._make(connection, fingerprint, serving=False)

        return PostgresIndex(self._database, self._tables(self._database.write(job, derived=True)))

    def swap_to(self, index: ServedIndex) -> None:
        """Let this one serve from now on, and remove the one before."""
        assert isinstance(index, PostgresIndex)
        chosen = index.tables.generation

        def job(connection: Connection) -> int | None:
            before = self._current(connection)
            generations.let_serve(connection, self._corpus, chosen)
            return None if before == chosen else before

        before = self._database.write(job, derived=True)
        if before is not None:
            self._remove(before)

    def tidy(self) -> None:
        """Remove what an interrupted rebuild or swap left behind, and what an older program no longer needs."""
        with self._database.read() as connection:
            loose = generations.loose(connection, self._corpus) if self._is_made(connection) else []
        for number in loose:
            self._remove(number)

    def tidy_if_idle(self) -> None:
        """Tidy, unless somebody is rebuilding just now: that one tidies up after itself."""
        with suppress(Conflict), self.rebuilding():
            self.tidy()

    def files(self) -> tuple[str, ...]:
        """None on this machine."""
        return ()

    # -- generations --

    def _tables(self, generation: int) -> Tables:
        return Tables(self._corpus, generation)

    def _make(self, connection: Connection, fingerprint: str, *, serving: bool) -> int:
        number = generations.next_generation(connection)
        make(connection, self._tables(number), fingerprint, partitions=self._partitions, serving=serving)
        return number

    def _remove(self, number: int) -> None:
        self._database.write(lambda connection: remove(connection, self._tables(number)), derived=True)

    def _is_made(self, connection: Connection) -> bool:
        if not self._made:
            self._made = generations.are_made(connection)
        return self._made

    def _current(self, connection: Connection) -> int | None:
        return generations.serving(connection, self._corpus) if self._is_made(connection) else None
