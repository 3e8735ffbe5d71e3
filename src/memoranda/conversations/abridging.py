"""A summary that is too long for a window, made shorter by whole statements. Nothing here cuts a sentence.

Open items first, then what was said and done, the newest first; shown in the order that they had, under their headings.
A line says how many more there are and where.
"""

from typing import NamedTuple

from memoranda.domain.tokens import Count

_BULLET = "- "
_OPEN = "Open items:"


class _Statement(NamedTuple):
    line: str
    heading: str


def abridged(text: str, *, name: str, most: int, count: Count) -> str:
    """The summary of this name in so many tokens; empty when not even one statement fits. The line that says from when
    to when it tells goes before the last statement does."""
    head, statements = _parts(text)
    ranked = _ranked(statements)
    for first in dict.fromkeys((head, "")):
        chosen = _chosen(statements, ranked, room=most - count(_written(first, (), statements, name)), count=count)
        while chosen:
            shorter = _written(first, chosen, statements, name)
            if count(shorter) <= most:
                return shorter
            chosen.pop()  # a tokenizer that takes more for lines together than for each alone
    return ""


def _parts(text: str) -> tuple[str, list[_Statement]]:
    """The first line when it stands in brackets, and every statement with its heading."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    head = lines.pop(0) if lines and lines[0].startswith("[") else ""
    heading, statements = "", []
    for line in lines:
        if line.endswith(":") and not line.startswith(_BULLET):
            heading = line
        else:
            statements.append(_Statement(line, heading))
    return head, statements


def _ranked(statements: list[_Statement]) -> list[int]:
    """Their places: open ones, newest first, then by turns the newest of each other heading."""
    by_age: dict[str, int] = {}
    rank: dict[int, tuple[bool, int, int]] = {}
    for place in reversed(range(len(statements))):
        heading = statements[place].heading
        age = by_age[heading] = by_age.get(heading, -1) + 1
        rank[place] = (heading != _OPEN, age, place)
    return sorted(rank, key=rank.__getitem__)


def _chosen(statements: list[_Statement], ranked: list[int], *, room: int, count: Count) -> list[int]:
    """What fits one by one, the most wanted first; one that is too long keeps no other out."""
    chosen: list[int] = []
    headings: set[str] = set()
    for place in ranked:
        line, heading = statements[place]
        cost = count(f"\n{line}") + (count(f"\n\n{heading}") if heading not in headings else 0)
        if cost <= room:
            room -= cost
            chosen.append(place)
            headings.add(heading)
    return chosen


def _written(head: str, chosen: list[int] | tuple[()], statements: list[_Statement], name: str) -> str:
    left = len(statements) - len(chosen)
    lines = [head] if head else []
    lines += [f"{_BULLET}[... {left} more; see the summary {name}]"] if left else []
    heading = ""
    for place in sorted(chosen):
        if statements[place].heading != heading:
            heading = statements[place].heading
            lines += ["", heading]
        lines.append(statements[place].line)
    return "\n".join(lines).strip()
