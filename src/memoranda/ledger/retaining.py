"""SQL for retention: what is held and when it ends, giving it its end, and letting go of what is over a cap."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.lasting import BY_RULE
from memoranda.domain.memory import GRADE_FLOORS, Memory
from memoranda.domain.profile import PREFIX
from memoranda.domain.results import Revision
from memoranda.domain.retention import KindHeld, ScopeHeld
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.feed import newest
from memoranda.ledger.operations import journal
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row
from memoranda.ledger.streaming import streamed

CAP = "cap"
"""The reason of what was forgotten because there was too much."""
_AT_ONCE = 500
_EVERYTHING = 1 << 31
_FLOORS = dict(GRADE_FLOORS)
_Values = dict[str, Any]
Decide = Callable[[Memory], Memory]
"""A live memory as the rules leave it; itself when they leave it as it is."""

_LASTS = "(coalesce(m.importance, 0) >= :must or (m.attribute >= :profile and m.attribute < :profile_end))"
_LASTING: _Values = {
    "must": _FLOORS["must_remember"], "profile": PREFIX, "profile_end": PREFIX + "\U0010ffff",
}  # fmt: skip
# Least worth first: of one grade what is trusted less, so that a flood of it washes nothing trusted away; then the
# oldest.
_LEAST_FIRST = """
    case when m.importance is null then 1 when m.importance >= :nice then 2 else 0 end,
    case m.trust when 'trusted' then 1 else 0 end, m.updated_at, m.number
"""


class Rules(NamedTuple):
    """What holds at one moment."""

    now: int
    ttl_ms: Mapping[str, int]
    cap: int
    grace_ms: int


class Bite(NamedTuple):
    """What one commit did: how many of each, and up to where it has looked."""

    given: int
    lifted: int
    expired: tuple[str, ...]
    place: int
    done: bool


class Retaining:
    """Retention in one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- looking --

    def kinds(self, scope: Scope, rules: Rules, *, below: bool) -> tuple[KindHeld, ...]:
        """What each scope holds of each kind."""
        chosen, values = inside(scope, below=below, column="m.scope")
        end, more = _end(rules.ttl_ms)
        with self._database.read() as connection:
            rows = connection.execute(
                f"""
                select scope, kind, {_count("how = 'holds'")}, {_count("how = 'holds' and ends is not null")},
                       {_count("how = 'holds' and ends <= :week")}, {_count("how = 'holds' and ends <= :month")},
                       {_count("how = 'lapsed'")}, min(case when how = 'holds' then created_at end),
                       {_count("how = 'forgotten'")}, min(case when how = 'forgotten' then updated_at + :grace end),
                       max(case when how = 'forgotten' then updated_at + :grace end)
                from (
                    select scope, kind, ends, created_at, updated_at,
                           case when state = 'forgotten' then state when ends <= :now then 'lapsed' else 'holds' end
                               as how
                    from (select m.scope, m.kind, m.state, m.created_at, m.updated_at, {end} as ends
                          from memory m where {chosen} and m.state in ('live', 'forgotten')) as ended
                ) as held
                group by scope, kind order by scope, kind
                """,  # noqa: S608
                {
                    **values, **more, "now": rules.now, "grace": rules.grace_ms,
                    "week": rules.now + 7 * DAY_MS, "month": rules.now + 30 * DAY_MS,
                },
            )  # fmt: skip
            return tuple(KindHeld(*row) for row in rows)

    def scopes(self, scope: Scope, rules: Rules, *, below: bool) -> tuple[ScopeHeld, ...]:
        """How full each scope is, of what would be left when all that is over has ended."""
        chosen, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            return tuple(_full(connection, chosen, values, rules))

    def busy(self, rules: Rules) -> list[str]:
        """Every scope of the store in which there is something to do."""
        due, values = _due(rules)
        with self._database.read() as connection:
            rows = connection.execute(
                f"select distinct m.scope from memory m where {due}",  # noqa: S608
                values,
            )
            found = {str(row[0]) for row in rows}
            if rules.cap:
                found |= {each.scope for each in _full(connection, "1 = 1", {}, rules) if each.over}
        return sorted(found)

    def due(self, scope: Scope, rules: Rules, decide: Decide, *, below: bool) -> Iterator[tuple[Memory, Memory]]:
        """Every memory that the rules change, before and after. Nothing is written."""
        chosen, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            for _, memory in _ripe(connection, chosen, values, rules, after=0, limit=_EVERYTHING):
                after = decide(memory)
                if after != memory:
                    yield memory, after

    def evictable(self, held: ScopeHeld, rules: Rules) -> list[str]:
        """The ids of what would go, so that a scope is no longer over its cap."""
        with self._database.read() as connection:
            return [memory.id for _, memory in _least(connection, held.scope, rules, limit=held.over)]

    # -- doing --

    def age(
        self, scope: Scope, rules: Rules, decide: Decide, *, below: bool, after: int, actor: str, batch: str
    ) -> Bite:
        """Give ends, lift them, and write down what is over: some hundreds in one commit, so that others may write."""
        chosen, values = inside(scope, below=below, column="m.scope")

        def job(connection: Connection) -> Bite:
            found = _ripe(connection, chosen, values, rules, after=after, limit=_AT_ONCE)
            given = lifted = 0
            expired = []
            with journal(connection, "retention", scope=scope.path, actor=actor, at=rules.now, batch=batch):
                for number, memory in found:
                    ruled = decide(memory)
                    if ruled.state != memory.state:
                        memories.change(
                            connection, number, memory, "expired", at=rules.now, actor=actor, state=ruled.state,
                            valid_until=ruled.valid_until, metadata=ruled.metadata,
                        )  # fmt: skip
                        expired.append(memory.id)
                    elif ruled != memory:
                        # Nobody has touched it: when it was last said stays as it was.
                        memories.update(connection, number, ruled)
                        memories.record(connection, "revised", number, ruled, at=rules.now, actor=actor)
                        given += ruled.valid_until is not None
                        lifted += ruled.valid_until is None
            place = found[-1][0] if found else after
            return Bite(given, lifted, tuple(expired), place, len(found) < _AT_ONCE)

        return self._database.write(job)

    def evict(self, scope: Scope, path: str, rules: Rules, *, actor: str, batch: str) -> list[str]:
        """Forget some of what a scope has too much of, least worth first; empty when nothing more is to go."""

        def job(connection: Connection) -> list[str]:
            full = list(_full(connection, "m.scope = :scope", {"scope": path}, rules))
            over = full[0].over if full else 0
            gone = []
            with journal(connection, "retention", scope=scope.path, actor=actor, at=rules.now, batch=batch):
                for number, memory in _least(connection, path, rules, limit=min(over, _AT_ONCE)):
                    memories.change(
                        connection, number, memory, "forgotten", at=rules.now, actor=actor, reason=CAP,
                        state="forgotten",
                    )  # fmt: skip
                    gone.append(memory.id)
            return gone

        return self._database.write(job)

    # -- everything, for a report on a person --

    def everything(self, scopes: Sequence[str], *, below: Scope | None) -> Iterator[tuple[int, Memory]]:
        """All that these scopes hold, whatever its state, and all below one of them, by scopes and ids."""
        listed: _Values = {f"scope_{place}": path for place, path in enumerate(scopes)}
        chosen = f"m.scope in ({', '.join(f':{name}' for name in listed)})"
        if below is not None:
            chosen = f"({chosen} or (m.scope > :below and m.scope < :beyond))"
            listed |= {"below": below.path + "/", "beyond": below.path + "0"}
        with self._database.read() as connection:
            statement = f"select {SELECTED} from memory m where {chosen} order by m.scope, m.id"  # noqa: S608
            for row in streamed(connection, statement, listed):
                yield from_row(row)

    def histories(self, numbers: Sequence[int]) -> dict[int, list[Revision]]:
        """The revisions of each of these, oldest first."""
        with self._database.read() as connection:
            return {number: memories.history(connection, number) for number in numbers}

    def sequence(self) -> int:
        with self._database.read() as connection:
            return newest(connection)


def _end(ttl_ms: Mapping[str, int]) -> tuple[str, _Values]:
    """When a memory ends: as it says, or as the rule of its kind would have it."""
    if not ttl_ms:
        return "m.valid_until", {}
    begins = "case when coalesce(m.valid_from, 0) > m.updated_at then m.valid_from else m.updated_at end"
    cases, values = [], dict(_LASTING)
    for place, (kind, length) in enumerate(ttl_ms.items()):
        cases.append(f"when :kind_{place} then {begins} + :length_{place}")
        values |= {f"kind_{place}": kind, f"length_{place}": length}
    ruled = f"case when {_LASTS} then null else case m.kind {' '.join(cases)} end end"
    return f"coalesce(m.valid_until, {ruled})", values


def _due(rules: Rules) -> tuple[str, _Values]:
    """Live, and perhaps not as the rules would have it. Whether it is so is decided by who looks at the memory."""
    values = {**_LASTING, "now": rules.now, "marked": f'%"{BY_RULE}":true%'}
    parts = ["m.valid_until <= :now", f"(m.valid_until is not null and {_LASTS} and m.metadata like :marked)"]
    if rules.ttl_ms:
        kinds = {f"kind_{place}": kind for place, kind in enumerate(rules.ttl_ms)}
        listed = ", ".join(f":{name}" for name in kinds)
        parts.append(f"(m.valid_until is null and m.kind in ({listed}) and not {_LASTS})")
        values |= kinds
    return f"m.state = 'live' and ({' or '.join(parts)})", values


def _ripe(
    connection: Connection, chosen: str, values: _Values, rules: Rules, *, after: int, limit: int
) -> list[tuple[int, Memory]]:
    due, more = _due(rules)
    rows = connection.execute(
        f"select {SELECTED} from memory m where {chosen} and {due} and m.number > :after "  # noqa: S608
        "order by m.number limit :limit",
        {**values, **more, "after": after, "limit": limit},
    )
    return [from_row(row) for row in rows]


def _full(connection: Connection, chosen: str, values: _Values, rules: Rules) -> Iterator[ScopeHeld]:
    end, more = _end(rules.ttl_ms)
    rows = connection.execute(
        f"""
        select m.scope, count(*), {_count(_LASTS)} from memory m
        where {chosen} and m.state = 'live' and ({end} is null or {end} > :now) group by m.scope order by m.scope
        """,  # noqa: S608
        {**values, **more, **_LASTING, "now": rules.now},
    )
    for scope, live, lasting in rows:
        over = max(0, live - rules.cap) if rules.cap else 0
        yield ScopeHeld(str(scope), int(live), int(lasting), over)


def _least(connection: Connection, scope: str, rules: Rules, *, limit: int) -> list[tuple[int, Memory]]:
    """What goes first when there is too much in a scope."""
    end, more = _end(rules.ttl_ms)
    rows = connection.execute(
        f"""
        select {SELECTED} from memory m
        where m.scope = :scope and m.state = 'live' and ({end} is null or {end} > :now) and not {_LASTS}
        order by {_LEAST_FIRST} limit :limit
        """,  # noqa: S608
        {**more, **_LASTING, "scope": scope, "now": rules.now, "nice": _FLOORS["nice_to_have"], "limit": limit},
    )
    return [from_row(row) for row in rows]


def _count(condition: str) -> str:
    return f"sum(case when {condition} then 1 else 0 end)"
