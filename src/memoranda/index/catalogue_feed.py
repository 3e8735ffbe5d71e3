"""The feed of documents: their chunks, as an index follows them."""

from collections.abc import Sequence
from typing import Any

from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.feed import Changes, Entry, Vectors
from memoranda.ledger.vectors import Tables

OF_CHUNKS = Tables("vector", "chunk")


class ChunkFeed(Vectors):
    """Every chunk of a catalogue."""

    # A file that changes all day must not have the index written anew all day; a source that is removed is purged.
    erases = False

    def __init__(self, database: Database) -> None:
        super().__init__(database, OF_CHUNKS)

    def sequence(self) -> int:
        return self._number("select coalesce(max(seq), 0) from change")

    def mark_at(self, sequence: int) -> str:
        return ""  # a catalogue and its index are one generation: neither comes back without the other

    def changes_since(self, sequence: int, *, limit: int) -> Changes:
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(
                "select seq, number from change where seq > :after order by seq limit :limit",
                {"after": sequence, "limit": limit},
            ).fetchall()
        numbers = tuple(dict.fromkeys(int(number) for _, number in rows))
        return Changes(numbers, int(rows[-1][0]) if rows else sequence, len(rows) < limit)

    def entries(self, numbers: Sequence[int]) -> dict[int, Entry]:
        found: dict[int, Entry] = {}
        with self._database.read() as connection:
            for listed, values in in_parts("number", numbers):
                rows = connection.execute(
                    f"""
                    select c.number, c.scope, c.text, c.heading, c.content_hash, f.path, f.title, f.tags, f.dated
                    from chunk c join file f on f.number = c.file where c.number in ({listed})
                    """,  # noqa: S608
                    values,
                )
                found.update((int(row[0]), _to_entry(row)) for row in rows)
        return found

    def count(self) -> int:
        return self._number("select count(*) from chunk")


def _to_entry(row: Sequence[Any]) -> Entry:
    number, scope, text, heading, digest, path, title, tags, dated = row
    # A chunk deep in a file is found by what stands above it, too; its meaning is that of its own words.
    around = [str(part) for part in (heading, title, path) if part]
    if tags != "[]":
        around.append(str(tags))
    return Entry(
        number=int(number),
        scope=str(scope),
        text=str(text),
        searchable="\n".join([str(text), *around]),
        content_hash=str(digest),
        state="live",
        valid_from=None,
        valid_until=None,
        speaker="",
        conversation="",
        occurred_at=int(dated or 0),
    )
