"""Operations: which events were done together, so that they can be taken back together.

One event that stands alone is an operation by itself and needs no row. Work of several commits has one batch.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.domain.errors import Conflict
from memoranda.ledger.connection import Connection
from memoranda.ledger.feed import newest

UPKEEP = "expiry"
"""Who ends what is over: nobody in particular, and nothing that anybody would take back."""


@contextmanager
def journal(
    connection: Connection,
    name: str,
    *,
    scope: str,
    actor: str,
    at: int,
    batch: str = "",
    undoes: int | None = None,
    always: bool = False,
) -> Iterator[None]:
    """What is written inside belongs together. `always` also writes a row for a single event.

    Raises Conflict when the batch was undone meanwhile: what came after would belong to something that is taken back.
    """
    if batch and _is_taken_back(connection, batch):
        raise Conflict(
            "it was undone while it was under way, and does not go on", hint="Begin it again if it is still wanted."
        )
    before = newest(connection)
    yield
    last = newest(connection)
    if last > before + (0 if always or batch or undoes is not None else 1):
        # What was noted inside is part of the whole.
        connection.execute("delete from operation where first > :before", {"before": before})
        connection.execute(
            """
            insert into operation (first, last, name, batch, scope, at, actor, undoes)
            values (:first, :last, :name, :batch, :scope, :at, :actor, :undoes)
            """,
            {
                "first": before + 1, "last": last, "name": name, "batch": batch, "scope": scope, "at": at,
                "actor": actor, "undoes": undoes,
            },
        )  # fmt: skip


def _is_taken_back(connection: Connection, batch: str) -> bool:
    """Whether an undo of it stands, finished or not."""
    from memoranda.ledger.undoable import is_undone

    undoers = connection.execute(
        "select min(first) from operation where undoes = (select min(first) from operation where batch = :batch "
        "and batch <> '') group by case batch when '' then cast(first as text) else batch end",
        {"batch": batch},
    ).fetchall()
    return any(not is_undone(connection, int(str(row[0]))) for row in undoers)
