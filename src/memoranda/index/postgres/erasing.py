"""By which bytes removed entries would be recognised in the files of the server, if they were still there."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.ports import IndexEntry
from memoranda.index.postgres.rows import fetch
from memoranda.index.postgres.tables import Tables
from memoranda.index.residues import residues
from memoranda.index.segment import Packed
from memoranda.ledger.connection import Connection

_AT_ONCE = 5_000
_VECTOR = 32


def residues_of(connection: Connection, tables: Tables, gone: Sequence[IndexEntry]) -> tuple[bytes, ...]:
    """Of packed rows, as they lie in the table of entries, and of vectors, as large scopes have them besides."""
    vectors = (Packed.of(entry).vector[:_VECTOR] for entry in gone)
    heads = {vector.tobytes(): _halves(vector) for vector in vectors if len(vector) == _VECTOR}
    found = residues(gone, _kept(connection, tables, heads))
    return (*found, *sorted(half for halves in heads.values() for half in halves))


def _halves(vector: npt.NDArray[np.int8]) -> tuple[bytes, bytes]:
    """As a vector lies in the files of the server, and as the server sends it."""
    return vector.astype("<f2").tobytes(), vector.astype(">f2").tobytes()


def _kept(
    connection: Connection, tables: Tables, heads: dict[bytes, tuple[bytes, bytes]]
) -> Iterator[tuple[Any, Any, Any]]:
    """Terms, vectors and pieces of what stays, some thousand rows at a time. What it shares with `heads` is taken out
    of them."""
    last = -1
    while True:
        rows = fetch(
            connection,
            f"select number, body from {tables.body} where number > :last order by number limit :most",  # noqa: S608
            {"last": last, "most": _AT_ONCE},
        )
        if not rows:
            return
        last = int(rows[-1][0])
        for number, body in rows:
            row = Packed.from_bytes(int(number), bytes(body))
            heads.pop(row.vector[:_VECTOR].tobytes(), None)
            yield row.terms, row.vector[None, :], row.pieces
