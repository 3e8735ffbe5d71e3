"""What an export walks through: memories, the oldest first and then by ids, all of one moment."""

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from itertools import islice

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.contents import walk
from memoranda.ledger.database import Database
from memoranda.ledger.reach import inside


@contextmanager
def walked(
    database: Database, scope: Scope, *, below: bool, states: Collection[str], kind: str = "", limit: int | None = None
) -> Iterator[tuple[int, Iterator[Memory]]]:
    """(how many rows there are at most, the memories in these states and of this kind one by one)."""
    condition, values = inside(scope, below=below)
    with database.read() as connection:
        row = connection.execute(
            f"select count(*) from memory where {condition}",  # noqa: S608
            values,
        ).fetchone()
        most = int(row[0]) if row else 0
        # Closed also when somebody stops in the middle: a cursor that is left open keeps an old view of the store.
        with closing(walk(connection, scope, below=below)) as rows:
            wanted = (each for each in rows if each.state in states and kind in ("", each.kind))
            yield most if limit is None else min(most, limit), islice(wanted, limit)
