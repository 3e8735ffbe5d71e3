"""Rows of a store as they are copied from one engine to another: read in the order of keys, and digested.

The statements are the same on each engine, and so is the form that is hashed: two stores that hold the same say the
same, whatever they are kept in. Digests are sums over rows, so that one row can be taken out of one and another put in.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memoranda.domain.errors import LedgerDamaged
from memoranda.ledger.connection import Connection
from memoranda.ledger.contents import digest_of, walk
from memoranda.ledger.copying_tables import Key, Row, Table

AT_ONCE = 2_000
"""Rows of one bite."""
_KEYS_AT_ONCE = 200
_MODULUS = 1 << 256


class Tally(NamedTuple):
    """How many rows, and their digest so far."""

    rows: int = 0
    total: int = 0

    def plus(self, table: Table, rows: Sequence[Row]) -> "Tally":
        return Tally(self.rows + len(rows), (self.total + _summed(table, rows)) % _MODULUS)

    def minus(self, table: Table, rows: Sequence[Row]) -> "Tally":
        return Tally(self.rows - len(rows), (self.total - _summed(table, rows)) % _MODULUS)

    @property
    def digest(self) -> str:
        return f"{self.total:064x}"


def _summed(table: Table, rows: Sequence[Row]) -> int:
    person = hashlib.blake2b(table.name.encode(), digest_size=16).digest()
    hashed = hashlib.blake2b
    # ascii() and not repr(): what is printable differs from one Python to the next.
    return sum(
        int.from_bytes(hashed(ascii(row).encode("ascii"), digest_size=32, person=person).digest(), "big")
        for row in rows
    )


# -- reading --


def count(connection: Connection, table: Table) -> int:
    """How many rows a table has."""
    row = connection.execute(f"select count(*) from {table.name} where {table.condition}").fetchone()  # noqa: S608
    return int(row[0])


def bite(connection: Connection, table: Table, after: Key | None) -> list[Row]:
    """The next rows behind a key, in the order of keys; none at the end."""
    key = ", ".join(table.key)
    values: dict[str, object] = {"limit": AT_ONCE}
    behind = ""
    if after is not None:
        named = {f"after_{position}": value for position, value in enumerate(after)}
        values |= named
        behind = f"and ({key}) > ({', '.join(':' + name for name in named)})"
    rows: list[Row] = connection.execute(
        f"select {_columns(table)} from {table.name} where {table.condition} {behind} order by {key} limit :limit",  # noqa: S608
        values,
    ).fetchall()
    return rows


def bites(connection: Connection, table: Table, after: Key | None = None) -> Iterator[list[Row]]:
    """A table from a key to its end."""
    while rows := bite(connection, table, after):
        yield rows
        if len(rows) < AT_ONCE:
            return
        after = table.key_of(rows[-1])


def with_keys(connection: Connection, table: Table, keys: Sequence[Key]) -> list[Row]:
    """The rows that have one of these keys."""
    found: list[Row] = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        condition, values = _one_of(table, keys[start : start + _KEYS_AT_ONCE])
        statement = f"select {_columns(table)} from {table.name} where {table.condition} and ({condition})"  # noqa: S608
        found += connection.execute(statement, values).fetchall()
    return found


def delete(connection: Connection, table: Table, keys: Sequence[Key]) -> None:
    """Take out the rows that have one of these keys."""
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        condition, values = _one_of(table, keys[start : start + _KEYS_AT_ONCE])
        connection.execute(f"delete from {table.name} where {table.condition} and ({condition})", values)  # noqa: S608


def _columns(table: Table) -> str:
    return ", ".join(f'"{name}"' for name in table.columns)


def _one_of(table: Table, keys: Sequence[Key]) -> tuple[str, dict[str, object]]:
    values: dict[str, object] = {}
    either = []
    for place, key in enumerate(keys):
        named = {f"key_{place}_{part}": value for part, value in enumerate(key)}
        values |= named
        both = zip(table.key, named, strict=True)
        either.append(" and ".join(f'"{column}" = :{name}' for column, name in both))
    return " or ".join(either), values


def contents(connection: Connection) -> str:
    """The digest of everything that is not forgotten, as `ledger/contents.py` has it. Inside of a transaction."""
    return digest_of(walk(connection, None, below=True))[1]


# -- comparing --


def compare(source: Connection, target: Connection, table: Table, after: Key | None = None) -> Iterator[Tally]:
    """Read a table on both sides and digest it, bite by bite: what was found equal so far.

    Raises LedgerDamaged at the first row that differs, with its key.
    """
    tally = Tally()
    theirs = bites(target, table, after)
    for ours in bites(source, table, after):
        there = next(theirs, [])
        found = tally.plus(table, ours)
        if tally.plus(table, there) != found:
            raise differs(table, ours, there)
        tally = found
        yield tally
    more = next(theirs, [])
    if more:
        raise differs(table, [], more)


def refuse_different(table: Table, wanted: Sequence[Row], there: Sequence[Row]) -> None:
    """Raise LedgerDamaged when these are not the same rows, in whatever order."""
    if Tally().plus(table, wanted) != Tally().plus(table, there):
        raise differs(table, sorted(wanted, key=table.key_of), sorted(there, key=table.key_of))


def differs(table: Table, wanted: Sequence[Row], there: Sequence[Row]) -> LedgerDamaged:
    """Which key is the first that differs. Only the key: a row may say anything."""
    mine, theirs = ({table.key_of(row): ascii(row) for row in rows} for rows in (wanted, there))
    first = min(key for key in {*mine, *theirs} if mine.get(key) != theirs.get(key))
    what = "differs" if first in mine and first in theirs else "is missing" if first in mine else "is too much"
    said = ", ".join(str(part)[:60] for part in table.written(first))
    return LedgerDamaged(
        f"the copy is not what the source holds: in {table.name} the row with the key {said} {what}",
        hint="Remove the target and begin anew; the source was not changed.",
    )
