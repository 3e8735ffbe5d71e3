"""Parts of an index in memory: immutable segments, and the tail of what came last.

A part holds the entries of one scope: their terms, their vectors as int8, and what is needed to filter them.
Both kinds of part answer the same questions, so that a search does not care which it looks at.
"""

import hashlib
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexEntry, Meaning
from memoranda.index.tokens import document_terms, name_hash

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F32 = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Postings = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8], npt.NDArray[np.intp]]
"""Rows, how often each has the term, and which of the terms asked for it is."""

FOREVER = np.iinfo(np.int64).max
_HEADER = struct.Struct("<qqqQQBHIIIf")


class Packed(NamedTuple):
    """One entry, ready to be stored or searched."""

    number: int
    state: int
    valid_from: int
    valid_until: int
    occurred: int
    speaker: int
    conversation: int
    length: int
    terms: U64
    counts: npt.NDArray[np.uint8]
    scale: float
    vector: npt.NDArray[np.int8]
    pieces: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, entry: IndexEntry) -> "Packed":
        counted, length = document_terms(entry.text)
        order = sorted(counted)
        scale, vector, pieces = packed_meaning(entry.meaning)
        return cls(
            number=entry.number,
            state=STATES.index(entry.state),
            valid_from=0 if entry.valid_from is None else entry.valid_from,
            valid_until=FOREVER if entry.valid_until is None else entry.valid_until,
            occurred=entry.occurred_at,
            speaker=name_hash(entry.speaker),
            conversation=conversation_hash(entry.conversation),
            length=min(length, 65_535),
            terms=np.fromiter(order, np.uint64, len(order)),
            counts=np.fromiter((min(counted[term], 255) for term in order), np.uint8, len(order)),
            scale=scale,
            vector=vector,
            pieces=pieces,
        )

    def to_bytes(self) -> bytes:
        head = _HEADER.pack(
            self.valid_from, self.valid_until, self.occurred, self.speaker, self.conversation, self.state, self.length,
            len(self.terms), len(self.vector), len(self.pieces), self.scale,
        )  # fmt: skip
        return b"".join(
            (head, self.terms.tobytes(), self.pieces.tobytes(), self.counts.tobytes(), self.vector.tobytes())
        )

    @classmethod
    def from_bytes(cls, number: int, body: bytes) -> "Packed":
        (valid_from, valid_until, occurred, speaker, conversation, state, length,
         terms, dimensions, pieces, scale) = _HEADER.unpack_from(body)  # fmt: skip
        at_terms = _HEADER.size
        at_pieces = at_terms + 8 * terms
        at_counts = at_pieces + 4 * pieces
        return cls(
            number=number,
            state=state,
            valid_from=valid_from,
            valid_until=valid_until,
            occurred=occurred,
            speaker=speaker,
            conversation=conversation,
            length=length,
            terms=np.frombuffer(body, np.uint64, terms, at_terms),
            counts=np.frombuffer(body, np.uint8, terms, at_counts),
            scale=scale,
            vector=np.frombuffer(body, np.int8, dimensions, at_counts + terms),
            pieces=np.frombuffer(body, np.uint32, pieces, at_pieces),
        )


def packed_meaning(meaning: Meaning | None) -> tuple[float, npt.NDArray[np.int8], npt.NDArray[np.uint32]]:
    """Scale, vector and pieces as a part holds them; all empty when there is no meaning."""
    scale, vector = quantised(None if meaning is None else meaning.vector)
    none = meaning is None or meaning.pieces is None
    return scale, vector, np.empty(0, np.uint32) if none else np.asarray(meaning.pieces, np.uint32)  # type: ignore[union-attr]


def conversation_hash(conversation: str) -> int:
    """A number for a conversation; 0 when there is none."""
    if not conversation:
        return 0
    return int.from_bytes(hashlib.blake2b(conversation.encode(), digest_size=8).digest(), "little") or 1


def quantised(vector: Any) -> tuple[float, npt.NDArray[np.int8]]:
    """A unit vector as int8 and the scale that gives it back; no vector is an empty one."""
    if vector is None:
        return 0.0, np.empty(0, np.int8)
    values = np.asarray(vector, np.float32)
    peak = float(np.abs(values).max())
    if not 0.0 < peak < float("inf"):  # nor is one that was damaged
        return 0.0, np.empty(0, np.int8)
    scale = peak / 127.0
    return scale, np.rint(values / scale).astype(np.int8)


class Part(ABC):
    """What a search asks of a part."""

    numbers: I64
    states: npt.NDArray[np.uint8]
    valid_from: I64
    valid_until: I64
    occurred: I64
    speakers: U64
    conversations: U64
    lengths: npt.NDArray[np.uint16]
    scales: F32
    vectors: npt.NDArray[np.int8]
    pieces: npt.NDArray[np.uint32]
    piece_offsets: npt.NDArray[np.uint32]

    @abstractmethod
    def postings(self, terms: U64) -> Postings:
        """Rows that have these terms, each once for each term, in the order of the terms."""

    @abstractmethod
    def triples(self) -> tuple[U64, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """(term, row, count), for building another part."""

    @property
    def size(self) -> int:
        return len(self.numbers)

    @cached_property
    def timeless(self) -> bool:
        """Whether every row is valid at any time: nearly always, and then nothing has to be compared."""
        return not self.valid_from.any() and bool((self.valid_until == FOREVER).all())

    @cached_property
    def all_live(self) -> bool:
        """Whether every row is live."""
        return not self.states.any()

    @cached_property
    def with_vector(self) -> Mask | None:
        """Which rows have a vector; None when all have."""
        there = self.scales > 0
        return None if there.all() else there

    @cached_property
    def _threads(self) -> tuple[U64, npt.NDArray[np.intp]]:
        order = np.lexsort((self.numbers, self.conversations))
        return self.conversations[order], order

    def thread(self, conversation: int) -> npt.NDArray[np.intp]:
        """The rows of one conversation, in order of number."""
        conversations, order = self._threads
        wanted = np.uint64(conversation)
        return order[np.searchsorted(conversations, wanted, "left") : np.searchsorted(conversations, wanted, "right")]

    @cached_property
    def distinct_conversations(self) -> U64:
        return np.unique(self.conversations)

    @cached_property
    def _sides(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        conversations, order = self._threads
        before, after = np.full(self.size, -1, np.intp), np.full(self.size, -1, np.intp)
        same = conversations[1:] == conversations[:-1]
        before[order[1:][same]] = order[:-1][same]
        after[order[:-1][same]] = order[1:][same]
        return before, after

    def beside(self, rows: Sequence[int]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The rows before and after each of these in its conversation, as far as it lies here; -1 for none."""
        before, after = self._sides
        return before[rows], after[rows]

    @property
    def bytes(self) -> int:
        return int(self.vectors.nbytes + self.pieces.nbytes + self.numbers.nbytes * 8)


class Segment(Part):
    """Immutable. Terms are sorted, with the rows of each beside them."""

    # One value for each row.
    COLUMNS = (
        "numbers", "states", "valid_from", "valid_until", "occurred", "speakers", "conversations", "lengths", "scales",
    )  # fmt: skip
    BLOBS = (*COLUMNS, "vectors", "piece_offsets", "pieces", "terms", "offsets", "rows", "counts")
    _TYPES: tuple[Any, ...] = (
        np.int64, np.uint8, np.int64, np.int64, np.int64, np.uint64, np.uint64, np.uint16, np.float32,
        np.int8, np.uint32, np.uint32, np.uint64, np.uint32, np.uint32, np.uint8,
    )  # fmt: skip

    def __init__(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        for name, array in zip(self.BLOBS, arrays, strict=True):
            setattr(self, name, array)
        self.vectors = self.vectors.reshape(self.size, -1) if self.vectors.size else np.empty((self.size, 0), np.int8)
        self._signs: npt.NDArray[np.uint8] | None = None
        self._scans = 0

    terms: U64
    offsets: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]

    @classmethod
    def from_blobs(cls, blobs: Sequence[bytes]) -> "Segment":
        return cls([np.frombuffer(blob, kind) for blob, kind in zip(blobs, cls._TYPES, strict=True)])

    def to_blobs(self) -> dict[str, bytes]:
        return {name: np.ascontiguousarray(getattr(self, name)).tobytes() for name in self.BLOBS}

    def postings(self, terms: U64) -> Postings:
        at = np.searchsorted(self.terms, terms)
        at[at == len(self.terms)] = 0
        found = np.flatnonzero(self.terms[at] == terms) if len(self.terms) else at[:0]
        at = at[found]
        starts, ends = self.offsets[at].tolist(), self.offsets[at + 1].tolist()
        spans = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
        which = np.repeat(found, [span.stop - span.start for span in spans])
        rows = _joined([self.rows[span] for span in spans], np.uint32)
        return rows, _joined([self.counts[span] for span in spans], np.uint8), which

    def signs(self) -> npt.NDArray[np.uint8] | None:
        """The signs of the vectors, a bit each. Making them costs more than a scan: they wait for the second."""
        self._scans += 1
        if self._signs is None and self._scans > 1:
            self._signs = np.packbits(self.vectors > 0, axis=1)
        return self._signs

    def with_meanings(self, meanings: Mapping[int, Meaning]) -> "Segment":
        """The same rows, some of them with a meaning that they had not."""
        rows = np.searchsorted(self.numbers, np.fromiter(meanings, np.int64, len(meanings))).tolist()
        scales = self.scales.copy()
        width = max(len(meaning.vector) for meaning in meanings.values())
        vectors = np.zeros((self.size, width), np.int8)
        if self.vectors.shape[1] == width:
            vectors[:] = self.vectors
        pieces = [self.pieces[start:end] for start, end in pairwise(self.piece_offsets.tolist())]
        for row, meaning in zip(rows, meanings.values(), strict=True):
            scales[row], vectors[row], pieces[row] = packed_meaning(meaning)
        changed: dict[str, npt.NDArray[Any]] = {
            "scales": scales,
            "vectors": vectors,
            "pieces": _joined(pieces, np.uint32),
            "piece_offsets": np.cumsum([0, *map(len, pieces)]).astype(np.uint32),
        }
        return Segment([changed[name] if name in changed else getattr(self, name) for name in self.BLOBS])

    def pieces_of(self, alive: Mask) -> npt.NDArray[np.uint32]:
        """The pieces of the rows that are alive."""
        return self.pieces[np.repeat(alive, self.piece_offsets[1:] - self.piece_offsets[:-1])]

    def triples(self) -> tuple[U64, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        return np.repeat(self.terms, self.offsets[1:] - self.offsets[:-1]), self.rows, self.counts

    @property
    def bytes(self) -> int:
        return sum(int(getattr(self, name).nbytes) for name in self.BLOBS)

    @classmethod
    def merged(cls, parts: Iterable[tuple[Part, npt.NDArray[np.bool_]]], *, by_number: bool = True) -> "Segment":
        """One segment of the rows of several parts that are still alive, in order of number."""
        kept = [(part, alive) for part, alive in parts if alive.any()]
        if not kept:
            return cls([np.zeros(1 if name.endswith("offsets") else 0, kind)
                        for name, kind in zip(cls.BLOBS, cls._TYPES, strict=True)])  # fmt: skip
        columns = [np.concatenate([getattr(part, name)[alive] for part, alive in kept]) for name in cls.COLUMNS]
        numbers = columns[0]
        order = np.argsort(numbers, kind="stable") if by_number else np.arange(len(numbers))
        place_of = np.empty_like(order)
        place_of[order] = np.arange(len(order))
        return cls(
            [
                *(column[order] for column in columns),
                _joined_vectors(kept)[order],
                *_joined_pieces(kept, order),
                *_joined_postings(kept, place_of),
            ]
        )


Alive = Sequence[tuple[Part, Mask]]


def _joined_vectors(kept: Alive) -> npt.NDArray[np.int8]:
    width = max(part.vectors.shape[1] for part, _ in kept)
    same = (part.vectors if part.vectors.shape[1] == width else np.zeros((part.size, width), np.int8)
            for part, _ in kept)  # fmt: skip
    return np.concatenate([vectors[alive] for vectors, (_, alive) in zip(same, kept, strict=True)])


def _joined_pieces(kept: Alive, order: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Offsets and pieces, in the new order."""
    starts: list[npt.NDArray[np.int64]] = []
    sizes: list[npt.NDArray[np.int64]] = []
    base = 0
    for part, alive in kept:
        offsets = part.piece_offsets.astype(np.int64)
        starts.append(offsets[:-1][alive] + base)
        sizes.append(np.diff(offsets)[alive])
        base += len(part.pieces)
    size = np.concatenate(sizes)[order]
    ends = np.cumsum(size)
    # Where each piece lies now, in one go: the start of its row, and how far it is into the row.
    taken = np.repeat(np.concatenate(starts)[order] - (ends - size), size) + np.arange(int(size.sum()))
    pieces = np.concatenate([part.pieces for part, _ in kept])[taken]
    return np.concatenate([[0], ends]).astype(np.uint32), pieces


def _joined_postings(
    kept: Alive, place_of: npt.NDArray[np.intp]
) -> tuple[U64, npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Terms, their offsets, rows and counts, with the rows in their new places."""
    pairs: list[npt.NDArray[np.uint64]] = []
    often: list[npt.NDArray[np.uint8]] = []
    base = 0
    for part, alive in kept:
        moved = np.cumsum(alive, dtype=np.int64) - 1 + base
        terms, rows, counts = part.triples()
        there: Mask = alive[rows]
        pairs.append(np.stack([terms[there], moved[rows[there]].astype(np.uint64)]))
        often.append(counts[there])
        base += int(alive.sum())
    joined = np.concatenate(pairs, axis=1)
    rows = place_of[joined[1].astype(np.int64)]
    sorting = np.lexsort((rows, joined[0]))
    terms, starts = np.unique(joined[0][sorting], return_index=True)
    offsets = np.append(starts, len(rows)).astype(np.uint32)
    return terms, offsets, rows[sorting].astype(np.uint32), np.concatenate(often)[sorting]


class Tail(Part):
    """The entries that came last, kept one by one. Cheap to make anew when one more comes."""

    def __init__(self, entries: Sequence[Packed]) -> None:
        count = len(entries)
        self.numbers = np.fromiter((entry.number for entry in entries), np.int64, count)
        self.states = np.fromiter((entry.state for entry in entries), np.uint8, count)
        self.valid_from = np.fromiter((entry.valid_from for entry in entries), np.int64, count)
        self.valid_until = np.fromiter((entry.valid_until for entry in entries), np.int64, count)
        self.occurred = np.fromiter((entry.occurred for entry in entries), np.int64, count)
        self.speakers = np.fromiter((entry.speaker for entry in entries), np.uint64, count)
        self.conversations = np.fromiter((entry.conversation for entry in entries), np.uint64, count)
        self.lengths = np.fromiter((entry.length for entry in entries), np.uint16, count)
        self.scales = np.fromiter((entry.scale for entry in entries), np.float32, count)
        width = max((len(entry.vector) for entry in entries), default=0)
        self.vectors = np.zeros((count, width), np.int8)
        for row, entry in enumerate(entries):
            if len(entry.vector) == width:
                self.vectors[row] = entry.vector
        self.pieces = _joined([entry.pieces for entry in entries], np.uint32)
        self.piece_offsets = np.cumsum([0, *(len(entry.pieces) for entry in entries)]).astype(np.uint32)
        self._terms = _joined([entry.terms for entry in entries], np.uint64)
        self._counts = _joined([entry.counts for entry in entries], np.uint8)
        sizes = np.fromiter((len(entry.terms) for entry in entries), np.int64, count)
        self._rows = np.repeat(np.arange(count, dtype=np.uint32), sizes)
        self._searches = 0
        self._sorted: Segment | None = None

    def postings(self, terms: U64) -> Postings:
        # Sorting costs as much as a few searches: it waits until it may pay.
        self._searches += 1
        if self._searches > 2:
            if self._sorted is None:
                self._sorted = Segment.merged([(self, np.ones(self.size, np.bool_))], by_number=False)
            return self._sorted.postings(terms)
        order = np.argsort(terms)
        ordered = terms[order]
        at = np.searchsorted(ordered, self._terms)
        at[at == len(ordered)] = 0
        found = np.flatnonzero(ordered[at] == self._terms) if len(ordered) else at[:0]
        rows, counts, which = self._rows[found], self._counts[found], at[found]
        # A term may be asked for twice: each time is an answer of its own.
        spread = np.searchsorted(ordered, ordered, "right") - np.searchsorted(ordered, ordered, "left")
        if (spread > 1).any():
            again = spread[which]
            rows, counts = np.repeat(rows, again), np.repeat(counts, again)
            steps = np.arange(len(rows)) - np.repeat(np.cumsum(again) - again, again)
            which = np.repeat(which, again) + steps
        which = order[which]
        sequence = np.argsort(which, kind="stable")
        return rows[sequence], counts[sequence], which[sequence]

    def triples(self) -> tuple[U64, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        return self._terms, self._rows, self._counts


def _joined(arrays: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def counted(part: Part, mask: Mask | None) -> int:
    """How many rows a mask lets through; None lets all through."""
    return part.size if mask is None else int(mask.sum())


def kept(values: npt.NDArray[Any], mask: Mask | None) -> npt.NDArray[Any]:
    """The values of the rows that a mask lets through."""
    return values if mask is None else values[mask]
