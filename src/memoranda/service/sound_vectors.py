"""Whether stored vectors can be what an embedder made: unit vectors of the size of their space, all numbers finite."""

from collections.abc import Iterator
from functools import partial

from memoranda.ledger.vector_bodies import pages, remove
from memoranda.ledger.vectors import OF_MEMORIES, OF_MESSAGES, Tables
from memoranda.service.engine import Engine

_BYTES = 2
_OFF = 0.1
"""How far from 1 the length of a vector may be; rounding to half precision is a hundredth of that."""


def damaged(engine: Engine, tables: Tables) -> list[tuple[int, int]]:
    """(space, number) of each that is not sound."""
    with engine.ledger.database.read() as connection:
        found = pages(connection, tables)
        return [(space, number) for space, dimensions, rows in found for number in _unsound(rows, dimensions)]


def count_damaged(engine: Engine) -> int:
    """Of memories and of messages together."""
    return sum(len(damaged(engine, tables)) for tables in (OF_MEMORIES, OF_MESSAGES))


def made_anew(engine: Engine) -> str:
    """Take away those that are not sound, and make the indexes anew, with new vectors for them."""
    removed = 0
    for corpus, tables in ((engine.memories, OF_MEMORIES), (engine.messages, OF_MESSAGES)):
        chosen = damaged(engine, tables)
        if chosen:
            engine.ledger.database.write(partial(remove, tables=tables, chosen=chosen))
            corpus.rebuild(None)
            removed += len(chosen)
    return f"{removed} damaged vectors are made anew"


def _unsound(rows: list[tuple[int, bytes]], dimensions: int) -> Iterator[int]:
    import numpy as np

    whole = [(number, body) for number, body in rows if len(body) == dimensions * _BYTES]
    yield from (number for number, body in rows if len(body) != dimensions * _BYTES)
    if not whole:
        return
    values = np.frombuffer(b"".join(body for _, body in whole), np.float16).reshape(len(whole), dimensions)
    # What is not finite gives a length that is not either, and so is not near to 1.
    with np.errstate(all="ignore"):
        near = np.abs(np.linalg.norm(values.astype(np.float32), axis=1) - 1.0) < _OFF
    yield from (number for (number, _), sound in zip(whole, near, strict=True) if not sound)
