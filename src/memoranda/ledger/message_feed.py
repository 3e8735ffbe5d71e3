"""The feed of transcripts: what was said, as an index follows it. Prompts, tools and summaries are not searched."""

from collections.abc import Sequence
from typing import Any

from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.feed import Changes, Entry, Vectors
from memoranda.ledger.fence import lifts
from memoranda.ledger.vectors import OF_MESSAGES

ERASED = "[erased]"
"""What stands in the place of words that were erased. Not searched: the index then lets go of what was there."""
_SPOKEN = f"m.kind = 'message' and m.role in ('user', 'assistant') and m.text not in ('', '{ERASED}')"


@lifts()
class MessageFeed(Vectors):
    """What people and assistants said, in every conversation."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, OF_MESSAGES)

    def sequence(self) -> int:
        return self._number("select coalesce(max(seq), 0) from message_event")

    def mark_at(self, sequence: int) -> str:
        what = "at || ' ' || conversation || ' ' || first || ' ' || last"
        return self._word(f"select {what} from message_event where seq = :seq", sequence)  # noqa: S608

    def changes_since(self, sequence: int, *, limit: int) -> Changes:
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(
                "select seq, first, last from message_event where seq > :after order by seq limit :limit",
                {"after": sequence, "limit": limit},
            ).fetchall()
        numbers: dict[int, None] = {}
        for seq, first, last in rows:
            numbers.update(dict.fromkeys(range(first, last + 1)))
            sequence = int(seq)
            if len(numbers) >= limit:
                return Changes(tuple(numbers), sequence, seq == rows[-1][0] and len(rows) < limit)
        return Changes(tuple(numbers), sequence, len(rows) < limit)

    def entries(self, numbers: Sequence[int]) -> dict[int, Entry]:
        found: dict[int, Entry] = {}
        with self._database.read() as connection:
            for listed, values in in_parts("number", numbers):
                rows = connection.execute(
                    f"""
                    select m.number, c.scope, m.text, m.speaker, m.content_hash, c.archived_at, c.id, m.at
                    from message m join conversation c on c.number = m.conversation
                    where m.number in ({listed}) and {_SPOKEN}
                    """,  # noqa: S608
                    values,
                )
                found.update((int(row[0]), _to_entry(row)) for row in rows)
        return found

    def count(self) -> int:
        return self._number(f"select count(*) from message m where {_SPOKEN}")  # noqa: S608

    def without_vector(self, fingerprint: str, *, after: int, limit: int) -> tuple[int, ...]:
        # Not everything here is searched: what is not needs no vector either.
        found: list[int] = []
        while len(found) < limit and (numbers := super().without_vector(fingerprint, after=after, limit=limit)):
            found += self.entries(numbers)
            after = numbers[-1]
        return tuple(sorted(found)[:limit])


def _to_entry(row: Sequence[Any]) -> Entry:
    number, scope, text, speaker, digest, archived_at, conversation, at = row
    return Entry(
        number=int(number),
        scope=str(scope),
        text=str(text),
        searchable=f"{text}\n{speaker}" if speaker else str(text),
        content_hash=str(digest),
        state="live" if archived_at is None else "archived",
        valid_from=None,
        valid_until=None,
        speaker=str(speaker),
        conversation=str(conversation),
        occurred_at=int(at),
    )
