"""`memory.admin`: what an operator does with the whole store."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.domain.backup import BackedUp, BackupChecked, BackupDifference, BackupFile
from memoranda.domain.errors import LedgerLocked, MemorandaError
from memoranda.domain.health import Optimized, UpkeepReceipt
from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexEntry, IndexQuery, Meaning, Progress
from memoranda.domain.request import checked_limit
from memoranda.domain.results import Check, IndexStatus, Verification
from memoranda.domain.scope import Scope
from memoranda.domain.text import so_many
from memoranda.ledger.operations import UPKEEP
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.maintaining import Maintenance

_TRIES = 20
_PROBE_TEXT = "memoranda probe zyxwv {token}"


class Admin:
    """Checks, upkeep and the index."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    # -- the index --

    def index_status(self) -> IndexStatus:
        """Rows in the ledger and in each lane, counted now, and whether a planted probe is found."""
        engine = self._engine
        index = engine.memories.index()
        lag = engine.ledger.sequence() - index.sequence
        configured = engine.embedders.configured()
        wanted = configured.fingerprint if configured else "none"
        # Looked for before it is counted: a lane that lost its rows must not look well.
        tested = self._self_test()
        counts = index.counts()
        return IndexStatus(
            memories=engine.ledger.feed.count(),
            lexical_rows=counts.entries,
            semantic_rows=counts.vectors,
            vectors_missing=counts.entries - counts.vectors,
            lag=lag,
            bytes=counts.bytes,
            segments=counts.segments,
            fingerprint=index.fingerprint,
            configured=wanted,
            rebuild_needed=index.fingerprint != wanted,
            self_test=tested,
        )

    def _self_test(self) -> str:
        """Plant an entry that no ledger has, look for it in each lane, take it away again."""
        engine = self._engine
        index = engine.memories.index()
        token = os.urandom(4).hex()
        scope = f"memoranda.probe/{token}"
        text = _PROBE_TEXT.format(token=token)
        number = -1 - int(token, 16)
        vector, _, trouble = engine.memories.embed_query(text)
        meaning = None if vector is None else Meaning(vector)
        try:
            index.apply(put=[IndexEntry(number, scope, text, meaning=meaning)], drop=(), sequence=None)
            try:
                by_words = index.search(IndexQuery((scope,), text=token, states=frozenset(STATES)))
                by_vector = index.search(IndexQuery((scope,), vector=vector, states=frozenset(STATES)))
                outside = index.search(IndexQuery((scope + "0",), text=token, vector=vector, states=frozenset(STATES)))
            finally:
                index.apply(put=(), drop=[number], sequence=None)
        except LedgerLocked:
            return "not done: another process holds the index"
        found = [candidate.number for candidate in by_words.candidates] == [number]
        found_by_vector = vector is None or [candidate.number for candidate in by_vector.candidates] == [number]
        if outside.candidates:
            return "failed: the probe was seen from another scope"
        if not found or not found_by_vector:
            return f"failed: the probe was not found by {'words' if not found else 'meaning'}"
        return f"ok, by words only ({trouble})" if trouble else "ok"

    def rebuild(self, progress: Progress | None = None) -> IndexStatus:
        """Make the index anew in the space of the configured embedder. The old one serves until it is complete."""
        self._engine.memories.rebuild(progress)
        return self.index_status()

    def optimize(self, progress: Progress | None = None) -> Optimized:
        """Merge small parts of the indexes, drop what is dead, and write the ledger anew when much of it is free."""
        from memoranda.service.optimizing import optimize

        self._engine.refuse_read_only()
        return optimize(self._engine, self.index_status, progress)

    # -- upkeep --

    def sweep_if_due(self) -> None:
        """Clear away what killed work left in clear, and erase what was forgotten before the grace period began, if any
        was. Waits for the next time if busy.

        From the store, its files and mirrors: to write backups anew takes too long for who only wants to open it. They
        are left to `maintain`.
        """
        from memoranda.service.workroom import Workroom

        Workroom(self._engine.ledger.path).clear()
        try:
            chosen = self._engine.forgotten_long_ago()
            if chosen:
                from memoranda.service.erasure import Doomed, erased

                erased(self._engine, Doomed.of(self._engine, chosen), actor=UPKEEP, with_backups=False)
        except MemorandaError:
            return  # opening goes on; the next one, or `maintain`, tries again and says what is wrong

    def maintain(self, progress: Progress | None = None, *, dry_run: bool = False) -> "Maintenance":
        """Erase what was forgotten long ago, end what no longer holds, sum up old conversations, make missing vectors,
        tidy the indexes, empty the logs. A dry run only counts.
        """
        from memoranda.service.maintaining import Upkeep

        if not dry_run:
            self._engine.refuse_read_only()
        upkeep = Upkeep(self._engine, progress)
        return upkeep.planned(self.index_status) if dry_run else upkeep.alone(self.index_status)

    def upkeep(self, *, limit: int = 20) -> tuple[UpkeepReceipt, ...]:
        """The last upkeeps, newest first: when, how long, and what they did in numbers."""
        from memoranda.ledger.upkeep import UpkeepBook

        return UpkeepBook(self._engine.ledger.database, self._engine.clock).newest(checked_limit(limit))

    # -- backups --

    def backup(
        self, path: str | Path | None = None, *, passphrase: str | None = None, progress: Progress | None = None
    ) -> BackedUp:
        """Copy the whole store into one file, while others go on, and check the copy. Nothing is left out or redacted.

        Without a path it goes into the folder of backups, where the oldest are removed. With a passphrase only who
        knows it can read the file.
        """
        from memoranda.service.backing_up import back_up

        return back_up(self._engine, path, passphrase=passphrase, progress=progress)

    def backups(self) -> tuple[BackupFile, ...]:
        """What lies in the folder of backups, newest first."""
        from memoranda.service.backing_up import backups

        return backups(self._engine)

    def verify_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupChecked:
        """Whether a backup is whole, and is what its manifest says."""
        from memoranda.service.backing_up import verify_backup

        return verify_backup(path, settings=self._engine.settings, passphrase=passphrase)

    def compare_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupDifference:
        """How a backup differs from what the store holds now."""
        from memoranda.service.backing_up import compare_backup

        return compare_backup(self._engine, path, passphrase=passphrase)

    # -- checks --

    def verify(self) -> Verification:
        """Re-derive what can be re-derived, in the ledger and in the index."""
        checks = list(self._engine.ledger.verify())
        if all(check.ok for check in checks):
            checks.append(self._check_counts())
        return Verification(tuple(checks))

    def _check_counts(self) -> Check:
        """One entry for each memory. Counted again when somebody wrote in between."""
        engine = self._engine
        for _ in range(_TRIES):
            standing = engine.memories.catch_up(seconds=0)
            before = engine.ledger.sequence(), engine.memories.index().sequence
            entries, memories = engine.memories.index().counts().entries, engine.ledger.feed.count()
            if entries == memories or standing.tail:
                break
            if before == (engine.ledger.sequence(), engine.memories.index().sequence) and before[0] == before[1]:
                return Check(
                    "index",
                    False,
                    f"{so_many(entries, 'entry')} for {so_many(memories, 'memory')}",
                    "Run: memoranda index rebuild",
                )
        return Check("index", True, f"{so_many(entries, 'entry')} for {so_many(memories, 'memory')}")

    def doctor(self, *, fix: bool = False) -> Verification:
        """Is everything well here? Each line with its fix. `fix` mends what can be mended without losing anything."""
        from memoranda.service.doctor import Doctor

        if fix:
            self._engine.refuse_read_only()
        return Doctor(self._engine).examined(fix=fix)
