"""Qdrant's client in its local mode (Python, on disk); the scope as payload with a filter."""

from collections.abc import Sequence

from qdrant_client import QdrantClient, models

from bench.workers.base import DIMENSIONS, Store


class Qdrant(Store):
    packages = ("qdrant-client",)

    def open(self) -> None:
        self._client = QdrantClient(path=str(self.folder))
        parameters = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
        self._client.create_collection("bench", vectors_config=parameters)

    def add(self, i: int, text: str, scope: str) -> None:
        self._upsert([(i, text, scope)])

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        self._upsert(items)
        return len(items)

    def _upsert(self, items: Sequence[tuple[int, str, str]]) -> None:
        rows = self.vectors.lists([text for _, text, _ in items])
        points = [
            models.PointStruct(id=i, vector=row, payload={"text": text, "scope": scope})
            for (i, text, scope), row in zip(items, rows, strict=True)
        ]
        self._client.upsert("bench", points)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        same = models.FieldCondition(key="scope", match=models.MatchValue(value=scope))
        found = self._client.query_points(
            "bench", query=self.vectors.lists([query])[0], query_filter=models.Filter(must=[same]), limit=k
        )
        return [int(point.id) for point in found.points]

    def close(self) -> None:
        self._client.close()


STORE = Qdrant
