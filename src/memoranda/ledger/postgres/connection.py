"""A connection to PostgreSQL that takes the statements of this room, and gives the values that SQLite would."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from memoranda.ledger.connection import Values
from memoranda.ledger.dialect import POSTGRES
from memoranda.ledger.postgres.policies import SETTING
from memoranda.ledger.postgres.statements import translated

_FENCE = re.compile(r"[A-Za-z0-9_.:@+~,/-]*")


class _Number(Loader):
    """A sum of integers is one; an average is not."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class _Truth(Loader):
    """What a comparison says, as a number."""

    def load(self, data: Any) -> int:
        return int(bytes(data) == b"t")


class _TruthDumper(Int8Dumper):
    """A truth is kept as a number."""

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class Rows:
    """The rows of one statement, all of them read."""

    __slots__ = ("_rows",)

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def __next__(self) -> tuple[Any, ...]:
        return next(self._rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._rows)


class PostgresConnection:
    """One session of the server."""

    dialect = POSTGRES

    def __init__(self, raw: "psycopg.Connection[tuple[Any, ...]]") -> None:
        self.raw = raw
        self.fence = ""
        """What the transaction under way was told that it may touch; empty for the whole store."""
        self._changes = 0

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status != pq.TransactionStatus.IDLE

    @property
    def is_well(self) -> bool:
        """Whether its transaction takes statements."""
        return self.raw.info.transaction_status == pq.TransactionStatus.INTRANS

    def execute(self, statement: str, values: Values | None = None, /) -> Rows:
        text, names = translated(statement)
        given = None
        if values is not None and names is not None:
            assert isinstance(values, Mapping)
            given = [values[name] for name in names]
        elif values is not None:
            assert not isinstance(values, Mapping)
            given = list(values)
        cursor = psycopg.RawCursor(self.raw)
        cursor.execute(text.encode(), given or None)
        self._changes = max(cursor.rowcount, 0)
        return Rows(cursor.fetchall() if cursor.description is not None else [])

    def together(self, script: str) -> None:
        """Several statements without values, sent at once. What they give is thrown away."""
        psycopg.RawCursor(self.raw).execute(script.encode())

    def begin(self, script: str, fence: str) -> None:
        """Begin a transaction with this script, inside of a fence, in one round trip."""
        self.together(f"{script}; {_told(fence)}" if fence else script)
        self.fence = fence

    def tell_fence(self, fence: str) -> None:
        """Another fence for the rest of the transaction."""
        self.together(_told(fence))
        self.fence = fence

    def changes(self) -> int:
        return self._changes


def _told(fence: str) -> str:
    """The statement that tells a fence. Made of scopes, which are letters that end no text."""
    if not _FENCE.fullmatch(fence):
        raise ValueError("not a fence")
    return f"select set_config('{SETTING}', '{fence}', true)"


def connected(
    url: str, *, schema: str, patience_ms: int, name: str = "memoranda", primary: bool = True
) -> PostgresConnection:
    """A new session, in the store's schema: of the server that may be written to, unless any will do.

    Raises what the driver raises.
    """
    raw = psycopg.connect(url, autocommit=True, **defaults(url, name, primary=primary))
    try:
        prepare(raw, schema, patience_ms)
    except BaseException:
        raw.close()
        raise
    return PostgresConnection(raw)


def prepare(raw: "psycopg.Connection[Any]", schema: str, patience_ms: int) -> None:
    """What every session of a store begins with. Told, not passed along: some poolers drop what is passed along.

    Integers are as long as columns are; what is text is sent as text, so that no statement has to say so.
    """
    raw.adapters.register_dumper(int, Int8Dumper)
    raw.adapters.register_dumper(bool, _TruthDumper)
    raw.adapters.register_dumper(str, StrDumper)
    raw.adapters.register_loader("numeric", _Number)
    raw.adapters.register_loader("bool", _Truth)
    psycopg.RawCursor(raw).execute(_SESSION.format(schema=schema, patience=patience_ms).encode())


# A machine that vanishes must not keep the store's lock: the server asks whether it is still there. What the server's
# own settings would end or leave to chance is said here: acknowledged is durable, and a view may last.
_SESSION = """
    set search_path to {schema}, public; set lock_timeout = {patience:d}; set timezone = 'UTC';
    set client_encoding = 'UTF8'; set standard_conforming_strings = on;
    set idle_in_transaction_session_timeout = 0; set idle_session_timeout = 0; set statement_timeout = 0;
    select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) <> '0';
    set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'
"""


def defaults(url: str, name: str, *, primary: bool = True) -> dict[str, Any]:
    """What the driver is told besides the address, where that does not say otherwise."""
    wanted: dict[str, Any] = {
        "fallback_application_name": name,
        "connect_timeout": 10,
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }
    if primary:
        wanted["target_session_attrs"] = "read-write"
    return {option: value for option, value in wanted.items() if f"{option}=" not in url}
