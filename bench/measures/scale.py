"""Batch ingest, recall, memory and disk, at growing sizes of the same stores.

Documents go in round robin, a chunk for each system in turn; queries too, one query for each system in turn.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.client import Client
from bench.crew import Crew, crew
from bench.paths import log
from bench.stats import summary
from bench.systems import NUMPY, for_recall
from bench.workers.base import scope_of

K = 10
WARM_UP = 5
CHUNK = 2_500


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a system may take, and how much is asked of it."""

    ingest_seconds: float
    """For all of its writing; then it is reported as not finished."""
    query_seconds: float
    """For the queries of one size; then it is asked no more."""
    queries: int


def measure(
    names: list[str], data: Path, queries: list[str], sizes: list[int], scopes: int, limits: Limits, ask: bool = True
) -> dict[str, Any]:
    """One layout (one scope, or spread over many), all sizes."""
    result: dict[str, Any] = {"scopes": scopes, "sizes": {}}
    with crew(for_recall(names), data) as run:
        spent = {client.system.name: Spent() for client in run.clients}
        before = 0
        for size in sorted(sizes):
            _ingest(run, spent, before, size, scopes, limits)
            before = size
            at_size: dict[str, Any] = {"ingest": {}, "size": {}, "recall": {}}
            for client in list(run.clients):
                settled = run.ask(client, "settle", final=True)
                memory = settled and run.ask(client, "rss")
                if settled is None or memory is None:
                    continue
                one = spent[client.system.name]
                one.settle_ns += settled["ns"]
                at_size["ingest"][client.system.name] = one.report(size)
            if ask:
                at_size["recall"] = _recall(run, queries, size, scopes, limits)
            at_size["size"] = _sizes(run, size)
            result["sizes"][str(size)] = at_size
        result.update(out=run.out, versions=run.versions)
    return result


@dataclass(slots=True)
class Spent:
    """What one system has spent on writing so far."""

    ns: int = 0
    cpu_ns: int = 0
    settle_ns: int = 0

    @property
    def seconds(self) -> float:
        return (self.ns + self.settle_ns) / 1e9

    def report(self, size: int) -> dict[str, float]:
        return {
            "texts_per_s_kept": size / (self.ns / 1e9),
            "texts_per_s_searchable": size / self.seconds,
            "cpu_s": self.cpu_ns / 1e9,
            "seconds": self.seconds,
        }


def _ingest(run: Crew, spent: dict[str, Spent], start: int, stop: int, scopes: int, limits: Limits) -> None:
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        log(f"ingest, {scopes} scope(s): {first} to {last} of {stop}")
        for client in list(run.clients):
            one = spent[client.system.name]
            answer = run.ask(
                client, "add_many", start=first, stop=last, scopes=scopes, seconds=limits.ingest_seconds - one.seconds
            )
            settled = answer and run.ask(client, "settle", final=False)
            if answer is None or settled is None:
                continue
            one.ns += answer["ns"] - answer["embed_ns"]
            one.settle_ns += settled["ns"]
            one.cpu_ns += answer["cpu_ns"] + settled["cpu_ns"]
            kept = first + answer["done"]
            if kept < last or (kept < stop and one.seconds > limits.ingest_seconds):
                rate = kept / one.seconds
                late = f"did not finish {stop:,} within {limits.ingest_seconds:g} s: {kept:,} kept, {rate:.0f} texts/s"
                run.retire(client, late)


def _recall(run: Crew, queries: list[str], size: int, scopes: int, limits: Limits) -> dict[str, Any]:
    answers: dict[str, list[dict[str, Any]]] = {client.system.name: [] for client in run.clients}
    weary: set[str] = set()
    order = random.Random(size)
    for at, query in enumerate(queries[: limits.queries + WARM_UP]):
        if at % 50 == 0:
            log(f"recall, {size:,} in {scopes} scope(s): query {at}")
        clients = list(run.clients)
        order.shuffle(clients)
        for client in clients:
            name = client.system.name
            if name in weary:
                continue
            answer = run.ask(client, "search", query=query, scope=scope_of(0, scopes), k=K)
            if answer is not None:
                answers[name].append(answer)
                if sum(one["ns"] for one in answers[name]) / 1e9 > limits.query_seconds:
                    weary.add(name)
    exact = [answer["hits"] for answer in answers.get(NUMPY.name, [])]
    return {name: _summed(given, exact) for name, given in answers.items() if len(given) > WARM_UP}


def _summed(given: list[dict[str, Any]], exact: list[list[int]]) -> dict[str, Any]:
    warm = given[WARM_UP:]
    alike = [len(set(one["hits"]) & set(best)) / K for one, best in zip(given, exact, strict=False)]
    return {
        **summary([one["ns"] - one["embed_ns"] for one in warm]),
        "cpu_ms": summary([one["cpu_ns"] for one in warm])["p50_ms"],
        "lookup_ms": summary([one["embed_ns"] for one in warm])["p50_ms"],
        "first_ms": given[0]["ns"] / 1e6,
        "hits": sum(len(one["hits"]) for one in warm) / len(warm),
        "like_exact_cosine": sum(alike) / len(alike) if alike else None,
    }


def _sizes(run: Crew, size: int) -> dict[str, Any]:
    found = {}
    for client in list(run.clients):
        memory = run.ask(client, "rss")
        if memory is not None:
            found[client.system.name] = _weighed(client, memory, size)
    return found


def _weighed(client: Client, memory: dict[str, int], size: int) -> dict[str, float]:
    return {
        "rss_mb": memory["rss"] / 1e6,
        "rss_own_mb": (memory["rss"] - memory["before"]) / 1e6,
        "disk_bytes_per_memory": client.disk() / size,
    }
