"""Vectors as they are stored, for whoever checks them: read in pages, and removed one by one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memoranda.ledger.connection import Connection
from memoranda.ledger.vectors import Tables

_PAGE = 2_000


def pages(connection: Connection, tables: Tables) -> Iterator[tuple[int, int, list[tuple[int, bytes]]]]:
    """The id and the dimensions of each space, with (number, body) of some of its vectors."""
    spaces: list[Any] = connection.execute("select id, dimensions from space order by id").fetchall()
    for space, dimensions in spaces:
        last = 0
        while rows := _page(connection, tables, space, last):
            yield space, dimensions, rows
            last = rows[-1][0]


def _page(connection: Connection, tables: Tables, space: int, last: int) -> list[tuple[int, bytes]]:
    rows: Iterable[Any] = connection.execute(
        f"select number, body from {tables.vector} where space = :space and number > :last "  # noqa: S608
        "order by number limit :limit",
        {"space": space, "last": last, "limit": _PAGE},
    )
    return [(int(number), bytes(body)) for number, body in rows]


def remove(connection: Connection, tables: Tables, chosen: Sequence[tuple[int, int]]) -> None:
    """Take these (space, number) away: they are made again from what they are of."""
    for space, number in chosen:
        connection.execute(
            f"delete from {tables.vector} where space = :space and number = :number",  # noqa: S608
            {"space": space, "number": number},
        )
