"""Upkeep of a whole store: what is over ends, what is old is summed up, what is missing is made, what is loose tidied.

Each step can be done again and does nothing then. A dry run counts, and changes nothing.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.conversation import CompactReceipt
from memoranda.domain.document import Synced
from memoranda.domain.errors import Conflict, MemorandaError
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.results import IndexStatus
from memoranda.domain.retention import RetentionReceipt
from memoranda.domain.scope import Scope
from memoranda.ledger.holding import Holding, keeping
from memoranda.ledger.locking import Busy
from memoranda.ledger.messages import Row
from memoranda.ledger.operations import UPKEEP
from memoranda.ledger.upkeep import UpkeepBook
from memoranda.service.acting import acting_as
from memoranda.service.corpus import Corpus
from memoranda.service.engine import Engine
from memoranda.service.erasure import Doomed, erase
from memoranda.service.finishing import finished
from memoranda.service.retention import apply_everywhere
from memoranda.service.workroom import Workroom

_BITE_SECONDS = 2.0
_FEWEST = 20
"""A conversation with fewer messages is not worth summing up because of its age."""


class Maintenance(NamedTuple):
    """What an upkeep did; or, of a dry run, what it would do."""

    dry_run: bool
    erased: EraseReceipt
    """What was forgotten longer ago than the grace period."""
    expired: int
    """Memories that no longer hold."""
    compacted: tuple[CompactReceipt, ...]
    """Conversations with a new summary, or why there is none."""
    vectors_made: int
    vectors_missing: int
    status: IndexStatus
    documents: Synced | None = None
    """What a sync of the documents did; None when there are no sources, and in a dry run."""
    retention: tuple[RetentionReceipt, ...] = ()
    """What the rules of retention did, for each scope in which they did anything."""
    pending: str = ""
    """Why bytes of what was erased may still be in files of the store; empty when none are."""

    @property
    def counts(self) -> dict[str, int]:
        """What was done, in numbers alone."""
        counts = {
            "erased": len(self.erased.ids),
            "expired": self.expired,
            "evicted": sum(each.evicted for each in self.retention),
            "compacted": sum(each.done for each in self.compacted),
            "vectors_made": self.vectors_made,
            "vectors_missing": self.vectors_missing,
        }
        if self.documents is not None:
            counts |= {"documents_added": self.documents.added, "documents_changed": self.documents.changed}
        return counts

    def as_json(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "erased": self.erased.as_json(),
            "expired": self.expired,
            "compacted": [each.as_json() for each in self.compacted],
            "vectors_made": self.vectors_made,
            "vectors_missing": self.vectors_missing,
            "documents": None if self.documents is None else self.documents.as_json(),
            "index": self.status.as_json(),
            "retention": [each.as_json() for each in self.retention],
            "pending": self.pending,
        }


class Upkeep:
    """The steps, one by one."""

    def __init__(self, engine: Engine, progress: Progress | None) -> None:
        self._engine = engine
        self._progress = progress

    def planned(self, status: Callable[[], IndexStatus]) -> Maintenance:
        """What there is to do."""
        engine = self._engine
        ids = tuple(sorted(memory.id for _, memory in engine.forgotten_long_ago()))
        retention = apply_everywhere(engine, dry_run=True)
        due = [CompactReceipt(row.conversation.name, why, note="due") for row, why in self._due()]
        return Maintenance(
            dry_run=True,
            erased=EraseReceipt("preview", ids, engine.ledger.sequence()),
            expired=max(engine.ledger.lapsed(now=engine.clock.now()), sum(each.expired for each in retention)),
            compacted=tuple(due),
            vectors_made=0,
            vectors_missing=sum(_missing(corpus) for corpus in engine.corpora()),
            status=status(),
            retention=retention,
        )

    def alone(self, status: Callable[[], IndexStatus]) -> Maintenance:
        """Do it, while nobody else does, and leave a line about it in the ledger; Conflict when somebody does."""
        engine = self._engine
        began = time.monotonic()
        book = UpkeepBook(engine.ledger.database, engine.clock)
        try:
            with keeping(engine.ledger.database, "upkeep") as held:
                done = self._done(status, held)
                book.note(seconds=time.monotonic() - began, counts=done.counts)
                return done
        except Busy as error:
            raise Conflict("upkeep of this store is being done already", hint="Wait until it is done.") from error
        except (MemorandaError, OSError) as error:
            with suppress(MemorandaError):  # what went wrong may keep this from being written, too
                book.note(seconds=time.monotonic() - began, trouble=type(error).__name__)
            raise

    def _done(self, status: Callable[[], IndexStatus], held: Holding) -> Maintenance:
        engine = self._engine
        Workroom(engine.ledger.path).clear()
        erased = erase(engine, Doomed.of(engine, engine.forgotten_long_ago()), actor=UPKEEP)
        _refuse_if_lost(held)
        with acting_as(UPKEEP):
            retention = apply_everywhere(engine)
        expired = engine.ledger.expire(now=engine.clock.now(), actor=UPKEEP)
        expired += sum(each.expired for each in retention)
        compacted = []
        for row, _ in self._due():
            _refuse_if_lost(held)  # a summary may take a model's time
            compacted.append(self._compacted(row))
        engine.try_again()
        made = missing = 0
        for corpus in engine.corpora():
            _refuse_if_lost(held)
            more, left = self._filled(corpus)
            made, missing = made + more, missing + left
            corpus.home.tidy_if_idle()
            corpus.index().optimize()
        pending = finished(engine)
        return Maintenance(
            dry_run=False,
            erased=erased,
            expired=expired,
            compacted=tuple(compacted),
            vectors_made=made,
            vectors_missing=missing,
            status=status(),
            documents=self._synced(),
            retention=retention,
            pending=pending,
        )

    def _synced(self) -> Synced | None:
        sources = self._engine.sources.everywhere()
        if not sources:
            return None
        library = self._engine.library()
        try:
            synced = library.sync(sources, why="asked", progress=self._progress)
        except (MemorandaError, OSError) as error:  # what was done before it is told all the same
            return Synced("asked", left=str(error))
        for corpus in library.corpora():
            corpus.index().optimize()
            corpus.index().scrub()
        return synced

    def _filled(self, corpus: Corpus) -> tuple[int, int]:
        """Vectors made, and missing still."""
        corpus.catch_up(seconds=0, progress=self._progress)
        made = missing = 0
        while (outcome := corpus.backfill(seconds=_BITE_SECONDS)) is not None:
            made += outcome.done
            missing = outcome.left + len(outcome.skipped)
            if self._progress:
                self._progress(made, made + outcome.left)
            if not outcome.left or not (outcome.made or outcome.done):
                break
        return made, missing

    def _due(self) -> list[tuple[Row, str]]:
        """Conversations to be summed up: too long, or not used for a while; with the reason."""
        settings = self._engine.settings
        before = self._engine.clock.now() - int(settings.compact_idle_days * DAY_MS)
        tokens = settings.compact_at * settings.conversation_budget
        found = []
        for row in self._engine.transcripts.talked_in(more_than=_FEWEST):
            talk = row.conversation
            if settings.compact_at and talk.tokens >= tokens:
                found.append((row, "tokens"))
            elif settings.compact_messages and talk.active > settings.compact_messages:
                found.append((row, "messages"))
            elif settings.compact_idle_days and talk.updated_at < before:
                found.append((row, "idle"))
        return found

    def _compacted(self, row: Row) -> CompactReceipt:
        from memoranda.service.compacting import Compactor

        # Nobody asks for it here, so that it is not known what they may see: nothing above the conversation.
        scope = Scope(row.conversation.scope, top=row.conversation.scope)
        try:
            return Compactor(self._engine, scope).compact(row, asked=True).receipt
        except MemorandaError as error:  # one that cannot be summed up does not keep the others from it
            return CompactReceipt(row.conversation.name, "", note=str(error))


def _refuse_if_lost(held: Holding) -> None:
    """A session of a database server may have been lost, and the name with it."""
    if not held.is_ours():
        raise Conflict(
            "the database was away for a moment, and another may do the upkeep of this store by now",
            hint="Run `memoranda maintain` again; what was done so far stays done.",
        )


def _missing(corpus: Corpus) -> int:
    corpus.catch_up(seconds=0)
    counts = corpus.index().counts()
    return counts.entries - counts.vectors if corpus.serving()[0] is not None else 0
