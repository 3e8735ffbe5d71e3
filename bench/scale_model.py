"""What a load costs on an engine: arithmetic on measured constants, and a small simulation of the queue of writers.

Nothing here knows the world: a load says how many users there are and what they do, a machine what it has, the
constants what one memory, one recall and one commit cost. All of it is tested for what it promises: more load never
costs less, and the measured points come out within the error that is stated beside the constants.
"""

import json
import math
import random
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

CONSTANTS = Path(__file__).with_name("scale_constants.json")
DAY = 86_400.0
GROUP = 512
"""How many writers may share a commit; the ledger's own number."""
BUSY = 0.6
"""The share of anything that is planned for: queues grow without end towards 1."""
MOST = 1 << 40
FAR = 5


class Constants(NamedTuple):
    """What was measured on one engine. Milliseconds are of a processor, bytes of a disk unless said otherwise."""

    recall_ms: float
    """A recall in a scope of ten memories."""
    recall_ms_per_tenfold: float
    """What each tenfold of the scope adds."""
    recall_ms_per_million: float
    """What each million memories in the scope add."""
    cold_ms_per_million: float
    """The first recall in a scope loads it."""
    write_ms: float
    """One remember, without the wait for the disk."""
    index_ms: float
    """Until it is found by words and by meaning; without the embedding."""
    ledger_bytes: float
    index_bytes: float
    resident_mb: float
    """One process that serves."""
    resident_bytes: float
    """What each memory of a scope in use takes of a process's memory."""
    verify_ms: float
    """Looking at the whole store, for each memory."""
    shared_index: bool
    """Whether processes share what is searched, instead of each holding its own."""
    largest_scope: float
    """How large a scope was measured. Far beyond that, nothing is said of a recall."""
    recall_trips: int = 0
    """How often a recall asks the database; 0 where there is none to ask."""
    write_trips: int = 0
    """The same for a write, all of it while it is the only writer."""
    whole_up_to: float = math.inf
    """Scopes with more memories than this are not searched as a whole, in memory: the engine proposes rows."""
    proposing_ms: float = 0.0
    """What that adds to a recall."""

    def recall_in(self, memories: float) -> float:
        """Milliseconds of processor time of one recall in a scope of so many memories."""
        tenfolds = max(0.0, math.log10(max(1.0, memories) / 10))
        proposing = self.proposing_ms if memories > self.whole_up_to else 0.0
        grown = self.recall_ms_per_tenfold * tenfolds + self.recall_ms_per_million * memories / 1e6
        return self.recall_ms + grown + proposing


class Surroundings(NamedTuple):
    """What is the same for every engine."""

    embed_query_ms: float
    embed_memory_ms: float
    serving_ms: float
    """What HTTP adds to a request."""
    crowded: float
    """How much dearer a recall becomes when several share one interpreter."""


class Load(NamedTuple):
    """Who comes, and what they do."""

    users: int
    memories: float
    """Of each user, on average."""
    recalls_a_day: float = 50.0
    writes_a_day: float = 10.0
    peak: float = 5.0
    """How many times the average the busiest minute is."""
    active: float = 0.1
    """The share of users whose memories are asked for within the same hour."""
    largest: float = 0.0
    """Memories of the largest user; 0 for as many as everybody has."""

    @property
    def total(self) -> float:
        return self.users * self.memories

    def a_second(self, a_day: float) -> float:
        return self.users * a_day * self.peak / DAY


class Machine(NamedTuple):
    """What one shard runs on."""

    cores: float = 8.0
    memory_gb: float = 32.0
    disk_gb: float = 500.0
    commit_ms: float = 1.0
    """Until the disk has a commit: fsync. 0.1 to 1 on a good local disk, 1 to 5 on a network volume."""
    trip_ms: float = 0.3
    """To the database and back: 0.1 on the same machine, 0.3 in the same rack, 1 to 2 in another zone."""
    restore_mb_a_second: float = 100.0
    restore_hours: float = 2.0
    """How long a shard may be gone when its machine is lost and there is no standby."""


class Plan(NamedTuple):
    """What a load needs on an engine."""

    engine: str
    total: float
    shards: int
    limit: str
    """What asks for so many shards: writers, cores, memory, disk or recovery."""
    disk_gb: float
    """Of one copy of everything."""
    memory_gb: float
    """Of each shard."""
    cores: float
    """Of each shard, at the peak."""
    writer_share: float
    """How busy the one writer of a shard is at the peak."""
    write_p95_ms: float
    recall_ms: float | None
    """Alone, embedding and HTTP included; None where the scope is far larger than any that was measured."""
    largest_recall_ms: float | None
    restore_hours: float

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def known(path: Path = CONSTANTS) -> tuple[dict[str, Constants], Surroundings]:
    """The constants of every engine that was measured."""
    read = json.loads(path.read_text(encoding="utf-8"))
    engines = {name: Constants(**told["constants"]) for name, told in read["engines"].items()}
    return engines, Surroundings(**{field: read["surroundings"][field]["value"] for field in Surroundings._fields})


def planned(engine: str, constants: Constants, around: Surroundings, load: Load, machine: Machine) -> Plan:
    """The fewest shards that do it, and what each of them needs; users are spread evenly by the hash of their scope."""
    world = (constants, around, load, machine)
    shards = _fewest(world)
    writes = load.a_second(load.writes_a_day) / shards
    held = _held_ms(constants, machine)
    return Plan(
        engine=engine,
        total=load.total,
        shards=shards,
        limit="none" if shards == 1 else _short_of(world, shards - 1)[0],
        disk_gb=load.total * (constants.ledger_bytes + constants.index_bytes) / 1e9,
        memory_gb=_resident_gb(world, shards),
        cores=_cores(world) / shards,
        writer_share=writes / writer_rate(held, machine.commit_ms),
        write_p95_ms=_p95(waits(writes, held, machine.commit_ms)),
        recall_ms=_recall(world, load.memories),
        largest_recall_ms=_recall(world, load.largest or load.memories),
        restore_hours=_restore_hours(world) / shards,
    )


World = tuple[Constants, Surroundings, Load, Machine]


def _fewest(world: World) -> int:
    """More shards never need more of a machine each: doubled until it fits, then halved back."""
    enough = 1
    while _short_of(world, enough):
        enough *= 2
        if enough > MOST:
            raise ValueError("such a machine is too small for even one process")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (middle, enough) if _short_of(world, middle) else (too_few, middle)
    return enough


def _short_of(world: World, shards: int) -> list[str]:
    """What a shard has too little of, if there are so many of them; what is furthest from enough comes first."""
    constants, _, load, machine = world
    rate = writer_rate(_held_ms(constants, machine), machine.commit_ms)
    copy_gb = load.total * (constants.ledger_bytes + constants.index_bytes) / 1e9
    used = {
        "writers": load.a_second(load.writes_a_day) / shards / (BUSY * rate),
        "cores": _cores(world) / shards / (BUSY * machine.cores),
        "memory": _resident_gb(world, shards) / (BUSY * machine.memory_gb),
        "disk": copy_gb / shards / (BUSY * machine.disk_gb),
        "recovery": _restore_hours(world) / shards / machine.restore_hours,
    }
    return sorted((name for name, share in used.items() if share > 1), key=lambda name: -used[name])


def _held_ms(constants: Constants, machine: Machine) -> float:
    """For how long one write keeps the next from beginning."""
    return constants.write_ms + constants.write_trips * machine.trip_ms


def _recall(world: World, memories: float) -> float | None:
    """From the question to the answer when nobody else asks."""
    constants, around, _, machine = world
    if memories > FAR * constants.largest_scope:
        return None
    return (
        constants.recall_in(memories)
        + constants.recall_trips * machine.trip_ms
        + around.embed_query_ms
        + around.serving_ms
    )


def _cores(world: World) -> float:
    """Processors that are busy at the peak: asking, keeping, indexing, embedding."""
    constants, around, load, _ = world
    asking = constants.recall_in(load.memories) * around.crowded + around.embed_query_ms + around.serving_ms
    keeping = constants.write_ms + constants.index_ms + around.embed_memory_ms + around.serving_ms
    return (load.a_second(load.recalls_a_day) * asking + load.a_second(load.writes_a_day) * keeping) / 1e3


def _resident_gb(world: World, shards: int) -> float:
    """One interpreter fills one core: each process has its own memory, and its own copy of what is not shared."""
    constants, _, load, _ = world
    processes = max(1, math.ceil(_cores(world) / shards / BUSY))
    held = load.total * load.active * constants.resident_bytes / 1e9 / shards
    return processes * constants.resident_mb / 1e3 + held * (1 if constants.shared_index else processes)


def _restore_hours(world: World) -> float:
    """The ledger comes back from a replica and is looked at; what is searched is made anew from it."""
    constants, _, load, machine = world
    copied = load.total * constants.ledger_bytes / 1e6 / machine.restore_mb_a_second
    made = load.total * (constants.verify_ms + constants.index_ms) / 1e3
    return (copied + made) / 3_600


# -- the queue of writers --


def writer_rate(write_ms: float, commit_ms: float, group: int = GROUP) -> float:
    """Writes a second that one writer can do when many wait: they share a commit."""
    return 1e3 * group / (commit_ms + group * write_ms)


def waits(rate: float, write_ms: float, commit_ms: float, *, writers: int = 4_000, seed: int = 1) -> list[float]:
    """Milliseconds from asking to durable for each of so many writers that come by chance at this rate a second.

    The first in line commits for all who wait, at most a group; whoever comes meanwhile waits for the next.
    """
    if rate <= 0:
        return [write_ms + commit_ms]
    rng = random.Random(seed)
    coming, now = deque[float](), 0.0
    for _ in range(writers):
        now += rng.expovariate(rate / 1e3)
        coming.append(now)
    taken: list[float] = []
    free = 0.0
    while coming:
        begins = max(free, coming[0])
        group: list[float] = []
        while coming and coming[0] <= begins and len(group) < GROUP:
            group.append(coming.popleft())
        free = begins + commit_ms + len(group) * write_ms
        taken += [free - asked for asked in group]
    return taken


def throughput(clients: int, write_ms: float, commit_ms: float) -> float:
    """Writes a second of so many clients, each of which asks again as soon as it is answered."""
    return writer_rate(write_ms, commit_ms, min(clients, GROUP))


def _p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[int(0.95 * (len(ordered) - 1))]
