"""The generations of indexes in PostgreSQL, in one table: which of them serve, in which format, and how far they are.

A generation belongs to a format. Two versions of this program with different formats each have one that serves, side
by side, and neither touches the other's, until the newer tidies up.
"""

import re

from memoranda.index.tokens import VERSION as TOKENS_VERSION
from memoranda.ledger.connection import Connection

FORMAT = f"2.{TOKENS_VERSION}"

_GENERATIONS = """
create table if not exists index_generation (
    corpus text collate "C" not null,
    number bigint not null,
    serving bigint not null,
    fingerprint text collate "C" not null,
    format text collate "C" not null,
    sequence bigint not null,
    mark text collate "C" not null,
    stamp bigint not null,
    primary key (corpus, number)
)
"""
# The stamp at which rows were last removed; 0 when the tables were written anew since.
_OWED = "alter table index_generation add column if not exists owed bigint not null default 0"
# A number is never used twice: who has an index open notices that another serves.
_COUNTER = "create sequence if not exists index_generation_number"


def make_generations(connection: Connection) -> None:
    """The table that tells which generation serves."""
    for statement in (_GENERATIONS, _OWED, _COUNTER):
        connection.execute(statement)


def are_made(connection: Connection) -> bool:
    """Whether that table is there."""
    row = connection.execute("select to_regclass('index_generation') is not null").fetchone()
    return row is not None and bool(row[0])


def next_generation(connection: Connection) -> int:
    (row,) = connection.execute("select nextval('index_generation_number')").fetchall()
    return int(row[0])


def enter(connection: Connection, corpus: str, number: int, fingerprint: str, *, serving: bool) -> None:
    """A new one, empty, in our format."""
    connection.execute(
        "insert into index_generation (corpus, number, serving, fingerprint, format, sequence, mark, stamp) "
        "values (:corpus, :number, :serving, :fingerprint, :format, 0, '', 0)",
        {
            "corpus": corpus,
            "number": number,
            "serving": int(serving),
            "fingerprint": fingerprint,
            "format": FORMAT,
        },
    )


def serving(connection: Connection, corpus: str) -> int | None:
    """The one of our format that serves."""
    row = connection.execute(
        "select number from index_generation where corpus = :corpus and serving = 1 and format = :format",
        {"corpus": corpus, "format": FORMAT},
    ).fetchone()
    return None if row is None else int(row[0])


def let_serve(connection: Connection, corpus: str, number: int) -> None:
    """From now on, instead of the others of our format."""
    connection.execute(
        "update index_generation set serving = case when number = :number then 1 else 0 end "
        "where corpus = :corpus and format = :format",
        {"corpus": corpus, "number": number, "format": FORMAT},
    )


def loose(connection: Connection, corpus: str) -> list[int]:
    """What nobody needs: of our format what does not serve, and of older ones what nobody follows any more."""
    rows = connection.execute(
        "select number, serving, format, sequence from index_generation where corpus = :corpus order by number",
        {"corpus": corpus},
    ).fetchall()
    ours = max((int(row[3]) for row in rows if row[1] and row[2] == FORMAT), default=0)
    found = []
    for number, serves, made_as, sequence in rows:
        # An older program that is still at work keeps up with the ledger as we do.
        outlived = _version(str(made_as)) < _version(FORMAT) and int(sequence) < ours
        if outlived or (made_as == FORMAT and not serves):
            found.append(int(number))
    return found


def owing(connection: Connection, corpus: str) -> dict[int, int]:
    """Generations, of whatever format, that hold bytes of removed rows, each with the stamp of the last removal."""
    rows = connection.execute(
        "select number, owed from index_generation where corpus = :corpus and owed > 0", {"corpus": corpus}
    )
    return {int(number): int(owed) for number, owed in rows}


def owe(connection: Connection, corpus: str, number: int) -> None:
    """Rows were removed at the stamp that it has now."""
    connection.execute(
        "update index_generation set owed = stamp where corpus = :corpus and number = :number",
        {"corpus": corpus, "number": number},
    )


def settle(connection: Connection, corpus: str, settled: dict[int, int]) -> None:
    """Their tables were written anew. Where rows were removed since, that is owed still."""
    for number, owed in settled.items():
        connection.execute(
            "update index_generation set owed = 0 where corpus = :corpus and number = :number and owed = :owed",
            {"corpus": corpus, "number": number, "owed": owed},
        )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))
