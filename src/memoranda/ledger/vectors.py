"""Vectors: one for each text and vector space, so that work which was paid for survives a rebuild.

Stored as float16 of unit vectors; spaces are never mixed. They go with their text when it is erased.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.streaming import streamed


class Tables(NamedTuple):
    """Where the vectors are, and what they are of. Names of ours: they stand in the SQL as they are."""

    vector: str
    of: str


OF_MEMORIES = Tables("vector", "memory")
OF_MESSAGES = Tables("message_vector", "message")


def space(connection: Connection, fingerprint: str) -> tuple[int, int] | None:
    """(id, dimensions) of a space, if anything was ever stored in it."""
    row = connection.execute(
        "select id, dimensions from space where fingerprint = :fingerprint", {"fingerprint": fingerprint}
    ).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def ensure_space(connection: Connection, fingerprint: str, dimensions: int) -> tuple[int, int]:
    """(id, dimensions) of a space, made with these dimensions if it is new."""
    connection.execute(
        "insert into space (fingerprint, dimensions) values (:fingerprint, :dimensions) "
        "on conflict (fingerprint) do nothing",
        {"fingerprint": fingerprint, "dimensions": dimensions},
    )
    found = space(connection, fingerprint)
    assert found is not None
    return found


def save(connection: Connection, tables: Tables, space_id: int, items: Iterable[tuple[int, str, bytes]]) -> int:
    """Keep (number, content hash, body) of what still exists; how many were kept."""
    kept = 0
    for number, content_hash, body in items:
        connection.execute(
            f"""
            insert into {tables.vector} (space, number, content_hash, body)
            select :space, number, content_hash, :body from {tables.of}
            where number = :number and content_hash = :content_hash
            on conflict (space, number) do update set content_hash = excluded.content_hash, body = excluded.body
            """,  # noqa: S608
            {"space": space_id, "number": number, "content_hash": content_hash, "body": body},
        )
        kept += connection.changes()
    return kept


def load(connection: Connection, tables: Tables, space_id: int, numbers: Sequence[int]) -> dict[int, bytes]:
    """The bodies that are there."""
    bodies: dict[int, bytes] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(
            f"select number, body from {tables.vector} where space = :space and number in ({listed})",  # noqa: S608
            {"space": space_id, **values},
        )
        bodies.update((int(number), body) for number, body in rows)
    return bodies


def beginnings(
    connection: Connection, tables: Tables, length: int, numbers: Sequence[int] | None = None
) -> Iterator[bytes]:
    """The first bytes of every vector, or of those of some numbers."""
    start = f"select substr(body, 1, cast(:length as integer)) from {tables.vector}"  # noqa: S608
    if numbers is None:
        yield from (bytes(row[0]) for row in streamed(connection, start, {"length": length}))
        return
    for number in numbers:
        rows = connection.execute(f"{start} where number = :number", {"length": length, "number": number})
        yield from (bytes(row[0]) for row in rows)


def count(connection: Connection, tables: Tables, space_id: int) -> int:
    """How many vectors a space has."""
    row = connection.execute(
        f"select count(*) from {tables.vector} where space = :space",  # noqa: S608
        {"space": space_id},
    ).fetchone()
    return int(row[0]) if row else 0


def without_vector(connection: Connection, tables: Tables, space_id: int, *, after: int, limit: int) -> tuple[int, ...]:
    """Numbers of what has no vector in this space, in order."""
    rows = connection.execute(
        f"""
        select t.number from {tables.of} t
        where t.number > :after
          and not exists (select 1 from {tables.vector} v where v.space = :space and v.number = t.number)
        order by t.number limit :limit
        """,  # noqa: S608
        {"space": space_id, "after": after, "limit": limit},
    )
    return tuple(int(row[0]) for row in rows)


def drop_space(connection: Connection, tables: Tables, fingerprint: str) -> None:
    """Forget the vectors of a space that no longer serves."""
    found = space(connection, fingerprint)
    if found is not None:
        connection.execute(f"delete from {tables.vector} where space = :space", {"space": found[0]})  # noqa: S608
