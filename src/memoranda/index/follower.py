"""The follower: brings an index up to date with the ledger, by sequence, and fills in vectors that are missing.

Words come first and never wait for a model; vectors follow. The embedder is handed in as a function.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.ports import Index, IndexEntry, Progress
from memoranda.ledger.ledger import Entry, Ledger

BATCH = 2_000
EMBED_BATCH = 64
_COUNTED = 10_000  # more than that is "at least so many"

Vector = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Sequence[Vector | str]]
"""Texts to vectors; a text instead of a vector says why there is none."""


class Backfill:
    """What became of the missing vectors."""

    def __init__(self) -> None:
        self.done = 0
        self.left = 0
        self.skipped: dict[int, str] = {}

    @property
    def reason(self) -> str:
        """Why some could not be made; empty when all could."""
        return next(iter(self.skipped.values()), "")


def follow(ledger: Ledger, index: Index, fingerprint: str, progress: Progress | None = None) -> int:
    """Take in everything that happened since the index's sequence; how many memories were touched."""
    touched = 0
    target = ledger.sequence() if progress else 0
    while True:
        after = index.sequence
        changes = ledger.changes_since(after, limit=BATCH)
        if not changes.numbers:
            return touched
        put, drop = entries(ledger, changes.numbers, fingerprint)
        if index.apply(put=put, drop=drop, sequence=changes.sequence, after=after):
            touched += len(changes.numbers)
        if progress:
            progress(min(changes.sequence, target), target)


def entries(ledger: Ledger, numbers: Sequence[int], fingerprint: str) -> tuple[list[IndexEntry], list[int]]:
    """What an index has to take in, and what it has to let go of, for these numbers."""
    found = ledger.entries(numbers)
    bodies = ledger.vectors(fingerprint, list(found)) if fingerprint else {}
    put = [to_index(entry, unpacked(bodies.get(number))) for number, entry in found.items()]
    return put, [number for number in numbers if number not in found]


def backfill(
    ledger: Ledger,
    index: Index,
    fingerprint: str,
    embed: Embed,
    *,
    seconds: float,
    skip: set[int],
    stop: Callable[[], bool] = lambda: False,
) -> Backfill:
    """Make the vectors that the index misses, oldest first, for at most so long. `skip` is not tried again."""
    outcome = Backfill()
    deadline = time.monotonic() + seconds
    while not stop():
        after = index.sequence
        missing = [number for number in index.missing_vectors(EMBED_BATCH + len(skip)) if number not in skip]
        if not missing:
            return outcome
        if time.monotonic() >= deadline:
            break
        # Small bites: the deadline is looked at between them.
        found = list(ledger.entries(missing[: min(EMBED_BATCH, 8 if seconds < 1 else EMBED_BATCH)]).values())
        made = _make(ledger, fingerprint, embed, found, outcome)
        skip.update(number for number in outcome.skipped if number in missing)
        # `after` makes sure that nothing erased meanwhile comes back.
        if made and index.apply(put=made, drop=(), sequence=None, after=after):
            outcome.done += len(made)
        if not made and not outcome.skipped:
            break
    outcome.left = len([number for number in index.missing_vectors(_COUNTED) if number not in skip])
    return outcome


def _make(
    ledger: Ledger, fingerprint: str, embed: Embed, found: Sequence[Entry], outcome: Backfill
) -> list[IndexEntry]:
    known = ledger.vectors(fingerprint, [entry.number for entry in found])
    made = [to_index(entry, unpacked(known[entry.number])) for entry in found if entry.number in known]
    new = [entry for entry in found if entry.number not in known]
    items: list[tuple[int, str, bytes]] = []
    dimensions = 0
    for entry, vector in zip(new, embed([entry.text for entry in new]) if new else (), strict=True):
        if isinstance(vector, str):
            outcome.skipped[entry.number] = vector
            continue
        body = packed(vector)
        dimensions = len(vector)
        items.append((entry.number, entry.content_hash, body))
        # Through the stored form, so that a rebuilt index holds the very same bytes.
        made.append(to_index(entry, unpacked(body)))
    if items:
        ledger.save_vectors(fingerprint, dimensions, items)
    return made


def embed_all(ledger: Ledger, fingerprint: str, embed: Embed, progress: Progress | None = None) -> dict[int, str]:
    """Every memory's vector in this space, kept in the ledger as it goes. What was done before is not done again."""
    skipped: dict[int, str] = {}
    total = ledger.count()
    done = ledger.vector_count(fingerprint)
    after = 0
    while batch := ledger.without_vector(fingerprint, after=after, limit=EMBED_BATCH):
        if progress:
            progress(done, total)
        items = []
        dimensions = 0
        vectors = embed([text for _, text, _ in batch])
        for (number, _, digest), vector in zip(batch, vectors, strict=True):
            if isinstance(vector, str):
                skipped[number] = vector
            else:
                dimensions = len(vector)
                items.append((number, digest, packed(vector)))
        if items:
            ledger.save_vectors(fingerprint, dimensions, items)
        done += len(items)
        after = batch[-1][0]
    if progress:
        progress(done, total)
    return skipped


def to_index(entry: Entry, vector: Any) -> IndexEntry:
    """An entry of the ledger as the index takes it."""
    return IndexEntry(
        number=entry.number,
        scope=entry.scope,
        text=entry.searchable,
        state=entry.state,
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
        vector=vector,
    )


def packed(vector: Vector) -> bytes:
    """A unit vector as the ledger keeps it."""
    return vector.astype(np.float16).tobytes()


def unpacked(body: bytes | None) -> Vector | None:
    """A unit vector from the ledger."""
    return None if body is None else np.frombuffer(body, np.float16).astype(np.float32)
