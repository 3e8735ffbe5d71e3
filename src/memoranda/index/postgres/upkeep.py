"""Upkeep of an index in PostgreSQL: graphs of vectors for large scopes, and tables written anew.

Both are done in sessions of their own, outside of any transaction, so that nobody waits who need not.
"""

from contextlib import suppress

import psycopg
from psycopg import errors

from memoranda.domain.address import Address
from memoranda.index.postgres.rows import Scope, fetch
from memoranda.index.postgres.scopes import large_scopes
from memoranda.index.postgres.tables import Tables
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.postgres.database import PostgresDatabase
from memoranda.ledger.postgres.rewriting import session, size_of
from memoranda.ledger.postgres.rewriting import written_anew as rewritten

GRAPH_FROM = 20_000
"""A scope with so many vectors gets a graph of them. In a smaller one, comparing all is as fast and finds all."""
WIDEST = 4_000
"""More dimensions than that the graph does not take."""
_WORK_MEMORY = "256MB"


def scopes_without_graph(connection: Connection, tables: Tables) -> list[tuple[Scope, int]]:
    """Scopes that should have a graph, each with the dimensions that its vectors have."""
    wanted = []
    for scope in large_scopes(connection, tables):
        if scope.vectors < GRAPH_FROM:
            continue
        (row,) = fetch(
            connection,
            f"select mode() within group (order by vector_dims(vector)) from (select vector from {tables.vector} "  # noqa: S608
            f"where scope = :scope{tables.of('root = :root')} limit 1000) as sample",
            {"scope": scope.id, "root": scope.root},
        )
        if row[0] is not None and int(row[0]) not in (scope.near,) and int(row[0]) <= WIDEST:
            wanted.append((scope, int(row[0])))
    return wanted


def make_graph(database: Database, tables: Tables, scope: Scope, dimensions: int) -> None:
    """Build the graph of one scope while others read and write; it is used from its completion on."""
    with session(_address(database)) as connection:
        row = connection.execute(
            f"select tableoid::regclass::text from {tables.vector} "  # noqa: S608
            f"where scope = :scope{tables.of('root = :root')} limit 1",
            {"scope": scope.id, "root": scope.root},
        ).fetchone()
        if row is None:  # all of it has gone meanwhile
            return
        name = f"{tables.vector}_near_{scope.id:d}_{dimensions:d}"
        # It waits for everybody whose view is older, and keeps nobody from anything meanwhile.
        connection.together(f"set maintenance_work_mem = '{_WORK_MEMORY}'; set lock_timeout = 0")
        # What a killed process left is of no use to anybody.
        connection.execute(f"drop index concurrently if exists {name}")
        try:
            connection.execute(
                f"create index concurrently {name} on {row[0]} "
                f"using hnsw ((vector::halfvec({dimensions:d})) halfvec_cosine_ops) "
                f"where scope = {scope.id:d} and vector_dims(vector) = {dimensions:d}"
            )
            # Its vectors are no samples for the planner, either.
            connection.execute(f"alter index {name} alter column 1 set statistics 0")
        except BaseException:
            with suppress(psycopg.Error):  # one that is not complete costs every writer, and helps nobody
                connection.execute("reset lock_timeout")
                connection.execute(f"drop index if exists {name}")
            raise
    database.write(
        lambda writing: writing.execute(
            f"update {tables.scope} set near = :near where id = :id",  # noqa: S608
            {"near": dimensions, "id": scope.id},
        ),
        derived=True,
    )


def tidy_words(database: Database, tables: Tables) -> None:
    """Bring what waits beside the index of terms into it, and let the planner know what is there."""
    with session(_address(database)) as connection:
        for name in tables.all:
            with suppress(errors.UndefinedTable):  # replaced meanwhile, together with its index
                connection.execute(f"vacuum (analyze, skip_locked) {name}")


def written_anew(database: Database, tables: Tables, *, patience: float) -> bool:
    """Write the tables anew without what was deleted. False when somebody's older view keeps some of it."""
    return not rewritten(_address(database), tables.all, patience=patience)


def size(connection: Connection, tables: Tables) -> int:
    """Bytes of the tables with their indexes."""
    return size_of(connection, tables.all)


def _address(database: Database) -> Address:
    assert isinstance(database, PostgresDatabase)
    return database.address
