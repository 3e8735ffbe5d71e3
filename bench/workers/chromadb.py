"""Chroma, persistent client; the scope as metadata with `where`, vectors given."""

from collections.abc import Sequence

import chromadb
from chromadb.config import Settings

from bench.workers.base import Store

_BATCH = 5_000  # Chroma refuses more than 5,461 at once


class Chroma(Store):
    packages = ("chromadb",)

    def open(self) -> None:
        client = chromadb.PersistentClient(str(self.folder), settings=Settings(anonymized_telemetry=False))
        self._kept = client.create_collection(
            "bench", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, i: int, text: str, scope: str) -> None:
        self._add([(i, text, scope)])

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        for start in range(0, len(items), _BATCH):
            self._add(items[start : start + _BATCH])
        return len(items)

    def _add(self, items: Sequence[tuple[int, str, str]]) -> None:
        texts = [text for _, text, _ in items]
        self._kept.add(
            ids=[str(i) for i, _, _ in items],
            documents=texts,
            embeddings=self.vectors.rows(texts),
            metadatas=[{"scope": scope} for _, _, scope in items],
        )

    def search(self, query: str, scope: str, k: int) -> list[int]:
        found = self._kept.query(query_embeddings=self.vectors.rows([query]), n_results=k, where={"scope": scope})
        return [int(name) for name in found["ids"][0]]


STORE = Chroma
