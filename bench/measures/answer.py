"""The whole answer: recall end to end with the bundled embedder, one scope, and where the time goes.

Chat turns in conversations, so that every part of the ranking has work to do. Each step is timed in the same
questions; what is left after embedding, searching and loading is the recall rooms' own share.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.paths import log
from bench.stats import summary
from bench.tables import table

WARM_UP = 20
TURNS_IN_A_CONVERSATION = 20
STEPS = ("end to end", "embedding", "searching", "loading", "the rooms' own share")


def measure(data: Path, queries: list[str], sizes: list[int]) -> dict[str, Any]:
    documents = json.loads((data / "documents.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        return {str(size): _at(Path(folder) / f"{size}.db", documents[:size], queries) for size in sizes}


def _at(path: Path, documents: list[str], queries: list[str]) -> dict[str, Any]:
    import memoranda

    with memoranda.open(path, scope="bench") as memory:
        memory.remember_many(
            memoranda.Draft(text, conversation=f"c{at // TURNS_IN_A_CONVERSATION}", speaker=f"person {at % 2}")
            for at, text in enumerate(documents)
        )
        log(f"embedding {len(documents)} memories")
        memory.admin.rebuild()
        clock = _Clock(memory)
        found: dict[str, list[int]] = {step: [] for step in STEPS}
        for query in queries:
            for step, nanoseconds in clock.timed(query).items():
                found[step].append(nanoseconds)
    return {step: summary(values[WARM_UP:]) for step, values in found.items()}


class _Clock:
    """Stands between recall and what it calls, and adds up how long each takes."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._spent: dict[str, int] = {}
        engine = memory._engine
        engine.memories.embed_query = self._around("embedding", engine.memories.embed_query)
        engine.memories.search = self._around("searching", engine.memories.search)
        engine.ledger.load = self._around("loading", engine.ledger.load)

    def _around(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter_ns()
            try:
                return call(*arguments, **named)
            finally:
                self._spent[step] = self._spent.get(step, 0) + time.perf_counter_ns() - started

        return timed

    def timed(self, query: str) -> dict[str, int]:
        self._spent = dict.fromkeys(STEPS, 0)
        started = time.perf_counter_ns()
        self._memory.recall(query)
        whole = time.perf_counter_ns() - started
        spent = sum(self._spent.values())
        return {**self._spent, "end to end": whole, "the rooms' own share": whole - spent}


def report(result: dict[str, Any]) -> str:
    rows = [
        [int(size), step, found["p50_ms"], found["p95_ms"], found["n"]]
        for size, steps in result.items()
        if size.isdigit()
        for step, found in steps.items()
    ]
    return table("Recall end to end, bundled embedder, one scope", ["memories", "step", "p50 ms", "p95 ms", "n"], rows)
