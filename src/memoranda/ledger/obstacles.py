"""What stands in the way of an undo: what somebody else did since to the same memories, or put in their place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import Conflict
from memoranda.domain.fact import holds_many
from memoranda.domain.memory import Memory
from memoranda.ledger import memories, undoable
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.past import at_sequence
from memoranda.ledger.undoable import Whole

_IDS_TOLD = 10


class Step(NamedTuple):
    """One memory on its way back."""

    number: int
    now: Memory
    then: Memory


class Obstacles(NamedTuple):
    """What somebody else did since to the same memories."""

    changed: tuple[str, ...]
    rivals: tuple[tuple[str, str], ...]
    """What cannot come back, and what has taken its place."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset((*self.changed, *(one for one, _ in self.rivals)))

    def refuse(self) -> None:
        """Nothing is done when something stands in the way."""
        hint = "Undo what was done since first (`operations` and `history` show it), or roll back to an earlier moment."
        if self.changed:
            more = f" and {len(self.changed) - _IDS_TOLD} more" if len(self.changed) > _IDS_TOLD else ""
            raise Conflict(f"changed since by something else: {', '.join(self.changed[:_IDS_TOLD])}{more}", hint=hint)
        if self.rivals:
            told = ", ".join(f"of {one} by {other}" for one, other in self.rivals[:_IDS_TOLD])
            raise Conflict(f"the place was taken since {told}", hint=hint)


def obstacles(
    connection: Connection,
    whole: Whole,
    undoing: Whole | None,
    bounds: Mapping[int, int],
    now: Mapping[int, Memory],
    steps: Sequence[Step],
) -> Obstacles:
    """What stands between these memories and what they were before an operation; `undoing` is a part of the way."""
    changed = _changed(connection, whole, undoing, bounds, now)
    ids = tuple(now[number].id for number in sorted(changed))
    return Obstacles(ids, tuple(_rivals(connection, steps, bounds)))


def _rivals(connection: Connection, steps: Sequence[Step], bounds: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """What would come back, and what has taken its place since: the two of them together are no state that ever was."""
    back = [step for step in steps if step.then.state == "live" and step.now.state != "live"]
    said = _said_now(connection, [step.then.content_hash for step in back])
    for step in back:
        single = bool(step.then.attribute) and not holds_many(step.then.attribute)
        others = dict(memories.in_slot(connection, step.then)) if single else {}
        same = memories.find_same(connection, step.then) if step.then.content_hash in said else None
        others.update([] if same is None else [same])
        for number, other in others.items():
            if number in bounds or other.trust != step.then.trust:
                continue
            before = at_sequence(connection, [number], bounds[step.number] - 1).get(number)
            if before is None or before.state != "live":
                yield step.now.id, other.id


def _said_now(connection: Connection, hashes: Sequence[str]) -> set[str]:
    """Those of these texts that something live says, anywhere: mostly none, which spares a look at each."""
    found: set[str] = set()
    for listed, values in in_parts("hash", hashes):
        rows: Iterable[Any] = connection.execute(
            f"select content_hash from memory where content_hash in ({listed}) and +state = 'live'",  # noqa: S608
            values,
        )
        found.update(row[0] for row in rows)
    return found


def _changed(
    connection: Connection,
    whole: Whole,
    undoing: Whole | None,
    bounds: Mapping[int, int],
    now: Mapping[int, Memory],
) -> set[int]:
    """Those that another operation, which still stands, has changed since this one. An expiry is nobody's doing, but
    is looked at: whatever took it back is cancelled together with it."""
    others: dict[int, int] = {}
    expiries: set[int] = set()
    for listed, values in in_parts("number", list(now)):
        rows: Iterable[Any] = connection.execute(
            f"""
            select r.seq, r.number, e.action from revision r join event e on e.seq = r.seq
            where r.number in ({listed}) and r.seq > :first
            """,  # noqa: S608
            {**values, "first": whole.first},
        )
        for sequence, number, action in rows:
            own = whole.holds(sequence) or (undoing is not None and undoing.holds(sequence))
            if sequence > bounds[number] and not own:
                others[sequence] = number
                if action == "expired":
                    expiries.add(sequence)
    return {others[sequence] for sequence in undoable.standing(connection, others) - expiries}
