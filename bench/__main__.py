"""python -m bench setup|durable|ingest|recall|size|cold|answer|capture|conversations|documents|server|scale|all"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench import corpus, venvs
from bench import scale as grown
from bench.measures import (
    answer,
    backup,
    capture,
    cold,
    conversations,
    conversations_report,
    documents,
    durable,
    embedding,
    moving,
    scale,
    scale_report,
    server,
)
from bench.paths import LOAD, OUT, PACKS, log
from bench.systems import NAMES

MANY_SCOPES = 100


def main() -> int:
    """Measure, write JSON, print Markdown."""
    if sys.argv[1:2] == ["scale"]:  # one store alone, with options of its own
        return grown.main(sys.argv[2:])
    options = _parser().parse_args()
    if options.what == "setup":
        return venvs.make(options.peers, options.python)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.what in _ALONE:
        _ALONE[options.what](options)
        return 0
    data = corpus.prepared(max(*options.sizes, options.writes), options.turns, options.known)
    queries: list[str] = json.loads((data / "queries.json").read_text())
    everything = options.what == "all"
    if everything or options.what == "durable":
        _publish(options.out, "durable", found := durable.measure(options.peers, data, options.writes, options.burst))
        print(durable.report(found))
    if everything or options.what in ("ingest", "recall", "size"):
        _scale(options, data, queries)
    if everything or options.what == "cold":
        _publish(options.out, "cold", found := cold.measure(data, options.cold_sizes, options.runs))
        print(cold.report(found))
    if everything or options.what == "answer":
        _publish(options.out, "answer", found := answer.measure(data, queries, options.answer_sizes))
        print(answer.report(found))
    if everything:
        for measure in _ALONE.values():
            measure(options)
    return 0


def _scale(options: argparse.Namespace, data: Path, queries: list[str]) -> None:
    limits = scale.Limits(options.limit, options.patience, options.queries)
    shown = [options.what] if options.what != "all" else ["ingest", "recall", "size"]
    for scopes in options.scopes:
        found = scale.measure(
            options.peers, data, queries, options.sizes, scopes, limits, ask=options.what in ("recall", "all")
        )
        _publish(options.out, f"scale-{scopes}", found)
        for part in shown:
            print(getattr(scale_report, part)(found))
    if "recall" in shown:
        _publish(options.out, "embedding", embedded := embedding.measure(queries))
        print(embedding.report(embedded))


def _capture(options: argparse.Namespace) -> None:
    sample = options.out / "captured.jsonl"
    found = capture.measure(options.turns, options.packs, options.captures, sample)
    _publish(options.out, "capture", found)
    print(capture.report(found))


def _conversations(options: argparse.Namespace) -> None:
    found = conversations.measure(options.turns, options.packs, options.sizes, options.queries)
    _publish(options.out, "conversations", found)
    print(conversations_report.report(found))


def _documents(options: argparse.Namespace) -> None:
    found = documents.measure(options.packs, options.files, options.peer_files, options.runs)
    _publish(options.out, "documents", found)
    print(documents.report(found))


def _server(options: argparse.Namespace) -> None:
    found = server.measure(
        options.turns,
        size=options.server_size,
        seconds=options.seconds,
        rounds=options.rounds,
        embedder=options.embedder,
    )
    _publish(options.out, "server", found)
    print(server.report(found))


def _moving(options: argparse.Namespace) -> None:
    _publish(options.out, "moving", found := moving.measure(options.moved))
    print(moving.report(found))


def _backup(options: argparse.Namespace) -> None:
    _publish(options.out, "backup", found := backup.measure(options.moved))
    print(backup.report(found))


_ALONE = {
    "capture": _capture,
    "conversations": _conversations,
    "documents": _documents,
    "server": _server,
    "moving": _moving,
    "backup": _backup,
}
"""What needs no vectors made beforehand."""


def _publish(out: Path, name: str, found: dict[str, Any]) -> None:
    path = out / f"{name}.json"
    path.write_text(json.dumps({"command": ["python", "-m", "bench", *sys.argv[1:]], **found}, indent=1))
    log(f"written: {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ours beside its peers, in one run.")
    parser.add_argument(
        "what", choices=("setup", "durable", "ingest", "recall", "size", "cold", "answer", *_ALONE, "all")
    )
    parser.add_argument("--sizes", type=_numbers, default=[1_000, 10_000, 100_000], help="how many memories")
    parser.add_argument("--scopes", type=_numbers, default=[1, MANY_SCOPES], help="spread over so many scopes")
    parser.add_argument("--peers", type=_names, default=list(NAMES), help=f"which systems: {','.join(NAMES)}")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the results")
    parser.add_argument("--turns", type=Path, default=LOAD, help="chat turns; sentences are made up when missing")
    parser.add_argument("--packs", type=Path, default=PACKS, help="folder with public sets of dialogues, for capture")
    parser.add_argument("--captures", type=int, default=100, help="histories, for capture")
    parser.add_argument("--moved", type=int, default=50_000, help="memories, for moving and backup")
    parser.add_argument("--files", type=int, default=2_000, help="Markdown files, for documents")
    parser.add_argument("--peer-files", type=int, default=300, help="the same where peers take part")
    parser.add_argument("--known", type=Path, help="folder with vectors made before: texts.json and V.npy")
    parser.add_argument("--queries", type=int, default=200, help="queries per size and system")
    parser.add_argument("--writes", type=int, default=300, help="single writes per system, for durable")
    parser.add_argument("--burst", type=int, default=20, help="single writes in a row before the next system's turn")
    parser.add_argument("--runs", type=int, default=15, help="processes of each kind, for cold")
    parser.add_argument("--cold-sizes", type=_numbers, default=[1_000], help="how many memories, for cold")
    parser.add_argument("--answer-sizes", type=_numbers, default=[10_000], help="how many memories, for answer")
    parser.add_argument("--server-size", type=int, default=10_000, help="how many memories, for server")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each verb and level of a round, for server")
    parser.add_argument("--rounds", type=int, default=3, help="served and embedded in turn, for server")
    parser.add_argument("--embedder", default="none", help="for server: none, or auto for the bundled one")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds that a system may spend on ingest")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter of the peers' environments, for setup"
    )
    parser.add_argument("--patience", type=float, default=45.0, help="seconds for a system's queries at one size")
    return parser


def _numbers(given: str) -> list[int]:
    return [int(number) for number in given.split(",")]


def _names(given: str) -> list[str]:
    wanted = given.split(",")
    unknown = set(wanted) - set(NAMES)
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return wanted


if __name__ == "__main__":
    sys.exit(main())
