"""The schema of a store in PostgreSQL: the same named steps as everywhere, and what only this engine needs.

A schema with a step that we do not know was written by a newer Memoranda and is refused untouched.
"""

import hashlib
import re

from memoranda.domain.address import Address
from memoranda.domain.clock import Clock
from memoranda.domain.errors import LedgerDamaged, LedgerError, LedgerNewer
from memoranda.ledger.dialect import POSTGRES
from memoranda.ledger.postgres import policies
from memoranda.ledger.postgres.connection import PostgresConnection
from memoranda.ledger.postgres.functions import FUNCTIONS
from memoranda.ledger.postgres.rewriting import quiet_columns
from memoranda.ledger.schema import MIGRATIONS

TABLES = tuple(
    name
    for step in MIGRATIONS
    for statement in step.statements
    for name in re.findall(r"create table (\w+)", statement)
)
"""The tables of the ledger, in the order in which they are made."""
OWN_TABLES = ("pulse", "writer")
"""What only this engine has: they tell of commits, and hold nothing of anybody."""
_BEGINNING = (
    *FUNCTIONS,
    'create table migration (name text collate "C" primary key, applied_at bigint not null)',
    # Raised by every commit: who waits for something new looks at one row.
    "create table pulse (number bigint not null)",
    "insert into pulse values (0)",
    # The last commit of each process: after a lost connection it tells whether that one took place.
    'create table writer (name text collate "C" primary key, last bigint not null, at bigint not null)',
)


def lock_of(address: Address) -> int:
    """The number of the lock that whoever writes to a store takes first."""
    return int.from_bytes(hashlib.blake2b(address.schema.encode(), digest_size=7, person=b"memoranda").digest())


def migrate(connection: PostgresConnection, address: Address, clock: Clock) -> None:
    """Bring the schema up to date, or refuse it. Safe when several processes open a new store at once."""
    if not _pending(connection, address):
        return
    connection.execute("begin isolation level read committed read write")
    try:
        # The lock of whoever writes: nobody writes by a schema that is changed meanwhile.
        connection.execute("select pg_advisory_xact_lock(:lock)", {"lock": lock_of(address)})
        # Looked up again inside the lock: another process may have just done it.
        pending = _pending(connection, address)
        steps = [each for each in MIGRATIONS if each.name in pending]
        script = [POSTGRES.ddl(statement) for step in steps for statement in step.statements]
        if MIGRATIONS[0] in steps:
            _make_schema(connection, address)
            script[:0] = _BEGINNING
        # In one round trip: there are hundreds.
        connection.together("; ".join((*script, *policies.statements())))
        connection.execute(
            "insert into migration (name, applied_at) select name, :at from unnest(cast(:names as text[])) as name",
            {"names": [step.name for step in steps], "at": clock.now()},
        )
        quiet_columns(connection)
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _make_schema(connection: PostgresConnection, address: Address) -> None:
    """Unless it is there: a role may have the right to use one, and not to make any."""
    if connection.execute("select to_regnamespace(:name)", {"name": address.schema}).fetchall() == [(None,)]:
        connection.execute(f'create schema "{address.schema}"')


def _pending(connection: PostgresConnection, address: Address) -> list[str]:
    values = {"schema": address.schema}
    found = connection.execute(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where n.nspname = :schema and c.relkind in ('r', 'p')",
        values,
    )
    tables = {row[0] for row in found}
    known = [step.name for step in MIGRATIONS]
    if tables and connection.execute("select has_schema_privilege(:schema, 'usage')", values).fetchall() != [(1,)]:
        raise LedgerError(
            f"the role may not look into the schema {address.schema}",
            hint="Connect as the role that owns the store, or let that one grant usage and all rights on its tables.",
        )
    if not tables:
        return known
    if "migration" not in tables or "pulse" not in tables:
        raise LedgerDamaged(
            f"the schema {address.schema} has tables, but is not a Memoranda ledger",
            hint="Name another schema in the address (?schema=NAME). Nothing was changed.",
        )
    applied = {row[0] for row in connection.execute("select name from migration")}
    unknown = sorted(applied - set(known))
    if unknown:
        raise LedgerNewer(f"this ledger was written by a newer Memoranda (it has {unknown[-1]})")
    return [name for name in known if name not in applied]
