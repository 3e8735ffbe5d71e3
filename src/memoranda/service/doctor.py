"""`doctor`: is everything well here? Each line says what was looked at, whether it is well, and the way out if not.

Also of a store that cannot be opened. Nothing is changed unless it is asked to mend what can be mended safely.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from memoranda.config import Settings
from memoranda.domain.clock import DAY_MS, Clock, iso
from memoranda.domain.errors import LedgerLocked, MemorandaError
from memoranda.domain.ports import Index
from memoranda.domain.results import Check, IndexStatus, Verification
from memoranda.domain.text import so_many
from memoranda.ledger.undoable import unfinished_imports
from memoranda.ledger.upkeep import UpkeepBook
from memoranda.service.embedder_faults import way_out
from memoranda.service.engine import Engine
from memoranda.service.keys import key_of
from memoranda.service.surroundings import examined

_OVERDUE_MS = 30 * DAY_MS
_SKEW_MS = 5 * 60_000
_BEFORE_US = 1_735_689_600_000
"""The first moment of 2025: no clock that goes right is earlier."""
_REBUILD = "Run: memoranda index rebuild, or memoranda doctor --fix"
_FIX = "Run: memoranda doctor --fix (they are made anew)"
_MAINTAIN = "Run: memoranda maintain"
_TOLD = (
    ("duplicate", "said again"),
    ("waiting", "waiting for review"),
    ("secret", "refused for secrets"),
    ("injection", "refused as injections"),
    ("private", "private"),
    ("contact data", "contact data nobody asked for"),
    ("erased", "erased before"),
)


class Finding(NamedTuple):
    """One line, and what mends it without losing anything."""

    check: Check
    repair: Callable[[], str] | None = None


def told(counts: Mapping[str, int]) -> str:
    """What capture did, in one sentence."""
    if not counts.get("messages"):
        return "no message seen yet"
    parts = [f"saw {counts['messages']:,} messages", f"kept {counts.get('kept', 0):,}"]
    parts += [f"{words} {counts[name]:,}" for name, words in _TOLD if counts.get(name)]
    return ", ".join(parts)


def examine(settings: Settings, clock: Clock, *, fix: bool = False) -> Verification:
    """Everything about the store that the settings name, also when it cannot be opened."""
    try:
        path = settings.store_path()
        engine = Engine(path, settings, clock, key=key_of(settings, path))
    except MemorandaError as error:
        findings = list(examined(settings))
        repaired, failed = _mended(findings) if fix else ((), {})
        if repaired or failed:
            findings = list(examined(settings))
        checks = _with_reasons(findings, failed)
        return Verification((*checks, Check("store", False, str(error), _way_back(settings, error))), repaired)
    try:
        return Doctor(engine).examined(fix=fix)
    finally:
        engine.close()


def _optimized(index: Index) -> str:
    index.optimize()
    return "the index was optimized"


def _way_back(settings: Settings, error: MemorandaError) -> str:
    """The hint of the error, with the newest backup if there is one."""
    from memoranda.domain.errors import LedgerDamaged
    from memoranda.service.backing_up import backups_in, trouble_of

    backups = backups_in(settings.backups_folder()) if isinstance(error, LedgerDamaged) else []
    good = next((each for each in backups if not trouble_of(each)), None)
    if good is None:
        return error.hint
    return f"{error.hint} The newest that is whole: memoranda backup restore {good.path} --store NEW"


class Doctor:
    """Of one open store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._book = UpkeepBook(engine.ledger.database, engine.clock)

    def examined(self, *, fix: bool = False) -> Verification:
        """All lines; with `fix`, again after what could be mended was."""
        findings = list(self._findings())
        repaired: tuple[str, ...] = ()
        if fix:
            repaired, failed = _mended(findings)
            if repaired or failed:
                findings = list(self._findings())
            return Verification(_with_reasons(findings, failed), repaired)
        return Verification(tuple(finding.check for finding in findings), repaired)

    def _findings(self) -> Iterator[Finding]:
        yield from examined(self._engine.settings)
        try:
            yield Finding(self._kept())
            yield Finding(self._clock())
            if self._engine.ledger.database.dialect.name == "postgres":
                yield self._fence()
            embedder = self._embedder()
            yield Finding(embedder)
            yield Finding(self._capture())
            checks = self._engine.ledger.verify()
            yield from map(Finding, checks)
            if all(check.ok for check in checks):  # of a broken ledger nothing more can be told
                yield from self._searched(embeds=embedder.ok)
                yield from self._over_time()
                yield from map(Finding, self._beside())
        except MemorandaError as error:
            yield Finding(Check("store", False, str(error), error.hint))

    # -- the store --

    def _fence(self) -> Finding:
        """Whether the server, too, keeps one scope from another."""
        from memoranda.ledger.postgres import policies

        database = self._engine.ledger.database
        with database.read() as connection:
            check, missing = policies.check(connection), policies.missing(connection)
        return Finding(check, (lambda: database.write_alone(policies.restore)) if missing else None)

    def _clock(self) -> Check:
        now = self._engine.clock.now()
        moments = self._book.first_and_last_moment()
        if now < _BEFORE_US:
            return Check("clock", False, f"it is {iso(now)} by the clock of this machine", "Set the clock.")
        if moments is not None and moments[1] > now + _SKEW_MS:
            return Check(
                "clock",
                False,
                f"the newest event is of {iso(moments[1])}, but it is {iso(now)} by the clock of this machine",
                "Set the clock; what is written meanwhile seems older than it is.",
            )
        return Check("clock", True, iso(now))

    def _kept(self) -> Check:
        """How it lies on the disk."""
        free, size = self._book.free_and_all_bytes()
        database, schema = self._engine.ledger.database, self._book.migrations()[-1]
        kept = "not encrypted" if self._engine.key is None else "encrypted"
        if database.dialect.name != "sqlite":
            kept = f"in {database.engine_version()}"
        return Check("store", True, f"{size >> 20:,} MiB, {free >> 20:,} of them free; {kept}; schema {schema}")

    def _embedder(self) -> Check:
        engine = self._engine
        if engine.settings.embedder == "none":
            return Check("embedder", True, "none: recall goes by words only")
        try:
            # The one that the settings name: the index may still be served by the one before it.
            configured = engine.embedders.configured()
            if configured is None:
                return Check("embedder", True, "none: recall goes by words only")
            # Also when it is left alone because it failed before: what was wrong then is not told by that.
            outcome = engine.embedders.asked_now(configured)
        except MemorandaError as error:
            return Check("embedder", False, str(error), error.hint)
        if isinstance(outcome, str):
            return Check("embedder", False, *way_out(outcome, engine.settings))
        return Check("embedder", True, f"{configured.name} answers with {len(outcome)} dimensions")

    def _capture(self) -> Check:
        """Silence should be visible: what capture saw, kept and refused in the whole store."""
        return Check("capture", True, f"{self._engine.settings.capture_mode}: {told(self._engine.ledger.counts())}")

    # -- what is searched --

    def _searched(self, *, embeds: bool) -> Iterator[Finding]:
        from memoranda.service.admin import Admin
        from memoranda.service.isolation import NOT_FOUND_FIX, probed
        from memoranda.service.store import UPKEEP

        admin = Admin(self._engine, UPKEEP)
        yield Finding(admin._check_counts(), self._rebuilt)
        if self._engine.settings.read_only:
            probe = Check("isolation", True, "not probed: the store is opened for reading only")
        else:
            probe = probed(self._engine)
        yield Finding(probe, self._rebuilt if probe.fix == NOT_FOUND_FIX else None)
        status = admin.index_status()
        well = status.self_test.startswith("ok")
        yield Finding(Check("self-test", well, status.self_test, "" if well else _REBUILD), self._rebuilt)
        behind = max(0, status.lag)  # somebody may have written, and the index followed, between two looks
        yield Finding(Check("lag", not behind, f"{behind} events behind", "Run a recall." if behind else ""))
        yield from self._engines()
        yield self._sound() or Finding(self._vectors(status), self._filled)
        same = not status.rebuild_needed
        spaces = f"index {status.fingerprint}, configured {status.configured}"
        when = "" if embeds else " (once the embedder answers)"
        yield Finding(Check("space", same, spaces, "" if same else _REBUILD + when), self._rebuilt if embeds else None)

    def _engines(self) -> Iterator[Finding]:
        """How an index stands that has an engine of its own."""
        from memoranda.index.home import Examined

        for corpus in self._engine.corpora():
            index = corpus.index()
            if isinstance(index, Examined):
                health = index.health()
                fix = "Run: memoranda optimize" if health.needs_optimizing else ""
                yield Finding(Check(f"index of {corpus.called}", not fix, str(health), fix), partial(_optimized, index))

    def _vectors(self, status: IndexStatus) -> Check:
        """Few that are missing are no illness: the next recall makes them. Many that stay so are."""
        missing = status.vectors_missing if status.fingerprint != "none" else 0
        well = missing <= max(100, status.memories // 20)
        fix = "" if not missing else f"{_MAINTAIN} (once the embedder answers)"
        return Check("vectors", well, f"{missing} of {status.memories} memories have none yet", fix)

    def _sound(self) -> Finding | None:
        """Vectors that no embedder can have made: what they find is chance."""
        from memoranda.service.sound_vectors import count_damaged, made_anew

        number = count_damaged(self._engine)
        if not number:
            return None
        check = Check("vectors", False, f"{number} {'is' if number == 1 else 'are'} damaged", _FIX)
        return Finding(check, lambda: made_anew(self._engine))

    def _rebuilt(self) -> str:
        self._engine.memories.rebuild(None)
        return "the index is made anew"

    def _filled(self) -> str:
        self._engine.try_again()
        made = 0
        while (outcome := self._engine.memories.backfill(seconds=2.0)) is not None and outcome.done:
            made += outcome.done
        return f"{so_many(made, 'vector')} made"

    # -- in time --

    def _over_time(self) -> Iterator[Finding]:
        engine = self._engine
        now = engine.clock.now()
        waiting = len(engine.forgotten_long_ago())
        late = (
            f"{waiting} {'was' if waiting == 1 else 'were'} forgotten longer ago than {engine.settings.grace_days} days"
        )
        yield Finding(Check("forgotten", not waiting, late, _MAINTAIN if waiting else ""))
        yield Finding(self._upkeep(now))
        with engine.ledger.database.read() as connection:
            unfinished = unfinished_imports(connection)
        how = "Call the same import again: it goes on where it was; `memoranda imports` lists them."
        yield Finding(Check("imports", not unfinished, f"{unfinished} unfinished", how if unfinished else ""))
        yield Finding(self._backups(now))
        yield Finding(self._erasures())
        if engine.ledger.database.dialect.name == "postgres":
            yield self._erased_bytes()

    def _erased_bytes(self) -> Finding:
        """What was erased leaves the tables when they are written anew, for which nobody may look at it any more."""
        from memoranda.ledger.postgres.database import PostgresDatabase
        from memoranda.service.finishing import finished, owed

        database = self._engine.ledger.database
        assert isinstance(database, PostgresDatabase)
        if not owed(self._engine):
            return Finding(Check("erased bytes", True, "none are left in the tables of the server"))
        who = database.older_view()
        told = "an erasure is not finished: its bytes are in the files of the database server" + (
            f", and {who} still looks at them" if who else ""
        )

        def mended() -> str:
            if pending := finished(self._engine):
                raise LedgerLocked(pending)
            return "erased bytes have left the tables"

        return Finding(Check("erased bytes", False, told, _MAINTAIN), mended)

    def _erasures(self) -> Check:
        """What was erased has to leave the backups, too; one whose passphrase was not known may still have it."""
        from memoranda.service.erased_beside import pending_backups

        pending = pending_backups(self._engine)
        told = f"{len(pending)} backups may still have what was erased"
        fix = f"{_MAINTAIN} (with MEMORANDA_PASSPHRASE, if they have one)" if pending else ""
        return Check("erasures", not pending, told, fix)

    def _upkeep(self, now: int) -> Check:
        last = next(iter(self._book.newest(1)), None)
        moments = self._book.first_and_last_moment()
        if last is None:
            young = moments is None or now - moments[0] < _OVERDUE_MS
            return Check("maintenance", young, "never done", "" if young else _MAINTAIN)
        when = f"{iso(last.at)}, {last.seconds:.1f} s"
        if last.trouble:
            return Check("maintenance", False, f"{when}: it ended with {last.trouble}", _MAINTAIN)
        late = now - last.at > _OVERDUE_MS
        did = ", ".join(f"{name} {number:,}" for name, number in last.counts.items() if number) or "nothing to do"
        return Check("maintenance", not late, f"{when}: {did}", _MAINTAIN if late else "")

    def _backups(self, now: int) -> Check:
        from memoranda.service.backing_up import backups, trouble_of

        folder = self._engine.settings.backups_folder()
        found = backups(self._engine)
        if not found:
            return Check("backups", True, f"none in {folder.name}; `memoranda backup` makes one")
        told = f"{len(found)} in {folder.name}"
        # The newest is read to its end; how the others begin is enough for a look.
        told_of = [(found[0], trouble_of(found[0])), *((each, each.trouble) for each in found[1:])]
        ruined = [(os.path.basename(each.path), why) for each, why in told_of if why]
        if ruined:
            name, why = ruined[0]
            more = f", and {len(ruined) - 1} more" if len(ruined) > 1 else ""
            fix = f"Run: memoranda backup (makes a good one), then remove {name}"
            return Check("backups", False, f"{told}; nothing can be restored from {name}{more}: {why}", fix)
        newest = found[0]
        if newest.manifest is None:
            return Check("backups", True, f"{told}; none tells when it was made")
        days = max(0, now - newest.manifest.made_at) // DAY_MS
        return Check("backups", True, f"{told}, the newest {days} days old: {os.path.basename(newest.path)}")

    # -- beside memories --

    def _beside(self) -> list[Check]:
        """What there is beside memories, where there is any."""
        engine = self._engine
        checks: list[Check] = []
        if engine.messages.is_used():
            engine.messages.catch_up(seconds=0)
            said, found = engine.messages.feed.count(), engine.messages.index().counts().entries
            fix = "" if said == found else f"Remove the folder {engine.messages.path.name}: it is made anew."
            checks.append(Check("transcripts", said == found, f"{found:,} of {said:,} messages can be searched", fix))
        for source in engine.sources.everywhere():
            there = os.path.isdir(source.root)
            fix = "" if there else f"Bring it back, or run: memoranda documents remove {source.name}"
            checks.append(Check("documents", there, f"{source.name} in {source.scope}: {source.root}", fix))
        for path in engine.mirrors.paths():
            there = os.path.isdir(path)
            scope = engine.mirrors.scope_of(path)
            fix = "" if there else f"Bring it back, or run: memoranda mirror {path} --detach --scope {scope}"
            checks.append(Check("mirror", there, path, fix))
        return checks


def _mended(findings: list[Finding]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Mend what is not well and can be mended; what was done, and the lines that were not mended, each with why."""
    done: list[str] = []
    failed: dict[str, str] = {}
    for check, repair in findings:
        if check.ok or repair is None:
            continue
        try:
            what = repair()
        except (MemorandaError, OSError) as error:
            failed[check.name] = str(error)
            continue
        if what not in done:
            done.append(what)
    return tuple(done), failed


def _with_reasons(findings: list[Finding], failed: Mapping[str, str]) -> tuple[Check, ...]:
    """The lines; those that could not be mended say why."""
    return tuple(
        check
        if check.ok or check.name not in failed
        else check._replace(detail=f"{check.detail}; not mended: {failed[check.name]}")
        for check, _ in findings
    )
