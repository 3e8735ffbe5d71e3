"""The semantic lane: cosines by int8, over every row that is eligible.

A large segment is first looked through by the signs of its vectors alone; what points the same way in most
dimensions, one row in thirty-two, is then looked at closely.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import simsimd

from memoranda.index.segment import F32, Mask, Part, Segment, quantised

SIGNS_FROM = 16_384
_SIGNS_KEPT = 1 / 32

Rows = npt.NDArray[np.intp]


def nearest(part: Part, mask: Mask | None, vector: F32, pool: int) -> tuple[Rows, F32]:
    """At least the best `pool` rows that have a vector, in no order, and their cosines."""
    nothing = np.empty(0, np.intp), np.empty(0, np.float32)
    if not part.size or part.vectors.shape[1] != len(vector):
        return nothing
    usable = part.with_vector if mask is None else (mask if part.with_vector is None else mask & part.with_vector)
    rows = _chosen(part, usable, vector)
    matrix = part.vectors if rows is None else part.vectors[rows]
    if not len(matrix):
        return nothing
    scale, small = quantised(vector)
    scales = part.scales if rows is None else part.scales[rows]
    cosines = np.asarray(simsimd.cdist(small[None, :], matrix, metric="dot"), np.float32).ravel()
    cosines *= scales * np.float32(scale)
    if rows is None:
        rows = np.arange(part.size)
    if len(rows) > pool:
        least = np.partition(cosines, len(cosines) - pool)[len(cosines) - pool]
        best = np.flatnonzero(cosines >= least)
        rows, cosines = rows[best], cosines[best]
    return rows, cosines


def _chosen(part: Part, usable: Mask | None, vector: F32) -> Rows | None:
    """The rows to look at closely; None for all."""
    if isinstance(part, Segment) and part.size >= SIGNS_FROM:
        signs = part.signs()
        if signs is not None:
            return _same_way(signs, usable, vector)
    return None if usable is None else np.flatnonzero(usable)


def _same_way(signs: npt.NDArray[np.uint8], usable: Mask | None, vector: F32) -> Rows:
    mine = np.packbits(vector > 0)[None, :]
    distances = np.asarray(simsimd.cdist(mine, signs, metric="hamming", dtype="bin8")).ravel().astype(np.int16)
    if usable is not None:
        distances[~usable] = 8 * signs.shape[1] + 1
    keep = max(2_048, int(len(signs) * _SIGNS_KEPT))
    # How far one has to go to have enough: a count of each distance tells it without sorting.
    far = int(np.searchsorted(np.cumsum(np.bincount(distances)), keep))
    return np.flatnonzero(distances <= min(far, 8 * signs.shape[1]))


def exact(part: Part, rows: Sequence[int], vector: F32) -> list[float | None]:
    """Cosines again with the query unrounded, for the few rows that are proposed; None without a vector."""
    if not rows or part.vectors.shape[1] != len(vector):
        return [None] * len(rows)
    scales = part.scales[rows]
    # einsum, not a matrix product: a row's value must not depend on how many rows stand beside it.
    values = np.einsum("ij,j->i", part.vectors[rows].astype(np.float32), vector) * scales
    return [value if scale else None for value, scale in zip(values.tolist(), scales.tolist(), strict=True)]
