"""What an export walks through: memories in the order of scopes and ids, all of one moment."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.contents import walk
from memoranda.ledger.database import Database
from memoranda.ledger.reach import inside


@contextmanager
def walked(
    database: Database, scope: Scope, *, below: bool, states: Collection[str]
) -> Iterator[tuple[int, Iterator[Memory]]]:
    """(how many rows there are at most, the memories in these states one by one)."""
    condition, values = inside(scope, below=below)
    with database.read() as connection:
        row = connection.execute(
            f"select count(*) from memory where {condition}",  # noqa: S608
            values,
        ).fetchone()
        rows = walk(connection, scope, below=below)
        yield int(row[0]) if row else 0, (memory for memory in rows if memory.state in states)
