"""The container: one SQLite file that holds an index's parts as blobs, and how its rows are read."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from memoranda.index.segment import Packed, Segment
from memoranda.index.tokens import VERSION as TOKENS_VERSION
from memoranda.ledger.connection import Connection

FORMAT = f"4.{TOKENS_VERSION}"

SCHEMA = f"""
create table if not exists meta (key text primary key, value text not null) without rowid;
create table if not exists scope (id integer primary key autoincrement, path text not null unique);
create table if not exists entry (
    number integer primary key, scope integer not null, segment integer not null, vector integer not null
);
create index if not exists entry_bare on entry (number) where vector = 0;
create index if not exists entry_scope on entry (scope, segment);
create table if not exists tail (
    number integer primary key, scope integer not null, stamp integer not null, body blob not null
);
create index if not exists tail_scope on tail (scope, stamp);
create table if not exists gone (
    scope integer not null, stamp integer not null, segment integer not null, number integer not null
);
create index if not exists gone_scope on gone (scope, stamp);
create index if not exists gone_segment on gone (segment);
create index if not exists gone_number on gone (number);
create table if not exists segment (
    id integer primary key autoincrement, scope integer not null, size integer not null, stamp integer not null,
    {", ".join(f"{name} blob not null" for name in Segment.BLOBS)}
);
create index if not exists segment_scope on segment (scope);
"""
COLUMNS = ", ".join(Segment.BLOBS)


def prepare(connection: Connection, fingerprint: str) -> None:
    connection.execute(SCHEMA).fetchall()
    for key, value in (("sequence", "0"), ("stamp", "0"), ("format", FORMAT), ("fingerprint", fingerprint)):
        connection.execute(
            "insert into meta (key, value) values (:key, :value) on conflict (key) do nothing",
            {"key": key, "value": value},
        )


def meta(connection: Connection, key: str) -> str:
    row = connection.execute("select value from meta where key = :key", {"key": key}).fetchone()
    return "0" if row is None else str(row[0])


def kept(connection: Connection) -> Iterator[tuple[Any, Any, Any]]:
    """Terms, vectors and pieces of what is alive: what is dead but still there must be found by the proof."""
    for identity, scope in [(int(row[0]), int(row[1])) for row in connection.execute("select id, scope from segment")]:
        segment = load_segment(connection, identity)
        listed = connection.execute(
            "select number from entry where scope = :scope and segment = :id", {"scope": scope, "id": identity}
        )
        alive = np.isin(segment.numbers, np.fromiter((row[0] for row in listed), np.int64))
        terms, rows, _ = segment.triples()
        yield np.unique(terms[alive[rows]]), segment.vectors[alive], segment.pieces_of(alive)
    for number, body in connection.execute("select number, body from tail"):
        entry = Packed.from_bytes(int(number), bytes(body))
        yield entry.terms, entry.vector[None, :], entry.pieces


def load_segment(connection: Connection, identity: int) -> Segment:
    row = connection.execute(f"select {COLUMNS} from segment where id = :id", {"id": identity}).fetchone()  # noqa: S608
    assert row is not None
    return Segment.from_blobs(row)


def gone(connection: Connection, scope: int, segment: int) -> set[int]:
    rows = connection.execute(
        "select number from gone where scope = :scope and segment = :segment", {"scope": scope, "segment": segment}
    )
    return {int(row[0]) for row in rows}


def is_prepared(connection: Connection) -> bool:
    return connection.execute("select 1 from sqlite_schema where name = 'meta'").fetchone() is not None
