"""Rows of a statement that may have very many: some thousand at a time, on every engine. Inside of a transaction."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from memoranda.ledger.connection import Connection, Values

AT_ONCE = 2_000
_MOST = 64
"""So many may be under way in one transaction."""
_turns = count()


def streamed(connection: Connection, statement: str, values: Values | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows one by one, however many there are. What is left unread ends with the transaction."""
    if connection.dialect.name == "sqlite":  # reads as it goes
        yield from connection.execute(statement, values)
        return
    # Few names: a statement that was seen before is quicker.
    name = f"streamed_{next(_turns) % _MOST}"
    connection.execute(f"declare {name} no scroll cursor for {statement}", values)
    rows = connection.execute(f"fetch {AT_ONCE} from {name}").fetchall()
    while rows:
        yield from rows
        rows = connection.execute(f"fetch {AT_ONCE} from {name}").fetchall() if len(rows) == AT_ONCE else []
    connection.execute(f"close {name}")
