"""Floor for vectors: one float32 matrix per scope in memory, a matrix product, the best k. Keeps nothing on disk."""

from collections.abc import Sequence

import numpy as np

from bench.workers.base import DIMENSIONS, Store


class Numpy(Store):
    packages = ("numpy",)

    def open(self) -> None:
        self._waiting: dict[str, list[np.ndarray]] = {}
        self._numbers: dict[str, list[int]] = {}
        self._matrices: dict[str, np.ndarray] = {}

    def add(self, i: int, text: str, scope: str) -> None:
        self.add_many([(i, text, scope)], 0.0)

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        rows = self.vectors.rows([text for _, text, _ in items])
        for (i, _, scope), row in zip(items, rows, strict=True):
            self._waiting.setdefault(scope, []).append(row)
            self._numbers.setdefault(scope, []).append(i)
        return len(items)

    def settle(self, *, final: bool) -> None:
        if final:
            for scope, rows in self._waiting.items():
                old = self._matrices.get(scope, np.empty((0, DIMENSIONS), np.float32))
                self._matrices[scope] = np.concatenate([old, np.stack(rows)])
            self._waiting.clear()

    def search(self, query: str, scope: str, k: int) -> list[int]:
        scores = self._matrices[scope] @ self.vectors.rows([query])[0]
        best = np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))
        numbers = self._numbers[scope]
        return [numbers[row] for row in best[np.argsort(-scores[best])]]


STORE = Numpy
