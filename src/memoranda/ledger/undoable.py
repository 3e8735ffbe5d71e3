"""Which operations there are, which of them still stand, and what they touched."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import NotFound
from memoranda.domain.scope import Scope
from memoranda.domain.travel import Operation, OperationPage
from memoranda.ledger.connection import Connection

UNFINISHED = {"undo": "undoing", "rollback": "rolling-back"}
"""How a way back in several commits is called until the last of them."""
_VERBS = {
    "remembered": "remember", "reinforced": "remember", "superseded": "supersede", "archived": "archive",
    "forgotten": "forget", "restored": "restore", "expired": "expire", "graded": "grade", "trusted": "trust",
    "revised": "revise",
}  # fmt: skip
_COLUMNS = "first, last, name, batch, scope, at, actor, undoes"
_BEYOND = 1 << 62
_IDS_SHOWN = 5
_Values = dict[str, Any]
_UNDONE = """
    exists (
        select 1 from operation u where u.undoes = {first} and u.name <> 'undoing'
          and not exists (select 1 from operation w where w.batch = u.batch and w.batch <> '' and w.first < u.first)
          and not exists (select 1 from operation v where v.undoes = u.first)
    )
"""
# Named in full: inside of the question above a bare name would be the undo's own.
_HEAD = """
    case operation.batch when '' then operation.first
    else (select min(h.first) from operation h where h.batch = operation.batch) end
"""
_STANDING_ROW = f"and undoes is null and not {_UNDONE.format(first=f'({_HEAD})')}"
_STANDING_EVENT = f"""
    and exists (select 1 from memory m where m.number = event.number)
    and not exists (select 1 from operation o where o.first = event.seq and o.last = o.first)
    and not {_UNDONE.format(first="event.seq")}
"""  # noqa: S608


class Whole(NamedTuple):
    """An operation with all its commits, oldest first."""

    spans: tuple[tuple[int, int], ...]
    """The first and the last sequence of each commit."""
    name: str
    scope: str
    at: int
    actor: str
    batch: str
    undoes: int | None

    @property
    def first(self) -> int:
        return self.spans[0][0]

    @property
    def last(self) -> int:
        return self.spans[-1][1]

    def holds(self, sequence: int) -> bool:
        """Whether this event is one of its own."""
        place = bisect_right(self.spans, (sequence, _BEYOND)) - 1
        return place >= 0 and sequence <= self.spans[place][1]


# -- finding --


def named(connection: Connection, sequence: int, scope: Scope, *, below: bool) -> Whole:
    """The operation that an event belongs to, if it was done here."""
    found = of_event(connection, sequence)
    if found is None or not (scope.contains(found.scope) if below else found.scope == scope.path):
        raise NotFound(
            f"{sequence} is no operation of {scope} that can be undone",
            hint="`operations` shows them, also those of the scopes below when asked; what is erased stays erased.",
        )
    return found


def of_event(connection: Connection, sequence: int) -> Whole | None:
    """The operation that an event belongs to; None for an erasure, and when there is no such event."""
    row = _covering(connection, sequence)
    if row is not None:
        return _whole(connection, row)
    lone: Any = connection.execute(
        "select seq, at, action, scope, actor from event where seq = :sequence and action <> 'erased'",
        {"sequence": sequence},
    ).fetchone()
    return None if lone is None else _lone(lone)


def newest_first(connection: Connection, scope: Scope, *, below: bool, before: int) -> Iterator[tuple[int, Whole]]:
    """Every operation done here, each with its place: the first sequence of its newest commit."""
    place = before
    while True:
        row = _next_row(connection, scope, below=below, before=place)
        lone = _next_lone(connection, scope, below=below, before=place, after=row[0] if row else 0)
        if lone is not None:
            place = lone.first
            yield place, lone
        elif row is not None:
            place = row[0]
            if not _is_continued(connection, row):
                yield place, _whole(connection, row)
        else:
            return


def perhaps_standing(connection: Connection, scope: Scope, *, below: bool) -> Iterator[Whole]:
    """Those done here, newest first, that are no undo and are not plainly taken back or erased. What is passed over is
    passed over by SQLite: there may be very many."""
    place = _BEYOND
    while True:
        row = _next_row(connection, scope, below=below, before=place, also=_STANDING_ROW)
        also = _STANDING_EVENT
        lone = _next_lone(connection, scope, below=below, before=place, after=row[0] if row else 0, also=also)
        if lone is not None:
            place = lone.first
            yield lone
        elif row is not None:
            place = row[0]
            if not _is_continued(connection, row):
                yield _whole(connection, row)
        else:
            return


def unfinished_undo(
    connection: Connection, scope: Scope, *, below: bool, of: int | None = None
) -> tuple[Whole, Whole] | None:
    """The newest undo here that was interrupted, and what it was to undo; `of` asks for one operation."""
    condition, values = _inside(scope, below=below)
    row: Any = connection.execute(
        f"select {_COLUMNS} from operation where {condition} and name = :name and undoes is not null "  # noqa: S608
        "and (:of = 0 or undoes = :of) order by first desc limit 1",
        {**values, "name": UNFINISHED["undo"], "of": of or 0},
    ).fetchone()
    if row is None:
        return None
    undone = of_event(connection, row[7])
    return None if undone is None else (_whole(connection, row), undone)


def unfinished_rollback(connection: Connection, scope: Scope, beginning: str) -> Whole | None:
    """The newest rollback of this scope, if it was interrupted and the name of its batch begins like this."""
    row: Any = connection.execute(
        f"select {_COLUMNS} from operation where scope = :scope and name = :name "  # noqa: S608
        "order by first desc limit 1",
        {"scope": scope.path, "name": UNFINISHED["rollback"]},
    ).fetchone()
    return _whole(connection, row) if row is not None and str(row[3]).startswith(beginning) else None


def in_batch(connection: Connection, batch: str) -> Whole | None:
    """What was done so far under a batch."""
    row: Any = connection.execute(
        f"select {_COLUMNS} from operation where batch = :batch and batch <> '' order by first limit 1",  # noqa: S608
        {"batch": batch},
    ).fetchone()
    return None if row is None else _whole(connection, row)


def unfinished_imports(connection: Connection) -> int:
    """Imports that were interrupted and can go on: not those that began anew, nor those that were taken back."""
    row: Any = connection.execute(
        """
        select count(*) from import_run r where r.finished_at is null
          and not exists (
            select 1 from import_run n where n.digest = r.digest and n.scope = r.scope and n.id <> r.id
              and (n.started_at > r.started_at or n.finished_at >= r.updated_at)
          )
          and (not exists (select 1 from operation o where o.batch = r.id and o.batch <> '') or exists (
            select 1 from operation o join event e on e.seq between o.first and o.last
              join memory m on m.number = e.number
            where o.batch = r.id and o.batch <> '' and m.state <> 'forgotten'
          ))
        """
    ).fetchone()
    return int(row[0])


def finish(connection: Connection, batch: str, name: str) -> None:
    """A way back in several commits has come to its end."""
    connection.execute("update operation set name = :name where batch = :batch", {"name": name, "batch": batch})


def is_undone(connection: Connection, first: int) -> bool:
    """Whether the last undo of it stands: an undo may itself be undone, and so on."""
    undone = False
    while (undoer := _undoer(connection, first)) is not None:
        undone = not undone
        first = undoer
    return undone


def standing(connection: Connection, sequences: Iterable[int]) -> set[int]:
    """Of these events, those whose operations were not taken back, nor took back another one among them."""
    wholes: dict[int, Whole] = {}
    first_of: dict[int, int] = {}
    known: Whole | None = None
    for sequence in sorted(sequences):
        if known is None or not known.holds(sequence):
            known = of_event(connection, sequence)
        if known is not None:
            wholes[known.first] = known
            first_of[sequence] = known.first
    cancelled = {first for first, whole in wholes.items() if whole.undoes in wholes or is_undone(connection, first)}
    return {sequence for sequence, first in first_of.items() if first not in cancelled}


def touched(connection: Connection, whole: Whole) -> dict[int, int]:
    """The number of each memory that it touched, with the first sequence of the commit that touched it first."""
    found: dict[int, int] = {}
    for first, last in whole.spans:
        rows: Iterable[Any] = connection.execute(
            "select distinct number from event where seq between :first and :last", {"first": first, "last": last}
        )
        for row in rows:
            found.setdefault(int(row[0]), first)
    return found


# -- telling --


def page(connection: Connection, scope: Scope, *, below: bool, before: int | None, limit: int) -> OperationPage:
    """What can be undone, newest first."""
    shown: list[Operation] = []
    place = _BEYOND if before is None else before
    for here, whole in newest_first(connection, scope, below=below, before=place):
        if len(shown) == limit:
            return OperationPage(tuple(shown), place)
        place = here
        shown.append(told(connection, whole))
    return OperationPage(tuple(shown), None)


def told(connection: Connection, whole: Whole) -> Operation:
    """An operation as it is shown."""
    return Operation(
        first=whole.first,
        last=whole.last,
        name=whole.name,
        scope=whole.scope,
        at=whole.at,
        actor=whole.actor,
        batch=whole.batch,
        memories=still_there(connection, whole),
        undone=is_undone(connection, whole.first),
        undoes=whole.undoes,
        ids=_first_ids(connection, whole),
    )


def _first_ids(connection: Connection, whole: Whole) -> tuple[str, ...]:
    """Of the first few memories of its first commit that were not erased since."""
    first, last = whole.spans[0]
    rows: list[Any] = connection.execute(
        "select m.id from event e join memory m on m.number = e.number where e.seq between :first and :last "
        "order by e.seq limit :most",
        {"first": first, "last": last, "most": 4 * _IDS_SHOWN},
    ).fetchall()
    return tuple(dict.fromkeys(str(row[0]) for row in rows))[:_IDS_SHOWN]


def still_there(connection: Connection, whole: Whole) -> int:
    """How many of the memories that it touched were not erased since."""
    if whole.batch:
        spans, values = "operation o", {"batch": whole.batch}
        condition = "o.batch = :batch and e.seq between o.first and o.last"
    else:
        spans, values = "(select 1) as o", {"first": whole.first, "last": whole.last}  # type: ignore[dict-item]
        condition = "e.seq between :first and :last"
    row: Any = connection.execute(
        f"select count(distinct e.number) from {spans} cross join event e "  # noqa: S608
        f"join memory m on m.number = e.number where {condition}",
        values,
    ).fetchone()
    return int(row[0])


# -- rows --


def _inside(scope: Scope, *, below: bool) -> tuple[str, _Values]:
    if not below:
        return "scope = :scope", {"scope": scope.path}
    # '0' is the character after '/'. The plus: in the order of the sequence, whatever the scopes are.
    values = {"scope": scope.path, "below": scope.path + "/", "beyond": scope.path + "0"}
    return "(+scope = :scope or (+scope > :below and +scope < :beyond))", values


def _covering(connection: Connection, sequence: int) -> Sequence[Any] | None:
    """The commit that an event belongs to. Commits do not overlap."""
    row: Any = connection.execute(
        f"select {_COLUMNS} from operation where first <= :sequence order by first desc limit 1",  # noqa: S608
        {"sequence": sequence},
    ).fetchone()
    return row if row is not None and row[1] >= sequence else None


def _next_row(
    connection: Connection, scope: Scope, *, below: bool, before: int, also: str = ""
) -> Sequence[Any] | None:
    condition, values = _inside(scope, below=below)
    row: Sequence[Any] | None = connection.execute(
        f"select {_COLUMNS} from operation where {condition} and first < :before {also} "  # noqa: S608
        "order by first desc limit 1",
        {**values, "before": before},
    ).fetchone()
    return row


def _next_lone(
    connection: Connection, scope: Scope, *, below: bool, before: int, after: int, also: str = ""
) -> Whole | None:
    """The newest event between these that stands alone. What was done together is stepped over at once."""
    condition, values = _inside(scope, below=below)
    while True:
        row: Any = connection.execute(
            f"select seq, at, action, scope, actor from event where {condition} "  # noqa: S608
            f"and seq < :before and seq > :after and action <> 'erased' {also} order by seq desc limit 1",
            {**values, "before": before, "after": after},
        ).fetchone()
        if row is None:
            return None
        covering = _covering(connection, row[0])
        if covering is None:
            return _lone(row)
        before = covering[0]


def _is_continued(connection: Connection, row: Sequence[Any]) -> bool:
    """Whether a later commit belongs to the same batch."""
    first, batch = row[0], row[3]
    later = "select 1 from operation where batch = :batch and batch <> '' and first > :first limit 1"
    return connection.execute(later, {"batch": batch, "first": first}).fetchone() is not None


def _whole(connection: Connection, row: Sequence[Any]) -> Whole:
    first, last, name, batch, scope, at, actor, undoes = row
    spans: list[Any] = [(first, last)]
    if batch:
        listed = "select first, last from operation where batch = :batch and batch <> '' order by first"
        spans = connection.execute(listed, {"batch": batch}).fetchall()
    return Whole(tuple((one, other) for one, other in spans), name, scope, at, actor, batch, undoes)


def _lone(row: Sequence[Any]) -> Whole:
    sequence, at, action, scope, actor = row
    return Whole(((sequence, sequence),), _VERBS[action], scope, at, actor, "", None)


def _undoer(connection: Connection, first: int) -> int | None:
    """The first sequence of the newest finished undo of an operation."""
    row: Any = connection.execute(
        f"select {_COLUMNS} from operation where undoes = :first and name <> :unfinished "  # noqa: S608
        "order by first desc limit 1",
        {"first": first, "unfinished": UNFINISHED["undo"]},
    ).fetchone()
    return None if row is None else _whole(connection, row).first
