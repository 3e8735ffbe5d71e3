"""What the contract suites of an index share: entries with vectors, a vocabulary without a model, and ways to ask."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memoranda.domain.memory import State
from memoranda.domain.ports import Candidate, Index, IndexAnswer, IndexEntry, IndexQuery, Meaning
from memoranda.ledger.reading import chunks, is_readable
from memoranda.testing.servers import hashed_vector

OpenIndex = Callable[[], Index]
HERE = "home/anna"
ABOVE = "home"
BESIDE = "home/bob"
DIMENSIONS = 64
_CHUNK = 1 << 24


class FewWords:
    """A vocabulary without a model: a word is one piece, and words that begin alike are half alike."""

    def pieces(self, word: str) -> tuple[int, ...]:
        """One piece; its upper half is the first letter."""
        return ((ord(word[0].casefold()) & 0xFFF) << 16 | crc32(word.casefold().encode()) & 0xFFFF,)

    def alike(self, kept: Any, asked: Any) -> Any:
        """1 for the same, 0.5 for the same beginning, 0 otherwise."""
        one, other = np.asarray(kept, np.uint32)[:, None], np.asarray(asked, np.uint32)[None, :]
        return np.where(one == other, 1.0, np.where(one >> 16 == other >> 16, 0.5, 0.0)).astype(np.float32)


class IndexSuite:
    """What every suite of an index can be told by who subclasses it."""

    def in_files(self, index: Index, needles: Sequence[bytes]) -> list[bytes]:
        """Those of these byte strings that lie where the index keeps its data, whatever its age.

        Here: in its files. Override it for an index that keeps its data compressed, or in another program: look where
        its bytes really are, so that a proof of erasure proves something.
        """
        contents = [b"".join(chunks(name, _CHUNK)) for name in index.files() if is_readable(name)]
        return [needle for needle in needles if any(needle in content for content in contents)]


def vector_of(text: str) -> NDArray[np.float32]:
    """A unit vector, near for texts that share words."""
    values = np.asarray(hashed_vector(text, DIMENSIONS))
    return np.asarray(values / np.linalg.norm(values), np.float32)


def pieces_of(text: str) -> NDArray[np.uint32]:
    """The pieces of all words of a text, sorted."""
    return np.array(sorted({piece for word in text.split() for piece in FewWords().pieces(word)}), np.uint32)


def entry(
    number: int,
    text: str,
    *,
    scope: str = HERE,
    state: State = "live",
    valid_from: int | None = None,
    valid_until: int | None = None,
    vector: bool = True,
    words: bool = False,
    speaker: str = "",
    conversation: str = "",
    occurred_at: int = 0,
) -> IndexEntry:
    """An entry with a vector, and with the pieces of its words if wanted."""
    meaning = Meaning(vector_of(text), pieces_of(text) if words else None) if vector else None
    return IndexEntry(
        number, scope, text, state, valid_from, valid_until, meaning, speaker, conversation, occurred_at
    )  # fmt: skip


def ask(index: Index, text: str, *, scopes: tuple[str, ...] = (HERE,), **more: Any) -> IndexAnswer:
    """Ask by words and by meaning."""
    return index.search(IndexQuery(scopes, text=text, vector=vector_of(text), **more))


def numbers(answer: IndexAnswer) -> list[int]:
    """What a search by words proposes; what only points into some direction is left out."""
    return [candidate.number for candidate in answer.candidates if _meant(candidate)]


def _meant(candidate: Candidate) -> bool:
    return candidate.coverage > 0 or (candidate.cosine or 0.0) > 0.5


SENTENCES = (
    entry(1, "Anna reads by the lamp in the bedroom."),
    entry(2, "The boiler manual is in the cellar."),
    entry(3, "Bob likes tea with milk."),
    entry(4, "Die Lampe steht im Flur, the lamp."),
)
QUERIES = ("lamp", "boiler manual", "tea with milk", "the doctor on monday", "bicycle garden window train")
_WORDS = ("lamp", "boiler", "manual", "tea", "milk", "cellar", "bedroom", "window", "garden", "bicycle", "train")


def many(count: int) -> list[IndexEntry]:
    """So many entries of a few words each."""
    texts = [
        " ".join(_WORDS[(number * step + step) % len(_WORDS)] for step in range(1, 4 + number % 5)) + f" {number}"
        for number in range(1, count + 1)
    ]
    return [entry(number, text) for number, text in enumerate(texts, start=1)]
