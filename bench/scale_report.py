"""The tables of `scale`: one column for each size."""

from collections.abc import Callable
from typing import Any

from bench.tables import Cell, table

Found = dict[str, Any]
SCOPES = ("small", "medium", "large", "largest")


def kept_rate(at: Found) -> float | None:
    """Memories a second until they are durable."""
    return _rate(at, ("kept_s",))


def searchable_rate(at: Found) -> float | None:
    """Memories a second until they are found by words and by meaning."""
    return _rate(at, ("kept_s", "indexed_s"))


def cpu_of(at: Found, step: str) -> float | None:
    """Milliseconds of processor time for each memory, in this process, to be kept or to be indexed."""
    rate = _rate(at, (f"{step}_cpu_s",))
    return None if rate is None else 1e3 / rate


def last_cpu(at: Found) -> float | None:
    """The same for both together in the last tenth of the rounds: whether it grows with the store."""
    rounds = at.get("grow", {}).get("rounds", [])
    last = {"grow": {"rounds": rounds[-max(1, len(rounds) // 10) :]}}
    rate = _rate(last, ("kept_cpu_s", "indexed_cpu_s"))
    return None if rate is None else 1e3 / rate


def _rate(at: Found, steps: tuple[str, ...]) -> float | None:
    rounds = at.get("grow", {}).get("rounds", [])
    seconds = sum(each.get(step, 0.0) for each in rounds for step in steps)
    return sum(each["memories"] for each in rounds) / seconds if seconds else None


def _bytes(part: str) -> Callable[[Found], Cell]:
    def found(at: Found) -> Cell:
        held = at.get("upkeep", {}).get("bytes", {}).get(part)
        return None if held is None else held / at["memories"]

    return found


def _at(*names: str) -> Callable[[Found], Cell]:
    def found(at: Found) -> Cell:
        for name in names:
            at = at.get(name, {})
        return at or None  # type: ignore[return-value]

    return found


LINES: dict[str, Callable[[Found], Cell]] = {
    "kept, memories/s": kept_rate,
    "kept and searchable, memories/s": searchable_rate,
    "keeping one, CPU ms": lambda at: cpu_of(at, "kept"),
    "indexing one, CPU ms": lambda at: cpu_of(at, "indexed"),
    "both, last tenth, CPU ms": last_cpu,
    "optimizing what is searched, s": _at("optimize", "seconds"),
    **{
        f"{scope} scope: {shown}": _at("ask", scope, name)
        for scope in SCOPES
        for name, shown in (
            ("memories", "memories"),
            ("p50_ms", "recall p50 ms"),
            ("p95_ms", "recall p95 ms"),
            ("cpu_p50_ms", "recall CPU p50 ms"),
            ("server_cpu_ms", "and of the database, ms"),
            ("first_ms", "first recall ms"),
            ("recall_at_10", "recall@10 of exact"),
            ("found", "asked-for memory found"),
        )
    },
    "any scope, cold: recall p50 ms": _at("ask", "any", "p50_ms"),
    "any scope, cold: recall p95 ms": _at("ask", "any", "p95_ms"),
    "open, ms": _at("ask", "open_ms"),
    "RSS after opening, MB": _at("ask", "rss_mb", "open"),
    "RSS with a small scope, MB": _at("ask", "rss_mb", "small"),
    "RSS with the largest, MB": _at("ask", "rss_mb", "largest"),
    "RSS after asking anywhere, MB": _at("ask", "rss_mb", "any"),
    "one durable remember, p50 ms": _at("write", "remember", "p50_ms"),
    "one durable remember, p95 ms": _at("write", "remember", "p95_ms"),
    "one durable remember, CPU p50 ms": _at("write", "remember", "cpu_p50_ms"),
    "and of the database, ms": _at("write", "remember", "server_cpu_ms"),
    "recall right after one, p50 ms": _at("write", "recall_after", "p50_ms"),
    "recall right after one, CPU p50 ms": _at("write", "recall_after", "cpu_p50_ms"),
    "ledger, bytes a memory": _bytes("ledger"),
    "index, bytes a memory": _bytes("index"),
    **{
        f"{step}, s": _at("upkeep", step, "seconds")
        for step in ("stats of the largest scope", "scopes, first page", "index status", "verify", "doctor")
    },
    "load average": lambda at: _loads(at),
}


def _loads(at: Found) -> Cell:
    loads = [load for step in at.values() if isinstance(step, dict) for load in step.get("load", ())]
    return f"{min(loads):.1f} to {max(loads):.1f}" if loads else None


def report(found: Found) -> str:
    """One table of everything that was measured."""
    sizes = sorted(found.get("sizes", {}), key=int)
    columns = [{**found["sizes"][size], "memories": int(size)} for size in sizes]
    rows: list[list[Cell]] = [[name, *(line(at) for at in columns)] for name, line in LINES.items()]
    return table("Growth of one store", ["memories", *(f"{int(size):,}" for size in sizes)], rows)
