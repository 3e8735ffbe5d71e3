"""LanceDB on a local folder. Exact vector search: no approximate index, so that nothing is lost.

Variants: `vector`, one table with a bitmap index on the scope and a prefilter; `hybrid`, the same with its full-text
index and its default reranker (RRF); `apart`, a table for each scope and no filter.
"""

from collections.abc import Sequence
from typing import Any

import lancedb
import pyarrow as pa

from bench.workers.base import DIMENSIONS, Store

_SCHEMA = pa.schema(
    [
        pa.field("i", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("scope", pa.string()),
        pa.field("vector", pa.list_(pa.float32(), DIMENSIONS)),
    ]
)


class Lance(Store):
    packages = ("lancedb", "pyarrow")

    def open(self) -> None:
        self._database = lancedb.connect(str(self.folder))
        self._tables: dict[str, Any] = {}
        self._indexed = False

    def _table(self, scope: str) -> Any:
        name = scope.replace("/", "-") if self.variant == "apart" else "bench"
        if name not in self._tables:
            self._tables[name] = self._database.create_table(name, schema=_SCHEMA)
        return self._tables[name]

    def add(self, i: int, text: str, scope: str) -> None:
        self.add_many([(i, text, scope)], 0.0)

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        grouped: dict[str, list[tuple[int, str, str]]] = {}
        for item in items:
            grouped.setdefault(self._table(item[2]).name, []).append(item)
        for name, members in grouped.items():
            texts = [text for _, text, _ in members]
            flat = pa.array(self.vectors.rows(texts).reshape(-1))
            columns = [
                pa.array([i for i, _, _ in members]),
                pa.array(texts),
                pa.array([scope for _, _, scope in members]),
                pa.FixedSizeListArray.from_arrays(flat, DIMENSIONS),
            ]
            self._tables[name].add(pa.table(columns, names=_SCHEMA.names))
        return len(items)

    def settle(self, *, final: bool) -> None:
        if not final:
            return
        if not self._indexed and self.variant != "apart":
            self._indexed = True
            table = self._tables["bench"]
            table.create_scalar_index("scope", index_type="BITMAP")
            if self.variant == "hybrid":
                table.create_fts_index("text", use_tantivy=False)
        for table in self._tables.values():
            table.optimize()

    def search(self, query: str, scope: str, k: int) -> list[int]:
        vector = self.vectors.rows([query])[0]
        if self.variant == "hybrid":
            asked = self._table(scope).search(query_type="hybrid").vector(vector).text(query)
        else:
            asked = self._table(scope).search(vector)
        if self.variant != "apart":
            asked = asked.where(f"scope = '{scope}'", prefilter=True)
        return asked.select(["i", "text"]).limit(k).to_arrow()["i"].to_pylist()


STORE = Lance
