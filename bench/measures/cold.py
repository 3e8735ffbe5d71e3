"""Cold recall from the command line, beside what no such command can avoid: Python's start and the embedder's load."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.paths import log
from bench.stats import summary
from bench.tables import table, times

_EMBED = """
from memoranda.config import load, use_one_thread
use_one_thread()
import numpy
from memoranda.embedding.use import UseEmbedder
UseEmbedder(load().cache_folder()).embed(["which lamp does she read by?"], "query")
"""
_FILL = """
import json, sys
import memoranda
texts = json.load(sys.stdin)
with memoranda.open(sys.argv[1], scope="bench") as memory:
    memory.remember_many(texts)
    memory.admin.maintain()
"""
SCOPE = "bench"
PASS, EMBED, RECALL, WORDS = (
    "python -c pass",
    "python + embedder load",
    "memoranda recall",
    "memoranda recall, no embedder",
)


def measure(data: Path, sizes: list[int], runs: int) -> dict[str, Any]:
    """Fresh processes in turn, for each size of store."""
    documents: list[str] = json.loads((data / "documents.json").read_text())
    query: str = json.loads((data / "queries.json").read_text())[0]
    return {"sizes": {str(size): _at(documents[:size], query, runs) for size in sizes}}


def _at(documents: list[str], query: str, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        store = Path(folder) / "cold.db"
        log(f"cold: filling a store with {len(documents):,} memories")
        fill = [sys.executable, "-c", _FILL, str(store)]
        subprocess.run(fill, input=json.dumps(documents), text=True, check=True)
        command = [str(Path(sys.executable).parent / "memoranda"), "--store", str(store), "--scope", SCOPE]
        recall = [*command, "recall", query, "--json"]
        commands: dict[str, tuple[list[str], dict[str, str]]] = {
            PASS: ([sys.executable, "-c", "pass"], {}),
            EMBED: ([sys.executable, "-c", _EMBED], {}),
            RECALL: (recall, {}),
            WORDS: (recall, {"MEMORANDA_EMBEDDER": "none"}),
        }
        walls: dict[str, list[int]] = {name: [] for name in commands}
        cpus: dict[str, list[int]] = {name: [] for name in commands}
        for run in range(runs + 1):
            for name, (line, extra) in commands.items():
                wall, cpu = _run(line, extra)
                if run:  # the first fills the caches of the machine
                    walls[name].append(wall)
                    cpus[name].append(cpu)
    return {name: {**summary(walls[name]), "cpu_ms": summary(cpus[name])["p50_ms"]} for name in commands}


def _run(line: list[str], extra: dict[str, str]) -> tuple[int, int]:
    # With compiled modules, as an installed package has them, whatever the shell says.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    used = os.times()
    began = time.perf_counter_ns()
    subprocess.run(line, stdout=subprocess.DEVNULL, check=True, env={**environment, **extra})
    wall = time.perf_counter_ns() - began
    now = os.times()
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    return wall, int(cpu * 1e9)


def report(result: dict[str, Any]) -> str:
    tables = []
    for size, found in result["sizes"].items():
        bare, embed = found[PASS]["p50_ms"], found[EMBED]["p50_ms"]
        allowed = 3 * bare + (embed - bare)
        head = ["process", "p50 ms", "p95 ms", "CPU ms p50", "p50 / python -c pass", "p50 / allowed"]
        rows = [
            [name, one["p50_ms"], one["p95_ms"], one["cpu_ms"], times(one["p50_ms"], bare),
             times(one["p50_ms"], allowed)]
            for name, one in found.items()
        ]  # fmt: skip
        title = f"Cold recall, {int(size):,} memories; allowed: {allowed:.0f} ms (3 x python -c pass + embedder load)"
        tables.append(table(title, head, rows))
    return "\n".join(tables)
