"""Commands that measure: eval (a golden set of your own) and bench (public sets)."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memoranda
from memoranda import config
from memoranda.cli.output import Output, progress
from memoranda.domain.clock import Clock
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import checked_share
from memoranda.domain.request import MAX_LIMIT, POLICIES

if TYPE_CHECKING:
    from memoranda.evaluation.stores import Door

WORSE = 7
"""The exit code when a measurement is worse than it must be."""
_WORST = 10
"""Numbers that are told one by one; the JSON has all."""


def _add_eval(command: argparse.ArgumentParser) -> None:
    command.add_argument("golden", metavar="GOLDEN", nargs="+", type=Path, help="a golden set, as JSON lines")
    command.add_argument("--policy", choices=POLICIES, default="balanced")
    command.add_argument("--k", type=int, default=5, help=f"how many hits count, 1 to {MAX_LIMIT} (default 5)")
    command.add_argument("--save", metavar="FILE", type=Path, help="keep the figures, as a baseline for later")
    command.add_argument("--baseline", metavar="FILE", type=Path, help="fail when worse than these figures")
    command.add_argument("--tolerance", metavar="0..1", type=float, default=0.01, help="how much worse is still well")
    command.set_defaults(run=_eval)


def _add_bench(command: argparse.ArgumentParser) -> None:
    command.add_argument("sets", metavar="SET", nargs="+", help="folders of --data, or suites; `all` for everything")
    command.add_argument("--data", metavar="FOLDER", type=Path, required=True, help="the folder that holds the packs")
    command.add_argument("--pooled", action="store_true", help="all groups of a set in one scope")
    command.add_argument("--limit-queries", metavar="N", type=int, help="a sample of so many questions of each set")
    command.add_argument("--part", metavar="N", type=int, help="split documents longer than so many characters")
    command.add_argument("--keep", metavar="FOLDER", type=Path, help="keep the stores here and use them again")
    command.add_argument("--out", metavar="FOLDER", type=Path, help="write results.json, report.md and plots here")
    command.set_defaults(run=_bench)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "eval": ("measure recall with a golden set of your own", _add_eval),
    "bench": ("measure recall on public sets", _add_bench),
}


def _eval(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.evaluation import golden, trial, verdict

    _check_whole(arguments.k, "--k", most=MAX_LIMIT)
    checked_share(arguments.tolerance, name="--tolerance")
    settings = _settings(arguments)
    # Everything is read before anything is asked: a mistake costs nothing.
    baseline = verdict.read_baseline(arguments.baseline) if arguments.baseline else None
    sets = [golden.read_golden(path, scope=settings.scope) for path in arguments.golden]
    store = None if all(each.memories for each in sets) else _existing(settings)
    how = trial.Trial(_door(settings), arguments.policy, arguments.k, settings.embedder != "none", store)
    asked = []
    for each in sets:
        with progress(each.path.name) as tell:
            asked += trial.run(each, how, tell)
    found = verdict.verdict(asked, k=arguments.k, policy=arguments.policy)
    worse = verdict.worse_than(baseline, found, tolerance=arguments.tolerance) if baseline else []
    if arguments.save:
        _write(arguments.save, _as_json(found))
    if output.as_json:
        output.line(_as_json({**found, "worse": [number._asdict() for number in worse]}))
    else:
        output.line(verdict.markdown(found))
    if baseline and baseline.get("questions") != found["questions"]:
        output.note("the golden set has other questions than when the baseline was saved")
    for number in worse[:_WORST]:
        output.note(f"worse than the baseline: {number}")
    if len(worse) > _WORST:
        output.note(f"worse than the baseline: {len(worse) - _WORST} more, all of them with --json")
    failed = bool(worse or found["wrong_scope"]["hits"])
    if baseline and not failed:
        output.note(f"nothing is worse than the baseline by more than {arguments.tolerance:g}")
    for reason, count in found["degraded"].items():
        output.note(f"{reason} ({count} answers)")
    return WORSE if failed else 0


def _bench(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.evaluation import runner, suites
    from memoranda.evaluation.stores import Plan

    for name in ("limit_queries", "part"):
        _check_whole(getattr(arguments, name), "--" + name.replace("_", "-"))
    settings = _settings(arguments)
    order = runner.Order(suites.choose(arguments.sets, arguments.data), arguments.pooled, arguments.limit_queries)
    longest = min(arguments.part or settings.max_text, settings.max_text)
    how = {
        "memoranda": memoranda.__version__,
        "embedder": settings.embedder,
        "scopes": "pooled" if arguments.pooled else "one for each group",
    }
    out = runner.prepared(arguments.out) if arguments.out else None
    found = runner.run(order, Plan(_door(settings), longest, arguments.keep, progress), how)
    output.line(_as_json(found.as_json()) if output.as_json else found.markdown())
    if out:
        written = runner.publish(found, out)
        output.note("written: " + ", ".join(str(path) for path in written))


def _settings(arguments: argparse.Namespace) -> config.Settings:
    return config.load(
        {
            "store": arguments.store or None,
            "scope": arguments.scope,
            "embedder": arguments.embedder,
            # Vectors are made before anything is asked, and nothing else runs beside.
            "follow": False,
            "limit_threads": False,
            # What others put into their sets is measured as it is.
            "secrets": "allow",
            "injection": "allow",
        }
    )


def _door(settings: config.Settings) -> "Door":
    def opened(path: Path, *, scope: str, clock: Clock | None = None) -> memoranda.LongTermMemory:
        return memoranda.open(path, scope=scope, settings=settings, clock=clock)

    return opened


def _existing(settings: config.Settings) -> Path:
    path = settings.store_path()
    if not path.exists():
        raise NotFound(f"there is no store at {path}", hint="Add memory lines to the golden set, or check --store.")
    return path


def _check_whole(number: int | None, name: str, *, most: int | None = None) -> None:
    if number is None:
        return
    if number < 1:
        raise InvalidInput(f"{name}: {number} is too small", hint="Give a whole number from 1.")
    if most is not None and number > most:
        raise InvalidInput(f"{name}: {number} is too large", hint=f"Give a whole number from 1 to {most}.")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error}", hint="Give another file.") from error


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
