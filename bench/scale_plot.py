"""The growth curves as one SVG: four panels, both axes in powers of ten. No library.

Processor time, not the clock on the wall: what others did on the machine meanwhile is no property of the store.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from bench.scale_report import SCOPES, cpu_of

_WIDTH, _HEIGHT = 360, 250
_LEFT, _TOP = 62, 40
_COLOURS = {"embedded": "#2463b4", "postgres": "#d98f2b", "lancedb": "#3f8f4f"}
_DASHES = {"small": "1 4", "medium": "6 4", "large": "12 4", "largest": "", "ledger": "", "index": "6 4", "": ""}
_INK, _GRID = "#222", "#ddd"

Found = dict[str, Any]
Point = tuple[float, float]


class Line(NamedTuple):
    """One curve: whose it is, what of it, and where it runs."""

    engine: str
    part: str
    points: Sequence[Point]


def growth(measured: dict[str, Found]) -> str:
    """Recall, keeping, disk and memory against the number of memories."""
    panels = [
        ("recall, CPU ms, the database's included", _lines(measured, SCOPES, _recall)),
        ("kept and searchable, CPU ms a memory", _lines(measured, ("",), _kept)),
        ("bytes on disk a memory", _lines(measured, ("ledger", "index"), _bytes)),
        ("resident MB after asking in many scopes", _lines(measured, ("",), _resident)),
    ]
    parts = [part for at, (title, lines) in enumerate(panels) for part in _panel(at % 2, at // 2, title, lines)]
    parts += _legend(measured)
    width, height = 2 * (_WIDTH + _LEFT + 30), 2 * (_HEIGHT + _TOP + 40) + 50
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" style="font-family:sans-serif;font-size:12px"><title>Growth of one store</title>\n'
        '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _lines(measured: dict[str, Found], parts: Sequence[str], value: Callable[[Found, str], float | None]) -> list[Line]:
    lines = []
    for engine, found in measured.items():
        for part in parts:
            sizes = sorted(found.get("sizes", {}).items(), key=lambda item: int(item[0]))
            read = [(float(size), value({**at, "memories": int(size)}, part)) for size, at in sizes]
            points = [(size, held) for size, held in read if held]
            if points:
                lines.append(Line(engine, part, points))
    return lines


def _recall(at: Found, scope: str) -> float | None:
    told = at.get("ask", {}).get(scope, {})
    return told["cpu_p50_ms"] + told.get("server_cpu_ms", 0.0) if "cpu_p50_ms" in told else None


def _kept(at: Found, _: str) -> float | None:
    parts = [cpu_of(at, step) for step in ("kept", "indexed")]
    return sum(part for part in parts if part) or None


def _bytes(at: Found, part: str) -> float | None:
    held = at.get("upkeep", {}).get("bytes", {}).get(part)
    return None if held is None else held / at["memories"]


def _resident(at: Found, _: str) -> float | None:
    held: float | None = at.get("ask", {}).get("rss_mb", {}).get("any")
    return held


def _panel(column: int, row: int, title: str, lines: Sequence[Line]) -> Iterator[str]:
    left = _LEFT + column * (_WIDTH + _LEFT + 30)
    top = _TOP + row * (_HEIGHT + _TOP + 40)
    across = _powers([x for line in lines for x, _ in line.points] or [1.0, 10.0])
    up = _powers([y for line in lines for _, y in line.points] or [1.0, 10.0])

    def x(value: float) -> float:
        return left + _WIDTH * (math.log10(value) - across[0]) / max(1, across[-1] - across[0])

    def y(value: float) -> float:
        return top + _HEIGHT * (1 - (math.log10(value) - up[0]) / max(1, up[-1] - up[0]))

    yield _text(left, top - 14, title, size=14)
    for power in across:
        yield _line(x(10**power), top, x(10**power), top + _HEIGHT, _GRID)
        yield _text(x(10**power), top + _HEIGHT + 16, f"{10**power:,}", anchor="middle")
    for power in up:
        yield _line(left, y(10**power), left + _WIDTH, y(10**power), _GRID)
        yield _text(left - 6, y(10**power) + 4, f"{10**power:,}", anchor="end")
    for line in lines:
        yield _curve([(x(each), y(held)) for each, held in line.points], line)


def _powers(values: Sequence[float]) -> list[int]:
    """The powers of ten around these values."""
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return list(range(low, max(high, low + 1) + 1))


def _curve(points: Sequence[Point], line: Line) -> str:
    colour, dash = _COLOURS[line.engine], _DASHES[line.part]
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    name = escape(f"{line.engine} {line.part}".strip())
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashed}>'
        f"<title>{name}</title></polyline>{dots}"
    )


def _legend(measured: dict[str, Found]) -> Iterator[str]:
    y = 2 * (_HEIGHT + _TOP + 40) + 24
    x = float(_LEFT)
    for engine in measured:
        yield f'<rect x="{x:.1f}" y="{y - 10}" width="12" height="12" fill="{_COLOURS[engine]}"/>'
        yield _text(x + 18, y, engine)
        x += 100
    for name, parts in (
        ("largest scope; ledger", "largest"),
        ("medium; index", "medium"),
        ("small", "small"),
        ("large", "large"),
    ):
        dash = _DASHES[parts]
        yield _line(x, y - 4, x + 30, y - 4, _INK, dash=dash)
        yield _text(x + 36, y, name)
        x += 50 + 6.5 * len(name)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}" style="font-size:{size}px">'
        f"{escape(text)}</text>"
    )
