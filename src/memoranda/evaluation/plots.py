"""Plots as SVG text: bars with error bars, and curves. No library, nothing that moves, every text escaped."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from memoranda.evaluation.confidence import Estimate

_COLOURS = ("#8a8f98", "#d98f2b", "#2463b4", "#3f8f4f", "#a33b66", "#6a51a3", "#1b9e9e", "#b5651d")
_INK = "#222"
_GRID = "#ddd"
_STYLE = "font-family:sans-serif;font-size:12px"
_DASH = ' stroke-dasharray="5 4"'
_TICKS = (0, 20, 40, 60, 80, 100)


class Series(NamedTuple):
    """One line of a plot of curves: (x, y), both shares from 0 to 1. Series that belong together share a colour."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    dashed: bool = False


class _Frame(NamedTuple):
    """The rectangle inside the axes; shares become pixels in it."""

    left: float
    top: float
    width: float
    height: float

    def x(self, share: float) -> float:
        return self.left + share * self.width

    def y(self, share: float) -> float:
        return self.top + (1 - share) * self.height


def bars(title: str, axis: str, groups: Mapping[str, Mapping[str, Estimate]]) -> str:
    """Groups of bars, one bar for each name in a group; all groups should have the same names."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    wide = max(26 * max(len(names), 1) + 24, 74)
    frame = _Frame(60, 70, max(wide * len(groups), 240), 300)
    parts = [*_axes(frame, title, axis), *_legend(names, frame)]
    for at, (group, values) in enumerate(groups.items()):
        start = frame.left + at * wide + 12
        for place, name in enumerate(names):
            if name in values:
                parts += _bar(frame, start + place * 26, values[name], _colour(place), f"{group}, {name}")
        middle = start + 13 * len(names)
        parts.append(_text(middle, frame.y(0) + 16, group, anchor="end", turn=-35))
    return _document(frame.left + frame.width + 30, frame.y(0) + 110, title, parts)


def curves(title: str, x_axis: str, y_axis: str, series: Sequence[Series]) -> str:
    """Curves in the unit square, with the diagonal that chance would give."""
    frame = _Frame(60, 56 + 16 * len(series), 420, 420)
    parts = _axes(frame, title, y_axis)
    parts += [_text(frame.x(tick / 100), frame.y(0) + 16, str(tick), anchor="middle") for tick in _TICKS]
    parts.append(_text(frame.x(0.5), frame.y(0) + 36, x_axis, anchor="middle"))
    parts.append(_line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), _GRID, dashed=True))
    for place, each in enumerate(series):
        y = 46 + 16 * place
        parts.append(
            _line(frame.left, y - 4, frame.left + 24, y - 4, _colour(each.colour), dashed=each.dashed, width=2)
        )
        parts.append(_text(frame.left + 30, y, each.name))
        path = " ".join(f"{frame.x(across):.1f},{frame.y(up):.1f}" for across, up in each.points)
        dash = _DASH if each.dashed else ""
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{_colour(each.colour)}" stroke-width="2"{dash}>'
            f"<title>{escape(_printable(each.name))}</title></polyline>"
        )
    return _document(frame.left + frame.width + 30, frame.y(0) + 60, title, parts)


def _axes(frame: _Frame, title: str, axis: str) -> list[str]:
    parts = [_text(frame.left, 24, title, size=16)]
    for tick in _TICKS:
        y = frame.y(tick / 100)
        parts.append(_line(frame.left, y, frame.left + frame.width, y, _GRID if tick else _INK))
        parts.append(_text(frame.left - 8, y + 4, str(tick), anchor="end"))
    parts.append(_text(16, frame.top + frame.height / 2, axis, anchor="middle", turn=-90))
    return parts


def _legend(names: Sequence[str], frame: _Frame) -> list[str]:
    parts = []
    x = frame.left
    for place, name in enumerate(names):
        parts.append(f'<rect x="{x:.1f}" y="36.0" width="12" height="12" fill="{_colour(place)}"/>')
        parts.append(_text(x + 18, 46, name))
        x += 34 + 7 * len(name)
    return parts


def _bar(frame: _Frame, x: float, estimate: Estimate, colour: str, label: str) -> list[str]:
    top = frame.y(estimate.value)
    shown = f"{label}: {100 * estimate.value:.1f} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"
    middle = x + 11
    return [
        f'<rect x="{x:.1f}" y="{top:.1f}" width="22" height="{frame.y(0) - top:.1f}" fill="{colour}">'
        f"<title>{escape(_printable(shown))}</title></rect>",
        _line(middle, frame.y(estimate.low), middle, frame.y(estimate.high), _INK),
        _line(middle - 4, frame.y(estimate.low), middle + 4, frame.y(estimate.low), _INK),
        _line(middle - 4, frame.y(estimate.high), middle + 4, frame.y(estimate.high), _INK),
    ]


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dashed: bool = False, width: int = 1) -> str:
    dash = _DASH if dashed else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dash}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", turn: int = 0, size: int = 12) -> str:
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}" style="font-size:{size}px"{turned}>'
        f"{escape(_printable(text))}</text>"
    )


def _printable(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return "".join(char for char in text if char >= " " and char.isprintable())


def _document(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" style="{_STYLE}">\n<title>{escape(_printable(title))}</title>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{inside}\n</svg>\n'
    )
