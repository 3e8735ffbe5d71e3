"""Capture: how long it takes beside plain remembering and a bare scan, and what it keeps of ordinary dialogues.

The history has 50 messages, half of them the assistant's, and no embedder works. *New* is a history that was never
seen; *one more turn* is what a host does all day: the whole history again with one turn more.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.paths import ROOT, log
from bench.stats import summary
from bench.tables import table, times
from memoranda.domain.candidate import CaptureMode
from memoranda.evaluation.capturing import Dialogue, Kept, chats, counted, dialogues, write_sample
from memoranda.evaluation.packs import is_pack, read_pack

MESSAGES = 50
WARM_UP = 5
MODES: tuple[CaptureMode, ...] = ("explicit", "strict", "broad")
LOAD_SET = "topical_chat"
PACKS = ("locomo", "realtalk", "beam_100K", "beam_500K", "longmemeval_s_lite", "prefeval", "madial_en", "madial_zh")
SEED = 20261117
TOLD = "I prefer window seats on long flights to city {number}."
# The triggers of the first design document in one expression: the least that a capture by rules could do.
BARE = re.compile(
    r"remember|zapami\u0119taj|zapisz|save|i prefer|preferuj\u0119|wol\u0119|i like|lubi\u0119|podoba mi si\u0119"
    r"|i don't like|nie lubi\u0119|always|zawsze|never|nigdy|my name is|nazywam si\u0119|i live in|mieszkam w"
    r"|my (\w+) is|i decided|zdecydowa\u0142em|we agreed|ustalili\u015bmy|let's use|u\u017cyjmy"
    r"|[\w.+-]+@[\w-]+\.\w+|\+?\d{9,}",
    re.IGNORECASE,
)
_COLD = """
import json, sys, time
history = json.loads(sys.argv[2])
clock = time.process_time_ns if sys.argv[4] == "cpu" else time.perf_counter_ns
started = clock()
import memoranda
imported = clock()
settings = memoranda.Settings(embedder="none", follow=False)
with memoranda.open(sys.argv[1], scope="bench", settings=settings) as memory:
    opened = clock()
    memory.capture(history, conversation=sys.argv[3])
    done = clock()
print(json.dumps([imported - started, opened - imported, done - opened]))
"""


def measure(turns: Path, data: Path, runs: int, sample: Path) -> dict[str, Any]:
    """Times, and counts where the data sets are."""
    histories = _histories(turns)
    with tempfile.TemporaryDirectory() as folder:
        found = {"times": _warm(Path(folder), histories, runs), "cold": _cold(Path(folder), histories, runs)}
    return {**found, **_counts(turns, data, sample)}


# -- times --


def _histories(turns: Path) -> Iterator[list[dict[str, str]]]:
    """Histories of ordinary talk without end, each different, with one thing in it that is worth keeping."""
    texts = _texts(turns)
    number = 0
    while True:
        start = number * MESSAGES
        said = [texts[(start + place) % len(texts)] for place in range(MESSAGES)]
        said[MESSAGES - 2] = TOLD.format(number=number)
        yield [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]
        number += 1


def _texts(turns: Path) -> list[str]:
    if not turns.exists():
        return [f"The bus to stop {number} was late again, and what did you do all day?" for number in range(5_000)]
    with turns.open(encoding="utf-8") as lines:
        return [turn[1].strip() for line in lines for turn in json.loads(line)["turns"] if turn[1].strip()]


def _warm(folder: Path, histories: Iterator[list[dict[str, str]]], runs: int) -> dict[str, Any]:
    import memoranda

    settings = memoranda.Settings(embedder="none", follow=False)
    walls: dict[str, list[int]] = {}
    cpus: dict[str, list[int]] = {}

    def timed(name: str, call: Callable[[], Any]) -> None:
        started, worked = time.perf_counter_ns(), time.process_time_ns()
        call()
        cpus.setdefault(name, []).append(time.process_time_ns() - worked)
        walls.setdefault(name, []).append(time.perf_counter_ns() - started)

    with memoranda.open(folder / "warm.db", scope="bench", settings=settings) as memory:
        for run in range(runs + WARM_UP):
            history = next(histories)
            mine = [each["content"] for each in history if each["role"] == "user"]
            more = [*history, {"role": "user", "content": f"And what is new in town {run}?"}]
            there = memory.within(f"bench/{run}")
            beside, apart = memory.within(f"bench/many-{run}"), memory.within(f"bench/each-{run}")
            timed("capture, new history", lambda: there.capture(history, conversation="c"))  # noqa: B023
            timed("capture, one more turn", lambda: there.capture(more, conversation="c"))  # noqa: B023
            timed("capture, nothing new", lambda: there.capture(more, conversation="c"))  # noqa: B023
            timed("remember_many, the user's messages", lambda: beside.remember_many(mine))  # noqa: B023
            timed("remember, each of them", lambda: [apart.remember(text) for text in mine])  # noqa: B023
            timed("bare regex scan", lambda: [BARE.search(each["content"]) for each in history])  # noqa: B023
    return {
        name: {**summary(walls[name][WARM_UP:]), "cpu_ms": summary(cpus[name][WARM_UP:])["p50_ms"]} for name in walls
    }


def _cold(folder: Path, histories: Iterator[list[dict[str, str]]], runs: int) -> dict[str, Any]:
    """In a process of its own each time, with a store that exists; wall time and CPU time in turn."""
    steps = ("import", "open", "first capture, new history")
    found: dict[str, dict[str, list[int]]] = {kind: {step: [] for step in steps} for kind in ("wall", "cpu")}
    for run in range(min(runs, 15) + 1):
        for kind, values in found.items():
            argv = [str(folder / "cold.db"), json.dumps(next(histories)), f"{kind} {run}", kind]
            done = subprocess.run(
                [sys.executable, "-c", _COLD, *argv], capture_output=True, text=True, check=True, cwd=ROOT
            )
            if run:  # the first one creates the store
                for step, nanoseconds in zip(steps, json.loads(done.stdout), strict=True):
                    values[step].append(nanoseconds)
    return {step: {**summary(found["wall"][step]), "cpu_ms": summary(found["cpu"][step])["p50_ms"]} for step in steps}


# -- counts --


def _counts(turns: Path, data: Path, sample: Path) -> dict[str, Any]:
    import memoranda

    sets = [name for name in (*PACKS, LOAD_SET) if is_pack(data / name) or (name == LOAD_SET and turns.exists())]
    settings = memoranda.Settings(embedder="none", follow=False)
    rows: list[dict[str, Any]] = []
    strict: list[Kept] = []
    for mode in MODES:
        for name in sets:
            log(f"capture: {name}, {mode}")
            with (
                tempfile.TemporaryDirectory() as folder,
                memoranda.open(Path(folder) / "counts.db", scope="bench", settings=settings) as memory,
            ):
                found, kept = counted(memory, name, _talks(name, turns, data), mode=mode)
            rows.append({**found._asdict(), "share": found.share})
            strict += kept if mode == "strict" else []
    if strict:
        sample.parent.mkdir(parents=True, exist_ok=True)
        log(f"written: {sample}, {write_sample(sample, strict, size=200, seed=SEED)} to be labelled")
    return {"counts": rows}


def _talks(name: str, turns: Path, data: Path) -> Iterator[Dialogue]:
    return chats(turns) if name == LOAD_SET else dialogues(read_pack(data / name))


def report(result: dict[str, Any]) -> str:
    scan = result["times"]["bare regex scan"]["cpu_ms"]
    rows: list[list[Any]] = [
        [name, one["p50_ms"], one["p95_ms"], one["cpu_ms"], times(one["cpu_ms"], scan), one["n"]]
        for name, one in _all(result)
    ]
    tables = [
        table(
            f"Capture of {MESSAGES} messages, no embedder",
            ["what", "p50 ms", "p95 ms", "CPU ms p50", "CPU / bare scan", "n"],
            rows,
        )
    ]
    if result["counts"]:
        head = ["set", "mode", "user turns", "kept", "kept of 1,000 turns"]
        listed = [
            [row["set"], row["mode"], row["turns"], row["kept"], 1_000 * row["share"]] for row in result["counts"]
        ]
        tables.append(table("What capture keeps of ordinary dialogues", head, listed))
    return "\n".join(tables)


def _all(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    yield from result["times"].items()
    for name, one in result["cold"].items():
        yield f"cold process: {name}", one
