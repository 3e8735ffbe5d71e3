"""LangGraph's SqliteStore with its vector index (sqlite-vec); the scope as the namespace."""

from collections.abc import Sequence

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

from bench.workers.base import DIMENSIONS, Store

_FIELDS = ["text"]  # given with each item: this version does not look at the index's own `fields`


class LangGraph(Store):
    packages = ("langgraph", "langgraph-checkpoint-sqlite", "sqlite-vec")

    def open(self) -> None:
        index = {"dims": DIMENSIONS, "embed": self.vectors.lists}
        self._context = SqliteStore.from_conn_string(str(self.folder / "store.db"), index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def add(self, i: int, text: str, scope: str) -> None:
        self._store.put(tuple(scope.split("/")), str(i), {"text": text}, index=_FIELDS)

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        self._store.batch([PutOp(tuple(scope.split("/")), str(i), {"text": text}, _FIELDS) for i, text, scope in items])
        return len(items)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        return [int(item.key) for item in self._store.search(tuple(scope.split("/")), query=query, limit=k)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)


STORE = LangGraph
