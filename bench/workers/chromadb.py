"""Chroma, persistent client, vectors given.

Variants: `filter` keeps all in one collection with the scope as metadata and `where`; `apart` has a collection for
each scope and needs no filter.
"""

from collections.abc import Sequence
from typing import Any

import chromadb
from chromadb.config import Settings

from bench.workers.base import Store

_BATCH = 5_000  # Chroma refuses more than 5,461 at once


class Chroma(Store):
    packages = ("chromadb",)

    def open(self) -> None:
        self._client = chromadb.PersistentClient(str(self.folder), settings=Settings(anonymized_telemetry=False))
        self._collections: dict[str, Any] = {}

    def _collection(self, scope: str) -> Any:
        name = scope.replace("/", "-") if self.variant == "apart" else "bench"
        if name not in self._collections:
            self._collections[name] = self._client.create_collection(
                name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[name]

    def add(self, i: int, text: str, scope: str) -> None:
        self.add_many([(i, text, scope)], 0.0)

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        grouped: dict[Any, list[tuple[int, str, str]]] = {}
        for item in items:
            grouped.setdefault(self._collection(item[2]).name, []).append(item)
        for name, members in grouped.items():
            for start in range(0, len(members), _BATCH):
                self._add(self._collections[name], members[start : start + _BATCH])
        return len(items)

    def _add(self, collection: Any, items: Sequence[tuple[int, str, str]]) -> None:
        texts = [text for _, text, _ in items]
        collection.add(
            ids=[str(i) for i, _, _ in items],
            documents=texts,
            embeddings=self.vectors.rows(texts),
            metadatas=[{"scope": scope} for _, _, scope in items],
        )

    def search(self, query: str, scope: str, k: int) -> list[int]:
        where = None if self.variant == "apart" else {"scope": scope}
        found = self._collection(scope).query(query_embeddings=self.vectors.rows([query]), n_results=k, where=where)
        return [int(name) for name in found["ids"][0]]


STORE = Chroma
