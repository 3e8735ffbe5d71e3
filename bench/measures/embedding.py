"""The embedding step, which the other measures leave out: the bundled embedder, one query at a time."""

import time
from typing import Any

from bench.stats import summary
from bench.tables import table

WARM_UP = 5


def measure(queries: list[str]) -> dict[str, Any]:
    from memoranda.config import load
    from memoranda.embedding.use import UseEmbedder

    embedder = UseEmbedder(load().cache_folder())
    walls, cpus = [], []
    for query in queries:
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        embedder.embed([query], "query")
        walls.append(time.perf_counter_ns() - wall)
        cpus.append(time.process_time_ns() - cpu)
    return {**summary(walls[WARM_UP:]), "cpu_ms": summary(cpus[WARM_UP:])["p50_ms"], "first_ms": walls[0] / 1e6}


def report(result: dict[str, Any]) -> str:
    head = ["embedder", "p50 ms", "p95 ms", "CPU ms p50", "first ms (loads it)", "queries"]
    row = [
        "use:m3 (bundled)", result["p50_ms"], result["p95_ms"], result["cpu_ms"], result["first_ms"], result["n"],
    ]  # fmt: skip
    return table("The embedding step, one query", head, [row])
