"""Tokens: what a store knows of those it lets in. A digest of each, never the token itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.domain.access import Token
from memoranda.domain.clock import Clock
from memoranda.domain.errors import NotFound
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database

USE_NOTED_MS = 60_000
"""The last use of a token is written down at most this often."""
_SELECT = "select id, name, role, scope, above, created_at, expires_at, revoked_at, last_used_at from token"
_INSIDE = "(:top = '' or scope = :top or (scope > :below and scope < :beyond))"


class Tokens:
    """The tokens of one store. Who may make or see which is decided elsewhere."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, token: Token, digest: bytes, *, made_by: str) -> bool:
        """Keep a token; False, and nothing is kept, when there is one with this id."""

        def job(connection: Connection) -> bool:
            connection.execute(
                """
                insert into token (id, digest, name, role, scope, above, created_at, expires_at, made_by)
                values (:id, :digest, :name, :role, :scope, :above, :created_at, :expires_at, :made_by)
                on conflict (id) do nothing
                """,
                {**token._asdict(), "above": int(token.above), "digest": digest, "made_by": made_by},
            )
            return connection.changes() > 0

        return self._database.write(job)

    def by_digest(self, digest: bytes) -> Token | None:
        """The token with this digest, good or not."""
        with self._database.read() as connection:
            return _one(connection, "digest = :digest", {"digest": digest})

    def by_id(self, reference: str) -> Token | None:
        """The token with this id, good or not."""
        with self._database.read() as connection:
            return _one(connection, "id = :id", {"id": reference})

    def listed(self, scope_prefix: str) -> tuple[Token, ...]:
        """Those bound to this scope or to one below it, oldest first; of the whole store when it is empty."""
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} where {_INSIDE} order by created_at, id", _inside(scope_prefix))
            return tuple(_to_token(row) for row in rows)

    def revoke(self, reference: str, scope_prefix: str) -> tuple[Token, tuple[str, ...]]:
        """It opens nothing from now on, nor does what was made with it, and with that: the token, and the ids of those
        others. One that was revoked before stays as it was."""

        def job(connection: Connection) -> tuple[Token, tuple[str, ...]]:
            values = {"id": reference, "at": self._clock.now(), **_inside(scope_prefix)}
            if _one(connection, f"id = :id and {_INSIDE}", values) is None:
                raise NotFound(
                    "there is no token with this id here", hint="`memoranda token list` shows the ids; give all of it."
                )
            rows = connection.execute(
                """
                with recursive line (id) as (
                    select id from token where id = :id
                    union select token.id from token join line on token.made_by = line.id
                )
                update token set revoked_at = :at where revoked_at is null and id in (select id from line) returning id
                """,
                values,
            ).fetchall()
            found = _one(connection, "id = :id", values)
            assert found is not None
            return found, tuple(sorted(str(row[0]) for row in rows if row[0] != reference))

        return self._database.write(job)

    def touch(self, used: Mapping[str, int]) -> None:
        """Write down when these were last used, unless that was done within the last minute."""

        def job(connection: Connection) -> None:
            for reference, at in used.items():
                connection.execute(
                    """
                    update token set last_used_at = :at
                    where id = :id and (last_used_at is null or last_used_at <= :before)
                    """,
                    {"id": reference, "at": at, "before": at - USE_NOTED_MS},
                )

        self._database.write(job)

    def count_good(self, now: int) -> int:
        """How many open something."""
        with self._database.read() as connection:
            row = connection.execute(
                "select count(*) from token where revoked_at is null and (expires_at is null or expires_at > :now)",
                {"now": now},
            ).fetchone()
            return int(row[0]) if row else 0


def _inside(scope_prefix: str) -> dict[str, str]:
    """Between `bot-1/` and `bot-10` lies what is below `bot-1`, and `bot-10` does not."""
    return {"top": scope_prefix, "below": scope_prefix + "/", "beyond": scope_prefix + "0"}


def _one(connection: Connection, condition: str, values: Mapping[str, Any]) -> Token | None:
    row = connection.execute(f"{_SELECT} where {condition}", values).fetchone()
    return None if row is None else _to_token(row)


def _to_token(row: Sequence[Any]) -> Token:
    reference, name, role, scope, above, *times = row
    return Token(str(reference), str(name), role, str(scope), bool(above), *times)
