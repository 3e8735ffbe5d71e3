"""mcp-memory-service's sqlite-vec storage, called in its own process; the scope as its `store` (a partition key).

Its semantic deduplication is left out of single writes, so that it keeps every text, as the others do.
"""

import asyncio
import logging
from collections.abc import Sequence

import numpy as np
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.utils.hashing import generate_content_hash

from bench.workers.base import DIMENSIONS, Store, Vectors


class LookupModel:
    """The shared vectors in place of its sentence transformer."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str], convert_to_numpy: bool = True) -> np.ndarray:
        return self._vectors.rows(texts)


class LookupStorage(SqliteVecMemoryStorage):
    """The storage, with the model given instead of loaded."""

    def __init__(self, path: str, vectors: Vectors) -> None:
        super().__init__(path, embedding_model="lookup")
        self._given = LookupModel(vectors)

    async def _initialize_embedding_model(self) -> None:
        self.embedding_model = self._given
        self.embedding_dimension = DIMENSIONS


def _memory(i: int, text: str) -> Memory:
    return Memory(content=text, content_hash=generate_content_hash(text), metadata={"i": i})


class McpMemoryService(Store):
    packages = ("mcp-memory-service", "sqlite-vec")

    def open(self) -> None:
        logging.disable(logging.WARNING)
        self._loop = asyncio.new_event_loop()
        self._storage = LookupStorage(str(self.folder / "memory.db"), self.vectors)
        self._loop.run_until_complete(self._storage.initialize())

    def add(self, i: int, text: str, scope: str) -> None:
        kept, message = self._loop.run_until_complete(
            self._storage.store(_memory(i, text), skip_semantic_dedup=True, store=scope)
        )
        assert kept, message

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        grouped: dict[str, list[Memory]] = {}
        for i, text, scope in items:
            grouped.setdefault(scope, []).append(_memory(i, text))
        for scope, members in grouped.items():
            self._loop.run_until_complete(self._storage.store_batch(members, store=scope))
        return len(items)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        found = self._loop.run_until_complete(self._storage.retrieve(query, n_results=k, store=scope))
        return [hit.memory.metadata["i"] for hit in found]


STORE = McpMemoryService
