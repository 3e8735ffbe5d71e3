"""How one store grows: keeping, asking, opening, memory and disk at growing sizes, for one engine at a time.

python -m bench scale --engine embedded --size 1000000

Each step is a process of its own. What was measured is kept as it comes, and a run that was cut short, by its own
limit or by anything else, goes on where it stopped when it is called again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.paths import OUT, ROOT, log
from bench.scale_plot import growth
from bench.scale_report import report
from bench.scale_server import server
from bench.scale_store import ENGINES

STEPS = ("grow", "optimize", "ask", "write", "upkeep")
STOPS = (10_000, 100_000, 1_000_000, 10_000_000)

Found = dict[str, Any]


def main(given: list[str]) -> int:
    """Measure what is missing, print Markdown."""
    options = _parser().parse_args(given)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.plot is not None:
        options.plot.write_text(growth(_measured(options.out)), encoding="utf-8")
        return 0
    if options.engine == "postgres" and not options.address:
        with server() as (options.address, options.postmaster):
            return _measure(options, given)
    return _measure(options, given)


def _measure(options: argparse.Namespace, given: list[str]) -> int:
    kept = options.out / f"growth-{options.engine}.json"
    found = _read(kept)
    # An address may hold a password, and a folder is of this machine alone.
    private = {options.address: "ADDRESS", str(options.folder): "FOLDER", str(options.out): "OUT"}
    shown = [f"{name}{equals}{private.get(value, value)}" for name, equals, value in map(_parted, given)]
    found["command"] = ["python", "-m", "bench", "scale", *shown]
    if options.as_it_is:
        grown = _worked("count", 0, options)
        options.size = grown.pop("size")
        found.setdefault("sizes", {}).setdefault(str(options.size), {}).setdefault("grow", grown)
    stops = [options.size] if options.as_it_is else _stops(options.size)
    complete = all(_at(stop, found, options, kept) for stop in stops)
    print(report(found))
    if not complete:
        log("not complete: the same command goes on")
    return 0 if complete else 3


def _at(size: int, found: Found, options: argparse.Namespace, kept: Path) -> bool:
    """Every step at one size; whether all are done."""
    done = found.setdefault("sizes", {}).setdefault(str(size), {})
    if any(int(other) > size and "grow" in at for other, at in found["sizes"].items()):
        return True  # the store has outgrown this size
    for step in STEPS:
        again = step in options.again and step != "grow" and size == options.size
        if step in done and done[step].get("complete", True) and not again:
            continue
        log(f"{options.engine}, {size:,}: {step}")
        before = os.getloadavg()[0]
        answer = _worked(step, size, options)
        answer["load"] = [round(before, 2), round(os.getloadavg()[0], 2)]
        done[step] = answer
        draft = kept.with_suffix(".new")
        draft.write_text(json.dumps(found, indent=1))
        draft.replace(kept)
        if not answer.get("complete", True):
            return False
    return True


def _worked(step: str, size: int, options: argparse.Namespace) -> Found:
    order = {
        "step": step,
        "size": size,
        "engine": options.engine,
        "folder": str(options.folder),
        "address": options.address,
        "limit": options.limit,
        "queries": options.queries,
        "postmaster": options.postmaster,
    }
    options.folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale_worker", json.dumps(order)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=True,
    )
    answer: Found = json.loads(done.stdout)
    return answer


def _parted(word: str) -> tuple[str, str, str]:
    """An option with its value, or a word alone as a value."""
    return word.partition("=") if word.startswith("--") and "=" in word else ("", "", word)


def _steps(given: str) -> tuple[str, ...]:
    return tuple(given.split(","))


def _stops(size: int) -> list[int]:
    return [*(stop for stop in STOPS if stop < size), size]


def _measured(out: Path) -> dict[str, Found]:
    return {engine: _read(path) for engine in ENGINES if (path := out / f"growth-{engine}.json").exists()}


def _read(path: Path) -> Found:
    found: Found = json.loads(path.read_text()) if path.exists() else {}
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench scale", description="How one store grows.")
    parser.add_argument("--engine", choices=ENGINES, default="embedded")
    parser.add_argument("--size", type=int, default=100_000, help="memories in the end; a hundredth as many scopes")
    parser.add_argument("--folder", type=Path, help="where the store is; it is left there, so that it can grow on")
    parser.add_argument("--address", default="", help="of a PostgreSQL store; without it, a server for this run")
    parser.add_argument("--postmaster", type=int, default=0, help="process of that server, if it is on this machine")
    parser.add_argument("--queries", type=int, default=100, help="for each scope that is asked")
    parser.add_argument("--limit", type=float, default=1_800.0, help="seconds of keeping before it is put off")
    parser.add_argument("--as-it-is", action="store_true", help="keep nothing more: measure what is there by now")
    parser.add_argument(
        "--again", type=_steps, default=(), help="measure these steps once more: optimize,ask,write,upkeep"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the results")
    parser.add_argument("--plot", type=Path, help="measure nothing: draw what was measured into this SVG file")
    parser.set_defaults(folder=Path(tempfile.gettempdir()) / "memoranda-scale")
    return parser
