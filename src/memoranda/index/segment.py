"""Parts of an index in memory: immutable segments, and the tail of what came last.

A part holds the entries of one scope: their terms, their vectors as int8, and what is needed to filter them.
Both kinds of part answer the same questions, so that a search does not care which it looks at.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexEntry
from memoranda.index.tokens import document_terms

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F32 = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Postings = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8], npt.NDArray[np.intp]]
"""Rows, how often each has the term, and which of the terms asked for it is."""

FOREVER = np.iinfo(np.int64).max
_HEADER = struct.Struct("<qqBHIIf")


class Packed(NamedTuple):
    """One entry, ready to be stored or searched."""

    number: int
    state: int
    valid_from: int
    valid_until: int
    length: int
    terms: U64
    counts: npt.NDArray[np.uint8]
    scale: float
    vector: npt.NDArray[np.int8]

    @classmethod
    def of(cls, entry: IndexEntry) -> "Packed":
        counted, length = document_terms(entry.text)
        order = sorted(counted)
        scale, vector = quantised(entry.vector)
        return cls(
            number=entry.number,
            state=STATES.index(entry.state),
            valid_from=0 if entry.valid_from is None else entry.valid_from,
            valid_until=FOREVER if entry.valid_until is None else entry.valid_until,
            length=min(length, 65_535),
            terms=np.fromiter(order, np.uint64, len(order)),
            counts=np.fromiter((min(counted[term], 255) for term in order), np.uint8, len(order)),
            scale=scale,
            vector=vector,
        )

    def to_bytes(self) -> bytes:
        head = _HEADER.pack(
            self.valid_from, self.valid_until, self.state, self.length, len(self.terms), len(self.vector), self.scale
        )
        return head + self.terms.tobytes() + self.counts.tobytes() + self.vector.tobytes()

    @classmethod
    def from_bytes(cls, number: int, body: bytes) -> "Packed":
        valid_from, valid_until, state, length, terms, dimensions, scale = _HEADER.unpack_from(body)
        start = _HEADER.size
        counts = start + 8 * terms
        vector = counts + terms
        return cls(
            number=number,
            state=state,
            valid_from=valid_from,
            valid_until=valid_until,
            length=length,
            terms=np.frombuffer(body, np.uint64, terms, start),
            counts=np.frombuffer(body, np.uint8, terms, counts),
            scale=scale,
            vector=np.frombuffer(body, np.int8, dimensions, vector),
        )


def quantised(vector: Any) -> tuple[float, npt.NDArray[np.int8]]:
    """A unit vector as int8 and the scale that gives it back; no vector is an empty one."""
    if vector is None:
        return 0.0, np.empty(0, np.int8)
    values = np.asarray(vector, np.float32)
    peak = float(np.abs(values).max())
    if not peak:
        return 0.0, np.empty(0, np.int8)
    scale = peak / 127.0
    return scale, np.rint(values / scale).astype(np.int8)


class Part(ABC):
    """What a search asks of a part."""

    numbers: I64
    states: npt.NDArray[np.uint8]
    valid_from: I64
    valid_until: I64
    lengths: npt.NDArray[np.uint16]
    scales: F32
    vectors: npt.NDArray[np.int8]

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

    @property
    def bytes(self) -> int:
        return int(self.vectors.nbytes + self.numbers.nbytes * 5)


class Segment(Part):
    """Immutable. Terms are sorted, with the rows of each beside them."""

    BLOBS = (
        "numbers", "states", "valid_from", "valid_until", "lengths", "terms", "offsets", "rows", "counts",
        "scales", "vectors",
    )  # fmt: skip
    _TYPES: tuple[Any, ...] = (
        np.int64, np.uint8, np.int64, np.int64, np.uint16, np.uint64, np.uint32, np.uint32, np.uint8,
        np.float32, np.int8,
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

    def triples(self) -> tuple[U64, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        return np.repeat(self.terms, self.offsets[1:] - self.offsets[:-1]), self.rows, self.counts

    @property
    def bytes(self) -> int:
        return sum(int(getattr(self, name).nbytes) for name in self.BLOBS)

    @classmethod
    def merged(cls, parts: Iterable[tuple[Part, npt.NDArray[np.bool_]]], *, by_number: bool = True) -> "Segment":
        """One segment of the rows of several parts that are still alive, in order of number."""
        pieces: list[list[Any]] = [[] for _ in range(9)]
        kept = [(part, alive) for part, alive in parts if alive.any()]
        width = max((part.vectors.shape[1] for part, _ in kept), default=0)
        base = 0
        for part, alive in kept:
            moved = np.cumsum(alive, dtype=np.int64) - 1 + base
            terms, rows, counts = part.triples()
            there: npt.NDArray[np.bool_] = alive[rows]
            vectors = part.vectors if part.vectors.shape[1] == width else np.zeros((part.size, width), np.int8)
            columns: tuple[npt.NDArray[Any], ...] = (
                part.numbers,
                part.states,
                part.valid_from,
                part.valid_until,
                part.lengths,
                part.scales,
            )
            for place, column in enumerate(columns):
                pieces[place].append(column[alive])
            pieces[6].append(vectors[alive])
            pieces[7].append(np.stack([terms[there], moved[rows[there]].astype(np.uint64)]))
            pieces[8].append(counts[there])
            base += int(alive.sum())
        if not kept:
            return cls([np.empty(0, kind) if name != "offsets" else np.zeros(1, np.uint32)
                        for name, kind in zip(cls.BLOBS, cls._TYPES, strict=True)])  # fmt: skip
        numbers, states, valid_from, valid_until, lengths, scales, vectors = (
            np.concatenate(pieces[place]) for place in range(7)
        )
        order = np.argsort(numbers, kind="stable") if by_number else np.arange(len(numbers))
        place_of = np.empty_like(order)
        place_of[order] = np.arange(len(order))
        pairs = np.concatenate(pieces[7], axis=1)
        rows = place_of[pairs[1].astype(np.int64)]
        sorting = np.lexsort((rows, pairs[0]))
        terms, starts = np.unique(pairs[0][sorting], return_index=True)
        offsets = np.append(starts, len(rows)).astype(np.uint32)
        return cls(
            [
                numbers[order], states[order], valid_from[order], valid_until[order], lengths[order], terms, offsets,
                rows[sorting].astype(np.uint32), np.concatenate(pieces[8])[sorting], scales[order], vectors[order],
            ]
        )  # fmt: skip


class Tail(Part):
    """The entries that came last, kept one by one. Cheap to make anew when one more comes."""

    def __init__(self, entries: Sequence[Packed]) -> None:
        count = len(entries)
        self.numbers = np.fromiter((entry.number for entry in entries), np.int64, count)
        self.states = np.fromiter((entry.state for entry in entries), np.uint8, count)
        self.valid_from = np.fromiter((entry.valid_from for entry in entries), np.int64, count)
        self.valid_until = np.fromiter((entry.valid_until for entry in entries), np.int64, count)
        self.lengths = np.fromiter((entry.length for entry in entries), np.uint16, count)
        self.scales = np.fromiter((entry.scale for entry in entries), np.float32, count)
        width = max((len(entry.vector) for entry in entries), default=0)
        self.vectors = np.zeros((count, width), np.int8)
        for row, entry in enumerate(entries):
            if len(entry.vector) == width:
                self.vectors[row] = entry.vector
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
