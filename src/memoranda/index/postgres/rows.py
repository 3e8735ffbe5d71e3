"""Rows between Python and PostgreSQL: entries as they are copied into tables, and numbers as they come back."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.errors import LedgerError
from memoranda.index.proposals import is_timeless, signed
from memoranda.index.segment import Packed
from memoranda.ledger.connection import Connection
from memoranda.ledger.postgres.connection import PostgresConnection
from memoranda.ledger.postgres.statements import translated

_LIVE = 0
_MIX = 0x9E3779B97F4A7C15
_ALL = (1 << 64) - 1
POSTING = np.dtype([("number", ">i8"), ("length", ">i4"), ("forms", ">i2")])

ENTRY_COLUMNS = "number, root, scope, valid_from, valid_until, occurred, conversation, length, state, dimensions, terms"
BODY_COLUMNS = "number, root, scope, stamp, body"
VECTOR_COLUMNS = "number, root, scope, valid_from, valid_until, state, vector"


class Scope(NamedTuple):
    """A scope as the index knows it. The counts are of all its entries, and of the live ones."""

    id: int
    path: str
    root: int
    large: bool
    stamp: int
    cut: int
    """The stamp at which an entry last left it: before that, what is new is not all that changed."""
    entries: int
    live: int
    words: int
    vectors: int
    timed: int
    """How many are not valid at any time."""
    near: int
    """The dimensions of the graph of its vectors; 0 when there is none."""


class Counts(NamedTuple):
    """What entries add to the counts of their scope."""

    entries: int = 0
    live: int = 0
    words: int = 0
    vectors: int = 0
    timed: int = 0

    def plus(self, other: "Counts", times: int = 1) -> "Counts":
        return Counts(*(mine + times * theirs for mine, theirs in zip(self, other, strict=True)))


def counts_of(*, state: int, length: int, has_vector: bool, timeless: bool) -> Counts:
    live = int(state == _LIVE)
    return Counts(1, live, live * length, live * int(has_vector), int(not timeless))


def counts_of_row(row: Packed) -> Counts:
    return counts_of(state=row.state, length=row.length, has_vector=row.scale > 0, timeless=is_timeless(row))


def path_bytes(path: str) -> bytes:
    """Any text can be the name of a scope here; a column of text takes not all of them."""
    return path.encode("utf-8", "surrogatepass")


def root_of(path: str) -> int:
    """By this number scopes are spread over partitions: all below one root lie together."""
    root = path_bytes(path.partition("/")[0])
    return int.from_bytes(hashlib.blake2b(root, digest_size=8).digest(), "little", signed=True)


def word(scope: int, form: int) -> int:
    """A form of a word in one scope: no other scope has an entry under it, however common the word is."""
    return signed(form ^ (scope * _MIX & _ALL))


def entry_line(row: Packed, scope: Scope) -> str:
    """One line for the table of entries, as `copy` takes it. It has numbers only: nothing has to be escaped."""
    terms = "\\N"
    if scope.large:
        terms = "{" + ",".join(str(word(scope.id, form)) for form in row.terms.tolist()) + "}"
    dimensions = len(row.vector) if row.scale > 0 else 0
    return (
        f"{row.number}\t{scope.root}\t{scope.id}\t{row.valid_from}\t{row.valid_until}\t{row.occurred}\t"
        f"{signed(row.conversation)}\t{row.length}\t{row.state}\t{dimensions}\t{terms}\n"
    )


def body_line(row: Packed, scope: Scope, stamp: int) -> str:
    return f"{row.number}\t{scope.root}\t{scope.id}\t{stamp}\t\\\\x{row.to_bytes().hex()}\n"


def vector_line(row: Packed, scope: Scope) -> str:
    values = ",".join(map(str, row.vector.tolist()))
    return f"{row.number}\t{scope.root}\t{scope.id}\t{row.valid_from}\t{row.valid_until}\t{row.state}\t[{values}]\n"


def copy_in(connection: Connection, table: str, columns: str, lines: Iterable[str]) -> None:
    """Add rows the fast way."""
    data = "".join(lines)
    if data:
        with _raw(connection).cursor() as cursor, cursor.copy(f"copy {table} ({columns}) from stdin".encode()) as copy:
            copy.write(data)


def fetch(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Rows as the server has them: bytes come back as bytes, not written out."""
    import psycopg

    text, names = translated(statement)
    with psycopg.RawCursor(_raw(connection)) as cursor:
        cursor.execute(text.encode(), [values[name] for name in names or ()], binary=True)
        return cursor.fetchall()


def _raw(connection: Connection) -> Any:
    if not isinstance(connection, PostgresConnection):
        raise LedgerError("the index in PostgreSQL needs a store in PostgreSQL")
    return connection.raw


def numbers_of(packed: bytes | None) -> npt.NDArray[np.int64]:
    """Numbers that were joined by the server into one value: nothing is made of each on its way."""
    return np.frombuffer(packed or b"", ">i8").astype(np.int64)
