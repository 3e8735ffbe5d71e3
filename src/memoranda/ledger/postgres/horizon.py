"""How far back somebody on the server still looks: until they have ended, nothing that they see can leave its table.

What counts for a table is an older view of somebody in the same database; and whatever follows the server and asks it
to keep rows, standbys and replication slots. A view of another database keeps nothing here. But an older transaction
that writes does, in whatever database, prepared or under way: whoever begins a view has to know that it is not over,
also who writes a table anew.
"""

import re
import time
from collections.abc import Callable
from typing import Any

from memoranda.ledger.connection import Connection

_LOOK_AGAIN_SECONDS = 0.05
_MOST_NAMED = 3
_ODD = re.compile(r"[^\w .:@/+-]")
# Compared by age: the numbers of transactions go round.
_OLDER = """
    with moment as (select age(cast(cast(:moment as xid8) as xid)) as age)
    select kind, name, pid, state, seconds from (
        select case when backend_type = 'walsender' then 'standby' else 'session' end as kind, application_name as name,
               pid, coalesce(state, '') as state, cast(extract(epoch from clock_timestamp() - xact_start) as bigint)
               as seconds, greatest(age(backend_xid), case when datname is distinct from current_database()
               and backend_type is distinct from 'walsender' then null else age(backend_xmin) end) as age
        from pg_stat_activity where pid <> pg_backend_pid()
        union all
        select 'slot', slot_name, coalesce(active_pid, 0), '', null, age(xmin) from pg_replication_slots
        union all
        select 'prepared', gid, 0, '', cast(extract(epoch from clock_timestamp() - prepared) as bigint),
               age(transaction) from pg_prepared_xacts
    ) as held, moment where held.age > moment.age order by held.age desc, kind, pid limit :most
"""
_LOCKING = """
    select 'session', coalesce(s.application_name, ''), l.pid, coalesce(s.state, ''),
           cast(extract(epoch from clock_timestamp() - s.xact_start) as bigint)
    from pg_locks l left join pg_stat_activity s on s.pid = l.pid
    where l.locktype = 'relation' and l.granted and l.relation = to_regclass(:table) and l.pid <> pg_backend_pid()
          and l.database = (select oid from pg_database where datname = current_database())
    order by l.pid limit :most
"""


def moment(connection: Connection) -> str:
    """What was deleted before now was deleted by an older transaction than this."""
    return str(connection.execute("select cast(pg_snapshot_xmax(pg_current_snapshot()) as text)").fetchall()[0][0])


def older_views(connection: Connection, since: str) -> str:
    """Who keeps rows that were deleted before that moment, for people; empty when nobody does."""
    return _named(connection.execute(_OLDER, {"moment": since, "most": _MOST_NAMED + 1}).fetchall())


def holders(connection: Connection, table: str) -> str:
    """Who uses a table just now, for people; empty when nobody does any more."""
    return _named(connection.execute(_LOCKING, {"table": table, "most": _MOST_NAMED + 1}).fetchall())


def wait(looked: Callable[[], str], deadline: float) -> str:
    """Until nobody is found, or the time is over: then who it was."""
    while (found := looked()) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return found


def _named(rows: list[Any]) -> str:
    named = [_one(*row) for row in rows[:_MOST_NAMED]]
    return ", ".join([*named, "others"] if len(rows) > _MOST_NAMED else named)


def _one(kind: str, name: str, pid: int, state: str, seconds: int | None) -> str:
    """By what an operator finds it. The names are anybody's, so that nothing odd of them is passed on."""
    called = _ODD.sub("?", str(name or ""))[:60]
    if kind == "slot":
        return f"the replication slot {called}"
    lasting = "" if seconds is None else f" for {max(int(seconds), 0)} s"
    if kind == "prepared":
        return f"the prepared transaction {called}{lasting}"
    told = ", ".join(filter(None, (called, f"{state or 'open'}{lasting}")))
    return f"the {kind} {pid} ({told})"
