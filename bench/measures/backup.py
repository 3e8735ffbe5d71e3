"""Backing up, checking, restoring and encrypting a store, beside a plain copy of its file.

A copy says nothing of whether it can be used, and is not of one moment while others write; it is here to tell how
much of the time is the disk's. Keeping something is timed with a key and without: what encryption costs a single write.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memoranda
from bench.paths import log
from bench.stats import summary
from bench.tables import table
from memoranda.service.backing_up import back_up, opened_store, verify_backup
from memoranda.service.keys import key_from_file, make_key_file
from memoranda.service.resealing import reseal
from memoranda.service.restoring import restore

SCOPE = "bench"
AT_ONCE = 1_000
WRITES = 200
PASSPHRASE = "correct horse battery staple"

Line = dict[str, Any]


def measure(size: int) -> dict[str, Any]:
    """All of it, on a store of so many memories."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, key_file = folder / "store.db", folder / "key"
        make_key_file(key_file)
        plain = memoranda.Settings(store=str(path), embedder="none", follow=False, backups_kept=0)
        sealed = plain._replace(key_file=str(key_file))
        log(f"backup: keeping {size:,}")
        _fill(plain, size)
        lines = _files(folder, path, plain)
        log("backup: encrypting")
        lines.append(_timed("encrypt", path, lambda: _reseal(path, plain, sealed)))
        with opened_store(sealed) as engine:
            lines.append(_timed("backup of the encrypted store", path, lambda: back_up(engine)))
        lines.append(_timed("decrypt", path, lambda: _reseal(path, sealed, plain)))
        return {"size": size, "bytes": path.stat().st_size, "lines": lines, "keeping": _keeping(folder, key_file)}


def _fill(settings: memoranda.Settings, size: int) -> None:
    with memoranda.open(scope=SCOPE, settings=settings) as memory:
        for start in range(0, size, AT_ONCE):
            last = min(size, start + AT_ONCE)
            memory.remember_many(
                [
                    f"On day {number} the bus to stop {number % 97} was late, and we walked."
                    for number in range(start, last)
                ]
            )


def _files(folder: Path, path: Path, settings: memoranda.Settings) -> list[Line]:
    log("backup: copying, backing up, restoring")
    lines = [_timed("copy of the file, made safe", path, lambda: _copy(path, folder / "copy.db"))]
    with opened_store(settings) as engine:
        made: list[str] = []
        lines.append(_timed("backup", path, lambda: made.append(back_up(engine).path)))
        lines.append(
            _timed("backup with a passphrase", path, lambda: made.append(back_up(engine, passphrase=PASSPHRASE).path))
        )
    lines.append(_timed("verify", path, lambda: verify_backup(made[0], settings=settings)))
    lines.append(_timed("restore", path, lambda: restore(made[0], folder / "again.db", settings=settings)))
    return lines


def _copy(path: Path, target: Path) -> None:
    shutil.copyfile(path, target)
    descriptor = os.open(target, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _reseal(path: Path, before: memoranda.Settings, after: memoranda.Settings) -> None:
    keys = [key_from_file(Path(each.key_file)) if each.key_file else None for each in (before, after)]
    reseal(path, before=keys[0], after=keys[1], settings=before)


def _timed(what: str, path: Path, act: Callable[[], object]) -> Line:
    size = path.stat().st_size
    began, worked = time.perf_counter(), time.process_time()
    act()
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    return {"what": what, "seconds": seconds, "cpu_seconds": cpu, "mb_per_second": size / 1e6 / seconds}


def _keeping(folder: Path, key_file: Path) -> list[Line]:
    """One at a time, in turn, so that both meet the same disk."""
    log("backup: keeping one at a time")
    settings = memoranda.Settings(embedder="none", follow=False)
    taken: dict[str, list[int]] = {"without a key": [], "with a key": []}
    with (
        memoranda.open(folder / "a.db", scope=SCOPE, settings=settings) as plain,
        memoranda.open(folder / "b.db", scope=SCOPE, settings=settings._replace(key_file=str(key_file))) as sealed,
    ):
        for number in range(WRITES):
            for name, memory in zip(taken, (plain, sealed), strict=True):
                began = time.perf_counter_ns()
                memory.remember(f"On day {number} nothing happened that was worth a word.")
                taken[name].append(time.perf_counter_ns() - began)
    return [{"what": name, **summary(each)} for name, each in taken.items()]


def report(result: dict[str, Any]) -> str:
    head = ["what", "seconds", "CPU seconds", "MB/s of the store"]
    rows = [[line["what"], line["seconds"], line["cpu_seconds"], line["mb_per_second"]] for line in result["lines"]]
    title = f"Backup of {result['size']:,} memories, {result['bytes'] / 1e6:.1f} MB"
    keeping = [[line["what"], line["p50_ms"], line["p95_ms"]] for line in result["keeping"]]
    return table(title, head, rows) + "\n" + table("One durable remember", ["store", "p50 ms", "p95 ms"], keeping)
