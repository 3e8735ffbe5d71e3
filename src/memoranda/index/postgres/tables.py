"""The tables of an index in PostgreSQL: one set for each generation of it, named by number.

What filters read is narrow: packed rows lie in `body`. Only entries of large scopes have terms, and a row in `vector`:
small scopes are searched as a whole, in memory.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from psycopg.errors import InsufficientPrivilege

from memoranda.domain.errors import ConfigError
from memoranda.index.postgres.generations import enter
from memoranda.ledger.connection import Connection
from memoranda.ledger.postgres.connection import PostgresConnection
from memoranda.ledger.postgres.rewriting import quiet

_OLDEST = (0, 8)
_NAME = re.compile(r"[a-z]{1,20}")

_TABLES = """
create table {scope} (
    id bigint generated always as identity primary key,
    path bytea not null unique,
    root bigint not null,
    large boolean not null default false,
    stamp bigint not null,
    cut bigint not null,
    entries bigint not null default 0,
    live bigint not null default 0,
    words bigint not null default 0,
    vectors bigint not null default 0,
    timed bigint not null default 0,
    near bigint not null default 0
);
create table {entry} (
    number bigint not null,
    root bigint not null,
    scope bigint not null,
    valid_from bigint not null,
    valid_until bigint not null,
    occurred bigint not null,
    conversation bigint not null,
    length integer not null,
    state smallint not null,
    dimensions smallint not null,
    terms bigint[],
    primary key (number, root)
){partitioned};
create table {body} (
    number bigint not null,
    root bigint not null,
    scope bigint not null,
    stamp bigint not null,
    body bytea not null,
    primary key (number, root)
){partitioned};
create table {vector} (
    number bigint not null,
    root bigint not null,
    scope bigint not null,
    valid_from bigint not null,
    valid_until bigint not null,
    state smallint not null,
    vector halfvec not null,
    primary key (number, root)
){partitioned};
create index {body}_scope on {body} (scope, stamp);
create index {entry}_scope on {entry} (scope);
create index {entry}_time on {entry} (scope, occurred) where occurred > 0;
create index {entry}_talk on {entry} (conversation, number) where conversation <> 0;
create index {entry}_bare on {entry} (number) where dimensions = 0;
create index {vector}_scope on {vector} (scope);
"""
# Numbers that look random are not worth compressing; what fits a page stays in line.
_STORAGE = """
alter table {name} alter column {column} set storage external;
alter table {name} set (toast_tuple_target = 8160)
"""
_WORDS = "create index if not exists {entry}_words on {entry} using gin (terms) where terms is not null"


class Tables(NamedTuple):
    """The names of one generation. Nothing but our own words and a number is in them."""

    corpus: str
    generation: int
    partitioned: bool = False
    """Whether rows lie apart by the root of their scope."""

    def of(self, condition: str) -> str:
        """A condition on the root, to be added to one on the scope: it says which partition to look into.

        Without partitions it says nothing, and the planner would take it for one that leaves few of the scope's rows.
        """
        return f" and {condition}" if self.partitioned else ""

    @property
    def entry(self) -> str:
        return self._named("entry")

    @property
    def vector(self) -> str:
        return self._named("vector")

    @property
    def body(self) -> str:
        return self._named("body")

    @property
    def scope(self) -> str:
        return self._named("scope")

    @property
    def all(self) -> tuple[str, ...]:
        return (self.entry, self.body, self.vector, self.scope)

    def _named(self, part: str) -> str:
        assert _NAME.fullmatch(self.corpus), "a name is a word of ours"
        return f"index_{self.corpus}_{self.generation:d}_{part}"

    def filled(self, statement: str) -> str:
        """The statement with the names in place."""
        return statement.format(entry=self.entry, body=self.body, vector=self.vector, scope=self.scope)


def as_made(connection: Connection, tables: Tables) -> Tables:
    """The tables with what is known of them only once they are there."""
    row = connection.execute(
        "select relkind::text from pg_class where oid = to_regclass(:name)", {"name": tables.entry}
    )
    return tables._replace(partitioned=row.fetchall() == [("p",)])


def are_there(connection: Connection, tables: Tables) -> bool:
    """Whether nobody has removed them."""
    (row,) = connection.execute(
        "select count(*) from unnest(cast(:names as text[])) as name where to_regclass(name) is not null",
        {"names": list(tables.all)},
    ).fetchall()
    return int(row[0]) == len(tables.all)


def make(connection: Connection, tables: Tables, fingerprint: str, *, partitions: int, serving: bool) -> None:
    """An empty generation."""
    _need_vectors(connection)
    partitioned = " partition by hash (root)" if partitions else ""
    names = {"entry": tables.entry, "body": tables.body, "vector": tables.vector, "scope": tables.scope}
    script = [_TABLES.format(partitioned=partitioned, **names).strip().rstrip(";")]
    script += (
        f"create table {parent}_{place:d} partition of {parent} "
        f"for values with (modulus {partitions:d}, remainder {place:d})"
        for place in range(partitions)
        for parent in (tables.entry, tables.body, tables.vector)
    )
    script += (
        _STORAGE.format(name=name, column=column)
        for parent, column in ((tables.entry, "terms"), (tables.body, "body"), (tables.vector, "vector"))
        for name in _leaves(parent, partitions)
    )
    assert isinstance(connection, PostgresConnection)
    connection.together("; ".join(script))
    # Nothing is asked of these that the planner could guess better by samples of them.
    telling = ((tables.entry, "terms"), (tables.body, "body"), (tables.vector, "vector"), (tables.scope, "path"))
    quiet(connection, telling)
    enter(connection, tables.corpus, tables.generation, fingerprint, serving=serving)


def _leaves(parent: str, partitions: int) -> Sequence[str]:
    return [f"{parent}_{place:d}" for place in range(partitions)] or [parent]


def make_words(connection: Connection, tables: Tables) -> None:
    """The index of terms. Built at once over what is there, it costs a fraction of what it costs row by row."""
    connection.execute(tables.filled(_WORDS))


def remove(connection: Connection, tables: Tables) -> None:
    """Nothing of this generation is left."""
    connection.execute(f"drop table if exists {', '.join(tables.all)}")
    connection.execute(
        "delete from index_generation where corpus = :corpus and number = :number",
        {"corpus": tables.corpus, "number": tables.generation},
    )


def _need_vectors(connection: Connection) -> None:
    """The extension is there, or is made, or is missed."""
    there = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    if there is not None and _version(str(there[0])) >= _OLDEST:
        return
    # What could be installed lies in the files of the server, which takes its time to look.
    row = connection.execute(
        "select installed_version, default_version from pg_available_extensions where name = 'vector'"
    ).fetchone()
    found = None if row is None else str(row[0] or row[1])
    if row is None or found is None or _version(found) < _OLDEST:
        told = "which this server has not" if found is None else f"and this server has {found}"
        raise ConfigError(
            f"the index in PostgreSQL needs the extension vector (pgvector) 0.8 or newer, {told}",
            hint='Install it on the server and run "alter extension vector update", or set index_home to embedded.',
        )
    if row[0] is None:
        try:
            connection.execute("create extension if not exists vector schema public")
        except InsufficientPrivilege as error:
            raise ConfigError(
                "the index in PostgreSQL needs the extension vector, which only an administrator may add here",
                hint='Let one run "create extension vector schema public" in this database, '
                "or set index_home to embedded.",
            ) from error


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))
