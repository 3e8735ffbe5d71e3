"""What a store says that was moved to another place: it can be read, and refuses every change."""

from memoranda.domain.errors import StoreMoved
from memoranda.ledger.connection import Connection

MARK = "memoranda.moved: "
"""What a refusal begins with; the address follows."""
STATE = "MM001"
"""And its SQLSTATE, in PostgreSQL."""

ARRIVING = "arriving"
"""What the target of a migration notes until it is whole."""


def is_arriving(connection: Connection) -> bool:
    """Whether a store is being filled from another one, and is not whole."""
    return connection.execute("select 1 from store where key = :key", {"key": ARRIVING}).fetchone() is not None


def refuse_arriving(connection: Connection) -> None:
    """Nobody works with half of a store."""
    if is_arriving(connection):
        raise StoreMoved(
            "this store is the target of a migration that is not finished",
            hint="Run the same `memoranda migrate` again: it goes on where it was.",
        )


def moved(told: str) -> StoreMoved | None:
    """The refusal in what an engine told; None when it told something else."""
    _, mark, place = told.partition(MARK)
    return StoreMoved(f"this store was moved to {place.strip()[:200]}") if mark else None
