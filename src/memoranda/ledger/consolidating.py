"""SQL for consolidation: what to look at, what was dismissed, and superseding what was accepted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memoranda.domain.clock import Clock
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.feed import newest
from memoranda.ledger.operations import journal
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row

# A profile has its own door, and what is quarantined waits for review.
_LOOKED_AT = (
    "m.state = 'live' and m.trust <> 'quarantined' and m.attribute not like 'profile.%' "
    "and (m.valid_from is null or m.valid_from <= :now) and (m.valid_until is null or m.valid_until > :now)"
)


class Wanted(NamedTuple):
    """A proposal that somebody accepts: the one that stays first."""

    id: str
    numbers: tuple[int, ...]


class Taken(NamedTuple):
    """What was done with it: what stays and what it supersedes; or why nothing was done."""

    id: str
    kept: str = ""
    superseded: tuple[str, ...] = ()
    why_not: str = ""


class Told(NamedTuple):
    """A member as it is now, and when it was last said."""

    number: int
    memory: Memory
    said_at: int


Settle = Callable[[Wanted, Sequence[Told]], Memory | str]
"""The one that stays as it is afterwards, or why it is not to be done."""


class Consolidating:
    """Consolidation in one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # -- looking --

    def seeds(self, scope: Scope, *, below: bool, after: int, limit: int) -> list[tuple[int, Memory]]:
        """The next memories that may be put together with others, by number."""
        chosen, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            rows = connection.execute(
                f"select {SELECTED} from memory m where {chosen} and {_LOOKED_AT} and m.number > :after "  # noqa: S608
                "order by m.number limit :limit",
                {**values, "now": self._clock.now(), "after": after, "limit": limit},
            )
            return [from_row(row) for row in rows]

    def left(self, scope: Scope, *, below: bool, after: int) -> int:
        """How many there are after a number."""
        chosen, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            row = connection.execute(
                f"select count(*) from memory m where {chosen} and {_LOOKED_AT} and m.number > :after",  # noqa: S608
                {**values, "now": self._clock.now(), "after": after},
            ).fetchone()
            return int(row[0]) if row else 0

    def beside(self, memory: Memory) -> list[tuple[int, Memory]]:
        """What is in the same slot."""
        with self._database.read() as connection:
            return memories.in_slot(connection, memory)

    def said_at(self, numbers: Sequence[int]) -> dict[int, int]:
        """When each of these was last said: kept, or said again. What else was done with it does not count."""
        with self._database.read() as connection:
            return _said_at(connection, numbers)

    def dismissed(self, scope: Scope, *, below: bool) -> frozenset[str]:
        """Digests of what somebody has said no to."""
        chosen, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            rows = connection.execute(f"select m.digest from dismissal m where {chosen}", values)  # noqa: S608
            return frozenset(bytes(row[0]).hex() for row in rows)

    # -- doing --

    def told(self, numbers: Sequence[int], *, scope: Scope) -> list[Told]:
        """These memories, in this order, as far as they are there and may be changed from the scope."""
        with self._database.read() as connection:
            return _told(connection, numbers, scope)

    def accept(self, wanted: Iterable[Wanted], settle: Settle, *, scope: Scope, actor: str, batch: str) -> list[Taken]:
        """Supersede what is still as it was proposed, and reinforce what stays; all in one commit."""

        def job(connection: Connection) -> list[Taken]:
            at = self._clock.now()
            with journal(connection, "consolidate", scope=scope.path, actor=actor, at=at, batch=batch):
                return [_taken(connection, each, settle, scope=scope, actor=actor, at=at) for each in wanted]

        return self._database.write(job)

    def dismiss(self, digests: Mapping[str, str]) -> None:
        """Write down that these, each of a scope, are not to be proposed again."""

        def job(connection: Connection) -> None:
            for digest, path in digests.items():
                connection.execute(
                    "insert into dismissal (scope, digest, at) values (:scope, :digest, :at) on conflict do nothing",
                    {"scope": path, "digest": bytes.fromhex(digest), "at": self._clock.now()},
                )

        self._database.write(job)

    def sequence(self) -> int:
        with self._database.read() as connection:
            return newest(connection)


def _told(connection: Connection, numbers: Sequence[int], scope: Scope) -> list[Told]:
    found: dict[int, Memory] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(f"select {SELECTED} from memory m where m.number in ({listed})", values)  # noqa: S608
        found.update(from_row(row) for row in rows)
    said = _said_at(connection, numbers)
    return [
        Told(number, found[number], said.get(number, found[number].created_at))
        for number in numbers
        if number in found and scope.contains(found[number].scope)
    ]


def _said_at(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    said: dict[int, int] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(
            f"""
            select r.number, max(r.at) from revision r join event e on e.seq = r.seq
            where r.number in ({listed}) and e.action in ('remembered', 'reinforced') group by r.number
            """,  # noqa: S608
            values,
        )
        said.update((int(number), int(at)) for number, at in rows)
    return said


def _taken(connection: Connection, wanted: Wanted, settle: Settle, *, scope: Scope, actor: str, at: int) -> Taken:
    members = _told(connection, wanted.numbers, scope)
    stays = settle(wanted, members)
    if isinstance(stays, str):
        return Taken(wanted.id, why_not=stays)
    reason = f"consolidated as {wanted.id}"
    first, *others = members
    if stays != first.memory:
        memories.change(
            connection, first.number, first.memory, "reinforced", at=at, actor=actor, reason=reason, tags=stays.tags,
            confidence=stays.confidence, importance=stays.importance, valid_until=stays.valid_until,
            metadata=stays.metadata,
        )  # fmt: skip
    for each in others:
        memories.change(
            connection, each.number, each.memory, "superseded", at=at, actor=actor, reason=reason,
            state="superseded", superseded_by=stays.id,
        )  # fmt: skip
    return Taken(wanted.id, stays.id, tuple(each.memory.id for each in others))
