"""Moving house: export, import and undo of one scope, beside what plain SQLite needs for the same rows."""

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memoranda
from bench.paths import log
from bench.tables import table, times
from memoranda import Draft, LongTermMemory, Settings

SCOPE = "home/anna"
_CHUNK = 2_500
_BATCH = 500
_TABLES = ("memory", "event", "revision")


def measure(size: int) -> dict[str, Any]:
    """Seconds of each step on a store of this many memories, and whether the contents stayed the same."""
    with tempfile.TemporaryDirectory(prefix="memoranda-moving-") as name:
        folder = Path(name)
        with _opened(folder / "old.db") as old:
            log(f"moving: {size:,} memories are written")
            _fill(old, size)
            found = _moved(old, folder)
        found["bare"] = _bare(folder / "old.db", folder)
    return {"size": size, **found}


def _moved(old: LongTermMemory, folder: Path) -> dict[str, Any]:
    seconds: dict[str, float] = {}

    def timed(step: str, job: Callable[[], Any]) -> Any:
        log(f"moving: {step}")
        began = time.perf_counter()
        done = job()
        seconds[step] = time.perf_counter() - began
        return done

    timed("export, redacted", lambda: old.export(folder / "redacted.jsonl"))
    whole = timed("export, whole", lambda: old.export(folder / "whole.jsonl", redact=False))
    with _opened(folder / "new.db") as new:
        timed("preview", lambda: new.import_memories(folder / "whole.jsonl", trust="kept", mode="preview"))
        taken = timed("import", lambda: new.import_memories(folder / "whole.jsonl", trust="kept"))
        same = old.contents().digest == new.contents().digest == whole.digest
        timed("import again", lambda: new.import_memories(folder / "whole.jsonl", trust="kept"))
        timed("undo", new.undo)
        empty = new.contents().memories == 0
    return {
        "seconds": seconds,
        "bytes": whole.receipt.bytes,
        "taken": taken.taken,
        "equal_contents": same,
        "empty_after_undo": empty,
    }


def _bare(store: Path, folder: Path) -> dict[str, float]:
    """The rows as JSON lines, and the rows into a new file in commits of as many, with an fsync each."""
    source = sqlite3.connect(store)
    began = time.perf_counter()
    with (folder / "bare.jsonl").open("w", encoding="utf-8") as file:
        for row in source.execute("select * from memory order by scope, id"):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    exported = time.perf_counter() - began
    target = sqlite3.connect(folder / "bare.db")
    target.executescript("pragma journal_mode = wal; pragma synchronous = full;")
    for (statement,) in source.execute(
        "select sql from sqlite_schema where sql is not null and tbl_name in (?, ?, ?) order by type desc", _TABLES
    ):
        target.execute(statement)
    began = time.perf_counter()
    for name in _TABLES:
        rows = source.execute(f"select * from {name}")
        while batch := rows.fetchmany(_BATCH):
            marks = ", ".join("?" * len(batch[0]))
            with target:
                target.executemany(f"insert into {name} values ({marks})", batch)
    copied = time.perf_counter() - began
    target.close()
    source.close()
    return {"export": exported, "import": copied}


def _fill(memory: LongTermMemory, size: int) -> None:
    for start in range(0, size, _CHUNK):
        memory.remember_many(
            [
                Draft(
                    f"Box {each} holds the papers of year {1900 + each % 120}, shelf {each * 7 % 997}, and a folder.",
                    kind="note",
                    about=f"box.{each % 500}",
                    tags=("archive", f"shelf-{each % 40}"),
                    importance=(each % 10) / 10,
                    metadata={"each": each},
                )
                for each in range(start, min(start + _CHUNK, size))
            ]
        )


def _opened(path: Path) -> LongTermMemory:
    settings = Settings(embedder="none", follow=False)
    return memoranda.open(path, scope=SCOPE, settings=settings)


def report(result: dict[str, Any]) -> str:
    size, bare = result["size"], result["bare"]
    base = {"export, redacted": bare["export"], "export, whole": bare["export"], "import": bare["import"]}
    rows: list[list[Any]] = [
        [step, seconds, int(size / seconds), times(seconds, base.get(step))]
        for step, seconds in result["seconds"].items()
    ]
    rows += [[f"bare SQLite: {step}", seconds, int(size / seconds), None] for step, seconds in bare.items()]
    told = "equal" if result["equal_contents"] else "DIFFERENT"
    title = f"Moving house, {size:,} memories, {result['bytes'] / 1e6:.0f} MB; contents {told}"
    return table(title, ["step", "seconds", "memories per second", "beside bare SQLite"], rows)
