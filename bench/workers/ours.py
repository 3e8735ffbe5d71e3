"""Memoranda, through its facade.

Variants: `lookup` with the shared vectors and the background follower; `words` without an embedder and without
the follower (the bare write path); `use` with the bundled embedder and the follower, as it comes.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import memoranda
from bench.workers.base import DIMENSIONS, Store, Vectors
from memoranda.embedding import registry


class LookupEmbedder:
    """The shared vectors as an embedder."""

    name = "lookup:bench"
    fingerprint = "lookup:bench|1|512"
    dimensions: int | None = DIMENSIONS

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        return self._vectors.rows(texts)

    def close(self) -> None:
        pass


_EMBEDDERS = {"lookup": "lookup:bench", "words": "none", "use": "auto"}


class Ours(Store):
    packages = ("memoranda", "apsw-sqlite3mc", "numpy")

    def __init__(self, vectors: Vectors, folder: Path, variant: str) -> None:
        super().__init__(vectors, folder, variant)
        registry._PROVIDERS["lookup"] = lambda model, settings: LookupEmbedder(vectors)
        self._numbers: dict[str, int] = {}

    def open(self) -> None:
        settings = memoranda.Settings(embedder=_EMBEDDERS[self.variant], follow=self.variant != "words")
        self._memory = memoranda.open(self.folder / "ours.db", scope="bench", settings=settings)

    def add(self, i: int, text: str, scope: str) -> None:
        kept = self._memory.within(scope).remember(text)
        self._numbers[kept.id] = i

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        grouped: dict[str, list[tuple[int, str]]] = {}
        for i, text, scope in items:
            grouped.setdefault(scope, []).append((i, text))
        for scope, members in grouped.items():
            kept = self._memory.within(scope).remember_many([text for _, text in members])
            self._numbers.update((one.id, i) for one, (i, _) in zip(kept, members, strict=True))
        return len(items)

    def settle(self, *, final: bool) -> None:
        """Wait until everything is in both lanes. No optimising: what a store is like when left to itself."""
        self._memory._engine.memories.catch_up(seconds=3600)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        return [self._numbers[hit.id] for hit in self._memory.within(scope).recall(query, limit=k)]

    def close(self) -> None:
        self._memory.close()


STORE = Ours
