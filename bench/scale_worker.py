"""One step of `scale`, in a process of its own: its memory and its first answers are nobody else's.

python -m bench.scale_worker ORDER, with an order in JSON; what was found is printed as JSON.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from bench import scale_world as world
from bench.paths import log
from bench.scale_server import cpu_seconds
from bench.scale_store import Place, memory_of
from bench.stats import summary
from memoranda.domain.ports import IndexQuery
from memoranda.service.store import Store

K = 10
POOL = 64
BATCH = 500
ROUND = 20_000
PROBE = "probe"
_FOREVER = 36_000.0
_PAGE = 500

Found = dict[str, Any]


def grow(place: Place, size: int, order: Found) -> Found:
    """Keep what is missing to this size, in batches of one scope each, the index following after each round."""
    deadline = time.monotonic() + order["limit"]
    told = Path(place.folder) / f"rounds-{size}.jsonl"
    with place.open() as store, told.open("a", encoding="ascii") as rounds:
        # What an interrupted run kept may be more than the index knows.
        store._engine.memories.catch_up(seconds=_FOREVER)
        batches = _missing(size, _kept(store))
        log(f"{sum(stop - start for _, start, stop in batches):,} to keep, in {len(batches):,} batches")
        while batches and time.monotonic() < deadline:
            print(json.dumps(done := _round(store, batches)), file=rounds, flush=True)
            log(f"{sum(stop - start for _, start, stop in batches):,} left: {done}")
    return {"rounds": _rounds(told), "complete": not batches}


def _rounds(told: Path) -> list[Found]:
    return [json.loads(line) for line in told.read_text(encoding="ascii").splitlines()]


def _kept(store: Store) -> dict[str, int]:
    found: dict[str, int] = {}
    while page := store.scopes(limit=_PAGE, offset=len(found)):
        found.update((each.scope, each.memories) for each in page)
    return found


def _missing(size: int, kept: dict[str, int]) -> list[tuple[int, int, int]]:
    """(rank, first number, end) of what is to be kept, in an order of its own."""
    batches = []
    for rank, wanted in enumerate(world.shares(size)):
        have = kept.get(world.scope_path(rank), 0)
        batches += [(rank, start, min(start + BATCH, wanted)) for start in range(have, wanted, BATCH)]
    # Mixed, but of one scope in order: a run that was cut short goes on by counting.
    ranks = [rank for rank, _, _ in batches]
    random.Random(size).shuffle(ranks)
    waiting = {rank: iter(list(of_one)) for rank, of_one in groupby(batches, key=lambda batch: batch[0])}
    return [next(waiting[rank]) for rank in ranks]


def _round(store: Store, batches: list[tuple[int, int, int]]) -> Found:
    keeping, kept = Watch(), 0
    while batches and kept < ROUND:
        rank, start, stop = batches.pop(0)
        drafts = [world.draft(rank, number) for number in range(start, stop)]
        keeping.call(memory_of(store, world.scope_path(rank)).remember_many, drafts)
        kept += len(drafts)
    kept_by_server = keeping.server_seconds
    indexing = Watch()
    indexing.call(store._engine.memories.catch_up, seconds=_FOREVER)
    return {
        "memories": kept,
        "kept_s": keeping.seconds,
        "kept_cpu_s": keeping.cpu_seconds + kept_by_server,
        "indexed_s": indexing.seconds,
        "indexed_cpu_s": indexing.cpu_seconds + indexing.server_seconds,
    }


def optimize(place: Place, size: int, order: Found) -> Found:
    """What the schedule of a server does with what is searched, at the latest by the next night."""
    with place.open() as store:
        watch = Watch()
        watch.call(store._engine.memories.index().optimize)
    return {"seconds": watch.seconds, "cpu_seconds": watch.cpu_seconds + watch.server_seconds}


def count(place: Place, size: int, order: Found) -> Found:
    """How many memories there are, with everything indexed: a store may be measured as it is."""
    with place.open() as store:
        store._engine.memories.catch_up(seconds=_FOREVER)
        size = sum(_given(store))
    newest = max(Path(place.folder).glob("rounds-*.jsonl"), key=lambda path: path.stat().st_mtime_ns, default=None)
    return {"size": size, "rounds": [] if newest is None else _rounds(newest), "complete": True}


def _given(store: Store) -> list[int]:
    """How many memories each scope has, by rank."""
    kept = _kept(store)
    kept.pop(PROBE, None)
    return [kept.get(world.scope_path(rank), 0) for rank in range(1 + max(int(path[5:]) for path in kept))]


def ask(place: Place, size: int, order: Found) -> Found:
    """Open cold, then ask in a small, a medium, a large and the largest scope, then in scopes drawn by lot."""
    began = time.perf_counter()
    store = place.open()
    found: Found = {"open_ms": (time.perf_counter() - began) * 1e3, "rss_mb": {"open": _rss()}}
    with store:
        given = _given(store)
        for name, rank in reversed(world.asked_scopes(given).items()):
            log(f"asking in the {name} scope")
            found[name] = _asked(store, rank, given[rank], order["queries"])
            found["rss_mb"][name] = _rss()
        found["any"] = _by_lot(store, given, order["queries"])
        found["rss_mb"]["any"] = _rss()
        found["scopes"] = sum(1 for each in given if each)
    return found


def _asked(store: Store, rank: int, count: int, queries: int) -> Found:
    memory = memory_of(store, world.scope_path(rank))
    rng = random.Random(rank)
    numbers = [rng.randrange(count) for _ in range(queries)]
    first, watch, hits, right = Watch(), Watch(), 0, 0
    first.call(memory.recall, world.question(rank, numbers[0]), limit=K)
    for number in numbers:
        query, wanted = world.question(rank, number), world.draft(rank, number).text
        answer = watch.call(memory.recall, query, limit=K)
        hits += len(answer)
        right += any(hit.memory.text == wanted for hit in answer)
    return {
        "memories": count,
        "first_ms": first.wall[0] / 1e6,
        "first_cpu_ms": first.cpu[0] / 1e6,
        **watch.summary(),
        "hits": hits / queries,
        "found": right / queries,
        **_like_exact(store, rank, count, numbers[:50]),
    }


def _like_exact(store: Store, rank: int, count: int, numbers: list[int]) -> Found:
    """How many of the ten nearest by exact cosine the index proposes first, asked by vector alone."""
    corpus = store._engine.memories
    memory = memory_of(store, world.scope_path(rank))
    embedder = world.WordsEmbedder()
    asked = embedder.embed([world.question(rank, number) for number in numbers], "query")
    alike, watch = [], Watch()
    for vector, best in zip(asked, world.exact_of_all(embedder, rank, count, asked, K), strict=True):
        query = IndexQuery(
            scopes=memory._scope.chain(), vector=vector / (vector @ vector) ** 0.5, now=memory.now, pool=POOL
        )
        answer = watch.call(corpus.search, query)
        first = [each.number for each in answer.candidates if each.semantic_rank and each.semantic_rank <= K]
        there = store._engine.ledger.load(first, scope=memory._scope)
        wanted = {world.draft(rank, number).text for number in best}
        alike.append(len(wanted & {each.text for each in there.values()}) / len(wanted))
    return {"recall_at_10": sum(alike) / len(alike), "by_vector_alone": watch.summary()}


def _by_lot(store: Store, given: Sequence[int], queries: int) -> Found:
    """Each question in a scope drawn by lot, most of them not asked before: as users come to a server."""
    rng = random.Random(len(given))
    there = [rank for rank, each in enumerate(given) if each]
    watch = Watch()
    for _ in range(queries):
        rank = rng.choice(there)
        query = world.question(rank, rng.randrange(given[rank]))
        watch.call(memory_of(store, world.scope_path(rank)).recall, query, limit=K)
    return watch.summary()


def write(place: Place, size: int, order: Found) -> Found:
    """One at a time, each durable before the next; and a recall after each, which has to see it."""
    with place.open() as store:
        memory = memory_of(store, PROBE)
        store._engine.memories.catch_up(seconds=_FOREVER)
        memory.remember("Before anything is timed.")
        memory.recall("before what?")
        alone, kept = Watch(), Watch()
        for number in range(order["queries"]):
            alone.call(memory.remember, world.draft(0, size + number).text)
        spent = alone.summary()
        memory.recall("before what?")
        seen = Watch()
        for number in range(order["queries"]):
            text = world.draft(0, 2 * size + number).text
            kept.call(memory.remember, text)
            seen.call(memory.recall, text, limit=1)
    return {"remember": spent, "recall_after": seen.summary(), "remember_before_it": summary(kept.wall)}


def upkeep(place: Place, size: int, order: Found) -> Found:
    """Seconds of what looks at the whole store; and the bytes on disk."""
    found: Found = {}
    with place.open() as store:
        admin = store.upkeep().admin
        steps: dict[str, Callable[[], Any]] = {
            "stats of the largest scope": lambda: memory_of(store, world.scope_path(0)).stats(),
            "scopes, first page": lambda: store.scopes(limit=_PAGE),
            "index status": admin.index_status,
            "verify": admin.verify,
            "doctor": admin.doctor,
        }
        for name, step in steps.items():
            log(name)
            watch = Watch()
            watch.call(step)
            found[name] = {"seconds": watch.seconds, "cpu_seconds": watch.cpu_seconds + watch.server_seconds}
        found["bytes"] = place.bytes(store)
        found["segments"] = store._engine.memories.index().counts().segments
    return found


class Watch:
    """Wall and processor time of calls, each of them. On a machine that others use, look at the processor's.

    What a server on this machine used meanwhile is told on average: its clock is coarse.
    """

    postmaster = 0

    def __init__(self) -> None:
        self.wall: list[int] = []
        self.cpu: list[int] = []
        self._served = cpu_seconds(self.postmaster)

    def call(self, step: Callable[..., Any], *given: Any, **named: Any) -> Any:
        began, worked = time.perf_counter_ns(), time.process_time_ns()
        answer = step(*given, **named)
        self.cpu.append(time.process_time_ns() - worked)
        self.wall.append(time.perf_counter_ns() - began)
        return answer

    @property
    def server_seconds(self) -> float:
        return round(cpu_seconds(self.postmaster) - self._served, 3)

    def summary(self) -> Found:
        served = {"server_cpu_ms": self.server_seconds * 1e3 / len(self.wall)} if self.postmaster else {}
        ours = {f"cpu_{name}": value for name, value in summary(self.cpu).items() if name != "n"}
        return {**summary(self.wall), **ours, **served}

    @property
    def seconds(self) -> float:
        return round(sum(self.wall) / 1e9, 3)

    @property
    def cpu_seconds(self) -> float:
        return round(sum(self.cpu) / 1e9, 3)


def _rss() -> float:
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


STEPS = {"count": count, "grow": grow, "optimize": optimize, "ask": ask, "write": write, "upkeep": upkeep}


def main() -> int:
    order = json.loads(sys.argv[1])
    Watch.postmaster = order["postmaster"]
    place = Place(order["engine"], order["folder"], order["address"])
    print(json.dumps(STEPS[order["step"]](place, order["size"], order)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
