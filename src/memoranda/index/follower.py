"""The follower: brings an index up to date with the ledger, by sequence, and fills in vectors that are missing.

Words come first and never wait for a model; vectors follow. The embedder is handed in as a function.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.errors import LedgerLocked
from memoranda.domain.ports import Index, IndexEntry, Meaning, Progress, Vocabulary
from memoranda.index.closeness import pieces_of
from memoranda.ledger.feed import Entry, Feed

BATCH = 2_000
EMBED_BATCH = 64
_BITE = 16
_MANY = 1_024
_COUNTED = 50_000  # more than that is "at least so many"

Vector = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Sequence[Vector | str]]
"""Texts to vectors; a text instead of a vector says why there is none."""


class Space(NamedTuple):
    """A vector space, and the vocabulary that goes with it. Without a fingerprint, words only."""

    fingerprint: str = ""
    vocabulary: Vocabulary | None = None

    def meaning(self, text: str, vector: Vector) -> Meaning:
        return Meaning(vector, None if self.vocabulary is None else pieces_of(text, self.vocabulary))


class Backfill:
    """What became of the missing vectors."""

    def __init__(self) -> None:
        self.made = 0
        self.done = 0
        self.left = 0
        self.skipped: dict[int, str] = {}

    @property
    def reason(self) -> str:
        """Why some could not be made; empty when all could."""
        return next(iter(self.skipped.values()), "")


def follow(feed: Feed, index: Index, space: Space, progress: Progress | None = None) -> int:
    """Take in everything that happened between the index's sequence and now; how many memories were touched.

    What others write meanwhile is left to the next one who follows: they may never stop. Raises LedgerLocked inside
    of a view from before others, or this, took it in: there it stays behind.
    """
    touched = 0
    target = feed.sequence() if progress else -1
    while True:
        after = index.sequence
        if 0 <= target <= after:
            return touched
        changes = feed.changes_since(after, limit=BATCH)
        if not changes.numbers:
            return touched
        if target < 0:  # asked for only when there is more than this: mostly there is not
            target = changes.sequence if changes.complete else feed.sequence()
        put, drop = entries(feed, changes.numbers, space)
        mark = feed.mark_at(changes.sequence)
        if index.apply(put=put, drop=drop, sequence=changes.sequence, after=after, at_once=feed.erases, mark=mark):
            touched += len(changes.numbers)
        elif index.sequence == after:
            # This thread reads inside of a view that no commit reaches: it would see the same for ever.
            raise LedgerLocked("the index is newer than the view that it is read in")
        if progress:
            progress(min(changes.sequence, target), target)


def entries(feed: Feed, numbers: Sequence[int], space: Space) -> tuple[list[IndexEntry], list[int]]:
    """What an index has to take in, and what it has to let go of, for these numbers."""
    found = feed.entries(numbers)
    bodies = feed.vectors(space.fingerprint, list(found)) if space.fingerprint else {}
    put = []
    for number, entry in found.items():
        body = bodies.get(number)
        put.append(to_index(entry, None if body is None else space.meaning(entry.searchable, _unpacked(body))))
    return put, [number for number in numbers if number not in found]


def backfill(
    feed: Feed,
    index: Index,
    space: Space,
    embed: Embed,
    *,
    seconds: float,
    ready: dict[int, Meaning],
    skip: set[int],
    stop: Callable[[], bool] = lambda: False,
) -> Backfill:
    """Make the vectors that the index misses, oldest first, for at most so long. `skip` is not tried again.

    They are kept in the ledger as they are made, and wait in `ready`. The index takes them in when that is cheap,
    when they are many, or when they are the last: a segment is not written anew for a handful.
    """
    outcome = Backfill()
    deadline = time.monotonic() + seconds
    missing = [number for number in index.missing_vectors(_COUNTED) if number not in skip]
    to_make = [number for number in missing if number not in ready]
    at = 0
    while at < len(to_make) and not stop() and (time.monotonic() < deadline or not at):
        some = to_make[at : at + _BITE]
        made = _made(feed, space, embed, some, outcome)
        ready.update(made)
        outcome.made += len(made)
        at += len(some)
    skip.update(outcome.skipped)
    if ready:
        complete = at == len(to_make) and len(missing) < _COUNTED
        many = len(ready) >= max(_MANY, len(missing) // 4)
        taken = index.add_meanings(ready, cheap_only=not complete and not many)
        outcome.done = len(taken)
        for number in taken:
            del ready[number]
        if complete:
            ready.clear()  # what is left over belongs to entries that are gone
    outcome.left = len(missing) - len(outcome.skipped) - outcome.done
    return outcome


def _made(feed: Feed, space: Space, embed: Embed, numbers: Sequence[int], outcome: Backfill) -> dict[int, Meaning]:
    found = feed.entries(numbers)
    bodies = feed.vectors(space.fingerprint, numbers)
    new = [entry for entry in found.values() if entry.number not in bodies]
    items: list[tuple[int, str, bytes]] = []
    dimensions = 0
    for entry, vector in zip(new, embed([entry.spoken for entry in new]) if new else (), strict=True):
        if isinstance(vector, str):
            outcome.skipped[entry.number] = vector
            continue
        # Through the stored form, so that a rebuilt index holds the very same bytes.
        bodies[entry.number] = packed(vector)
        dimensions = len(vector)
        items.append((entry.number, entry.content_hash, bodies[entry.number]))
    if items:
        feed.save_vectors(space.fingerprint, dimensions, items)
    return {
        number: space.meaning(entry.searchable, _unpacked(bodies[number]))
        for number, entry in found.items()
        if number in bodies
    }


def embed_all(feed: Feed, fingerprint: str, embed: Embed, progress: Progress | None = None) -> dict[int, str]:
    """Every memory's vector in this space, kept in the ledger as it goes. What was done before is not done again.

    As many as there were at the beginning: what others write meanwhile gets its vector as everything new does.
    """
    skipped: dict[int, str] = {}
    total = feed.count()
    done = feed.vector_count(fingerprint)
    after, left = 0, total - done
    while left > 0 and (numbers := feed.without_vector(fingerprint, after=after, limit=EMBED_BATCH)):
        left -= len(numbers)
        if progress:
            progress(done, total)
        batch = list(feed.entries(numbers).values())
        items = []
        dimensions = 0
        for entry, vector in zip(batch, embed([entry.spoken for entry in batch]) if batch else (), strict=True):
            if isinstance(vector, str):
                skipped[entry.number] = vector
            else:
                dimensions = len(vector)
                items.append((entry.number, entry.content_hash, packed(vector)))
        if items:
            feed.save_vectors(fingerprint, dimensions, items)
        done += len(items)
        after = numbers[-1]
    if progress:
        progress(done, total)
    return skipped


def to_index(entry: Entry, meaning: Meaning | None) -> IndexEntry:
    """An entry of the ledger as the index takes it."""
    return IndexEntry(
        number=entry.number,
        scope=entry.scope,
        text=entry.searchable,
        state=entry.state,
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
        meaning=meaning,
        speaker=entry.speaker,
        conversation=entry.conversation,
        occurred_at=entry.occurred_at,
    )


def packed(vector: Vector) -> bytes:
    """A unit vector as the ledger keeps it."""
    return vector.astype(np.float16).tobytes()


def _unpacked(body: bytes) -> Vector:
    """A unit vector from the feed."""
    return np.frombuffer(body, np.float16).astype(np.float32)
