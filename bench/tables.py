"""Markdown tables."""

from collections.abc import Sequence

Cell = str | int | float | None


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A titled table; numbers to the right, None as a dash."""
    aligned = ["---" if at == 0 else "--:" for at in range(len(head))]
    lines = [f"### {title}", "", _line(head), _line(aligned)]
    lines += [_line([_shown(cell) for cell in row]) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.1f}" if abs(cell) >= 100 else f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def times(value: float | None, base: float | None) -> str:
    """A ratio as it is read: 3.4x."""
    return "-" if not value or not base else f"{value / base:.2f}x"
