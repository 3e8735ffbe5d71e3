"""SQL for queries that found nothing: a keyed digest, how often on each day, and its words only where the settings
keep them.

A row is one query on one day: its key is the digest of the query, and then the day.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.governance import Miss
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.reach import inside

MOST_IN_A_SCOPE = 200
"""Queries that are known, the newest."""
MOST_DAYS_IN_A_SCOPE = 2_000
"""Rows of these: a query that is asked every day has one for each."""
DIGEST_SIZE = 16
_DAY_SIZE = 4
_SHOWN_DIGITS = 12
_QUERY = f"substr(digest, 1, {DIGEST_SIZE})"


class Noted(NamedTuple):
    """One query that found nothing, as often as it was asked on one day since it was last written down."""

    scope: str
    digest: bytes
    reason: str
    text: str
    first_at: int
    last_at: int
    times: int


def add(connection: Connection, noted: Sequence[Noted]) -> None:
    """Write these down, each with its day. Of each scope only the newest are kept."""
    for each in noted:
        day = (each.last_at // DAY_MS).to_bytes(_DAY_SIZE, "big")
        connection.execute(
            """
            insert into miss (scope, digest, reason, text, first_at, last_at, times)
            values (:scope, :digest, :reason, :text, :first_at, :last_at, :times)
            on conflict (scope, digest) do update set
                reason = excluded.reason, text = excluded.text, last_at = excluded.last_at,
                times = miss.times + excluded.times
            """,
            {**each._asdict(), "digest": each.digest + day},
        )
    for scope in sorted({each.scope for each in noted}):
        connection.execute(
            f"""
            delete from miss where scope = :scope and (
                {_QUERY} not in (
                    select {_QUERY} from miss where scope = :scope
                    group by 1 order by max(last_at) desc, sum(times) desc, 1 limit :most
                )
                or digest not in (
                    select digest from miss where scope = :scope order by last_at desc, digest limit :most_days
                )
            )
            """,  # noqa: S608
            {"scope": scope, "most": MOST_IN_A_SCOPE, "most_days": MOST_DAYS_IN_A_SCOPE},
        )


def asked(connection: Connection, scope: Scope, *, below: bool, since: int) -> int:
    """How often something was asked from that day on that found nothing, as far as it is still known."""
    condition, values = inside(scope, below=below)
    row = connection.execute(
        f"select coalesce(sum(times), 0) from miss where {condition} and last_at >= :first",  # noqa: S608
        {**values, "first": _day(since)},
    ).fetchone()
    return int(row[0]) if row else 0


def repeated(
    connection: Connection, scope: Scope, *, below: bool, since: int, least: int, limit: int
) -> tuple[Miss, ...]:
    """Those that were asked again and again from that day on, most often first. Reason and words are the last ones."""
    condition, values = inside(scope, below=below)
    rows: list[Any] = connection.execute(
        f"""
        select a.scope, a.query, m.reason, m.text, a.times, a.first_at, a.last_at from (
            select scope, {_QUERY} as query, sum(times) as times, min(first_at) as first_at, max(last_at) as last_at,
                   max(digest) as newest
            from miss where {condition} and last_at >= :first group by 1, 2
        ) as a join miss m on m.scope = a.scope and m.digest = a.newest
        where a.times >= :least order by a.times desc, a.last_at desc, a.scope, a.query limit :limit
        """,  # noqa: S608
        {**values, "first": _day(since), "least": least, "limit": limit},
    ).fetchall()
    return tuple(Miss(row[0], bytes(row[1]).hex()[:_SHOWN_DIGITS], *row[2:]) for row in rows)


def clear(connection: Connection, scope: Scope | None = None) -> int:
    """Nothing is known any more of what was asked in a scope and below it, or in the whole store; how many.

    For an erasure: what somebody asks for may say what was erased.
    """
    condition, values = ("1 = 1", {}) if scope is None else inside(scope, below=True)
    return len(connection.execute(f"delete from miss where {condition} returning 1", values).fetchall())  # noqa: S608


def _day(moment: int) -> int:
    """When its day began."""
    return moment // DAY_MS * DAY_MS


def texts(connection: Connection) -> list[str]:
    """Every query whose words were kept, for the proof of an erasure."""
    return [str(row[0]) for row in connection.execute("select text from miss where text <> ''")]
