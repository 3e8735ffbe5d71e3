"""The triggers by which a store notes its changes, or refuses them, in the words of each engine.

In PostgreSQL there is one trigger for each table, and what it does is changed by another function in its place: that
locks no table, so that nobody who reads is in the way, whatever else they read.
"""

from collections.abc import Iterator

from memoranda.ledger.copying_tables import MOVING, Table
from memoranda.ledger.moved import MARK, STATE

_CHANGES = ("insert", "update", "delete")
_REFUSING = "moved"
_NOTE = f"insert into {MOVING} (name, key)"


def noting(engine: str, table: Table) -> Iterator[str]:
    """From now on, the key of each row that is changed is noted."""
    if engine == "postgres":
        yield _function(table, _noted_in_postgres(table))
        yield (
            f"create or replace trigger {MOVING}_{table.name} after insert or update or delete on {table.name} "
            f"for each row execute function {MOVING}_{table.name}()"
        )
        return
    for change, line in _noted_in_sqlite(table).items():
        yield f"create trigger {MOVING}_{table.name}_{change} after {change} on {table.name} begin {line} end"


def silent(engine: str, table: Table) -> Iterator[str]:
    """Nothing is noted and nothing refused."""
    if engine == "postgres":
        yield _function(table, "return null;")
        return
    for change in _CHANGES:
        yield f"drop trigger if exists {MOVING}_{table.name}_{change}"
        yield f"drop trigger if exists {_REFUSING}_{table.name}_{change}"


def refusing(engine: str, table: Table, words: str) -> Iterator[str]:
    """Every change is refused with these words."""
    said = f"{MARK}{words}".replace("'", "''")
    if engine == "postgres":
        yield _function(table, f"raise exception using errcode = '{STATE}', message = '{said}';")
        return
    yield from silent(engine, table)
    for change in _CHANGES:
        yield (
            f"create trigger {_REFUSING}_{table.name}_{change} before {change} on {table.name} "
            f"begin select raise(abort, '{said}'); end"
        )


def leavings(engine: str, table: Table) -> Iterator[str]:
    """Take away what is silent. Each locks one table for a moment: not in one transaction."""
    if engine == "postgres":
        yield f"drop trigger if exists {MOVING}_{table.name} on {table.name}"
        yield f"drop function if exists {MOVING}_{table.name}()"


def _function(table: Table, body: str) -> str:
    return (
        f"create or replace function {MOVING}_{table.name}() returns trigger language plpgsql "
        f"as $noting$ begin {body} end $noting$"
    )


def _noted_in_postgres(table: Table) -> str:
    def key(row: str) -> str:
        parts = (f"encode({row}.\"{name}\", 'hex')" if name in table.blobs else f'{row}."{name}"' for name in table.key)
        return f"cast(json_build_array({', '.join(parts)}) as text)"

    note = f"{_NOTE} values ('{table.name}', "
    return (
        f"if tg_op = 'DELETE' or (tg_op = 'UPDATE' and ({_other_key(table)})) then {note}{key('old')}); end if; "
        f"if tg_op <> 'DELETE' then {note}{key('new')}); end if; "
        "return null;"
    )


def _noted_in_sqlite(table: Table) -> dict[str, str]:
    def key(row: str) -> str:
        parts = (f'hex({row}."{name}")' if name in table.blobs else f'{row}."{name}"' for name in table.key)
        return f"json_array({', '.join(parts)})"

    fresh, old = (f"'{table.name}', {key(row)}" for row in ("new", "old"))
    return {
        "insert": f"{_NOTE} values ({fresh});",
        "update": f"{_NOTE} values ({fresh}); {_NOTE} select {old} where {_other_key(table)};",
        "delete": f"{_NOTE} values ({old});",
    }


def _other_key(table: Table) -> str:
    return " or ".join(f'new."{name}" <> old."{name}"' for name in table.key)
