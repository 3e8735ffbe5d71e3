"""The tables of `scale`: ingest, recall and size, each with ratios to ours."""

from typing import Any

from bench.systems import OURS
from bench.tables import table, times


def _layout(result: dict[str, Any], size: str) -> str:
    scopes = result["scopes"]
    return f"{int(size):,} memories in {'one scope' if scopes == 1 else f'{scopes} scopes'}"


def ingest(result: dict[str, Any]) -> str:
    head = ["system", "kept texts/s", "searchable texts/s", "CPU s", "ours is faster by"]
    tables = []
    for size, found in result["sizes"].items():
        ours = found["ingest"].get(OURS.name, {}).get("texts_per_s_searchable")
        rows = [
            [name, one["texts_per_s_kept"], one["texts_per_s_searchable"], one["cpu_s"],
             times(ours, one["texts_per_s_searchable"])]
            for name, one in found["ingest"].items()
        ]  # fmt: skip
        tables.append(
            table(f"Batch ingest, {_layout(result, size)}", head, rows + _missing(result, found, "ingest", 3))
        )
    return "\n".join(tables)


def recall(result: dict[str, Any]) -> str:
    head = [
        "system",
        "p50 ms",
        "p95 ms",
        "CPU ms p50",
        "p50 / ours",
        "first ms",
        "hits",
        "like exact cosine",
        "queries",
    ]
    tables = []
    for size, found in result["sizes"].items():
        ours = found["recall"].get(OURS.name, {}).get("p50_ms")
        rows = [
            [name, one["p50_ms"], one["p95_ms"], one["cpu_ms"], times(one["p50_ms"], ours), one["first_ms"],
             one["hits"], one["like_exact_cosine"], one["n"]]
            for name, one in found["recall"].items()
        ]  # fmt: skip
        rows += _missing(result, found, "recall", 7)
        tables.append(table(f"Recall, k=10, {_layout(result, size)}", head, rows))
    return "\n".join(tables)


def size(result: dict[str, Any]) -> str:
    head = ["system", "RSS MB", "RSS above the bare worker, MB", "disk bytes per memory", "disk / ours"]
    tables = []
    for at, found in result["sizes"].items():
        ours = found["size"].get(OURS.name, {}).get("disk_bytes_per_memory")
        rows = [
            [name, one["rss_mb"], one["rss_own_mb"], one["disk_bytes_per_memory"],
             times(one["disk_bytes_per_memory"], ours)]
            for name, one in found["size"].items()
        ]  # fmt: skip
        rows += _missing(result, found, "size", 3)
        tables.append(table(f"Memory and disk, {_layout(result, at)}", head, rows))
    return "\n".join(tables)


def _missing(result: dict[str, Any], found: dict[str, Any], part: str, empty: int) -> list[list[Any]]:
    """Nobody is dropped silently."""
    return [
        [name, reason, *[None] * empty] for name, reason in result.get("out", {}).items() if name not in found[part]
    ]
