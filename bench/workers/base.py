"""The loop of every worker: a command per line on stdin, an answer per line on stdout, times taken in here.

Runs inside the peers' environments, so it needs the standard library and numpy only. What a store spends in
`Vectors.rows` is the embedding step; it is reported apart, so that it can be left out of the comparison.
"""

import hashlib
import importlib
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import numpy as np

DIMENSIONS = 512
_ROW_BYTES = 4 * DIMENSIONS


class Vectors:
    """The shared corpus: texts, and their vectors read from one file, row by row, so that they take no memory."""

    def __init__(self, folder: Path) -> None:
        self.texts: list[str] = json.loads((folder / "documents.json").read_text())
        queries: list[str] = json.loads((folder / "queries.json").read_text())
        self._rows = {text: row for row, text in enumerate(self.texts + queries)}
        self._file = os.open(folder / "vectors.f32", os.O_RDONLY)
        self.spent_ns = 0

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 unit vector for each text; for a text that is not in the corpus, one made from its hash."""
        began = time.perf_counter_ns()
        found = np.empty((len(texts), DIMENSIONS), np.float32)
        for at, text in enumerate(texts):
            row = self._rows.get(text)
            if row is None:
                found[at] = _made_up(text)
            else:
                found[at] = np.frombuffer(os.pread(self._file, _ROW_BYTES, row * _ROW_BYTES), np.float32)
        self.spent_ns += time.perf_counter_ns() - began
        return found

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """The same, for libraries that want plain lists."""
        return self.rows(texts).tolist()


def _made_up(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS, np.float32)
    return vector / np.linalg.norm(vector)


class Store(ABC):
    """What a worker has to say about its system. Documents are numbered; `i` is the number of one."""

    packages: tuple[str, ...] = ()
    """Distributions whose versions are reported."""

    def __init__(self, vectors: Vectors, folder: Path, variant: str) -> None:
        self.vectors = vectors
        self.folder = folder
        self.variant = variant

    @abstractmethod
    def open(self) -> None:
        """Open an empty store in `folder`, as its documentation says for a local one."""

    @abstractmethod
    def add(self, i: int, text: str, scope: str) -> None:
        """Keep one text; returns when the system says that it is kept."""

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        """Keep many; how many were kept before the deadline. By default one by one."""
        for done, item in enumerate(items):
            if time.monotonic() > deadline:
                return done
            self.add(*item)
        return len(items)

    def settle(self, *, final: bool) -> None:  # noqa: B027 most have nothing to do
        """Finish what goes on in the background; when `final`, also build what its documentation recommends."""

    @abstractmethod
    def search(self, query: str, scope: str, k: int) -> list[int]:
        """The numbers of the best k texts in the scope."""

    def close(self) -> None:  # noqa: B027 most have nothing to do
        """Close the store."""


class Worker:
    """Answers the driver's commands."""

    def __init__(self, module: str, data: Path) -> None:
        self._vectors = Vectors(data)
        self._rss_before = _rss()
        self._class: type[Store] = importlib.import_module(f"bench.workers.{module}").STORE
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        assert self._store is not None, "open first"
        return self._store

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Do one command."""
        return getattr(self, "do_" + command.pop("do"))(**command)

    def do_open(self, folder: str, variant: str) -> dict[str, Any]:
        self._store = self._class(self._vectors, Path(folder), variant)
        Path(folder).mkdir(parents=True)
        wall, _ = _timed(self._store.open)
        return {"ns": wall, "versions": {name: version(name) for name in self._class.packages}}

    def do_add(self, start: int, stop: int, scopes: int) -> dict[str, Any]:
        """One at a time, each acknowledged before the next; the times of all."""
        walls, cpus = [], []
        for i in range(start, stop):
            wall, cpu = _timed(self.store.add, i, self._vectors.texts[i], scope_of(i, scopes))
            walls.append(wall)
            cpus.append(cpu)
        return {"ns": walls, "cpu_ns": cpus}

    def do_add_many(self, start: int, stop: int, scopes: int, seconds: float) -> dict[str, Any]:
        items = [(i, self._vectors.texts[i], scope_of(i, scopes)) for i in range(start, stop)]
        self._vectors.spent_ns = 0
        deadline = time.monotonic() + seconds
        began, cpu = time.perf_counter_ns(), time.process_time_ns()
        done = self.store.add_many(items, deadline)
        return {
            "ns": time.perf_counter_ns() - began,
            "cpu_ns": time.process_time_ns() - cpu,
            "embed_ns": self._vectors.spent_ns,
            "done": done,
        }

    def do_settle(self, final: bool) -> dict[str, Any]:
        wall, cpu = _timed(lambda: self.store.settle(final=final))
        return {"ns": wall, "cpu_ns": cpu}

    def do_search(self, query: str, scope: str, k: int) -> dict[str, Any]:
        self._vectors.spent_ns = 0
        began, cpu = time.perf_counter_ns(), time.process_time_ns()
        hits = self.store.search(query, scope, k)
        wall, spent_cpu = time.perf_counter_ns() - began, time.process_time_ns() - cpu
        return {"ns": wall, "cpu_ns": spent_cpu, "embed_ns": self._vectors.spent_ns, "hits": hits}

    def do_rss(self) -> dict[str, Any]:
        """Resident bytes now, and before the system was imported (Python, numpy, the corpus)."""
        return {"rss": _rss(), "before": self._rss_before}

    def do_close(self) -> dict[str, Any]:
        wall, _ = _timed(self.store.close)
        return {"ns": wall}


def scope_of(i: int, scopes: int) -> str:
    """The scope that document `i` belongs to when they are spread over so many."""
    return f"bench/s{i % scopes}"


def _timed(call: Any, *arguments: Any) -> tuple[int, int]:
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    call(*arguments)
    return time.perf_counter_ns() - wall, time.process_time_ns() - cpu


def _rss() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS here")


def main(module: str, data: str) -> None:
    """Serve until stdin ends. What the system prints goes to stderr: stdout is ours alone."""
    answers: TextIO = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(module, Path(data))
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            import traceback

            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    # By its package name, so that the modules of the systems and this one share the same classes.
    importlib.import_module("bench.workers.base").main(sys.argv[1], sys.argv[2])
