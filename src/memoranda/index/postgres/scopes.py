"""The scopes of an index in PostgreSQL: which are there, how large they are, and when they last changed."""

from collections.abc import Collection, Iterable

from memoranda.index.postgres.rows import Counts, Scope, fetch, path_bytes, root_of
from memoranda.index.postgres.tables import Tables
from memoranda.ledger.connection import Connection

_COLUMNS = "id, path, root, large, stamp, cut, entries, live, words, vectors, timed, near"


def scopes_of(connection: Connection, tables: Tables, paths: Collection[str]) -> list[Scope]:
    """Those of these that have entries, in the order of their names."""
    rows = fetch(
        connection,
        f"select {_COLUMNS} from {tables.scope} where path = any(cast(:paths as bytea[])) order by path",  # noqa: S608
        {"paths": [path_bytes(path) for path in set(paths)]},
    )
    return [_scope(row) for row in rows]


def scopes_by_id(connection: Connection, tables: Tables, ids: Collection[int]) -> list[Scope]:
    rows = fetch(
        connection,
        f"select {_COLUMNS} from {tables.scope} where id = any(cast(:ids as bigint[])) order by id",  # noqa: S608
        {"ids": list(ids)},
    )
    return [_scope(row) for row in rows]


def large_scopes(connection: Connection, tables: Tables) -> list[Scope]:
    """Those whose words and vectors are in the engine's own indexes."""
    return [_scope(row) for row in fetch(connection, f"select {_COLUMNS} from {tables.scope} where large", {})]  # noqa: S608


def _scope(row: tuple[object, ...]) -> Scope:
    numbers = [int(value) for value in (row[0], *row[2:])]  # type: ignore[call-overload]
    path = bytes(row[1]).decode("utf-8", "surrogatepass")  # type: ignore[call-overload]
    return Scope(numbers[0], path, numbers[1], bool(numbers[2]), *numbers[3:])


def make_scopes(connection: Connection, tables: Tables, paths: Iterable[str], stamp: int) -> dict[str, Scope]:
    """All of these, those that are new made."""
    wanted = sorted(set(paths))
    connection.execute(
        f"insert into {tables.scope} (path, root, stamp, cut) "  # noqa: S608
        "select path, root, :stamp, :stamp from unnest(cast(:paths as bytea[]), cast(:roots as bigint[])) "
        "as given (path, root) on conflict (path) do nothing",
        {"paths": [path_bytes(path) for path in wanted], "roots": [root_of(path) for path in wanted], "stamp": stamp},
    )
    return {scope.path: scope for scope in scopes_of(connection, tables, wanted)}


def note_changes(
    connection: Connection, tables: Tables, changes: dict[int, Counts], left: Collection[int], stamp: int
) -> None:
    """Add to the counts of scopes. From those in `left` an entry went away. What is empty is forgotten."""
    ids = sorted(changes)
    added = [changes[scope] for scope in ids]
    connection.execute(
        f"""
        update {tables.scope} as scope set
            stamp = :stamp,
            cut = case when given.gone then :stamp else scope.cut end,
            entries = scope.entries + given.entries,
            live = scope.live + given.live,
            words = scope.words + given.words,
            vectors = scope.vectors + given.vectors,
            timed = scope.timed + given.timed
        from (
            select id, gone = 1 as gone, entries, live, words, vectors, timed from unnest(
                cast(:ids as bigint[]), cast(:gone as bigint[]), cast(:entries as bigint[]), cast(:live as bigint[]),
                cast(:words as bigint[]), cast(:vectors as bigint[]), cast(:timed as bigint[])
            ) as each (id, gone, entries, live, words, vectors, timed)
        ) as given
        where scope.id = given.id
        """,  # noqa: S608
        {
            "stamp": stamp,
            "ids": ids,
            "gone": [int(scope in left) for scope in ids],
            **{name: [getattr(each, name) for each in added] for name in Counts._fields},
        },
    )
    connection.execute(
        f"delete from {tables.scope} where id = any(cast(:ids as bigint[])) and entries = 0",  # noqa: S608
        {"ids": ids},
    )


def set_large(connection: Connection, tables: Tables, scope: Scope, *, large: bool) -> Scope:
    connection.execute(
        f"update {tables.scope} set large = (:large = 1) where id = :id",  # noqa: S608
        {"large": int(large), "id": scope.id},
    )
    return scope._replace(large=large)
