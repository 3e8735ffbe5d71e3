"""What was there at a sequence, and what happened since. The sequence is exact where a time is not."""

from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, SELECTED_AS_REVISED, from_row


def changed_between(connection: Connection, scope: Scope, older: int, newer: int, *, below: bool) -> list[int]:
    """The numbers of what changed after one sequence and up to another, the oldest memory first."""
    condition, values = inside(scope, below=below)
    rows: Iterable[Any] = connection.execute(
        f"select distinct number from event where {condition} and seq > :older and seq <= :newer",  # noqa: S608
        {**values, "older": older, "newer": newer},
    )
    return sorted(int(row[0]) for row in rows)


def at_sequence(connection: Connection, numbers: Sequence[int], sequence: int) -> dict[int, Memory]:
    """These memories as they were; those that were not there yet are missing."""
    found: dict[int, Memory] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(
            f"""
            select {SELECTED_AS_REVISED} from memory m join revision r on r.number = m.number and r.seq =
                (select max(seq) from revision where number = m.number and seq <= :sequence)
            where m.number in ({listed})
            """,  # noqa: S608
            {**values, "sequence": sequence},
        )
        found.update(from_row(row) for row in rows)
    return found


def current(connection: Connection, numbers: Sequence[int]) -> dict[int, Memory]:
    """These memories as they are; those that were erased are missing."""
    found: dict[int, Memory] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(f"select {SELECTED} from memory m where m.number in ({listed})", values)  # noqa: S608
        found.update(from_row(row) for row in rows)
    return found


def touched_since(connection: Connection, numbers: Sequence[int], sequence: int) -> set[int]:
    """Those of them to which something happened after a sequence."""
    found: set[int] = set()
    for listed, values in in_parts("number", numbers):
        rows: Iterable[Any] = connection.execute(
            f"select distinct number from revision where number in ({listed}) and seq > :sequence",  # noqa: S608
            {**values, "sequence": sequence},
        )
        found.update(row[0] for row in rows)
    return found
