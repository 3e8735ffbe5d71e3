"""`memory.governance`: how important things are, who did what, and whether the whole drifts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from memoranda.domain.clock import DAY_MS, Moment, end_of, to_ms
from memoranda.domain.draft import Reference, id_of
from memoranda.domain.governance import AUDITED, Audit, Drift, Grading, Regraded
from memoranda.domain.ids import new_id
from memoranda.domain.looking import MOST_DAYS, MOST_EVENTS, checked_whole
from memoranda.domain.memory import checked_choice
from memoranda.domain.ports import Progress
from memoranda.domain.request import checked_limit
from memoranda.domain.scope import Scope
from memoranda.domain.writeback import WriteBack
from memoranda.governance.drift import UNTRACKED, findings, share
from memoranda.governance.grading import METHOD, VERSION, assess
from memoranda.ledger.fence import fences
from memoranda.ledger.gradings import Given, Gradings, Ungraded, in_order
from memoranda.ledger.looking import Happened
from memoranda.service.engine import Engine
from memoranda.service.looking import as_kept

_BITE = 500
_MOST_GRADED = 1 << 31


@fences()
class Governance:
    """The governance of one scope. What belongs to the scopes above is never changed from here."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self._gradings = Gradings(engine.ledger.database, engine.clock)

    # -- grades --

    def regrade(
        self,
        *,
        force: bool = False,
        below: bool = False,
        mode: Literal["now", "preview"] = "now",
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Regraded:
        """Grade what is live and has no importance yet, by `heuristic-v1`; with `force`, all but what a person graded.

        At most `limit` get a grade; the next call goes on. A tag is set before, everything is undone as one, and what
        was interrupted goes on where it ended.
        """
        checked_choice(mode, ("now", "preview"), name="mode")
        chosen = {"below": below, "force": force}
        total = self._gradings.count(self._scope, **chosen)
        most = total if limit is None else min(total, checked_whole(limit, name="limit", most=_MOST_GRADED))
        before = self._gradings.distribution(self._scope, below=below)
        after = Counter(before)
        looked = graded = number = sequence = 0
        tag = batch = ""
        while graded < most and looked < total:
            bite = self._gradings.next(self._scope, **chosen, after=number, limit=min(_BITE, total - looked))
            if not bite:
                break
            due: list[tuple[Ungraded, Given]] = []
            for each in bite:
                given = self._given(each)
                number, looked = each.number, looked + 1
                if given is not None:
                    due.append((each, given))
                if graded + len(due) == most:
                    break
            if mode == "preview":
                graded += len(due)
                for each, given in due:
                    after[each.memory.grade] -= 1
                    after[given.label] += 1
            elif due:
                if not batch:
                    tag, batch = self._tagged(), new_id()
                done, sequence = self._gradings.write_many(
                    due, scope=self._scope, actor=self._engine.actor, batch=batch
                )
                graded += done
            if progress:
                progress(looked if limit is None else graded, most)
        if batch:
            self._engine.nudge()
        return Regraded(
            mode=mode,
            scope=self._scope.path,
            below=below,
            force=force,
            looked_at=looked,
            graded=graded,
            unchanged=looked - graded,
            by_hand=self._gradings.count_by_hand(self._scope, below=below),
            left=total - looked,
            before=before,
            after=in_order(after) if mode == "preview" else self._gradings.distribution(self._scope, below=below),
            method=METHOD,
            version=VERSION,
            batch=batch,
            tag=tag,
            sequence=sequence or self._engine.ledger.sequence(),
        )

    def gradings(self, reference: Reference) -> tuple[Grading, ...]:
        """Every grade that one memory was given, oldest first: how, why and by whom."""
        return self._gradings.of(id_of(reference), scope=self._scope)

    def _tagged(self) -> str:
        from memoranda.service.travelling import tag_before

        return tag_before(self._engine, self._scope, "regrade").name

    def _given(self, each: Ungraded) -> Given | None:
        """The grade it should have; None when it has it already from this very method."""
        from memoranda.capture.secrets import secrets

        found = assess(each.memory, has_secret=bool(secrets(each.memory.text)))
        if (each.memory.importance, each.method, each.version) == (found.score, found.method, found.version):
            return None
        return Given(*found)

    # -- the whole --

    def drift(self, *, below: bool = False, days: int = 30) -> Drift:
        """How what this very scope keeps has moved in the last days, what stands out, and what to do about it."""
        from memoranda.ledger.drifting import count

        engine = self._engine
        days = checked_whole(days, name="days", most=MOST_DAYS)
        engine.misses.flush()
        now = engine.clock.now()
        since = max(0, now - days * DAY_MS)
        stale_days = engine.settings.stale_days
        counted = count(
            engine.ledger.database,
            self._scope,
            below=below,
            since=since,
            now=now,
            stale_before=now - int(stale_days * DAY_MS),
        )
        drift = Drift(
            scope=self._scope.path,
            below=below,
            days=days,
            since=since,
            at=now,
            live=sum(counted.grades.values()),
            live_before=sum(counted.grades_before.values()),
            grades=counted.grades,
            grades_before=counted.grades_before,
            unknown_share=share(counted.grades, "unknown"),
            unknown_share_before=share(counted.grades_before, "unknown"),
            trust=counted.trust,
            stale=counted.stale,
            stale_days=stale_days,
            duplicates=counted.duplicates,
            duplicate_groups=counted.duplicate_groups,
            misses=counted.misses,
            repeated_misses=counted.repeated,
            capture=counted.capture,
            waiting=counted.waiting,
            lapsed=counted.lapsed,
            expired=counted.expired,
            untracked=UNTRACKED,
        )
        return drift._replace(findings=findings(drift))

    def audit(
        self,
        *,
        actor: str = "",
        action: str = "",
        reference: Reference | None = None,
        operation: str = "",
        after: Moment | None = None,
        until: Moment | None = None,
        below: bool = False,
        limit: int = 50,
        before: int | None = None,
    ) -> Audit:
        """Who did what in what this scope can see, newest first, each with the operation that it was a part of.

        Tokens that were made for this scope or revoked stand among it. Give the `next` of a page as `before` to have
        the one after it; a bare day as `until` is taken in whole.
        """
        from memoranda.ledger.auditing import Auditing

        wanted = Happened(
            limit=checked_limit(limit),
            before=None if before is None else checked_whole(before, name="before", most=MOST_EVENTS),
            action=checked_choice(action, ("", *AUDITED), name="action"),
            reference=None if reference is None else id_of(reference),
            actor=as_kept(actor, "actor"),
            after=None if after is None else to_ms(after, name="after"),
            until=None if until is None else end_of(until, name="until"),
        )
        named = as_kept(operation, "operation")
        return Auditing(self._engine.ledger.database).page(self._scope, wanted, operation=named, below=below)

    # -- other systems --

    def write_back(
        self,
        path: str | Path,
        *,
        table: str = "memories",
        limit: int = 50,
        batch: int = 25,
        mode: Literal["now", "preview"] = "now",
        force: bool = False,
        force_fields: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> WriteBack:
        """Write importance, label, scope and category into the LanceDB table that memories of this scope came from,
        and trust when `force_fields` names it. Only what is empty there is filled, unless `force` says otherwise.
        Texts and vectors stay as they are.
        """
        from memoranda.service.writeback import write_back

        return write_back(
            self._engine,
            self._scope,
            path,
            table=table,
            limit=limit,
            batch=batch,
            mode=mode,
            force=force,
            force_fields=force_fields,
            progress=progress,
        )
