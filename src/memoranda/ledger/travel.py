"""The way back: what an operation or everything since a moment did to memories is taken back, as new events.

Nothing of the history is changed. What was erased, or forgotten for longer than the grace period, stays gone. Little
is done in one commit, all or nothing; much is done in several under one batch, so that others may write meanwhile,
and goes on where it ended when it was interrupted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import Conflict, NotFound
from memoranda.domain.ids import new_id
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.travel import TravelReceipt
from memoranda.ledger import claims, memories, undoable
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.feed import newest
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.obstacles import Obstacles, Step, obstacles
from memoranda.ledger.operations import UPKEEP, journal
from memoranda.ledger.past import at_sequence, changed_between, current, touched_since
from memoranda.ledger.reach import inside
from memoranda.ledger.undoable import UNFINISHED, Whole

AT_ONCE = 2_000
"""So many memories go back in one commit; more do in bites."""
_BITE = 500
_IDS_SHOWN = 50
_IDS_TOLD = 10
_BEYOND = 1 << 62

Tell = Callable[[int, int], None]


class _Plan(NamedTuple):
    """What is to be done, and what cannot be."""

    steps: tuple[Step, ...] = ()
    erased: int = 0
    left: int = 0
    barred: tuple[str, ...] = ()
    """Of those counted as erased: still there, but what they say was erased in another memory."""

    def refuse_if_barred(self) -> None:
        """Who undoes the last thing means that one: to go on to an older one would be a surprise."""
        if self.barred and not self.steps:
            raise Conflict(
                f"what was done last cannot be undone: the words of {', '.join(self.barred[:_IDS_TOLD])} were erased "
                "since in another memory",
                hint="`operations` shows what was done before it: undo one of these by its number.",
            )


class Travel:
    """Ways back for one scope; with `below`, for those below it, too."""

    def __init__(self, ledger: Ledger, scope: Scope, *, below: bool, actor: str, grace_ms: int) -> None:
        self._ledger = ledger
        self._scope = scope
        self._below = below
        self._actor = actor
        self._grace_ms = grace_ms

    # -- undo --

    def undo(self, sequence: int | None, *, preview: bool = False, tell: Tell | None = None) -> TravelReceipt:
        """Take back the operation of an event; without one, the newest that still stands and is no undo itself."""

        bare = sequence is None
        passed: set[int] = set()
        """Large ones of which there is nothing left to take back."""

        def job(connection: Connection) -> TravelReceipt | Whole:
            for whole, undoing in self._candidates(connection, sequence):
                if whole.first in passed:
                    continue
                bounds = undoable.touched(connection, whole)
                if len(bounds) > AT_ONCE and not preview:
                    return whole
                done = {} if undoing is None else undoable.touched(connection, undoing)
                plan, trouble = self._plan_undo(connection, whole, undoing, bounds, sorted(bounds.keys() - done.keys()))
                trouble.refuse()
                if bare and not plan.steps and undoing is None:
                    plan.refuse_if_barred()
                    continue
                receipt = self._receipt("undo", whole.first, whole.name, plan)
                return receipt if preview else self._undo_at_once(connection, whole, plan, receipt)
            raise NotFound(f"there is nothing to undo in {self._scope}", hint="`operations` shows what was done here.")

        if preview:
            with self._ledger.database.read() as connection:
                told = job(connection)
                assert isinstance(told, TravelReceipt)
                return told
        while isinstance(told := self._ledger.database.write(job), Whole):
            receipt = self._undo_in_bites(told, tell, bare=bare)
            if receipt.memories or receipt.left or not bare:
                return receipt
            passed.add(told.first)
        return told

    def _candidates(self, connection: Connection, sequence: int | None) -> Iterator[tuple[Whole, Whole | None]]:
        """What may be undone, best first, each with its undo that was interrupted."""
        below = self._below
        if sequence is not None:
            whole = undoable.named(connection, sequence, self._scope, below=below)
            if undoable.is_undone(connection, whole.first):
                raise Conflict(
                    f"{whole.first} ({whole.name}) is undone already", hint="To have it back, undo its undo by number."
                )
            found = undoable.unfinished_undo(connection, self._scope, below=below, of=whole.first)
            yield whole, None if found is None else found[0]
            return
        found = undoable.unfinished_undo(connection, self._scope, below=below)
        if found is not None:
            yield found[1], found[0]
        for whole in undoable.perhaps_standing(connection, self._scope, below=below):
            # Nobody did on purpose what upkeep did.
            own = whole.actor != UPKEEP
            if own and not undoable.is_undone(connection, whole.first) and undoable.still_there(connection, whole):
                yield whole, None

    def _plan_undo(
        self,
        connection: Connection,
        whole: Whole,
        undoing: Whole | None,
        bounds: Mapping[int, int],
        numbers: Sequence[int],
    ) -> tuple[_Plan, Obstacles]:
        """The way back for these numbers, and what stands in it."""
        found = current(connection, numbers)
        # Also below, whoever looks: what was done from here is undone as a whole.
        now = {number: memory for number, memory in found.items() if self._scope.contains(memory.scope)}
        by_commit: dict[int, list[int]] = {}
        for number in now:
            by_commit.setdefault(bounds[number], []).append(number)
        then: dict[int, Memory] = {}
        for first, listed in by_commit.items():
            then.update(at_sequence(connection, listed, first - 1))
        plan = self._steps(connection, now, then, even_if_same=True)
        plan = plan._replace(erased=plan.erased + len(numbers) - len(found))
        return plan, obstacles(connection, whole, undoing, bounds, now, plan.steps)

    def _undo_at_once(self, connection: Connection, whole: Whole, plan: _Plan, receipt: TravelReceipt) -> TravelReceipt:
        claims.done_now(connection)  # once more would take back what was done before it
        at = self._ledger.clock.now()
        before = newest(connection)
        with journal(connection, "undo", scope=whole.scope, actor=self._actor, at=at, undoes=whole.first):
            self._apply(connection, plan.steps, at=at, reason=f"undo of {whole.first}")
        _let_rest(connection, whole)
        return receipt._replace(first=before + 1 if plan.steps else 0, last=newest(connection) if plan.steps else 0)

    def _undo_in_bites(self, whole: Whole, tell: Tell | None, *, bare: bool) -> TravelReceipt:
        with self._ledger.database.read() as connection:
            found = undoable.unfinished_undo(connection, self._scope, below=self._below, of=whole.first)
            undoing = None if found is None else found[0]
            bounds = undoable.touched(connection, whole)
            done = {} if undoing is None else undoable.touched(connection, undoing)
            numbers = sorted(bounds.keys() - done.keys())
            if undoing is None:
                plan, trouble = self._plan_undo(connection, whole, undoing, bounds, numbers)
                trouble.refuse()
                if bare:
                    plan.refuse_if_barred()
        batch = new_id() if undoing is None else undoing.batch

        def bite(connection: Connection, part: Sequence[int]) -> _Plan:
            undoing = undoable.in_batch(connection, batch)
            grown = undoable.of_event(connection, whole.first) or whole
            plan, trouble = self._plan_undo(connection, grown, undoing, bounds, part)
            steps = tuple(step for step in plan.steps if step.now.id not in trouble.ids)
            at = self._ledger.clock.now()
            note = journal(
                connection,
                UNFINISHED["undo"],
                scope=whole.scope,
                actor=self._actor,
                at=at,
                batch=batch,
                undoes=whole.first,
            )
            with note:
                self._apply(connection, steps, at=at, reason=f"undo of {whole.first}")
            return plan._replace(steps=steps, left=len(plan.steps) - len(steps))

        plan, first, last = self._bites(numbers, bite, tell)

        def end(connection: Connection) -> dict[int, int]:
            """What was added to the operation just before its undo began; the end when there is none of it."""
            grown = undoable.of_event(connection, whole.first) or whole
            added = undoable.touched(connection, grown) if grown != whole else {}
            late = {number: commit for number, commit in added.items() if number not in bounds}
            if not late:
                undoable.finish(connection, batch, "undo")
                _let_rest(connection, whole)
            return late

        while late := self._ledger.database.write(end):
            bounds |= late
            more, began, ended = self._bites(sorted(late), bite, tell)
            plan = _Plan(plan.steps + more.steps, plan.erased + more.erased, plan.left + more.left)
            first, last = first or began, ended or last
        return self._receipt("undo", whole.first, whole.name, plan)._replace(first=first, last=last)

    # -- rollback --

    def has_changed_since(self, sequence: int) -> bool:
        """Whether anything happened here since."""
        with self._ledger.database.read() as connection:
            condition, values = inside(self._scope, below=self._below)
            row = connection.execute(
                f"select 1 from event where {condition} and seq > :sequence limit 1",  # noqa: S608
                {**values, "sequence": sequence},
            ).fetchone()
        return row is not None

    def interrupted_rollback(self, sequence: int) -> int | None:
        """The first event of a rollback to there that was interrupted and will be gone on with."""
        with self._ledger.database.read() as connection:
            found = undoable.unfinished_rollback(connection, self._scope, self._beginning(sequence))
        return None if found is None else found.first

    def _beginning(self, sequence: int) -> str:
        """How the name of the batch begins: whoever calls the same again goes on."""
        return f"{sequence}:{'below' if self._below else 'here'}:"

    def rollback(
        self, sequence: int, *, name: str = "", preview: bool = False, tell: Tell | None = None
    ) -> TravelReceipt:
        """Every memory of this scope as it was at a sequence."""

        def job(connection: Connection) -> TravelReceipt | None:
            numbers = changed_between(connection, self._scope, sequence, _BEYOND, below=self._below)
            if len(numbers) > AT_ONCE and not preview:
                return None
            plan = self._plan_rollback(connection, numbers, sequence)
            receipt = self._receipt("rollback", sequence, name, plan)
            if preview or not plan.steps:
                return receipt
            at = self._ledger.clock.now()
            before = newest(connection)
            with journal(connection, "rollback", scope=self._scope.path, actor=self._actor, at=at, always=True):
                self._apply(connection, plan.steps, at=at, reason=f"rollback to {sequence}")
            return receipt._replace(first=before + 1, last=newest(connection))

        if preview:
            with self._ledger.database.read() as connection:
                told = job(connection)
        else:
            told = self._ledger.database.write(job)
        return self._rollback_in_bites(sequence, name, tell) if told is None else told

    def _plan_rollback(self, connection: Connection, numbers: Sequence[int], sequence: int) -> _Plan:
        now = current(connection, numbers)
        gone = [number for number in numbers if number not in now]
        plan = self._steps(connection, now, at_sequence(connection, list(now), sequence))
        return plan._replace(erased=plan.erased + self._were_there(connection, gone, sequence))

    def _were_there(self, connection: Connection, numbers: Sequence[int], sequence: int) -> int:
        """How many of these were there at a sequence, whatever became of them."""
        condition, values = inside(self._scope, below=self._below)
        found: set[int] = set()
        for listed, more in in_parts("number", numbers):
            rows: Iterable[Any] = connection.execute(
                f"select distinct number from event where {condition} and seq <= :sequence "  # noqa: S608
                f"and number in ({listed})",
                {**values, **more, "sequence": sequence},
            )
            found.update(row[0] for row in rows)
        return len(found)

    def _rollback_in_bites(self, sequence: int, name: str, tell: Tell | None) -> TravelReceipt:
        beginning = self._beginning(sequence)
        with self._ledger.database.read() as connection:
            began = newest(connection)
            numbers = changed_between(connection, self._scope, sequence, began, below=self._below)
            interrupted = undoable.unfinished_rollback(connection, self._scope, beginning)
            batch = beginning + new_id() if interrupted is None else interrupted.batch

        def bite(connection: Connection, part: Sequence[int]) -> _Plan:
            plan = self._plan_rollback(connection, part, sequence)
            busy = touched_since(connection, part, began)
            steps = tuple(step for step in plan.steps if step.number not in busy)
            at = self._ledger.clock.now()
            with journal(
                connection, UNFINISHED["rollback"], scope=self._scope.path, actor=self._actor, at=at, batch=batch
            ):
                self._apply(connection, steps, at=at, reason=f"rollback to {sequence}")
            return plan._replace(steps=steps, left=len(plan.steps) - len(steps))

        plan, first, last = self._bites(numbers, bite, tell)
        self._ledger.database.write(lambda connection: undoable.finish(connection, batch, "rollback"))
        return self._receipt("rollback", sequence, name, plan)._replace(first=first, last=last)

    # -- steps --

    def _bites(
        self, numbers: Sequence[int], bite: Callable[[Connection, Sequence[int]], _Plan], tell: Tell | None
    ) -> tuple[_Plan, int, int]:
        """Some hundreds in a commit; all of them together, with the first and the last sequence."""
        steps: list[Step] = []
        erased = left = first = last = 0
        for start in range(0, len(numbers), _BITE):
            part = numbers[start : start + _BITE]

            def job(connection: Connection, part: Sequence[int] = part) -> tuple[_Plan, int, int]:
                before = newest(connection)
                return bite(connection, part), before, newest(connection)

            plan, before, after = self._ledger.database.write(job)
            steps += plan.steps
            erased, left = erased + plan.erased, left + plan.left
            if after > before:
                first, last = first or before + 1, after
            if tell is not None:
                tell(min(start + _BITE, len(numbers)), len(numbers))
        return _Plan(tuple(steps), erased, left), first, last

    def _steps(
        self,
        connection: Connection,
        now: Mapping[int, Memory],
        then: Mapping[int, Memory],
        *,
        even_if_same: bool = False,
    ) -> _Plan:
        """The steps that lead back. What was not there is forgotten; what is for ever gone stays so."""
        steps = []
        erased = 0
        barred = []
        for number, memory in sorted(now.items()):
            before = then.get(number) or memory._replace(state="forgotten")
            if before.state == "forgotten" == memory.state or (before == memory and not even_if_same):
                continue
            # Only what is forgotten would come back: everything else is there, whatever was erased beside it.
            if memory.state == "forgotten":
                over = self._ledger.clock.now() >= memory.updated_at + self._grace_ms
                if over or self._is_erased(connection, memory):
                    erased += 1
                    barred += [] if over else [memory.id]
                    continue
            steps.append(Step(number, memory, before))
        return _Plan(tuple(steps), erased, barred=tuple(barred))

    def _is_erased(self, connection: Connection, memory: Memory) -> bool:
        """Whether what it says was erased since it was kept."""
        erased_at = self._ledger.erased_at(connection, memory)
        return erased_at is not None and erased_at >= memory.created_at

    def _apply(self, connection: Connection, steps: Iterable[Step], *, at: int, reason: str) -> None:
        for step in steps:
            then = step.then
            if then.state == "forgotten":
                then = then._replace(updated_at=at)  # the grace period begins anew
            memories.update(connection, step.number, then)
            memories.record(connection, _action(step), step.number, then, at=at, actor=self._actor, reason=reason)

    def _receipt(self, action: Any, target: int, name: str, plan: _Plan) -> TravelReceipt:
        actions = [_action(step) for step in plan.steps]
        back = sum(1 for step in plan.steps if step.now.state == "forgotten")
        away = actions.count("forgotten")
        return TravelReceipt(
            action=action,
            scope=self._scope.path,
            below=self._below,
            target=target,
            name=name,
            memories=len(actions),
            brought_back=back,
            taken_away=away,
            revised=len(actions) - back - away,
            erased=plan.erased,
            left=plan.left,
            ids=tuple(step.now.id for step in plan.steps[:_IDS_SHOWN]),
        )


def _action(step: Step) -> str:
    if step.then.state == "forgotten":
        return "forgotten"
    return "restored" if step.now.state in ("forgotten", "archived") and step.then.state == "live" else "revised"


def _let_rest(connection: Connection, whole: Whole) -> None:
    """An interrupted way back that was itself taken back is not gone on with."""
    for name, unfinished in UNFINISHED.items():
        if whole.name == unfinished:
            undoable.finish(connection, whole.batch, name)
