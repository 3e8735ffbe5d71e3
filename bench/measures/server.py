"""A served memory beside the embedded one: requests a second and times, the same texts, in turn.

The load comes from processes of its own, on the same machine: with few cores it takes its share of them, so that the
figures are a lower bound. Both stores are copies of one; the embedded memory is in a process of its own as well.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import memoranda
from bench.paths import ROOT, log
from bench.stats import at
from bench.tables import table, times

SCOPE = "bench"
LEVELS = (1, 8, 64)
"""Requests at the same time."""
EMBEDDED = (1, 8)
"""With how many threads the embedded memory is asked."""
PROCESSES = 2
VERBS = ("recall", "remember")
_WARM_SECONDS = 1.0
_WORKER = ROOT / "bench" / "workers" / "load.py"


class Loader:
    """A worker that puts load on one memory when it is told to."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_WORKER), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
        )
        self._line()

    def begin(self, **asked: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        return self._line()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a worker that puts on load has ended")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def measure(turns: Path, *, size: int, seconds: float, rounds: int, embedder: str) -> dict[str, Any]:
    """Both in turn, `rounds` times, each level for so many seconds."""
    texts = _texts(turns)
    runs: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        path = Path(name) / "store.db"
        log(f"server: {size:,} memories")
        _fill(path, texts[:size], embedder)
        copy = Path(name) / "served.db"
        _copy(path, copy)
        server = stack.enter_context(_served(copy, embedder))
        alone = Loader("embedded", str(path), embedder)
        stack.callback(alone.close)
        load = [Loader("http", str(server.port), server.token) for _ in range(PROCESSES)]
        for each in load:
            stack.callback(each.close)
        fresh = _Fresh(texts, size)
        for number in range(-1, rounds):  # the first only warms up
            length = seconds if number >= 0 else _WARM_SECONDS
            for verb in VERBS:
                for level in LEVELS:
                    if level in EMBEDDED:
                        ran = _ran([alone], [level], verb, length, fresh)
                        _note(runs, f"embedded {verb} {level}", number, ran)
                    used = load[: min(level, PROCESSES)]
                    before = server.cpu()
                    ran = _ran(used, [level // len(used)] * len(used), verb, length, fresh)
                    _note(runs, f"served {verb} {level}", number, {**ran, "cpu": server.cpu() - before})
            log(f"server: round {number + 1} of {rounds}")
        wrk = _wrk(server, seconds, Path(name)) if shutil.which("wrk") else []
    results = {key: _summed(found) for key, found in runs.items()}
    return {"size": size, "embedder": embedder, "cores": os.cpu_count(), "results": results, "wrk": wrk}


def report(found: dict[str, Any]) -> str:
    rows: list[list[Any]] = []
    for verb in VERBS:
        for level in LEVELS:
            served = found["results"][f"served {verb} {level}"]
            embedded = found["results"].get(f"embedded {verb} {level}", {})
            rows.append(
                [
                    verb, level, served["rate"], served["p50_ms"], served["p95_ms"], served["p99_ms"],
                    served["cpu_ms"], served["errors"],
                    embedded.get("rate"), embedded.get("p50_ms"), embedded.get("p95_ms"), embedded.get("cpu_ms"),
                    times(served["rate"], embedded.get("rate")), times(served["p50_ms"], embedded.get("p50_ms")),
                    times(served["cpu_ms"], embedded.get("cpu_ms")),
                ]
            )  # fmt: skip
    head = [
        "verb", "at once", "served /s", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "errors",
        "embedded /s", "p50 ms", "p95 ms", "CPU ms", "served / embedded: rate", "p50", "CPU",
    ]  # fmt: skip
    title = f"Served: {found['size']:,} memories, embedder {found['embedder']}, {found['cores']} cores for all"
    told = table(title, head, rows)
    if found["wrk"]:
        lines = [[each["level"], each["rate"], each["p50"], each["p99"], each["errors"]] for each in found["wrk"]]
        told += "\n" + table("The same recall by wrk", ["at once", "/s", "p50", "p99", "not 2xx"], lines)
    return told


class _Fresh:
    """Texts: questions for recall, and such as nobody has kept yet."""

    def __init__(self, texts: list[str], size: int) -> None:
        self._texts = texts
        self._questions = [text for text in texts[size:] if text.endswith("?")][:300] or texts[:300]
        self._run = 0

    def of(self, verb: str) -> list[str]:
        if verb == "recall":
            return self._questions
        self._run += 1
        return [f"{text} ({self._run}, {number})" for number, text in enumerate(self._texts[:8_000])]


def _ran(used: list[Loader], threads: list[int], verb: str, seconds: float, fresh: _Fresh) -> dict[str, Any]:
    """One run, of all loaders at once."""
    for loader, count in zip(used, threads, strict=True):
        loader.begin(verb=verb, threads=count, seconds=seconds, texts=fresh.of(verb))
    ended = [loader.end() for loader in used]
    return {
        "ns": [each for one in ended for each in one["ns"]],
        "errors": sum(one["errors"] for one in ended),
        "seconds": max(one["seconds"] for one in ended),
        "cpu": sum(one["cpu"] for one in ended),
    }


def _note(runs: dict[str, list[dict[str, Any]]], key: str, number: int, ran: dict[str, Any]) -> None:
    if number >= 0:
        runs.setdefault(key, []).append(ran)


def _summed(found: list[dict[str, Any]]) -> dict[str, float]:
    """Of all rounds: the rate in all, and the times of every request."""
    every = [each for one in found for each in one["ns"]]
    return {
        "rate": len(every) / sum(one["seconds"] for one in found),
        "p50_ms": at(every, 0.5) / 1e6,
        "p95_ms": at(every, 0.95) / 1e6,
        "p99_ms": at(every, 0.99) / 1e6,
        "cpu_ms": sum(one["cpu"] for one in found) * 1_000 / max(1, len(every)),
        "n": len(every),
        "errors": sum(one["errors"] for one in found),
    }


def _texts(turns: Path) -> list[str]:
    if not turns.exists():
        return [f"Anna moved lamp number {number} next to the old boiler, did she?" for number in range(20_000)]
    with turns.open(encoding="utf-8") as lines:
        said = (turn[1].strip() for line in lines for turn in json.loads(line)["turns"])
        return list(dict.fromkeys(text for text in said if text))


def _fill(path: Path, texts: list[str], embedder: str) -> None:
    with memoranda.open(path, scope=SCOPE, settings=memoranda.Settings(embedder=embedder)) as memory:
        for start in range(0, len(texts), 500):
            memory.remember_many(texts[start : start + 500])
        memory.admin.optimize()
        memory.recall("what is there?")


def _copy(path: Path, copy: Path) -> None:
    """A store that is closed, with all that stands beside it."""
    for each in path.parent.glob(path.name + "*"):
        beside = copy.with_name(each.name.replace(path.name, copy.name, 1))
        if each.is_dir():
            shutil.copytree(each, beside)
        else:
            shutil.copy2(each, beside)


def _environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", **more}


class Server:
    """`memoranda serve` in a process of its own, without a limit of requests."""

    def __init__(self, path: Path, embedder: str) -> None:
        command = [sys.executable, "-m", "memoranda", "--embedder", embedder, "serve", "--json", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--store", str(path)],
            env=_environment(MEMORANDA_SERVER_RATE="0"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        told = json.loads(self._process.stdout.readline())
        self.port, self.token = urlsplit(told["url"]).port or 0, str(told["token"])

    def cpu(self) -> float:
        """Seconds of processor time so far; 0 where nobody tells."""
        try:
            told = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return 0.0
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


@contextmanager
def _served(path: Path, embedder: str) -> Iterator[Server]:
    server = Server(path, embedder)
    try:
        yield server
    finally:
        server.close()


def _wrk(server: Server, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """Recall once more, asked by a program that costs next to nothing."""
    script = folder / "recall.lua"
    script.write_text(
        'wrk.method = "POST"\n'
        f'wrk.headers["Authorization"] = "Bearer {server.token}"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        'wrk.body = \'{"query": "what do you think of the weather in the city?", "limit": 5}\'\n'
    )
    found = []
    for level in LEVELS:
        told = subprocess.run(
            [
                "wrk", "-t1", f"-c{level}", f"-d{max(2, round(seconds))}s", "--latency", "--timeout", "30s",
                "-s", str(script), f"http://127.0.0.1:{server.port}/v1/recall?scope={SCOPE}",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout  # fmt: skip
        lines = {line.split()[0]: line.split()[-1] for line in told.splitlines() if line.split()}
        found.append(
            {
                "level": level,
                "rate": float(lines["Requests/sec:"]),
                "p50": lines["50%"],
                "p99": lines["99%"],
                "errors": int(lines.get("Non-2xx", "0")),
            }
        )
    return found
