"""Durable remember, one at a time: bursts of single writes, the systems in turn, so that all meet the same disk."""

from pathlib import Path
from typing import Any

from bench.crew import crew
from bench.paths import log
from bench.stats import summary
from bench.systems import BARE, for_durable
from bench.tables import table, times


def measure(names: list[str], data: Path, writes: int, burst: int) -> dict[str, Any]:
    """p50 and p95 of each system.

    Between bursts a background follower is waited for, untimed. Ours begins only after a quiet moment, or after two
    seconds of writing: a burst that is shorter than that is measured with the follower idle.
    """
    walls: dict[str, list[int]] = {}
    cpus: dict[str, list[int]] = {}
    with crew(for_durable(names), data) as run:
        for start in range(0, writes, burst):
            log(f"durable: {start} of {writes}")
            for client in list(run.clients):
                answer = run.ask(client, "add", start=start, stop=start + burst, scopes=1)
                settled = answer and run.ask(client, "settle", final=False)
                if answer is None or settled is None:
                    continue
                if start:  # the first burst creates files and loads models
                    walls.setdefault(client.system.name, []).extend(answer["ns"])
                    cpus.setdefault(client.system.name, []).extend(answer["cpu_ns"])
        results = {name: {**summary(walls[name]), "cpu_ms": summary(cpus[name])["p50_ms"]} for name in walls}
        return {"systems": results, "out": run.out, "versions": run.versions}


def report(result: dict[str, Any]) -> str:
    systems = result["systems"]
    base = systems[BARE.name]
    rows: list[list[Any]] = [
        [
            name, one["p50_ms"], one["p95_ms"], one["cpu_ms"],
            times(one["p50_ms"], base["p50_ms"]), times(one["p95_ms"], base["p95_ms"]), one["n"],
        ]
        for name, one in systems.items()
    ]  # fmt: skip
    rows += [[name, reason, None, None, None, None, None] for name, reason in result["out"].items()]
    head = ["system", "p50 ms", "p95 ms", "CPU ms p50", "p50 / bare", "p95 / bare", "writes"]
    return table("Durable remember, one at a time", head, rows)
