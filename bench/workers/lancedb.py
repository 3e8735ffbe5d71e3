"""LanceDB on a local folder. Exact vector search (no ANN index: recall 1.0), a bitmap index on the scope.

Variants: `vector`, and `hybrid` with its full-text index and its default reranker (RRF).
"""

from collections.abc import Sequence

import lancedb
import pyarrow as pa

from bench.workers.base import DIMENSIONS, Store


class Lance(Store):
    packages = ("lancedb", "pyarrow")

    def open(self) -> None:
        schema = pa.schema(
            [
                pa.field("i", pa.int64()),
                pa.field("text", pa.string()),
                pa.field("scope", pa.string()),
                pa.field("vector", pa.list_(pa.float32(), DIMENSIONS)),
            ]
        )
        self._table = lancedb.connect(str(self.folder)).create_table("bench", schema=schema)
        self._indexed = False

    def add(self, i: int, text: str, scope: str) -> None:
        self.add_many([(i, text, scope)], 0.0)

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        texts = [text for _, text, _ in items]
        flat = pa.array(self.vectors.rows(texts).reshape(-1))
        columns = [
            pa.array([i for i, _, _ in items]),
            pa.array(texts),
            pa.array([scope for _, _, scope in items]),
            pa.FixedSizeListArray.from_arrays(flat, DIMENSIONS),
        ]
        self._table.add(pa.table(columns, names=["i", "text", "scope", "vector"]))
        return len(items)

    def settle(self, *, final: bool) -> None:
        if not final:
            return
        if not self._indexed:
            self._indexed = True
            self._table.create_scalar_index("scope", index_type="BITMAP")
            if self.variant == "hybrid":
                self._table.create_fts_index("text", use_tantivy=False)
        self._table.optimize()

    def search(self, query: str, scope: str, k: int) -> list[int]:
        vector = self.vectors.rows([query])[0]
        if self.variant == "hybrid":
            asked = self._table.search(query_type="hybrid").vector(vector).text(query)
        else:
            asked = self._table.search(vector)
        found = asked.where(f"scope = '{scope}'", prefilter=True).select(["i", "text"]).limit(k).to_arrow()
        return found["i"].to_pylist()


STORE = Lance
