"""Documents: what it takes to keep a tree of Markdown searchable, beside reading all of it again, and beside peers.

The first table is one process, by words. *Plain re-scan* reads, hashes and cuts every file and keeps nothing: the least
that a tool does which does not know what has changed. The second is a fresh process each time, as a hook or a person
starts it; *work* is without what the same command takes on an empty folder. memsearch cannot do without an embedder: it
and we ask the same local endpoint there. basic-memory writes front matter into the files that it indexes.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.paths import OUT, log
from bench.stats import summary
from bench.tables import table, times

PACKS = ("poquad", "xquad_en", "xquad_de", "cmrc2018_trial")
SEED = 20261117
SCOPE = "bench"
RESCAN = "plain re-scan"
_RESTED_SECONDS = 3_600
_QUESTIONS = 50
_STEPS = ("first sync", "no-op sync", "one file changed", "one file renamed", "one file deleted")


class Command(NamedTuple):
    """A system that is started anew for each sync."""

    name: str
    prepare: list[str] | None
    sync: list[str]
    environment: dict[str, str]


def measure(packs: Path, files: int, peer_files: int, runs: int) -> dict[str, Any]:
    """Times of both tables."""
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as name:
        folder = Path(name)
        tree = folder / "tree"
        size = make_tree(tree, files, packs)
        log(f"documents: {files:,} files, {size:,} bytes")
        found = {"files": files, "bytes": size, "inside": _inside(folder, tree, runs)}
        small = folder / "small"
        make_tree(small, peer_files, packs)
        found["peer_files"] = peer_files
        found["outside"] = _outside(folder, small)
    return found


def make_tree(folder: Path, files: int, packs: Path) -> int:
    """Notes of several sections each, from public texts where they are, else made up; how many bytes."""
    rng = random.Random(SEED)
    texts = [
        json.loads(line)["text"]
        for name in PACKS
        if (packs / name / "corpus.jsonl").exists()
        for line in (packs / name / "corpus.jsonl").open(encoding="utf-8")
    ] or [" ".join(f"word{rng.randrange(5_000)}" for _ in range(120)) for _ in range(1_000)]
    size = 0
    for number in range(files):
        parts = [f"# Note {number}\n\nThis is token{number}."]
        parts += [f"## Part {part}\n\n{rng.choice(texts)}" for part in range(rng.randint(1, 4))]
        path = folder / f"{number % 40:02d}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        size += path.stat().st_size
        _rest(path)
    return size


def _rest(path: Path) -> None:
    """As if it had been written long ago: what is quite new is looked into twice."""
    then = time.time() - _RESTED_SECONDS
    os.utime(path, (then, then))


# -- one process --


def _inside(folder: Path, tree: Path, runs: int) -> dict[str, Any]:
    import memoranda

    walls: dict[str, list[float]] = {}
    reads: dict[str, int] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        began = time.perf_counter_ns()
        result = call()
        walls.setdefault(name, []).append(time.perf_counter_ns() - began)
        if hasattr(result, "read"):
            reads[name] = result.read
        return result

    settings = memoranda.Settings(embedder="none", follow=False, documents_sync="none")
    for run in range(max(1, runs // 5)):
        with memoranda.open(folder / f"first-{run}.db", scope=SCOPE, settings=settings) as memory:
            memory.documents.add(tree)
            timed("first sync", memory.documents.sync)
    with memoranda.open(folder / "inside.db", scope=SCOPE, settings=settings) as memory:
        documents = memory.documents
        documents.add(tree)
        documents.sync()
        for run in range(runs):
            timed(RESCAN, lambda: _rescan(tree))
            timed("no-op sync", documents.sync)
            change, rename, delete = _acts(tree, run)
            for name, act in (("one file changed", change), ("one file renamed", rename), ("one file deleted", delete)):
                act()
                timed(name, documents.sync)
            timed("search", lambda: documents.search(f"what is token{run * 31 + 7}?"))  # noqa: B023
        timed("rebuild beside what serves", documents.rebuild)
        walls["watcher: written to searchable"] = _watched(documents, tree)
    return {name: {**summary(values), "read": reads.get(name)} for name, values in walls.items()}


def _acts(tree: Path, run: int) -> tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]:
    notes = sorted(tree.rglob("*.md"))
    changed, renamed, deleted = (notes[(run * 7 + place) % len(notes)] for place in (1, 3, 5))

    def change() -> None:
        changed.write_text(changed.read_text(encoding="utf-8") + f"\nA line of run {run}.\n", encoding="utf-8")
        _rest(changed)

    return change, lambda: renamed.rename(renamed.with_name(f"moved-{run}-{renamed.name}")), deleted.unlink


def _rescan(tree: Path) -> int:
    """Read, hash and cut everything."""
    from memoranda.documents.chunk import chunks

    return sum(
        len(chunks(text)) + len(hashlib.sha256(text.encode()).digest())
        for path in sorted(tree.rglob("*.md"))
        for text in [path.read_text(encoding="utf-8")]
    )


def _watched(documents: Any, tree: Path) -> list[float]:
    """From the end of writing until a search finds it, with the usual debounce."""
    took = []
    with documents.watch() as watch:
        watch.ready.wait(60)
        for number in range(3):
            word = f"zebra{number}watched"
            (tree / f"{word}.md").write_text(f"# New\n\nThe {word} is here.\n", encoding="utf-8")
            began = time.perf_counter_ns()
            while not documents.search(word, limit=1) and time.perf_counter_ns() - began < 30e9:
                time.sleep(0.01)
            took.append(time.perf_counter_ns() - began)
    return took


# -- a process each time --


def _outside(folder: Path, tree: Path) -> dict[str, Any]:
    from memoranda.testing.servers import EmbeddingServer

    found: dict[str, Any] = {}
    with EmbeddingServer(dimensions=256) as server:
        for make in (_ours_by_words, _ours_with_endpoint, _basic_memory, _memsearch):
            with _working_folder(folder) as place:
                command = make(place, server.openai_url)
                if command is None:
                    continue
                log(f"documents: {command.name}")
                found[command.name] = _steps(command, place, tree)
    return found


@contextmanager
def _working_folder(folder: Path) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _steps(command: Command, place: Path, tree: Path) -> dict[str, float]:
    """Seconds of each step; the first is of an empty folder."""
    notes = place / "notes"
    notes.mkdir()
    if command.prepare is not None:
        _run(command.prepare, command.environment, place)
    empty = min(_run(command.sync, command.environment, place) for _ in range(2))
    shutil.copytree(tree, notes, dirs_exist_ok=True)
    took = {"empty folder": empty}
    acts: tuple[Callable[[], Any], ...] = (lambda: None, lambda: None, *_acts(notes, 0))
    for name, act in zip(_STEPS, acts, strict=True):
        act()
        took[name] = _run(command.sync, command.environment, place)
    return took


def _run(line: list[str], environment: dict[str, str], place: Path) -> float:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(line, env={**kept, **environment}, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{line[0]} failed: {done.stdout[-500:]} {done.stderr[-500:]}")
    return time.perf_counter() - began


def _ours_by_words(place: Path, url: str) -> Command:
    return _ours("ours, by words", place, {"MEMORANDA_EMBEDDER": "none"})


def _ours_with_endpoint(place: Path, url: str) -> Command:
    more = {"MEMORANDA_EMBEDDER": "openai:bench", "MEMORANDA_EMBEDDER_URL": url, "OPENAI_API_KEY": "none"}
    return _ours("ours, with an endpoint", place, more)


def _ours(name: str, place: Path, more: dict[str, str]) -> Command:
    program = str(Path(sys.executable).parent / "memoranda")
    environment = {"MEMORANDA_STORE": str(place / "store.db"), "MEMORANDA_SCOPE": SCOPE, **more}
    return Command(name, [program, "documents", "add", "notes"], [program, "documents", "sync"], environment)


def _basic_memory(place: Path, url: str) -> Command | None:
    program = OUT / "venv-basic-memory" / "bin" / "basic-memory"
    if not program.exists():
        return None
    environment = {
        "BASIC_MEMORY_CONFIG_DIR": str(place / "config"),
        "BASIC_MEMORY_HOME": str(place / "home"),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
    }
    prepare = [str(program), "project", "add", "bench", str(place / "notes")]
    return Command("basic-memory, by words", prepare, [str(program), "reindex", "-p", "bench"], environment)


def _memsearch(place: Path, url: str) -> Command | None:
    program = OUT / "venv-memsearch" / "bin" / "memsearch"
    if not program.exists():
        return None
    line = [str(program), "index", "notes", "--milvus-uri", "./memsearch.db", "--provider", "openai"]
    line += ["--model", "bench", "--api-key", "none", "--base-url", url]
    return Command("memsearch, with an endpoint", None, line, {"HOME": str(place)})


# -- telling --


def report(result: dict[str, Any]) -> str:
    inside = result["inside"]
    base = inside[RESCAN]["p50_ms"]
    rows: list[list[Any]] = [
        [name, one["p50_ms"], one["p95_ms"], times(one["p50_ms"], base), one["read"], one["n"]]
        for name, one in inside.items()
    ]
    title = f"Documents: {result['files']:,} files of Markdown, {result['bytes'] / 1e6:.1f} MB, one process, by words"
    tables = [table(title, ["what", "p50 ms", "p95 ms", "/ plain re-scan", "files read", "n"], rows)]
    if result["outside"]:
        names = list(next(iter(result["outside"].values())))
        listed: list[list[Any]] = []
        for system, took in result["outside"].items():
            empty = took["empty folder"]
            listed.append([system, *(took[name] for name in names)])
            listed.append(
                [f"{system}: work", None, *(max(took[name] - empty, 0.0) for name in names if name != "empty folder")]
            )
        title = f"Documents: {result['peer_files']:,} files, a process each time, seconds"
        tables.append(table(title, ["system", *names], listed))
    return "\n".join(tables)
