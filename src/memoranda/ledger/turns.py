"""Turns: how far each conversation has been captured, and what was counted. Digests and numbers, never words."""

from collections.abc import Mapping
from typing import NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import Conflict
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import placeholders


class Moved(Conflict):
    """Somebody else captured this conversation at the same time; look again."""


class Turn(NamedTuple):
    """One step of a conversation's cursor: it must still be at `before`, and goes to `after`."""

    conversation: bytes
    before: bytes
    after: bytes
    counts: Mapping[str, int]


def cursor(connection: Connection, conversation: bytes, scope: Scope) -> bytes:
    row = connection.execute(
        "select tail from cursor where scope = :scope and conversation = :conversation",
        {"scope": scope.path, "conversation": conversation},
    ).fetchone()
    return b"" if row is None else bytes(row[0])


def move(connection: Connection, turn: Turn, scope: Scope, *, at: int) -> None:
    """Move the cursor, or raise Moved when it is not where it was thought to be."""
    if turn.after == turn.before:
        return
    if cursor(connection, turn.conversation, scope) != turn.before:
        raise Moved("another capture of this conversation came first")
    connection.execute(
        """
        insert into cursor (scope, conversation, tail, updated_at) values (:scope, :conversation, :tail, :at)
        on conflict (scope, conversation) do update set tail = excluded.tail, updated_at = excluded.updated_at
        """,
        {"scope": scope.path, "conversation": turn.conversation, "tail": turn.after, "at": at},
    )


def day_of(moment: int) -> int:
    """Days since 1970, UTC."""
    return moment // DAY_MS


def add(connection: Connection, counts: Mapping[str, int], *, scope: str, day: int) -> None:
    """Add to the counters of a day. Store-wide ones have no scope."""
    for name, number in counts.items():
        if number:
            connection.execute(
                """
                insert into counter (scope, day, name, number) values (:scope, :day, :name, :number)
                on conflict (scope, day, name) do update set number = counter.number + excluded.number
                """,
                {"scope": scope, "day": day, "name": name, "number": number},
            )


def counts(connection: Connection, scopes: tuple[str, ...], *, day: int | None) -> dict[str, int]:
    """Sums by name over these scopes; of one day, or of all."""
    listed, values = placeholders("scope", scopes)
    condition = f"scope in ({listed})" + ("" if day is None else " and day = :day")
    rows = connection.execute(
        f"select name, sum(number) from counter where {condition} group by name order by name",  # noqa: S608
        {**values, **({} if day is None else {"day": day})},
    )
    return {str(name): int(number) for name, number in rows}


def all_counts(connection: Connection) -> dict[str, int]:
    """Sums by name over every scope, ever; without the store's own."""
    rows = connection.execute("select name, sum(number) from counter where scope <> '' group by name order by name")
    return {str(name): int(number) for name, number in rows}


def drop(connection: Connection, conversation: bytes, scope: Scope) -> None:
    """Nothing is left of this conversation here."""
    connection.execute(
        "delete from cursor where scope = :scope and conversation = :conversation",
        {"scope": scope.path, "conversation": conversation},
    )


def drop_below(connection: Connection, scope: Scope) -> None:
    """Nothing is left of the conversations and counts of this scope and of those below it."""
    values = {"scope": scope.path, "below": scope.path + "/", "beyond": scope.path + "0"}
    for table in ("cursor", "counter", "private_conversation"):
        connection.execute(
            f"delete from {table} where scope = :scope or (scope > :below and scope < :beyond)",  # noqa: S608
            values,
        )
