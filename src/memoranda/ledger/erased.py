"""What the history says was erased, and up to where: by this a copy of the store is known that may still have it.

Events of erasures keep ids and numbers, and are written together with the deletion: no interruption can come between.
"""

from typing import Any, NamedTuple

from memoranda.domain.backup import Reached
from memoranda.ledger.connection import Connection

# What a self-test plants and takes away again was never anybody's; its scopes begin like this ('/' to '0').
_BY_IDS = "from event where action = 'erased' and not (scope > 'memoranda.probe/' and scope < 'memoranda.probe0')"
_BY_NUMBERS = "from message_event where action in ('erased', 'redacted')"


class Gone(NamedTuple):
    """Ids of memories and of messages, and conversations by scope and number, each with the numbers of its messages."""

    memories: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    conversations: dict[tuple[str, int], tuple[tuple[int, int], ...]] = {}  # noqa: RUF012 never changed

    def has_conversation(self, scope: str, number: int, messages: list[int]) -> bool:
        """Whether it went as a whole. One that another store of the same origin began has other messages."""
        runs = self.conversations.get((scope, number), ())
        return bool(runs) and all(any(first <= each <= last for first, last in runs) for each in messages)


def reached(connection: Connection) -> Reached:
    """Up to where the history of a ledger tells of erasures."""
    found: list[Any] = [
        connection.execute(f"select coalesce(max(seq), 0), coalesce(max(at), 0) {events}").fetchall()[0]
        for events in (_BY_IDS, _BY_NUMBERS)
    ]
    memories, messages = found
    return Reached(int(memories[0]), int(messages[0]), max(int(memories[1]), int(messages[1])))


def gone(connection: Connection, *, since: Reached) -> Gone:
    """What was erased after that, and is not there again."""
    after = {"sequence": since.sequence, "messages": since.messages, "at": since.at}
    memories = connection.execute(
        f"select memory_id {_BY_IDS} and (seq > :sequence or at > :at) "  # noqa: S608
        "and memory_id not in (select id from memory)",
        after,
    )
    ids = frozenset(str(each) for (each,) in memories)
    rows: Any = connection.execute(
        f"select action, scope, conversation, first, last {_BY_NUMBERS} and (seq > :messages or at > :at)",
        after,
    ).fetchall()
    talks: dict[tuple[str, int], tuple[tuple[int, int], ...]] = {}
    blanked: set[str] = set()
    for action, scope, conversation, first, last in rows:
        if action == "erased":
            talks[scope, conversation] = (*talks.get((scope, conversation), ()), (int(first), int(last)))
            continue
        found = connection.execute(
            "select id from message where number between :first and :last and kind = 'message'",
            {"first": first, "last": last},
        )
        blanked.update(str(each) for (each,) in found)
    return Gone(ids, frozenset(blanked), talks)
