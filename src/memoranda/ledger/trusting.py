"""Trust of one memory raised or lowered, and of what was derived from it lowered with it, in one commit."""

from collections.abc import Sequence

from memoranda.domain.clock import Clock
from memoranda.domain.errors import Conflict
from memoranda.domain.governance import DERIVED_FROM, Trusted, TrustReceipt
from memoranda.domain.memory import Memory, Trust, outranks
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.feed import newest
from memoranda.ledger.keeping import accept, refuse_from_below
from memoranda.ledger.operations import journal
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row

MOST_DEMOTED = 1_000
"""So many derived memories go down in one operation."""
_WHY = "derived from what is trusted less now"


class Trusts:
    """Who may speak, in one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def change(self, reference: str, trust: Trust, *, scope: Scope, actor: str, reason: str) -> Trusted:
        """Raise it alone, or lower it with everything inside the scope that was derived from it."""

        def job(connection: Connection) -> Trusted:
            number, memory = memories.find(connection, scope, reference)
            refuse_from_below(scope, memory)
            if memory.state == "forgotten":
                raise Conflict(f"{memory.id} is forgotten", hint="Restore it first.")
            at = self._clock.now()
            with journal(connection, "trust", scope=scope.path, actor=actor, at=at):
                if outranks(trust, memory.trust):
                    changed = _raised(connection, number, memory, trust, scope, actor=actor, at=at, reason=reason)
                    demoted: list[str] = []
                    left = 0
                else:
                    changed = memory
                    if memory.trust != trust:
                        changed, _ = memories.change(
                            connection, number, memory, "trusted", at=at, actor=actor, reason=reason, trust=trust
                        )
                    demoted, left = _lower_derived(connection, changed, scope, actor=actor, at=at)
            if changed is memory and not demoted:
                raise Conflict(f"{memory.id} is {trust} already", hint="`memoranda history` shows since when.")
            receipt = TrustReceipt(
                memory.id, memory.scope, memory.trust, trust, newest(connection), tuple(demoted), left
            )
            return Trusted(changed, receipt)

        return self._database.write(job)


def _raised(
    connection: Connection,
    number: int,
    memory: Memory,
    trust: Trust,
    scope: Scope,
    *,
    actor: str,
    at: int,
    reason: str,
) -> Memory:
    if memory.trust != "quarantined" or memory.state != "live":
        return memories.change(connection, number, memory, "trusted", at=at, actor=actor, reason=reason, trust=trust)[0]
    # It waited for this: what it corrects is superseded, as when it is accepted in a review.
    review = memory.metadata.get("review")
    supersedes = str(review.get("supersedes", "")) if isinstance(review, dict) else ""
    first = newest(connection) + 1
    changed = accept(connection, memory.id, trust=trust, supersedes=supersedes or None, scope=scope, actor=actor, at=at)
    connection.execute("update event set reason = :reason where seq = :seq", {"reason": reason, "seq": first})
    return changed.memory


def _lower_derived(
    connection: Connection, memory: Memory, scope: Scope, *, actor: str, at: int
) -> tuple[list[str], int]:
    """Everything that was derived from it and is trusted more, however far: the ids, and how many are left."""
    demoted: list[str] = []
    seen = {memory.id}
    nearest = [memory.id]
    while nearest:
        found = [
            (number, each)
            for number, each in _derived_from(connection, nearest, scope)
            if each.id not in seen and outranks(each.trust, memory.trust)
        ]
        room = MOST_DEMOTED - len(demoted)
        for number, each in found[:room]:
            # Nobody has looked at it: the moment of its last change stays, and with it what hangs on that.
            lower = each._replace(trust=memory.trust)
            memories.update(connection, number, lower)
            memories.record(connection, "trusted", number, lower, at=at, actor=actor, reason=_WHY)
        nearest = [each.id for _, each in found[:room]]
        demoted += nearest
        seen.update(nearest)
        if len(found) > room:
            return demoted, len(found) - room
    return demoted, 0


def _derived_from(connection: Connection, ids: Sequence[str], scope: Scope) -> list[tuple[int, Memory]]:
    condition, values = inside(scope, below=True, column="m.scope")
    found: dict[int, Memory] = {}
    for listed, more in in_parts("parent", ids):
        rows = connection.execute(
            f"""
            select {SELECTED} from memory m
            where {condition} and m.metadata like :noted
              and exists (select 1 from json_each(m.metadata, :path) where value in ({listed}))
            order by m.number
            """,  # noqa: S608
            {**values, **more, "noted": f'%"{DERIVED_FROM}"%', "path": f"$.{DERIVED_FROM}"},
        )
        found.update(from_row(row) for row in rows)
    return sorted(found.items())
