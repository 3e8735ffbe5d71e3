"""Vectors in the ledger: one for each memory and vector space, so that work which was paid for survives a rebuild.

Stored as float16 of unit vectors; spaces are never mixed. They go with their memory when it is erased.
"""

from collections.abc import Iterable, Iterator, Sequence

import apsw

from memoranda.domain.memory import spoken
from memoranda.ledger.dialect import placeholders


def space(connection: apsw.Connection, fingerprint: str) -> tuple[int, int] | None:
    """(id, dimensions) of a space, if anything was ever stored in it."""
    row = connection.execute(
        "select id, dimensions from space where fingerprint = :fingerprint", {"fingerprint": fingerprint}
    ).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def ensure_space(connection: apsw.Connection, fingerprint: str, dimensions: int) -> tuple[int, int]:
    """(id, dimensions) of a space, made with these dimensions if it is new."""
    connection.execute(
        "insert into space (fingerprint, dimensions) values (:fingerprint, :dimensions) "
        "on conflict (fingerprint) do nothing",
        {"fingerprint": fingerprint, "dimensions": dimensions},
    )
    found = space(connection, fingerprint)
    assert found is not None
    return found


def save(connection: apsw.Connection, space_id: int, items: Iterable[tuple[int, str, bytes]]) -> int:
    """Keep (number, content hash, body) of memories that still exist; how many were kept."""
    kept = 0
    for number, content_hash, body in items:
        connection.execute(
            """
            insert into vector (space, number, content_hash, body)
            select :space, number, content_hash, :body from memory
            where number = :number and content_hash = :content_hash
            on conflict (space, number) do update set content_hash = excluded.content_hash, body = excluded.body
            """,
            {"space": space_id, "number": number, "content_hash": content_hash, "body": body},
        )
        kept += connection.changes()
    return kept


def load(connection: apsw.Connection, space_id: int, numbers: Sequence[int]) -> dict[int, bytes]:
    """The bodies that are there."""
    bodies: dict[int, bytes] = {}
    for start in range(0, len(numbers), 500):
        listed, values = placeholders("number", tuple(numbers[start : start + 500]))
        rows = connection.execute(
            f"select number, body from vector where space = :space and number in ({listed})",  # noqa: S608
            {"space": space_id, **values},
        )
        bodies.update((int(number), body) for number, body in rows)
    return bodies


def beginnings(connection: apsw.Connection, length: int, number: int | None = None) -> Iterator[bytes]:
    """The first bytes of every vector, or of one memory's."""
    condition = "" if number is None else " where number = :number"
    rows = connection.execute(
        f"select substr(body, 1, :length) from vector{condition}",  # noqa: S608
        {"length": length, **({} if number is None else {"number": number})},
    )
    return (bytes(row[0]) for row in rows)


def count(connection: apsw.Connection, space_id: int) -> int:
    """How many vectors a space has."""
    row = connection.execute("select count(*) from vector where space = :space", {"space": space_id}).fetchone()
    return int(row[0]) if row else 0


def without_vector(connection: apsw.Connection, space_id: int, *, after: int, limit: int) -> list[tuple[int, str, str]]:
    """(number, text as it is embedded, content hash) of memories without a vector in this space, by number."""
    rows = connection.execute(
        """
        select m.number, m.speaker, m.text, m.content_hash from memory m
        where m.number > :after
          and not exists (select 1 from vector v where v.space = :space and v.number = m.number)
        order by m.number limit :limit
        """,
        {"space": space_id, "after": after, "limit": limit},
    )
    return [(int(number), spoken(speaker, text), str(digest)) for number, speaker, text, digest in rows]


def drop_space(connection: apsw.Connection, fingerprint: str) -> None:
    """Forget a space that no longer serves."""
    found = space(connection, fingerprint)
    if found is not None:
        connection.execute("delete from vector where space = :space", {"space": found[0]})
        connection.execute("delete from space where id = :space", {"space": found[0]})
