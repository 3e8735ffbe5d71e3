"""The feed that an index follows: what changed since a sequence, and what is there to index."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from memoranda.domain.errors import Conflict
from memoranda.domain.memory import State, spoken
from memoranda.ledger import vectors
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.fence import lifts

# Kinds that say how things are, not what happened when: kept today, they are not of today.
_TIMELESS = frozenset({"fact", "preference", "entity"})


class Entry(NamedTuple):
    """What the index is told of one memory."""

    number: int
    scope: str
    text: str
    searchable: str
    content_hash: str
    state: State
    valid_from: int | None
    valid_until: int | None
    speaker: str
    conversation: str
    occurred_at: int
    """When it happened, or was told; 0 when it has no time of its own."""

    @property
    def spoken(self) -> str:
        """The text as it is embedded."""
        return spoken(self.speaker, self.text)


class Changes(NamedTuple):
    """What happened since a sequence: the numbers touched, each once, and where the feed stands."""

    numbers: tuple[int, ...]
    sequence: int
    complete: bool


class Feed(Protocol):
    """What an index follows: texts that come, change and go, and the vectors that were made of them.

    A vector belongs to a text of one fingerprint; it is kept here so that work which was paid for survives a rebuild.
    """

    erases: bool
    """Whether what goes from here was erased, and must leave the files of an index at once."""

    def version(self) -> int:
        """A number that changes when anybody commits; it means something only to the thread that asks."""

    def sequence(self) -> int:
        """The newest sequence."""

    def mark_at(self, sequence: int) -> str:
        """What happened at a sequence, in a word: the same in every copy, another in another life of the store.
        Empty when it is not known."""

    def changes_since(self, sequence: int, *, limit: int) -> Changes:
        """What happened since. Numbers in the order of their first change."""

    def entries(self, numbers: Sequence[int]) -> dict[int, Entry]:
        """What to index of these; a number that is missing here is gone."""

    def count(self) -> int:
        """All that an index should hold."""

    def vectors(self, fingerprint: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """Bodies of float16 that are there already."""

    def vector_count(self, fingerprint: str) -> int:
        """How many vectors there are in a space."""

    def save_vectors(self, fingerprint: str, dimensions: int, items: Sequence[tuple[int, str, bytes]]) -> int:
        """Keep (number, content hash, body) of what is still there; how many."""

    def without_vector(self, fingerprint: str, *, after: int, limit: int) -> tuple[int, ...]:
        """Numbers of what needs a vector of this space, in order."""

    def drop_vectors(self, fingerprint: str) -> None:
        """Forget a space that no longer serves."""

    def vector_bodies(self, numbers: Sequence[int], length: int) -> set[bytes]:
        """The first bytes of the vectors of these, in every space."""

    def without_kept_vectors(self, bodies: set[bytes], length: int) -> frozenset[bytes]:
        """Those beginnings that no vector has any more."""


@lifts()
class Vectors:
    """The half of a feed that is the same for all: the vectors of one table."""

    erases = True

    def __init__(self, database: Database, tables: vectors.Tables) -> None:
        self._database = database
        self._tables = tables

    def version(self) -> int:
        return self._database.version()

    def _number(self, statement: str) -> int:
        with self._database.read() as connection:
            return number_in(connection, statement)

    def _word(self, statement: str, sequence: int) -> str:
        with self._database.read() as connection:
            row = connection.execute(statement, {"seq": sequence}).fetchone()
        return "" if row is None else str(row[0])

    def vectors(self, fingerprint: str, numbers: Sequence[int]) -> dict[int, bytes]:
        with self._database.read() as connection:
            found = vectors.space(connection, fingerprint)
            return {} if found is None else vectors.load(connection, self._tables, found[0], numbers)

    def vector_count(self, fingerprint: str) -> int:
        with self._database.read() as connection:
            found = vectors.space(connection, fingerprint)
            return 0 if found is None else vectors.count(connection, self._tables, found[0])

    def save_vectors(self, fingerprint: str, dimensions: int, items: Sequence[tuple[int, str, bytes]]) -> int:
        if self._database.read_only:
            return 0  # the index has them; who may write keeps them

        def job(connection: Connection) -> int:
            space, known = vectors.ensure_space(connection, fingerprint, dimensions)
            if known != dimensions:
                raise Conflict(f"vectors of {known} dimensions are expected here, not {dimensions}")
            return vectors.save(connection, self._tables, space, items)

        return self._database.write(job)

    def without_vector(self, fingerprint: str, *, after: int, limit: int) -> tuple[int, ...]:
        with self._database.read() as connection:
            found = vectors.space(connection, fingerprint)
            space = found[0] if found else 0
            return vectors.without_vector(connection, self._tables, space, after=after, limit=limit)

    def drop_vectors(self, fingerprint: str) -> None:
        self._database.write(lambda connection: vectors.drop_space(connection, self._tables, fingerprint))

    def vector_bodies(self, numbers: Sequence[int], length: int) -> set[bytes]:
        """The first bytes of the vectors of these, in every space."""
        with self._database.read() as connection:
            return set(vectors.beginnings(connection, self._tables, length, numbers))

    def without_kept_vectors(self, bodies: set[bytes], length: int) -> frozenset[bytes]:
        """Those beginnings that no vector has any more."""
        if not bodies:
            return frozenset()
        with self._database.read() as connection:
            return frozenset(bodies.difference(vectors.beginnings(connection, self._tables, length)))


@lifts()
class MemoryFeed(Vectors):
    """Every memory of the store, whatever its state."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, vectors.OF_MEMORIES)

    def sequence(self) -> int:
        with self._database.read() as connection:
            return newest(connection)

    def mark_at(self, sequence: int) -> str:
        return self._word("select at || ' ' || memory_id from event where seq = :seq", sequence)

    def changes_since(self, sequence: int, *, limit: int) -> Changes:
        with self._database.read() as connection:
            return changes_since(connection, sequence, limit)

    def entries(self, numbers: Sequence[int]) -> dict[int, Entry]:
        with self._database.read() as connection:
            return entries(connection, numbers)

    def count(self) -> int:
        return self._number("select count(*) from memory")


def newest(connection: Connection) -> int:
    """The sequence of the last event, whoever asks: it is the store's, and no fence hides a part of it."""
    if connection.dialect.name == "postgres":
        return number_in(connection, "select newest_event()")
    return number_in(connection, "select coalesce(max(seq), 0) from event")


def number_in(connection: Connection, statement: str) -> int:
    """The one number that a statement asks for."""
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


def changes_since(connection: Connection, sequence: int, limit: int) -> Changes:
    """The numbers of the next events, in order."""
    rows: list[Any] = connection.execute(
        "select seq, number from event where seq > :after order by seq limit :limit",
        {"after": sequence, "limit": limit},
    ).fetchall()
    numbers = tuple(dict.fromkeys(int(number) for _, number in rows))
    return Changes(numbers, int(rows[-1][0]) if rows else sequence, len(rows) < limit)


def entries(connection: Connection, numbers: Sequence[int]) -> dict[int, Entry]:
    """What to index of these; one that was erased is missing."""
    found: dict[int, Entry] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(
            f"""
            select number, scope, text, about, attribute, value, context, tags, content_hash, state,
                   valid_from, valid_until, speaker, conversation, occurred_at, created_at, kind
            from memory where number in ({listed})
            """,  # noqa: S608
            values,
        )
        found.update((int(row[0]), _to_entry(row)) for row in rows)
    return found


def _to_entry(row: Sequence[Any]) -> Entry:
    (number, scope, text, about, attribute, value, context, tags, digest, state, valid_from, valid_until,
     speaker, conversation, occurred_at, created_at, kind) = row  # fmt: skip
    told_then = kind not in _TIMELESS or conversation
    extras = [str(part) for part in (speaker, about, attribute, value, context) if part]
    if tags != "[]":
        extras.append(str(tags))
    return Entry(
        number=int(number),
        scope=str(scope),
        text=str(text),
        searchable="\n".join([str(text), *extras]),
        content_hash=str(digest),
        state=state,
        valid_from=valid_from,
        valid_until=valid_until,
        speaker=str(speaker),
        conversation=str(conversation),
        occurred_at=int(occurred_at or (created_at if told_then else 0)),
    )
