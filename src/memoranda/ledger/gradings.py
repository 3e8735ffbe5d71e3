"""SQL for grades: each is an event, a revision and a line that says how and why. Where it is stands in the memory."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock
from memoranda.domain.errors import Conflict
from memoranda.domain.governance import BY_HAND, Graded, GradeReceipt, Grading
from memoranda.domain.lasting import without_end
from memoranda.domain.memory import GRADES, Memory
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.keeping import refuse_from_below
from memoranda.ledger.looking import grade_of
from memoranda.ledger.operations import journal
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row

# After an undo, what was said last is not what holds: of those that say the importance as it is, the last one stands.
_STANDING = "(select max(seq) from grading where number = m.number and score = m.importance)"


class Given(NamedTuple):
    """A grade as it is to be written."""

    score: float
    label: str
    rationale: str
    method: str
    version: str


class Ungraded(NamedTuple):
    """One memory that a regrade looks at, and how it got the grade that it has, if it was graded."""

    number: int
    memory: Memory
    method: str
    version: str


class Gradings:
    """The grades of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def grade(self, reference: str, given: Given, *, scope: Scope, actor: str) -> Graded:
        """One memory, as somebody says. Why they say so is also told by the event."""

        def job(connection: Connection) -> Graded:
            number, memory = memories.find(connection, scope, reference)
            refuse_from_below(scope, memory)
            if memory.state == "forgotten":
                raise Conflict(f"{memory.id} is forgotten", hint="Restore it first.")
            return _write(connection, number, memory, given, at=self._clock.now(), actor=actor, reason=given.rationale)

        return self._database.write(job)

    def of(self, reference: str, *, scope: Scope) -> tuple[Grading, ...]:
        """Every grade that a memory was given, oldest first."""
        with self._database.read() as connection:
            number, _ = memories.find(connection, scope, reference)
            rows: list[Any] = connection.execute(
                f"""
                select g.seq, g.score, g.label, g.rationale, g.method, g.version, e.at, e.actor,
                       case when g.seq = {_STANDING} then 1 else 0 end
                from grading g join event e on e.seq = g.seq join memory m on m.number = g.number
                where g.number = :number order by g.seq
                """,  # noqa: S608
                {"number": number},
            ).fetchall()
        return tuple(Grading._make((*row[:-1], bool(row[-1]))) for row in rows)

    # -- many at once --

    def next(self, scope: Scope, *, below: bool, force: bool, after: int, limit: int) -> list[Ungraded]:
        """The next live memories to be graded, by their numbers: those without importance; forced, all but those that
        a person graded."""
        condition, values = _chosen(scope, below=below, force=force)
        with self._database.read() as connection:
            rows = connection.execute(
                f"""
                select coalesce(g.method, ''), coalesce(g.version, ''), {SELECTED} from memory m
                left join grading g on g.seq = {_STANDING}
                where {condition} and m.number > :after order by m.number limit :limit
                """,  # noqa: S608
                {**values, "after": after, "limit": limit},
            ).fetchall()
        return [Ungraded(*from_row(row[2:]), str(row[0]), str(row[1])) for row in rows]

    def count(self, scope: Scope, *, below: bool, force: bool) -> int:
        """How many `next` would give in all."""
        condition, values = _chosen(scope, below=below, force=force)
        with self._database.read() as connection:
            row = connection.execute(
                f"select count(*) from memory m left join grading g on g.seq = {_STANDING} where {condition}",  # noqa: S608
                values,
            ).fetchone()
        return int(row[0]) if row else 0

    def count_by_hand(self, scope: Scope, *, below: bool) -> int:
        """Live memories that have the grade that a person gave."""
        condition, values = inside(scope, below=below, column="m.scope")
        with self._database.read() as connection:
            row = connection.execute(
                f"""
                select count(*) from memory m join grading g on g.seq = {_STANDING}
                where {condition} and m.state = 'live' and g.method = :by_hand
                """,  # noqa: S608
                {**values, "by_hand": BY_HAND},
            ).fetchone()
        return int(row[0]) if row else 0

    def write_many(
        self, chosen: Sequence[tuple[Ungraded, Given]], *, scope: Scope, actor: str, batch: str
    ) -> tuple[int, int]:
        """Write these in one commit, but none over what somebody changed meanwhile: how many, and the sequence."""

        def job(connection: Connection) -> tuple[int, int]:
            at = self._clock.now()
            written = sequence = 0
            with journal(connection, "regrade", scope=scope.path, actor=actor, at=at, batch=batch):
                now = _as_now(connection, [each.number for each, _ in chosen])
                for each, given in chosen:
                    memory = now.get(each.number)
                    if memory is not None and memory.state == "live" and memory.importance == each.memory.importance:
                        graded = _write(connection, each.number, memory, given, at=at, actor=actor)
                        sequence = graded.receipt.sequence
                        written += 1
            return written, sequence

        return self._database.write(job)

    def distribution(self, scope: Scope, *, below: bool) -> dict[str, int]:
        """How many live memories have each grade."""
        condition, values = inside(scope, below=below)
        with self._database.read() as connection:
            rows = connection.execute(
                f"select {grade_of('importance')}, count(*) from memory where {condition} and state = 'live' "  # noqa: S608
                "group by 1",
                values,
            )
            return in_order({str(grade): int(number) for grade, number in rows})


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """All four grades, whether there is one or not."""
    return {grade: counts.get(grade, 0) for grade in GRADES}


def _chosen(scope: Scope, *, below: bool, force: bool) -> tuple[str, dict[str, Any]]:
    condition, values = inside(scope, below=below, column="m.scope")
    # A grade that was undone, or that was changed since, is no longer a person's: it does not stand.
    wanted = "(g.method is null or g.method <> :by_hand)" if force else "m.importance is null"
    return f"{condition} and m.state = 'live' and {wanted}", {**values, **({"by_hand": BY_HAND} if force else {})}


def _as_now(connection: Connection, numbers: Sequence[int]) -> dict[int, Memory]:
    found: dict[int, Memory] = {}
    for listed, values in in_parts("number", numbers):
        rows = connection.execute(f"select {SELECTED} from memory m where m.number in ({listed})", values)  # noqa: S608
        found.update(from_row(row) for row in rows)
    return found


def _write(
    connection: Connection, number: int, memory: Memory, given: Given, *, at: int, actor: str, reason: str = ""
) -> Graded:
    """The row, its event, its revision and the grading. How important something is says nothing of whether it still
    holds: the moment of its last change stays, and so does an end that somebody said. No rule ends what must be
    remembered."""
    graded = memory._replace(importance=given.score)
    if graded.grade == "must_remember":
        graded = without_end(graded)
    memories.update(connection, number, graded)
    sequence = memories.record(connection, "graded", number, graded, at=at, actor=actor, reason=reason)
    connection.execute(
        """
        insert into grading (seq, number, score, label, rationale, method, version)
        values (:seq, :number, :score, :label, :rationale, :method, :version)
        """,
        {"seq": sequence, "number": number, **given._asdict()},
    )
    receipt = GradeReceipt(
        memory.id, memory.scope, memory.importance, given.score, graded.grade, given.method, sequence
    )
    return Graded(graded, receipt)
