"""Markdown tables, and numbers as they are shown in them."""

from collections.abc import Sequence

from memoranda.evaluation.confidence import Estimate

NOTHING = "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column to the left, the others to the right."""
    aligned = ["---" if at == 0 else "--:" for at in range(len(head))]
    return "\n".join(_line(cells) for cells in (head, aligned, *rows)) + "\n"


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal."""
    return NOTHING if value is None else f"{100 * value:.1f}"


def interval(estimate: Estimate) -> str:
    """A percentage with its interval."""
    return f"{percent(estimate.value)} ({percent(estimate.low)} to {percent(estimate.high)})"


def signed(estimate: Estimate) -> str:
    """A difference with its interval; a star where zero is outside it."""
    star = " *" if estimate.sure else ""
    low, high = f"{100 * estimate.low:+.1f}", f"{100 * estimate.high:+.1f}"
    return f"{100 * estimate.value:+.1f} ({low} to {high}){star}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
