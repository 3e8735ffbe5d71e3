"""`memory.admin` of several stores: each is looked after by itself, and what they say is put together."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from memoranda.domain.backup import BackedUp, BackupChecked, BackupDifference, BackupFile
from memoranda.domain.document import Synced
from memoranda.domain.errors import MemorandaError, Refused
from memoranda.domain.health import Optimized, UpkeepReceipt
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.request import checked_limit
from memoranda.domain.results import Check, IndexStatus, Verification
from memoranda.domain.scope import Scope
from memoranda.service.admin import Admin
from memoranda.service.engine import Engine
from memoranda.service.maintaining import Maintenance
from memoranda.service.sharding import Shards, named

_SEVERAL = "several"
_STATES = ("deleted", "purged", "preview")
"""From the one that asks for more work to the one that asks for none."""


class ShardedAdmin(Admin):
    """Checks, upkeep and the indexes of all shards. Those that fail are told when the others are done."""

    def __init__(self, shards: Shards, engine: Engine, scope: Scope) -> None:
        super().__init__(engine, scope)
        self._shards = shards

    def _each(self, engine: Engine) -> Admin:
        return Admin(engine, self._scope)

    def index_status(self) -> IndexStatus:
        """All indexes counted together; the self-test of the first that has something to tell."""
        return _statuses([each for _, each in self._shards.each(lambda engine: self._each(engine).index_status())])

    def rebuild(self, progress: Progress | None = None) -> IndexStatus:
        """Make all indexes anew, one after the other."""
        return _statuses([each for _, each in self._shards.each(lambda engine: self._each(engine).rebuild(progress))])

    def optimize(self, progress: Progress | None = None) -> Optimized:
        """Tidy every shard, one after the other."""
        done = [each for _, each in self._shards.each(lambda engine: self._each(engine).optimize(progress))]
        return Optimized(
            before=_statuses([each.before for each in done]),
            after=_statuses([each.after for each in done]),
            bytes_before=sum(each.bytes_before for each in done),
            bytes_after=sum(each.bytes_after for each in done),
            rewritten=any(each.rewritten for each in done),
            seconds=round(sum(each.seconds for each in done), 3),
        )

    def maintain(self, progress: Progress | None = None, *, dry_run: bool = False) -> Maintenance:
        """Upkeep of every shard, one after the other; what they did, together."""
        done = self._shards.each(lambda engine: self._each(engine).maintain(progress, dry_run=dry_run))
        return _maintained([each for _, each in done], dry_run=dry_run)

    def upkeep(self, *, limit: int = 20) -> tuple[UpkeepReceipt, ...]:
        """The last upkeeps of all shards, newest first."""
        most = checked_limit(limit)
        told = [
            one for _, each in self._shards.each(lambda engine: self._each(engine).upkeep(limit=most)) for one in each
        ]
        return tuple(sorted(told, key=lambda one: -one.at)[:most])

    def verify(self) -> Verification:
        """Every shard against itself. One that is down is a line."""
        return self._checked(lambda engine: self._each(engine).verify())

    def doctor(self, *, fix: bool = False) -> Verification:
        """Is everything well in every shard? One that is down is a line."""
        return self._checked(lambda engine: self._each(engine).doctor(fix=fix))

    def _checked(self, look: Callable[[Engine], Verification]) -> Verification:
        checks: list[Check] = []
        repaired: list[str] = []
        for shard in self._shards.chosen:
            try:
                found = look(self._shards.engine(shard))
            except MemorandaError as error:
                found = Verification((Check("store", False, str(error), error.hint),))
            checks += [each._replace(name=named(shard, each.name)) for each in found.checks]
            repaired += [named(shard, each) for each in found.repaired]
        return Verification(tuple(checks), tuple(repaired))

    # -- one at a time --

    def backup(
        self, path: str | Path | None = None, *, passphrase: str | None = None, progress: Progress | None = None
    ) -> BackedUp:
        """Refused, unless one shard was opened alone: a backup is of one store."""
        if len(self._shards.chosen) > 1:
            self._refuse()
        return super().backup(path, passphrase=passphrase, progress=progress)

    def backups(self) -> tuple[BackupFile, ...]:
        """What lies in the folders of backups of all shards, newest first in each."""
        return tuple(one for _, each in self._shards.each(lambda engine: self._each(engine).backups()) for one in each)

    def compare_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupDifference:
        """Refused, unless one shard was opened alone: it is not known whose backup this is."""
        if len(self._shards.chosen) > 1:
            self._refuse()
        return super().compare_backup(path, passphrase=passphrase)

    def verify_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupChecked:
        """Whether a backup is whole, whosever it is."""
        return super().verify_backup(path, passphrase=passphrase)

    def _refuse(self) -> NoReturn:
        names = ", ".join(shard.shown for shard in self._shards.chosen)
        raise Refused(
            f"a backup is of one store, and here are {len(self._shards.chosen)}",
            hint=f"Back up each: memoranda backup --store ADDRESS, for {names}.",
        )


def _one(words: Sequence[str]) -> str:
    return words[0] if len(set(words)) == 1 else _SEVERAL


def _statuses(all_of_them: Sequence[IndexStatus]) -> IndexStatus:
    tested = [each.self_test for each in all_of_them]
    return IndexStatus(
        memories=sum(each.memories for each in all_of_them),
        lexical_rows=sum(each.lexical_rows for each in all_of_them),
        semantic_rows=sum(each.semantic_rows for each in all_of_them),
        vectors_missing=sum(each.vectors_missing for each in all_of_them),
        lag=sum(each.lag for each in all_of_them),
        bytes=sum(each.bytes for each in all_of_them),
        segments=sum(each.segments for each in all_of_them),
        fingerprint=_one([each.fingerprint for each in all_of_them]),
        configured=_one([each.configured for each in all_of_them]),
        rebuild_needed=any(each.rebuild_needed for each in all_of_them),
        self_test=next((each for each in tested if each != "ok"), tested[0]),
    )


def _maintained(done: Sequence[Maintenance], *, dry_run: bool) -> Maintenance:
    documents = [each.documents for each in done if each.documents is not None]
    return Maintenance(
        dry_run=dry_run,
        erased=_erased([each.erased for each in done]),
        expired=sum(each.expired for each in done),
        compacted=tuple(one for each in done for one in each.compacted),
        vectors_made=sum(each.vectors_made for each in done),
        vectors_missing=sum(each.vectors_missing for each in done),
        status=_statuses([each.status for each in done]),
        documents=_synced(documents) if documents else None,
        retention=tuple(one for each in done for one in each.retention),
        pending="; ".join(each.pending for each in done if each.pending),
    )


def _erased(receipts: Sequence[EraseReceipt]) -> EraseReceipt:
    """`sequence` is of no single store: it says nothing here."""
    return EraseReceipt(
        state=min((each.state for each in receipts), key=_STATES.index),
        ids=tuple(sorted(one for each in receipts for one in each.ids)),
        sequence=0,
        needles=sum(each.needles for each in receipts),
        shared=sum(each.shared for each in receipts),
        scanned=tuple(one for each in receipts for one in each.scanned),
        found=sum(each.found for each in receipts),
        rewritten=any(each.rewritten for each in receipts),
        pending="; ".join(each.pending for each in receipts if each.pending),
        messages=sum(each.messages for each in receipts),
        conversations=sum(each.conversations for each in receipts),
        summaries=sum(each.summaries for each in receipts),
        sources=sum(each.sources for each in receipts),
        mirrored=sum(each.mirrored for each in receipts),
        notes=tuple(one for each in receipts for one in each.notes),
        backups=sum(each.backups for each in receipts),
        untouchable=tuple(one for each in receipts for one in each.untouchable),
        tokens=sum(each.tokens for each in receipts),
    )


def _synced(all_of_them: Sequence[Synced]) -> Synced:
    return Synced(
        why=all_of_them[0].why,
        added=sum(each.added for each in all_of_them),
        changed=sum(each.changed for each in all_of_them),
        renamed=sum(each.renamed for each in all_of_them),
        removed=sum(each.removed for each in all_of_them),
        unchanged=sum(each.unchanged for each in all_of_them),
        read=sum(each.read for each in all_of_them),
        chunks_added=sum(each.chunks_added for each in all_of_them),
        chunks_removed=sum(each.chunks_removed for each in all_of_them),
        embedded=sum(each.embedded for each in all_of_them),
        without_vector=sum(each.without_vector for each in all_of_them),
        failures=tuple(one for each in all_of_them for one in each.failures),
        skipped=tuple(one for each in all_of_them for one in each.skipped),
        notes=tuple(one for each in all_of_them for one in each.notes),
        seconds=sum(each.seconds for each in all_of_them),
        left="; ".join(each.left for each in all_of_them if each.left),
    )
