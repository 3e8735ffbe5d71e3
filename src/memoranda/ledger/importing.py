"""Importing at the ledger: rows as they are, each with its event and revision, and how far a run has come.

A batch and the place that it reached are one commit: whoever is killed goes on behind it, and nothing comes twice.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from memoranda.domain.clock import Clock
from memoranda.domain.errors import Conflict
from memoranda.domain.ids import new_id
from memoranda.domain.memory import Memory
from memoranda.domain.moving import QUARANTINED, TAKEN, Dedupe, ImportRun
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.fence import lifted_on
from memoranda.ledger.operations import journal
from memoranda.ledger.rows import SELECTED, from_row
from memoranda.ledger.undoable import in_batch, is_undone

Standing = Literal["new", "taken", "restored", "known", "same", "forgotten", "erased"]
"""How a memory stands to what is here. `taken`: its id is somebody else's, so that it gets another one; `restored`: it
was let go by an undo, and comes back."""
Erased = Callable[[Connection, Memory], bool]
OtherId = Callable[[str, str], str]
"""Makes of a run and an id the id that a memory gets instead."""

_NEWEST = 1 << 62
_RENAMED = "renamed"
_UPTO = "upto"
_INTERNAL = (_RENAMED, _UPTO)
"""Counts that the run needs to go on. Whether an id was taken elsewhere is nobody's business."""
_WAYS_BACK = ("undo", "undoing", "rollback", "rolling-back")
"""Operations that took something away again, done or under way."""
_COLUMNS = "id, scope, format, place, counts, started_at, updated_at, finished_at"


class Imports:
    """The imports of one store."""

    def __init__(self, database: Database, clock: Clock, *, erased: Erased, other_id: OtherId) -> None:
        self._database = database
        self._clock = clock
        self._erased = erased
        self._other_id = other_id

    # -- runs --

    def runs(self, scope: Scope, *, limit: int) -> tuple[ImportRun, ...]:
        """Imports into this very scope, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"select {_COLUMNS} from import_run where scope = :scope "  # noqa: S608
                "order by started_at desc, id limit :limit",
                {"scope": scope.path, "limit": limit},
            ).fetchall()
            runs = [shown(_run(row)) for row in rows]
            return tuple(run._replace(undone=_is_undone(connection, run.id)) for run in runs)

    def unfinished(self, digest: bytes, scope: Scope) -> ImportRun | None:
        """The run that took in part of this, in this way, and was interrupted; not one that was taken back since."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"""
                select {_COLUMNS} from import_run
                where digest = :digest and scope = :scope and finished_at is null order by started_at desc, id
                """,  # noqa: S608
                {"digest": digest, "scope": scope.path},
            ).fetchall()
            runs = (_run(row) for row in rows)
            return next((run for run in runs if not _was_taken_back(connection, run.id)), None)

    def begin(self, run: str, *, digest: bytes, scope: Scope, format: str, whole: bool) -> ImportRun:  # noqa: A002
        """Write down that an import begins. A `whole` one compares words only with what was here before it."""
        at = self._clock.now()

        def job(connection: Connection) -> ImportRun:
            row = connection.execute("select coalesce(max(number), 0) from memory").fetchone()
            counts = {_UPTO: int(row[0]) if row else 0} if whole else {}
            connection.execute(
                "insert into import_run (id, scope, format, digest, place, counts, started_at, updated_at) "
                "values (:id, :scope, :format, :digest, 0, :counts, :at, :at)",
                {
                    "id": run, "scope": scope.path, "format": format, "digest": digest, "at": at,
                    "counts": json.dumps(counts),
                },
            )  # fmt: skip
            return ImportRun(run, scope.path, format, 0, counts, at, at)

        return self._database.write(job)

    # -- looking --

    @contextmanager
    def standings(self, dedupe: Dedupe) -> Iterator[Callable[[Memory], Standing]]:
        """How memories stand to what is here now; all of it seen at one moment."""
        with self._database.read() as connection:
            yield lambda memory: self._standing(connection, memory, dedupe, None)[0]

    def _standing(
        self, connection: Connection, memory: Memory, dedupe: Dedupe, upto: int | None
    ) -> tuple[Standing, int]:
        """How it stands, and the number of the row that says so."""
        if self._erased(connection, memory):
            return "erased", 0
        standing: Standing = "new"
        with lifted_on(connection):  # an id is taken wherever it is
            row = connection.execute(
                "select number, scope, state, content_hash from memory where id = :id", {"id": memory.id}
            ).fetchone()
        if row is not None:
            standing = "taken"
            if row[1] == memory.scope and row[2] == "forgotten":
                if not _was_undone(connection, row[0]):
                    return "forgotten", row[0]
                if row[3] == memory.content_hash:
                    return "restored", row[0]
            elif row[1] == memory.scope and dedupe != "none":
                return "known", row[0]
        if dedupe == "id_text" and memory.state == "live":
            same = _same(connection, memory, upto)
            if same:
                return "same", same
        forgotten = _let_go(connection, memory)
        return ("forgotten", forgotten) if forgotten else (standing, 0)

    # -- taking --

    def take(
        self,
        run: ImportRun,
        arrivals: Sequence[Memory],
        *,
        place: int,
        left_out: Mapping[str, int],
        dedupe: Dedupe,
        actor: str,
        last: bool,
    ) -> ImportRun:
        """Keep these in one commit, with the place in the file behind them. Raises Conflict when another process has
        come further with the same run."""

        def job(connection: Connection) -> ImportRun:
            found = connection.execute(
                f"select {_COLUMNS} from import_run where id = :id",  # noqa: S608
                {"id": run.id},
            ).fetchone()
            if found is None or _run(found).place != run.place or found[7] is not None:
                raise Conflict(
                    "this file is being imported by another process",
                    hint="Wait until it is done; `memoranda imports` shows how far it is.",
                )
            at = self._clock.now()
            counts = dict(run.counts)
            with journal(connection, "import", scope=run.scope, actor=actor, at=at, batch=run.id):
                for memory in arrivals:
                    outcome = self._take_one(connection, memory, run.id, dedupe, counts, at=at, actor=actor)
                    counts[outcome] = counts.get(outcome, 0) + 1
            if last and counts.get(_RENAMED):
                with journal(connection, "import", scope=run.scope, actor=actor, at=at, batch=run.id):
                    self._relink(connection, run.id, at=at, actor=actor)
            for reason, number in left_out.items():
                counts[reason] = counts.get(reason, 0) + number
            connection.execute(
                "update import_run set place = :place, counts = :counts, updated_at = :at, finished_at = :finished "
                "where id = :id",
                {
                    "id": run.id, "place": place, "counts": json.dumps(counts), "at": at,
                    "finished": at if last else None,
                },
            )  # fmt: skip
            return run._replace(place=place, counts=counts, updated_at=at, finished_at=at if last else None)

        return self._database.write(job)

    def _take_one(
        self,
        connection: Connection,
        memory: Memory,
        run: str,
        dedupe: Dedupe,
        counts: dict[str, int],
        *,
        at: int,
        actor: str,
    ) -> str:
        standing, number = self._standing(connection, memory, dedupe, counts.get(_UPTO))
        if standing not in ("new", "taken", "restored"):
            return standing
        reason = f"import:{run}"
        if standing == "restored":
            memories.update(connection, number, memory)
            memories.record(connection, "restored", number, memory, at=at, actor=actor, reason=reason)
        else:
            if standing == "taken":
                memory = memory._replace(id=self._free_id(connection, run, memory.id))
                counts[_RENAMED] = counts.get(_RENAMED, 0) + 1
            number = memories.insert(connection, memory)
            # Every memory is born live: what its events tell of its life must be true of this one, too.
            born = memory._replace(state="live", superseded_by=None)
            memories.record(connection, "remembered", number, born, at=at, actor=actor, reason=reason)
            if memory.state != "live":
                memories.record(connection, memory.state, number, memory, at=at, actor=actor, reason=reason)
        if memory.trust == "quarantined":
            counts[QUARANTINED] = counts.get(QUARANTINED, 0) + 1
        return TAKEN

    def _free_id(self, connection: Connection, run: str, taken: str) -> str:
        other = self._other_id(run, taken)
        return new_id() if _has(connection, other) else other

    def _relink(self, connection: Connection, run: str, *, at: int, actor: str) -> None:
        """What was superseded points at what took its place, also where that had to get another id."""
        rows = connection.execute(
            f"""
            select {SELECTED} from operation o join event e on e.seq between o.first and o.last
              join memory m on m.number = e.number
            where o.batch = :run and e.action = 'remembered' and m.superseded_by is not null order by m.number
            """,  # noqa: S608
            {"run": run},
        ).fetchall()
        for row in rows:
            number, memory = from_row(row)
            other = self._other_id(run, memory.superseded_by or "")
            if _has(connection, other):
                reason = f"import:{run}"
                moved = memory._replace(superseded_by=other)
                memories.update(connection, number, moved)
                memories.record(connection, "revised", number, moved, at=at, actor=actor, reason=reason)


def shown(run: ImportRun) -> ImportRun:
    """A run without what only the ledger needs of it."""
    return run._replace(counts={name: count for name, count in run.counts.items() if name not in _INTERNAL})


def _run(row: Sequence[object]) -> ImportRun:
    values = list(row)
    values[4] = json.loads(str(values[4]))
    return ImportRun(*values)  # type: ignore[arg-type]


def _has(connection: Connection, reference: str) -> bool:
    with lifted_on(connection):
        return connection.execute("select 1 from memory where id = :id", {"id": reference}).fetchone() is not None


def _same(connection: Connection, memory: Memory, upto: int | None) -> int:
    """A live memory of exactly this scope, speaker and slot, and trusted no less, that says the same; 0 for none."""
    values: dict[str, object] = {
        name: getattr(memory, name)
        for name in ("content_hash", "scope", "about", "attribute", "context", "speaker", "trust")
    }
    row = connection.execute(
        """
        select number from memory
        where content_hash = :content_hash and scope = :scope and state || '' = 'live' and about = :about
          and attribute = :attribute and context = :context and speaker = :speaker
          and (trust = :trust or (trust = 'trusted' and :trust = 'untrusted')) and number <= :upto
        """,
        {**values, "upto": _NEWEST if upto is None else upto},
    ).fetchone()
    return 0 if row is None else int(row[0])


def _let_go(connection: Connection, memory: Memory) -> int:
    """What says the same here and was forgotten by somebody, not by an undo; 0 when there is nothing."""
    rows: list[Any] = connection.execute(
        "select number from memory where content_hash = :content_hash and scope = :scope and state || '' = 'forgotten'",
        {"content_hash": memory.content_hash, "scope": memory.scope},
    ).fetchall()
    return next((int(row[0]) for row in rows if not _was_undone(connection, row[0])), 0)


def _is_undone(connection: Connection, run: str) -> bool:
    whole = in_batch(connection, run)
    return whole is not None and is_undone(connection, whole.first)


def _was_taken_back(connection: Connection, run: str) -> bool:
    """Whether it was undone, or something that it kept was let go by an undo or a rollback: to go on behind that would
    leave a gap. An undo that was itself undone left nothing behind."""
    whole = in_batch(connection, run)
    if whole is None:
        return False
    if is_undone(connection, whole.first):
        return True
    rows: list[Any] = connection.execute(
        """
        select distinct m.number from operation o join event e on e.seq between o.first and o.last
          join memory m on m.number = e.number
        where o.batch = :run and m.state = 'forgotten'
        """,
        {"run": run},
    ).fetchall()
    return any(_was_undone(connection, row[0]) for row in rows)


def _was_undone(connection: Connection, number: int) -> bool:
    """Whether the last that happened to it was an undo or a rollback."""
    row = connection.execute(
        """
        select o.name, o.last, l.seq from (select max(seq) as seq from revision where number = :number) l
          join operation o on o.first = (select max(first) from operation where first <= l.seq)
        """,
        {"number": number},
    ).fetchone()
    return row is not None and row[0] in _WAYS_BACK and int(row[1]) >= int(row[2])
