"""`memory.retention`: how long things stay, what goes next, and everything that is known of a person."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.ids import new_id
from memoranda.domain.memory import checked_choice
from memoranda.domain.ports import Progress
from memoranda.domain.retention import (
    MOST_IDS,
    RETENTION_MODES,
    RetentionMode,
    RetentionReceipt,
    RetentionReport,
    ScopeHeld,
    SubjectFormat,
    SubjectReport,
)
from memoranda.domain.scope import Scope
from memoranda.governance.retention import aged
from memoranda.ledger.fence import fences
from memoranda.ledger.retaining import Decide, Retaining, Rules
from memoranda.service.engine import Engine
from memoranda.service.structured import checked_type

_BELOW = "Pass below=True to take the scopes below along."


@fences()
class Retention:
    """Retention in one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def report(self, *, below: bool = False) -> RetentionReport:
        """The rules, and what they mean for what this scope holds: what ends, what is too much, what waits for
        erasure. `below` takes the scopes below along; nothing above is counted."""
        checked_type(below, bool, name="below", hint=_BELOW)
        settings, rules = self._engine.settings, rules_of(self._engine)
        retaining = Retaining(self._engine.ledger.database)
        return RetentionReport(
            scope=self._scope.path,
            at=rules.now,
            rules=dict(sorted(rules.ttl_ms.items())),
            cap=settings.scope_cap,
            grace_ms=settings.grace_ms,
            kinds=retaining.kinds(self._scope, rules, below=below),
            scopes=retaining.scopes(self._scope, rules, below=below),
        )

    def apply(
        self, *, below: bool = False, mode: RetentionMode = "now", progress: Progress | None = None
    ) -> RetentionReceipt:
        """Give every memory the end that the rule of its kind says, end what is over, and forget what is more than
        a scope may have. Done again, it does nothing.

        What must be remembered and profiles are never ended or evicted by a rule. What is evicted can be restored
        for the grace period. `mode="preview"` counts and changes nothing.
        """
        checked_type(below, bool, name="below", hint=_BELOW)
        checked_choice(mode, RETENTION_MODES, name="mode")
        if mode == "now":
            self._engine.refuse_read_only()
        work = _Work(self._engine, self._scope, below)
        return work.planned() if mode == "preview" else work.done(progress)

    def subject(
        self,
        person: str,
        *,
        below: bool = False,
        include_above: bool = False,
        redact: bool = True,
        path: str | Path | None = None,
        format: SubjectFormat = "json",  # noqa: A002 the word users know
    ) -> SubjectReport:
        """Everything that this scope holds of one person, and with `path` as one file that only its owner may read.

        What is about them, what they said, what is kept in a scope of their name, and what has a name of theirs in
        it; with sources, times, trust, history and end. Of conversations their own messages; others' are counted.
        What is kept above is shared with others and not this scope's to hand out: it is left out, unless
        `include_above` says otherwise. Secrets are taken out unless `redact` is false.
        """
        from memoranda.service.subject_report import reported, written

        report = reported(self._engine, self._scope, person, below=below, include_above=include_above, redact=redact)
        return report if path is None else written(report, path, format)


def rules_of(engine: Engine) -> Rules:
    """What the settings say, now."""
    settings = engine.settings
    return Rules(engine.clock.now(), settings.ttl_ms, settings.scope_cap, settings.grace_ms)


def apply_everywhere(
    engine: Engine, *, dry_run: bool = False, progress: Progress | None = None
) -> tuple[RetentionReceipt, ...]:
    """Retention of the whole store, scope by scope, for upkeep: a receipt for each scope with something to do."""
    paths = Retaining(engine.ledger.database).busy(rules_of(engine))
    receipts = []
    for place, path in enumerate(paths, 1):
        work = _Work(engine, Scope(path, top=path), below=False)
        receipts.append(work.planned() if dry_run else work.done(None))
        if progress:
            progress(place, len(paths))
    return tuple(receipt for receipt in receipts if receipt.changed or receipt.over)


class _Plan(NamedTuple):
    """What there is to do: of what is there when it is looked at."""

    given: int
    lifted: int
    expired: tuple[str, ...]
    by_rule: int
    """Of what ends, how many end because of a rule that they did not know of yet."""
    evicted: tuple[str, ...]
    over: int
    scopes: frozenset[str]


class _Work:
    """One retention, planned or done. Everything in it is of one moment."""

    def __init__(self, engine: Engine, scope: Scope, below: bool) -> None:
        self._engine = engine
        self._scope = scope
        self._below = below
        self._rules = rules_of(engine)
        self._retaining = Retaining(engine.ledger.database)
        self._decide: Decide = partial(aged, ttl_ms=self._rules.ttl_ms, now=self._rules.now)

    def planned(self) -> RetentionReceipt:
        return self._receipt("preview", self._plan())

    def _receipt(self, mode: RetentionMode, plan: _Plan) -> RetentionReceipt:
        return RetentionReceipt(
            self._scope.path,
            mode,
            given=plan.given,
            lifted=plan.lifted,
            expired=len(plan.expired),
            evicted=len(plan.evicted),
            over=plan.over,
            scopes=len(plan.scopes),
            expired_ids=plan.expired[:MOST_IDS],
            evicted_ids=plan.evicted[:MOST_IDS],
            erased_after=self._erased_after(bool(plan.evicted)),
            sequence=self._retaining.sequence(),
        )

    def done(self, progress: Progress | None) -> RetentionReceipt:
        """In bites, so that others may write meanwhile; all of it is one operation."""
        plan = self._plan()
        total = plan.given + plan.lifted + len(plan.expired) + len(plan.evicted)
        if not total:
            return self._receipt("now", plan)
        tag = ""
        if plan.given or plan.lifted or plan.by_rule or plan.evicted:
            from memoranda.service.travelling import tag_before

            tag = tag_before(self._engine, self._scope, "retention").name
        tell = _Tally(total, progress)
        batch = new_id()
        given, lifted, expired = self._age(batch, tell)
        evicted = self._evict(batch, tell)
        self._engine.nudge()
        plan = plan._replace(
            given=given, lifted=lifted, expired=tuple(expired), evicted=tuple(evicted), over=self._over()
        )
        return self._receipt("now", plan)._replace(tag=tag, batch=batch)

    def _plan(self) -> _Plan:
        given = lifted = by_rule = 0
        expired: list[str] = []
        scopes: set[str] = set()
        for before, after in self._retaining.due(self._scope, self._rules, self._decide, below=self._below):
            scopes.add(before.scope)
            if after.state == "expired":
                expired.append(before.id)
                by_rule += before.valid_until is None
            else:
                given += after.valid_until is not None
                lifted += after.valid_until is None
        evicted: list[str] = []
        over = 0
        for held in self._full():
            going = self._retaining.evictable(held, self._rules)
            evicted += going
            over += held.over - len(going)
            if going:
                scopes.add(held.scope)
        return _Plan(given, lifted, tuple(expired), by_rule, tuple(evicted), over, frozenset(scopes))

    def _age(self, batch: str, tell: "_Tally") -> tuple[int, int, list[str]]:
        given = lifted = place = 0
        expired: list[str] = []
        done = False
        while not done:
            bite = self._retaining.age(
                self._scope,
                self._rules,
                self._decide,
                below=self._below,
                after=place,
                actor=self._engine.actor,
                batch=batch,
            )
            given, lifted, place, done = given + bite.given, lifted + bite.lifted, bite.place, bite.done
            expired += bite.expired
            tell(bite.given + bite.lifted + len(bite.expired))
        return given, lifted, expired

    def _evict(self, batch: str, tell: "_Tally") -> list[str]:
        evicted: list[str] = []
        for held in self._full():
            while gone := self._retaining.evict(
                self._scope, held.scope, self._rules, actor=self._engine.actor, batch=batch
            ):
                evicted += gone
                tell(len(gone))
        return evicted

    def _full(self) -> list[ScopeHeld]:
        held = self._retaining.scopes(self._scope, self._rules, below=self._below) if self._rules.cap else ()
        return [each for each in held if each.over]

    def _over(self) -> int:
        return sum(each.over for each in self._full())

    def _erased_after(self, evicts: bool) -> int | None:
        return self._rules.now + self._rules.grace_ms if evicts else None


class _Tally:
    """Adds up what was done, for whoever watches."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0

    def __call__(self, more: int) -> None:
        self._done += more
        if self._progress and more:
            self._progress(min(self._done, self._total), self._total)
