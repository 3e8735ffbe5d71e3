"""SQL for drift: what is there now, what was there at the beginning of a period, and what was counted in between."""

from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.governance import Miss
from memoranda.domain.memory import TRUSTS
from memoranda.domain.scope import Scope
from memoranda.ledger import misses
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.gradings import in_order
from memoranda.ledger.looking import grade_of
from memoranda.ledger.reach import inside

_REPEATED = 2
_SHOWN = 20


class Counted(NamedTuple):
    """The numbers of one scope, or of it and those below."""

    grades: dict[str, int]
    grades_before: dict[str, int]
    trust: dict[str, int]
    stale: int
    duplicates: int
    duplicate_groups: int
    misses: int
    repeated: tuple[Miss, ...]
    capture: dict[str, int]
    waiting: int
    lapsed: int
    expired: int


def count(database: Database, scope: Scope, *, below: bool, since: int, now: int, stale_before: int) -> Counted:
    """Everything at one moment."""
    condition, values = inside(scope, below=below)
    with database.read() as connection:
        rows: list[Any] = connection.execute(
            f"""
            select {grade_of("importance")}, trust, count(*),
                   sum(case when updated_at < :stale_before then 1 else 0 end),
                   sum(case when valid_until <= :now then 1 else 0 end)
            from memory where {condition} and state = 'live' group by 1, 2
            """,  # noqa: S608
            {**values, "now": now, "stale_before": stale_before},
        ).fetchall()
        grades: dict[str, int] = {}
        trust = dict.fromkeys(TRUSTS, 0)
        for grade, trusted, number, _, _ in rows:
            grades[grade] = grades.get(grade, 0) + number
            trust[trusted] += number
        groups, duplicates = _duplicates(connection, condition, values)
        return Counted(
            grades=in_order(grades),
            grades_before=_grades_at(connection, scope, below=below, moment=since),
            trust={str(name): number for name, number in trust.items()},
            stale=sum(row[3] for row in rows),
            duplicates=duplicates,
            duplicate_groups=groups,
            misses=misses.asked(connection, scope, below=below, since=since),
            repeated=misses.repeated(connection, scope, below=below, since=since, least=_REPEATED, limit=_SHOWN),
            capture=_captured(connection, condition, values, first=since // DAY_MS),
            waiting=trust["quarantined"],
            lapsed=sum(row[4] for row in rows),
            expired=_number(connection, f"select count(*) from memory where {condition} and state = 'expired'", values),  # noqa: S608
        )


def _duplicates(connection: Connection, condition: str, values: dict[str, Any]) -> tuple[int, int]:
    """Groups that say the same word for word in one scope, and how many are more than one of each."""
    row: Any = connection.execute(
        f"""
        select count(*), coalesce(sum(number - 1), 0) from (
            select count(*) as number from memory where {condition} and state = 'live'
            group by scope, content_hash having count(*) > 1
        ) as said
        """,  # noqa: S608
        values,
    ).fetchone()
    return int(row[0]), int(row[1])


def _grades_at(connection: Connection, scope: Scope, *, below: bool, moment: int) -> dict[str, int]:
    """The grades of what was live at a moment, by the revisions that tell of it."""
    condition, values = inside(scope, below=below, column="m.scope")
    rows = connection.execute(
        f"""
        select {grade_of("r.importance")}, count(*) from memory m join revision r on r.number = m.number
          and r.seq = (select max(seq) from revision where number = m.number and at <= :moment)
        where {condition} and m.created_at <= :moment and r.state = 'live' group by 1
        """,  # noqa: S608
        {**values, "moment": moment},
    )
    return in_order({str(grade): int(number) for grade, number in rows})


def _captured(connection: Connection, condition: str, values: dict[str, Any], *, first: int) -> dict[str, int]:
    rows = connection.execute(
        f"select name, sum(number) from counter where {condition} and day >= :first group by name order by name",  # noqa: S608
        {**values, "first": first},
    )
    return {str(name): int(number) for name, number in rows}


def _number(connection: Connection, statement: str, values: dict[str, Any]) -> int:
    row = connection.execute(statement, values).fetchone()
    return int(row[0]) if row else 0
