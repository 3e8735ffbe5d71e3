"""The feed that an index follows: what changed since a sequence, and what is there to index."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from memoranda.domain.memory import State, spoken
from memoranda.ledger.dialect import placeholders

# Kinds that say how things are, not what happened when: kept today, they are not of today.
_TIMELESS = frozenset({"fact", "preference", "entity"})


class Entry(NamedTuple):
    """What the index is told of one memory."""

    number: int
    scope: str
    text: str
    searchable: str
    content_hash: str
    state: State
    valid_from: int | None
    valid_until: int | None
    speaker: str
    conversation: str
    occurred_at: int
    """When it happened, or was told; 0 when it has no time of its own."""

    @property
    def spoken(self) -> str:
        """The text as it is embedded."""
        return spoken(self.speaker, self.text)


class Changes(NamedTuple):
    """What happened since a sequence: the numbers touched, each once, and where the feed stands."""

    numbers: tuple[int, ...]
    sequence: int
    complete: bool


def changes_since(connection: apsw.Connection, sequence: int, limit: int) -> Changes:
    """The numbers of the next events, in order."""
    rows: list[Any] = connection.execute(
        "select seq, number from event where seq > :after order by seq limit :limit",
        {"after": sequence, "limit": limit},
    ).fetchall()
    numbers = tuple(dict.fromkeys(int(number) for _, number in rows))
    return Changes(numbers, int(rows[-1][0]) if rows else sequence, len(rows) < limit)


def entries(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, Entry]:
    """What to index of these; one that was erased is missing."""
    found: dict[int, Entry] = {}
    for start in range(0, len(numbers), 500):
        listed, values = placeholders("number", tuple(numbers[start : start + 500]))
        rows = connection.execute(
            f"""
            select number, scope, text, about, attribute, value, context, tags, content_hash, state,
                   valid_from, valid_until, speaker, conversation, occurred_at, created_at, kind
            from memory where number in ({listed})
            """,  # noqa: S608
            values,
        )
        found.update((int(row[0]), _to_entry(row)) for row in rows)
    return found


def _to_entry(row: Sequence[Any]) -> Entry:
    (number, scope, text, about, attribute, value, context, tags, digest, state, valid_from, valid_until,
     speaker, conversation, occurred_at, created_at, kind) = row  # fmt: skip
    told_then = kind not in _TIMELESS or conversation
    extras = [str(part) for part in (speaker, about, attribute, value, context) if part]
    if tags != "[]":
        extras.append(str(tags))
    return Entry(
        number=int(number),
        scope=str(scope),
        text=str(text),
        searchable="\n".join([str(text), *extras]),
        content_hash=str(digest),
        state=state,
        valid_from=valid_from,
        valid_until=valid_until,
        speaker=str(speaker),
        conversation=str(conversation),
        occurred_at=int(occurred_at or (created_at if told_then else 0)),
    )
