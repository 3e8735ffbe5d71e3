"""SQL for looking at a whole ledger: its events, its growth, its scopes. Numbers and ids, never what a memory says."""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS, iso
from memoranda.domain.errors import Ambiguous, InvalidInput, NotFound
from memoranda.domain.ids import is_id_or_prefix
from memoranda.domain.looking import Day, ScopeCount, ScopePage, Timeline
from memoranda.domain.memory import GRADE_FLOORS
from memoranda.domain.results import Event
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders
from memoranda.ledger.feed import number_in

_Values = dict[str, Any]
_CANDIDATES = 9


class Happened(NamedTuple):
    """Which events are asked for; empty means any."""

    limit: int
    before: int | None = None
    """A sequence: only what happened before it."""
    action: str = ""
    reference: str | None = None
    """An id, or the beginning of one."""
    actor: str = ""
    after: int | None = None
    until: int | None = None


_OWN_WORDS = (
    "select distinct scope from event union select distinct actor from event",
    "select distinct scope from message_event union select distinct actor from message_event",
    "select distinct scope from tombstone",
    "select path from mirror union select root from source union select name from source",
    "select name from token union select scope from token",
)


def own_words(connection: Connection) -> Iterator[str]:
    """What the file says whatever is kept: its schema, and where and by whom something was done. To find a word there
    tells nothing of what a memory said."""
    for statement in (connection.dialect.own_schema, *_OWN_WORDS):
        yield from (str(row[0]) for row in connection.execute(statement))


class Overview:
    """What a ledger tells of itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def live(self) -> int:
        """Memories of the whole store that may be recalled."""
        with self._database.read() as connection:
            return number_in(connection, "select count(*) from memory where state = 'live'")

    def timeline(self, scope: Scope, wanted: Happened, *, below: bool) -> Timeline:
        """One page of what happened in what the scope sees, newest first; with `below`, also in the scopes below."""
        with self._database.read() as connection:
            return _timeline(connection, scope, wanted, below=below)

    def growth(self, scope: Scope, *, first: int, last: int, below: bool) -> tuple[Day, ...]:
        """Each day from the first to the last, counted from 1970, whether something happened on it or not."""
        with self._database.read() as connection:
            return _growth(connection, scope, first=first, last=last, below=below)

    def scopes(self, below: str, *, limit: int, offset: int) -> ScopePage:
        """The scopes at and below a path that hold anything; all of the store when the path is empty."""
        with self._database.read() as connection:
            return _scopes(connection, below, limit=limit, offset=offset)


def _seen(scope: Scope, *, below: bool) -> tuple[str, _Values]:
    """The condition for what a scope sees, and with `below` for what lies below it."""
    names, values = placeholders("scope", scope.chain())
    if not below:
        return f"scope in ({names})", {**values}
    inside, more = _inside(scope.path)
    return f"(scope in ({names}) or {inside})", {**values, **more}


def _inside(path: str) -> tuple[str, _Values]:
    # '0' is the character after '/': a range, so that an index is used and `bot-1` never reaches `bot-10`.
    values = {"path": path, "below": path + "/", "beyond": path + "0"}
    return "(scope = :path or (scope > :below and scope < :beyond))", values


# -- which memories --

_LAST_WITH_CASES = 0x1F000
_WILD = frozenset("*?[")
_LITERAL = re.compile(r"[%_^]")
_ESCAPED = r"^\g<0>"


def browsed(importance: str, grades: Sequence[str], column: str, text: str) -> tuple[list[str], _Values]:
    """The conditions for what is browsed by grade and by letters, and their values; none for what is not asked for."""
    parts = [_graded(importance, grades)] if grades else []
    condition, values = _containing(column, text) if text else ("", {})
    return [*parts, condition] if condition else parts, values


def grade_of(column: str) -> str:
    """The grade of an importance, as an expression."""
    floors = " ".join(f"when {column} >= {floor} then '{grade}'" for grade, floor in GRADE_FLOORS)
    return f"case when {column} is null then 'unknown' {floors} end"


def _graded(column: str, grades: Sequence[str]) -> str:
    """The condition that an importance has one of these grades."""
    parts = [f"{column} is null"] if "unknown" in grades else []
    ceiling = ""
    for grade, floor in GRADE_FLOORS:
        if grade in grades:
            parts.append(f"{column} >= {floor}{ceiling}")
        ceiling = f" and {column} < {floor}"
    return f"({' or '.join(parts)})"


def _containing(column: str, text: str) -> tuple[str, _Values]:
    """The condition that a column has these letters, in whatever case, and its values. Nothing in them is a wildcard.

    LIKE knows the cases of ASCII alone; a function of ours would take the interpreter's lock for every row.
    """
    lower = text.lower()
    # The one letter that people write as two when it is capital.
    written = dict.fromkeys((lower, lower.replace("ß", "ss"), lower.replace("ss", "ß")))
    values: _Values = {}
    parts = []
    for place, each in enumerate(written):
        name = f"text_{place}"
        if each.isascii():
            parts.append(f"{column} like :{name} escape '^'")
            values[name] = f"%{_LITERAL.sub(_ESCAPED, each)}%"
        else:
            parts.append(f"glob(:{name}, {column})")
            values[name] = f"*{_in_any_case(each)}*"
    return f"({' or '.join(parts)})", values


def _in_any_case(text: str) -> str:
    cases = _cases()
    return "".join(
        f"[{char}]" if char in _WILD else f"[{cases[folded]}]" if (folded := _folded(char)) in cases else char
        for char in text
    )


@functools.cache
def _cases() -> dict[str, str]:
    """Every letter that has cases: folded, with all of them."""
    found: dict[str, str] = {}
    for char in map(chr, range(_LAST_WITH_CASES)):
        folded = _folded(char)
        if folded != char:
            found[folded] = found.get(folded, folded) + char
    return found


def _folded(char: str) -> str:
    """A letter without its case; one that would become several stays one."""
    folded = char.casefold()
    return folded if len(folded) == 1 else lower if len(lower := char.lower()) == 1 else char


# -- what happened --


def _timeline(connection: Connection, scope: Scope, wanted: Happened, *, below: bool) -> Timeline:
    condition, values = _seen(scope, below=below)
    parts = [condition]
    if wanted.reference is not None:
        parts.append("memory_id = :memory_id")
        values["memory_id"] = _meant(connection, condition, values, wanted.reference, scope)
    for name, comparison in (("before", "seq <"), ("after", "at >="), ("until", "at <=")):
        if getattr(wanted, name) is not None:
            parts.append(f"{comparison} :{name}")
            values[name] = getattr(wanted, name)
    for name in ("action", "actor"):
        if getattr(wanted, name):
            parts.append(f"{name} = :{name}")
            values[name] = getattr(wanted, name)
    rows: list[Any] = connection.execute(
        "select seq, at, action, memory_id, scope, actor, reason from event "  # noqa: S608
        f"where {' and '.join(parts)} order by seq desc limit :most",
        {**values, "most": wanted.limit + 1},
    ).fetchall()
    page = tuple(Event(*row) for row in rows[: wanted.limit])
    return Timeline(page, page[-1].sequence if len(rows) > wanted.limit else None)


def _meant(connection: Connection, condition: str, values: _Values, reference: str, scope: Scope) -> str:
    """The one id that this is, or begins. Also of what was erased: that it was there is still told."""
    if not is_id_or_prefix(reference):
        raise InvalidInput(
            f"not an id: {reference[:40]!r}", hint="An id has 20 characters; its first four or more will do."
        )
    rows = connection.execute(
        f"""
        select id from memory where id >= :id and id < :id_end and {condition}
        union
        select memory_id from event where action = 'erased' and memory_id >= :id and memory_id < :id_end and {condition}
        order by 1 limit {_CANDIDATES}
        """,  # noqa: S608
        {**values, "id": reference, "id_end": reference + "~"},
    ).fetchall()
    ids = tuple(str(row[0]) for row in rows)
    if not ids:
        raise NotFound(f"no memory {reference!r} in scope {scope}")
    if len(ids) > 1:
        raise Ambiguous(f"{reference!r} is the beginning of {len(ids)} or more ids", candidates=ids)
    return ids[0]


# -- how it grew --

# A memory is born live. Archiving and forgetting hide it, restoring undoes the last of these; what is superseded,
# expired or erased does not come back. So its events tell when it was live, also after its revisions were erased.
_GROWTH = """
    with seen as (
        select seq, number, action, at / :day as day from event where {condition} and at < :end
    ),
    life as (
        select s.day, s.number, s.seq,
               case when r.state is not null then case when r.state = 'live' then 1 else 0 end
                    when sum(case when s.action = 'restored' then -1 when s.action in ('archived', 'forgotten') then 1
                                  else 0 end) over so_far <= 0
                     and sum(case when s.action in ('superseded', 'expired', 'erased') then 1 else 0 end)
                         over so_far = 0
                    then 1 else 0 end as lives
        from seen s left join revision r on r.number = s.number and r.seq = s.seq
        window so_far as (partition by s.number order by s.seq)
    ),
    change as (
        select day, action, 0 as more from seen
        union all
        select day, '', lives - lag(lives, 1, 0) over (partition by number order by seq) from life
    )
    select case when day < :first then :first - 1 else day end, sum(more),
           sum(case when action = 'remembered' then 1 else 0 end),
           sum(case when action = 'reinforced' then 1 else 0 end),
           sum(case when action = 'superseded' then 1 else 0 end),
           sum(case when action = 'forgotten' then 1 else 0 end),
           sum(case when action = 'erased' then 1 else 0 end)
    from change group by 1
"""

_UNKNOWN = """
    select e.at / :day, avg(case when r.importance is null then 1.0 else 0.0 end)
    from event e join revision r on r.number = e.number and r.seq = e.seq
    where {condition} and e.action = 'remembered' and e.at >= :start and e.at < :end group by 1
"""


def _growth(connection: Connection, scope: Scope, *, first: int, last: int, below: bool) -> tuple[Day, ...]:
    condition, values = _seen(scope, below=below)
    span = {"day": DAY_MS, "end": (last + 1) * DAY_MS}
    rows: list[Any] = connection.execute(
        _GROWTH.format(condition=condition), {**values, **span, "first": first}
    ).fetchall()
    shares: list[Any] = connection.execute(
        _UNKNOWN.format(condition=condition), {**values, **span, "start": first * DAY_MS}
    ).fetchall()
    found = {row[0]: row[1:] for row in rows}
    unknown = dict(shares)
    live = found[first - 1][0] if first - 1 in found else 0
    days = []
    for day in range(first, last + 1):
        more, created, reinforced, superseded, forgotten, erased = found.get(day, (0,) * 6)
        live += more
        when = iso(day * DAY_MS)[:10]
        days.append(Day(when, created, reinforced, superseded, forgotten, erased, live, unknown.get(day)))
    return tuple(days)


# -- where it is --


def _scopes(connection: Connection, below: str, *, limit: int, offset: int) -> ScopePage:
    condition, values = _inside(below) if below else ("scope <> ''", {})
    rows: list[Any] = connection.execute(
        f"""
        select scope, sum(memories), sum(live), sum(conversations), sum(sources), max(newest)
        from (
            select scope, count(*) as memories, sum(case when state = 'live' then 1 else 0 end) as live,
                   0 as conversations, 0 as sources, max(created_at) as newest
            from memory where {condition} group by scope
            union all
            select scope, 0, 0, count(*), 0, null from conversation where {condition} group by scope
            union all
            select scope, 0, 0, 0, count(*), null from source where {condition} group by scope
        ) as held
        group by scope order by scope limit :limit offset :offset
        """,  # noqa: S608
        {**values, "limit": limit, "offset": offset},
    ).fetchall()
    total = connection.execute(
        f"""
        select count(*) from (
            select scope from memory where {condition} union select scope from conversation where {condition}
            union select scope from source where {condition}
        ) as held
        """,  # noqa: S608
        values,
    ).fetchone()
    return ScopePage(tuple(ScopeCount(*row) for row in rows), int(total[0]) if total else 0)
