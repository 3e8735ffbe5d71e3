"""How what a scope holds differs between two sequences. What is forgotten is not there; what is erased is an id."""

from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.travel import DIFFERENCE_KINDS, Difference, Differing, FieldChange
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.past import at_sequence, changed_between
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import REVISED

_BITE = 500
_COMPARED = tuple(name for name in REVISED if name != "updated_at")


def difference(
    connection: Connection, scope: Scope, older: int, newer: int, *, below: bool, limit: int, offset: int
) -> Difference:
    """One page of it, and the counts of all of it."""
    counts: dict[str, int] = dict.fromkeys(DIFFERENCE_KINDS, 0)
    page: list[Differing] = []
    place = 0
    numbers = changed_between(connection, scope, older, newer, below=below)
    for start in range(0, len(numbers), _BITE):
        for each in _differing(connection, scope, numbers[start : start + _BITE], older, newer, below=below):
            counts[each.kind] += 1
            if offset <= place < offset + limit:
                page.append(each)
            place += 1
    return Difference(tuple(page), older=older, newer=newer, counts=counts)


def _differing(
    connection: Connection, scope: Scope, numbers: Sequence[int], older: int, newer: int, *, below: bool
) -> Iterable[Differing]:
    before, after = (at_sequence(connection, numbers, sequence) for sequence in (older, newer))
    erased = _erased(connection, scope, [number for number in numbers if number not in after], older, below=below)
    for number in numbers:
        if number in erased:
            identity, where = erased[number]
            yield Differing("erased", identity, where)
        elif number in after:
            differing = _compared(before.get(number), after[number])
            if differing is not None:
                yield differing


def _compared(before: Memory | None, after: Memory) -> Differing | None:
    was = before is not None and before.state != "forgotten"
    is_now = after.state != "forgotten"
    if not was or before is None:
        return Differing("added", after.id, after.scope, after) if is_now else None
    if not is_now:
        return Differing("gone", after.id, after.scope, before)
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in _COMPARED)
    fields = tuple(FieldChange(name, one, other) for name, one, other in pairs if one != other)
    return Differing("changed", after.id, after.scope, after, fields) if fields else None


def _erased(
    connection: Connection, scope: Scope, numbers: Sequence[int], older: int, *, below: bool
) -> dict[int, tuple[str, str]]:
    """The id and scope of those that were there at the older sequence and are nowhere any more."""
    condition, values = inside(scope, below=below)
    found: dict[int, tuple[str, str]] = {}
    for listed, more in in_parts("number", numbers):
        rows: Iterable[Any] = connection.execute(
            f"select distinct number, memory_id, scope from event where {condition} and seq <= :older "  # noqa: S608
            f"and number in ({listed})",
            {**values, **more, "older": older},
        )
        found.update((int(number), (str(identity), str(where))) for number, identity, where in rows)
    return found
