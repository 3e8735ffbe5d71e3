"""How many shards, how much memory and disk, for a load that nobody has measured: `python -m bench.scale_sim`.

Driven by `scale_constants.json`, which `--learn FOLDER` writes from what `python -m bench scale` left there. What is
printed for sizes beyond the measured ones is extrapolated, and the table says from where on.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.scale_model import CONSTANTS, Constants, Load, Machine, Plan, known, planned
from bench.scale_report import SCOPES, cpu_of
from bench.tables import table

Found = dict[str, Any]
Point = tuple[float, float]

# Statements of a recall with nothing new, and of a remember, counted at the connection; begin and commit come on top.
RECALL_TRIPS = {"postgres": 9 + 2}
WRITE_TRIPS = {"postgres": 6 + 2}
# Beyond this, SMALL of that index, a scope is not searched as a whole; the embedded index always does.
WHOLE_UP_TO = {"postgres": 4_096.0}
ENOUGH = 6
PRESETS = {
    "one person, 1e3 memories": Load(users=1, memories=1_000, active=1.0),
    "a team, 1e5": Load(users=100, memories=1_000, active=0.5),
    "a product, 1e6": Load(users=10_000, memories=100, largest=100_000),
    "the same, 1e6 scopes, 1e8": Load(users=1_000_000, memories=100, active=0.05, largest=100_000),
    "heavy users, 1e9": Load(users=1_000_000, memories=1_000, active=0.05, largest=1_000_000),
}


def main(given: Sequence[str] | None = None) -> int:
    """Print the plan for a load, or for those that decide what to buy."""
    options = _parser().parse_args(given)
    if options.learn is not None:
        CONSTANTS.write_text(json.dumps(learned(options.learn), indent=1) + "\n", encoding="utf-8")
        return 0
    engines, around = known()
    if options.engine and options.engine not in engines:
        print(f"{options.engine} was not measured; there is {', '.join(engines) or 'nothing yet'}", file=sys.stderr)
        return 2
    machine = Machine(**{name: getattr(options, name) for name in Machine._fields})
    loads = {"as given": _load(options)} if options.users else PRESETS
    chosen = [options.engine] if options.engine else list(engines)
    plans = [
        (name, planned(engine, engines[engine], around, load, machine))
        for name, load in loads.items()
        for engine in chosen
    ]
    if options.json:
        print(json.dumps([{"load": name, **plan.as_json()} for name, plan in plans], indent=1))
    else:
        print(_told(plans, machine))
    return 0


def _told(plans: Sequence[tuple[str, Plan]], machine: Machine) -> str:
    head = ["load", "engine", "memories", "shards", "because of", "disk GB, one copy", "memory GB a shard"]
    head += ["cores a shard", "writer busy", "write p95 ms", "recall ms, alone", "largest scope", "restore, hours"]
    rows: list[list[Any]] = [
        [
            name,
            plan.engine,
            f"{plan.total:,.0f}",
            plan.shards,
            plan.limit,
            plan.disk_gb,
            plan.memory_gb,
            plan.cores,
            f"{plan.writer_share:.0%}",
            plan.write_p95_ms,
            plan.recall_ms,
            plan.largest_recall_ms,
            plan.restore_hours,
        ]
        for name, plan in plans
    ]
    shape = f"{machine.cores:g} cores, {machine.memory_gb:g} GB, {machine.disk_gb:g} GB disk, {machine.commit_ms:g} ms"
    return table(f"Shards of {shape} a commit", head, rows)


# -- learning the constants --


def learned(folder: Path) -> Found:
    """The constants from what was measured; what is not measured there stays as it was."""
    read: Found = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    for path in sorted(folder.glob("growth-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        engine = path.stem.removeprefix("growth-")
        complete = {int(size): at for size, at in found["sizes"].items() if {"ask", "write", "upkeep"} <= at.keys()}
        if complete:
            read["engines"][engine] = _of_engine(engine, found["command"], complete)
    return read


def _of_engine(engine: str, command: Sequence[str], sizes: dict[int, Found]) -> Found:
    largest = max(sizes)
    at = sizes[largest]
    asked, resident = at["ask"], at["ask"]["rss_mb"]
    points = recall_points(sizes)
    whole = WHOLE_UP_TO.get(engine, math.inf)
    base, tenfold, million, proposing = fitted(points, whole)
    scope = asked["largest"]["memories"]
    index_bytes = at["upkeep"]["bytes"]["index"] / largest
    shared = engine == "postgres"
    constants = Constants(
        recall_ms=base,
        recall_ms_per_tenfold=tenfold,
        recall_ms_per_million=million,
        cold_ms_per_million=max(0.0, asked["largest"]["first_cpu_ms"] - asked["largest"]["cpu_p50_ms"]) / scope * 1e6,
        write_ms=cpu(at["write"]["remember"]),
        index_ms=cpu_of(at, "indexed") or 0.0,
        ledger_bytes=at["upkeep"]["bytes"]["ledger"] / largest,
        index_bytes=index_bytes,
        resident_mb=resident["medium"],
        # What processes share is in the memory of the database, page by page.
        resident_bytes=index_bytes
        if shared
        else max(0.0, resident["largest"] - resident.get("large", resident["medium"])) * 1e6 / scope,
        verify_ms=at["upkeep"]["verify"]["cpu_seconds"] * 1e3 / largest,
        shared_index=shared,
        largest_scope=float(scope),
        recall_trips=RECALL_TRIPS.get(engine, 0),
        write_trips=WRITE_TRIPS.get(engine, 0),
        whole_up_to=whole,
        proposing_ms=proposing,
    )
    return {
        "source": " ".join(command),
        "measured_up_to": largest,
        "constants": {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in constants._asdict().items()
            if value != math.inf
        },
        "stated_error": _error(constants, points),
        "recall_points": [[memories, round(ms, 3)] for memories, ms in points],
    }


def _error(constants: Constants, points: Sequence[Point]) -> float:
    """The largest relative error of the curve on the points that it was drawn through, rounded up."""
    worst = max(abs(constants.recall_in(memories) / ms - 1) for memories, ms in points)
    return math.ceil(worst * 100 + 1) / 100


def cpu(told: Found) -> float:
    """Processor time of one, the server's included where there is one."""
    return float(told["cpu_p50_ms"]) + float(told.get("server_cpu_ms", 0.0))


def recall_points(sizes: dict[int, Found]) -> list[Point]:
    """(memories in the scope, CPU milliseconds of a recall there), at every size."""
    found = [at["ask"][scope] for at in sizes.values() for scope in SCOPES if scope in at["ask"]]
    return sorted((float(each["memories"]), cpu(each)) for each in found)


def fitted(points: Sequence[Point], whole: float = math.inf) -> tuple[float, float, float, float]:
    """base + a * tenfolds beyond ten + b * millions + c beyond `whole`, none below zero, with the least relative error.

    Few points do not tell the second from the third: then there is no third.
    """
    sizes = np.array([size for size, _ in points])
    times = np.array([ms for _, ms in points])
    columns = np.stack(
        [np.ones(len(sizes)), np.maximum(0.0, np.log10(sizes / 10)), sizes / 1e6, np.where(sizes > whole, 1.0, 0.0)],
        axis=1,
    )
    kept = [0, 1, *([2] if len(points) >= ENOUGH else []), *([3] if sizes.max() > whole else [])]
    while True:
        weighed = columns[:, kept] / times[:, None]
        solved = np.linalg.lstsq(weighed, np.ones(len(times)), rcond=None)[0]
        if (solved >= 0).all():
            break
        kept.pop(int(np.argmin(solved)))
    values = [0.0] * columns.shape[1]
    for place, value in zip(kept, solved.tolist(), strict=True):
        values[place] = value
    return values[0], values[1], values[2], values[3]


def _load(options: argparse.Namespace) -> Load:
    return Load(**{name: getattr(options, name) for name in Load._fields})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.scale_sim", description="What a load needs.")
    parser.add_argument("--engine", help="one of those that were measured; all when not given")
    parser.add_argument("--users", type=int, default=0, help="scopes; without it, some loads that people ask about")
    parser.add_argument("--memories", type=float, default=100.0, help="of each user")
    parser.add_argument("--recalls-a-day", type=float, default=50.0, help="of each user")
    parser.add_argument("--writes-a-day", type=float, default=10.0, help="of each user")
    parser.add_argument("--peak", type=float, default=5.0, help="the busiest minute, in averages")
    parser.add_argument("--active", type=float, default=0.1, help="share of users that come within the same hour")
    parser.add_argument("--largest", type=float, default=0.0, help="memories of the largest user")
    for name, value in Machine()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help="of one shard's machine")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--learn", type=Path, help="write the constants from the results in this folder")
    return parser


if __name__ == "__main__":
    sys.exit(main())
