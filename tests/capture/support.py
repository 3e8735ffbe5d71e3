"""What the proofs of capture share: where the data sets are, attack strings, and hosts that hand over a history."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import faces
import memoranda
from memoranda.domain.memory import STATES

DATA = Path(os.environ.get("MEMORANDA_DATA") or Path(__file__).parents[3] / "shared" / "data")
ATTACKS = DATA / "attacks" / "cases.json"
needs_attacks = pytest.mark.skipif(
    not ATTACKS.exists(), reason=f"the attack cases are not at {ATTACKS}; set MEMORANDA_DATA to the folder of data sets"
)
# Not given to capture: what is sent over a wire has no words of anybody's in it.
_NO_TEXT = ("$http",)
_LONGEST = 100_000


def expanded(value):
    """Every text of a case's input, its generators run. Names of fields and calls are no texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from expanded(each)
    elif isinstance(value, dict):
        yield from _generated(value)


def _generated(value):
    if any(name in value for name in _NO_TEXT):
        return
    if "$join" in value:
        yield "".join("".join(expanded(part)) for part in value["$join"])
    elif "$repeat" in value:
        text, times = value["$repeat"]
        for each in expanded(text):
            yield each * max(1, min(times, _LONGEST // max(1, len(each))))
    elif "$range" in value:
        form, number, between = value["$range"]
        yield between.join(form.replace("{i}", str(each)) for each in range(number))[:_LONGEST]
    else:
        for each in value.values():
            yield from expanded(each)


def attacks():
    """(id, class, expectations, text) of every text in the attack cases."""
    cases = json.loads(ATTACKS.read_text(encoding="utf-8"))["cases"]
    return [
        (case["id"], case["class"], tuple(case["expect"]), text)
        for case in cases
        for text in dict.fromkeys(expanded(case["input"]))
        if text.strip()
    ]


def everything(memory):
    """Each memory of this scope, whatever its state, newest first."""
    found, offset = [], 0
    while True:
        page = memory.list(states=STATES, limit=200, offset=offset)
        found += page
        offset += len(page)
        if not page or len(page) < 200:
            return found


def live(memory):
    """What may speak now."""
    return [each for each in everything(memory) if each.state == "live" and each.trust != "quarantined"]


def texts(memories):
    return sorted(each.text for each in memories)


def in_another_process(path, scope, code, *, wait=True, **given):
    """Run a few lines with `memory` open and `given` as `told`; what it prints, read as JSON lines."""
    script = (
        "import json, sys, memoranda\n"
        "from memoranda import Settings, user, assistant\n"
        "told = json.loads(sys.argv[3])\n"
        "from memoranda.testing.fakes import FixedClock\n"
        "settings = Settings(embedder=told.pop('embedder', 'none'), follow=False, local_folder=sys.argv[4])\n"
        "clock = FixedClock(told.pop('now')) if 'now' in told else None\n"
        "with memoranda.open(sys.argv[1], scope=sys.argv[2], settings=settings, clock=clock) as memory:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(faces.place(path)), scope, json.dumps(given), faces.local_folder(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(memoranda.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"},
    )
    return lines_of(process) if wait else process


def lines_of(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, f"exit {process.returncode}\n{out[-2000:]}\n{err[-4000:]}"
    return [json.loads(line) for line in out.splitlines()]
