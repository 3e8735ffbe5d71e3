"""Byte strings by which removed entries would be recognised in the files of an index, if they were still there.

What entries that stay have in common with them is left out: finding it would prove nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.ports import IndexEntry
from memoranda.index.segment import U64, Packed

_RUN = 4
_VECTOR_BYTES = 64
_SHORTEST_VECTOR = 32


Pieces = npt.NDArray[np.uint32]


def residues(gone: Sequence[IndexEntry], kept: Iterable[tuple[U64, npt.NDArray[np.int8], Pieces]]) -> tuple[bytes, ...]:
    """Terms that only `gone` has, the beginnings of its rows of terms and of pieces, and its vectors.

    `kept` is what stays, part by part: sorted terms, vectors as rows, and pieces.
    """
    packed = [Packed.of(entry) for entry in gone]
    terms = np.unique(np.concatenate([entry.terms for entry in packed])) if packed else np.empty(0, np.uint64)
    starts = {entry.terms[:_RUN].tobytes() for entry in packed if len(entry.terms) >= _RUN}
    runs = np.frombuffer(b"".join(sorted(starts)), np.uint64).reshape(-1, _RUN)
    vectors = {entry.vector[:_VECTOR_BYTES].tobytes() for entry in packed if len(entry.vector) >= _SHORTEST_VECTOR}
    pieces = {entry.pieces[:_RUN].tobytes() for entry in packed if len(entry.pieces) >= _RUN}
    shared: list[U64] = []
    for kept_terms, kept_vectors, kept_pieces in kept:
        shared.append(kept_terms[np.isin(kept_terms, terms)])
        runs = runs[~_contained(runs, kept_terms)]
        if vectors and kept_vectors.size:
            vectors -= {row.tobytes() for row in kept_vectors[:, :_VECTOR_BYTES]}
        if pieces:
            pieces -= _runs_beginning_alike(pieces, kept_pieces)
    left = np.setdiff1d(terms, np.concatenate(shared)) if shared else terms
    return (*(run.tobytes() for run in runs), *sorted(vectors), *sorted(pieces), *(term.tobytes() for term in left))


def _contained(runs: npt.NDArray[np.uint64], terms: U64) -> npt.NDArray[np.bool_]:
    """Which runs stand side by side in these sorted terms."""
    if len(terms) < _RUN or not len(runs):
        return np.zeros(len(runs), np.bool_)
    at = np.minimum(np.searchsorted(terms, runs[:, 0]), len(terms) - _RUN)
    side_by_side: Any = terms[at[:, None] + np.arange(_RUN)]
    return np.asarray((side_by_side == runs).all(axis=1))


def _runs_beginning_alike(pieces: set[bytes], kept: Pieces) -> set[bytes]:
    """The runs in `kept` that begin like one of these."""
    firsts = np.frombuffer(b"".join(sorted(pieces)), np.uint32)[::_RUN]
    at = np.flatnonzero(np.isin(kept[: max(len(kept) - _RUN + 1, 0)], firsts))
    return {kept[start : start + _RUN].tobytes() for start in at.tolist()}
