"""Closeness: how near the words of a memory come to the words that were asked, also when they are not the same.

For each word of the query, the most similar word of the memory counts, weighted by what the word is worth.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.ports import Vocabulary
from memoranda.index.segment import Part
from memoranda.index.tokens import content_words

_MOST_ASKED = 64
_MOST_CHARACTERS = 2_000
# A word of which the lexical lane knows nothing (one in a script without spaces) counts like a middling one.
_UNKNOWN_WORTH = 3.0


def pieces_of(text: str, vocabulary: Vocabulary) -> npt.NDArray[np.uint32]:
    """The pieces of a memory's words, each once."""
    found = {piece for _, word in content_words(text[:_MOST_CHARACTERS]) for piece in vocabulary.pieces(word)}
    return np.fromiter(sorted(found), np.uint32, len(found))


def closeness(
    part: Part, rows: Sequence[int], query: str, vocabulary: Vocabulary, worth: Mapping[str, float]
) -> list[float | None]:
    """From 0 to 1 for each row; None for one without pieces."""
    asked, weights = _asked(query, vocabulary, worth)
    starts = part.piece_offsets[rows].astype(np.int64)
    sizes = part.piece_offsets[np.asarray(rows) + 1].astype(np.int64) - starts
    full = np.flatnonzero(sizes)
    near: list[float | None] = [None] * len(rows)
    if not len(asked) or not len(full):
        return near
    size = sizes[full]
    begins = np.cumsum(size) - size
    flat = part.pieces[np.repeat(starts[full] - begins, size) + np.arange(int(size.sum()))]
    distinct, where = np.unique(flat, return_inverse=True)
    alike: Any = vocabulary.alike(distinct, asked)
    best = np.maximum.reduceat(alike[where], begins, axis=0)
    # einsum, not a matrix product: a row's value must not depend on how many rows stand beside it.
    values = np.einsum("ij,j->i", best, weights)
    for place, value in zip(full.tolist(), values.tolist(), strict=True):
        near[place] = min(max(value, 0.0), 1.0)
    return near


def _asked(
    query: str, vocabulary: Vocabulary, worth: Mapping[str, float]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """The pieces asked for and their weights, which add up to one. Of very many, those that weigh most."""
    weights: dict[int, float] = {}
    for folded, word in content_words(query):
        pieces = vocabulary.pieces(word)
        for piece in pieces:
            weight = worth.get(folded, _UNKNOWN_WORTH) / len(pieces) ** 0.5
            weights[piece] = max(weights.get(piece, 0.0), weight)
    heaviest = sorted(weights, key=lambda piece: (-weights[piece], piece))[:_MOST_ASKED]
    total = sum(weights[piece] for piece in heaviest) or 1.0
    return (
        np.array(heaviest, np.uint32),
        np.array([weights[piece] / total for piece in heaviest], np.float32),
    )
