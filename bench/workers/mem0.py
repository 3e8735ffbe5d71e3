"""mem0 with `infer=False` (no model is asked), its default local Qdrant; the scope as `user_id`.

Its keyword search needs an extra that downloads a model, so that it searches by vectors here.
"""

from typing import Any

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

from bench.workers.base import DIMENSIONS, Store, Vectors


class LookupEmbedding(EmbeddingBase):
    """The shared vectors as an embedder."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._vectors.lists([text])[0]


class Mem0(Store):
    packages = ("mem0ai", "qdrant-client")

    def open(self) -> None:
        never_called = {"provider": "openai", "config": {"api_key": "none"}}
        place: dict[str, Any] = {
            "collection_name": "bench",
            "path": str(self.folder / "qdrant"),
            "embedding_model_dims": DIMENSIONS,
            "on_disk": True,
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": place},
                "llm": never_called,
                "embedder": never_called,
                "history_db_path": str(self.folder / "history.db"),
            }
        )
        self._memory.embedding_model = LookupEmbedding(self.vectors)

    def add(self, i: int, text: str, scope: str) -> None:
        self._memory.add(text, user_id=scope, metadata={"i": i}, infer=False)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        found = self._memory.search(query, filters={"user_id": scope}, top_k=k)
        return [hit["metadata"]["i"] for hit in found["results"]]


STORE = Mem0
