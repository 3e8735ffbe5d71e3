"""`Library`: the documents of one store, whoever looks at them: the generation that serves, its index, its syncs.

Nothing is opened before documents are used; a store without sources has no files of this at all.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.document import Source, Synced, SyncWhy, Trouble
from memoranda.domain.errors import LedgerDamaged, LedgerError, LedgerLocked, MemorandaError, ProviderUnavailable
from memoranda.domain.keys import Key
from memoranda.domain.ports import Progress
from memoranda.index.catalogue import Catalogue
from memoranda.index.catalogue_folder import CatalogueFolder
from memoranda.ledger.sources import Sources
from memoranda.service.corpus import NO_SPACE, Corpus
from memoranda.service.document_sync import How, Made, SourceSync, Tally, difference
from memoranda.service.embedders import Embedders

_CALLED = "chunks"
_LOOK_AGAIN_SECONDS = 2.0
_BITE_SECONDS = 2.0
_COUNTED = 1_000_000
_IN_PASSING = ("open", "search")
_IN_PASSING_SECONDS = 2.0
_OTHER_THREAD_SECONDS = 1.0
_NOT_ALL = "not all documents are read yet; the next search goes on, or run `memoranda documents sync`"
_CUT_OTHERWISE = "the settings cut documents otherwise than before; run `memoranda documents sync`"


class Generation(NamedTuple):
    """A catalogue and the index that follows it."""

    number: int
    catalogue: Catalogue
    corpus: Corpus

    def close(self) -> None:
        self.corpus.close()
        self.catalogue.close()


class Watcher(Protocol):
    """Something at work in the background that ends with the store."""

    @property
    def is_alive(self) -> bool: ...

    def close(self) -> None: ...


class Library:
    """Documents of one store."""

    def __init__(
        self,
        path: Path,
        sources: Sources,
        settings: Settings,
        clock: Clock,
        embedders: Embedders,
        *,
        stop: Callable[[], bool] = lambda: False,
        nudge: Callable[[], None] = lambda: None,
        key: Key | None = None,
    ) -> None:
        self.sources = sources
        self.settings = settings
        self.how = How.of(settings)
        self.folder = CatalogueFolder(path, busy_seconds=settings.busy_seconds, key=key)
        self._key = key
        self.dirty = False
        """Whether files are known to have changed that no sync has taken in."""
        self.batch_failures = 0
        self._clock = clock
        self._embedders = embedders
        self._stop = stop
        self._nudge = nudge
        self._opening = threading.RLock()
        self._mark = (0, 0)
        self._serving: Generation | None = None
        self._retired: list[Generation] = []
        self._looked: dict[str, float] = {}
        self._freshening = threading.Lock()
        self._closed = False
        self._watchers: list[Watcher] = []

    # -- what serves --

    def serving(self) -> Generation:
        """The generation that serves now, also when another process has swapped it."""
        with self._opening:
            if self._closed:
                raise LedgerError("this store is closed", hint="Open it again with memoranda.open().")
            mark = self.folder.mark()
            while self._serving is None or mark != self._mark:
                # Looked at before opening, and again after: another process may swap in between.
                self._mark = mark
                self._retire()
                number, catalogue = self.folder.open()
                if not catalogue.meta("made"):
                    catalogue.set_meta("made", self.how.made)
                if not catalogue.meta("synced"):
                    self._looked.clear()
                self._serving = self._generation(number, catalogue)
                mark = self.folder.mark()
            return self._serving

    def _generation(self, number: int, catalogue: Catalogue) -> Generation:
        path = self.folder.index_path(number)
        corpus = Corpus(catalogue.feed, path, self._embedders, called=_CALLED, stop=self._stop, key=self._key)
        return Generation(number, catalogue, corpus)

    def _retire(self) -> None:
        """Put the generation away; another thread may still be searching it, but hardly the one before."""
        for old in self._retired:
            old.close()
        self._retired = [] if self._serving is None else [self._serving]
        self._serving = None

    def release_retired(self) -> None:
        """Close what was put away, so that its files are really gone."""
        with self._opening:
            for old in self._retired:
                old.close()
            self._retired.clear()

    def corpora(self) -> tuple[Corpus, ...]:
        """What the follower of the store follows, too: nothing before documents are used."""
        with self._opening:
            return () if self._serving is None else (self.serving().corpus,)

    def is_serving(self, generation: Generation) -> bool:
        """Whether this one still serves: another process may have swapped it, and removed its files."""
        with self._opening:
            return self._serving is generation and self.folder.mark() == self._mark

    @property
    def outdated(self) -> bool:
        """Whether the chunks were cut in another way than the settings say now."""
        return self.serving().catalogue.meta("made") != self.how.made

    # -- syncing --

    def freshen(self, sources: Sequence[Source]) -> Synced | None:
        """Before a search: take in what has changed, if that is wanted and has not just been done."""
        wanted = self.settings.documents_sync.split()
        self.serving()  # which notices when all has to be looked at again
        key = "\n".join(f"{each.scope}:{each.name}" for each in sources)
        now = time.monotonic()
        last = self._looked.get(key)
        first = last is None
        if first and not ({"open", "search"} & set(wanted)):
            return None
        due = self.dirty or first or now - (last or 0.0) >= _LOOK_AGAIN_SECONDS
        if not due or (not first and "search" not in wanted):
            return None
        # Another thread may be at it already: it is waited for a little, then what there is is searched.
        if not self._freshening.acquire(timeout=_OTHER_THREAD_SECONDS):
            self.dirty = True
            return None
        try:
            if self._looked.get(key) != last and not self.dirty:
                return None
            synced = self.sync(sources, why="open" if first else "search", patience=0.0, seconds=_IN_PASSING_SECONDS)
            # A first look that ran out of its time is gone on with.
            if synced.left in ("", _CUT_OTHERWISE):
                self._looked[key] = time.monotonic()
        finally:
            self._freshening.release()
        return synced

    def sync(
        self,
        sources: Sequence[Source],
        *,
        why: SyncWhy,
        patience: float | None = None,
        seconds: float | None = None,
        full: bool = False,
        progress: Progress | None = None,
        embedding: Progress | None = None,
    ) -> Synced:
        """Bring the catalogue and its index in line with the files of these sources.

        Words are searchable when this returns. Vectors are made here when somebody asked for the sync, or nobody would
        follow; else they come later. `patience` is how long to wait for another sync, `seconds` for how long to read.
        """
        began = time.monotonic()
        if why not in _IN_PASSING and self.outdated:
            return self.rebuild(sources, progress=progress, embedding=embedding)
        tally = Tally()
        stop = self._stop if seconds is None else lambda: self._stop() or time.monotonic() - began > seconds
        try:
            complete = self._sync(sources, tally, stop, patience=patience, full=full, progress=progress)
        except LedgerLocked as error:
            if why == "asked":
                raise
            self.dirty = True
            return tally.receipt(why, seconds=time.monotonic() - began, left=str(error))
        except LedgerDamaged:
            # Derived: it is made anew, and the next search finds what there is again.
            self._discard()
            tally = Tally()
            complete = self._sync(sources, tally, stop, patience=patience, full=full, progress=progress)
        outdated = self.outdated
        self.dirty = not complete or outdated
        made = Made()
        if why == "asked":
            self.folder.tidy_if_idle()
        if why == "asked" or (why not in _IN_PASSING and not self.settings.follow):
            made = self._embed(self.serving(), embedding)
        elif tally.chunks_added:
            self._nudge()
        left = _CUT_OTHERWISE if outdated else "" if complete else _NOT_ALL
        return tally.receipt(why, made, seconds=time.monotonic() - began, left=left)

    def _sync(
        self,
        sources: Sequence[Source],
        tally: Tally,
        stop: Callable[[], bool],
        *,
        patience: float | None,
        full: bool,
        progress: Progress | None,
    ) -> bool:
        wait = self.settings.busy_seconds if patience is None else patience
        complete = True
        with self.folder.syncing(patience=wait) as now_ns:
            generation = self.serving()
            catalogue = generation.catalogue
            if not self.outdated:
                for source in sources:
                    run = SourceSync(catalogue, source, self.how, now_ns=now_ns, tally=tally, stop=stop)
                    complete = run.run(full=full, progress=progress) and complete
                self._drop_unregistered(generation, tally, told_of={each.scope for each in sources})
                catalogue.set_meta("synced", str(self._clock.now()))
            # Words are searchable when this returns. Here, because nobody swaps generations meanwhile.
            generation.corpus.catch_up(seconds=0)
        return complete

    def _discard(self) -> None:
        with self._opening:
            self._retire()
            self.folder.discard()

    def _drop_unregistered(self, generation: Generation, tally: Tally, *, told_of: Collection[str]) -> None:
        """What is left of a source that was removed while another process wrote; counted for these scopes only."""
        registered = {(each.scope, each.name) for each in self.sources.everywhere()}
        for scope, name in generation.catalogue.sources():
            if (scope, name) not in registered:
                files, chunks = generation.catalogue.drop_source(scope, name)
                if scope in told_of:
                    tally.removed += files
                    tally.chunks_removed += chunks

    def _embed(self, generation: Generation, progress: Progress | None) -> Made:
        """Make the vectors that are missing."""
        corpus = generation.corpus
        corpus.try_again()
        made = missing = 0
        self.batch_failures = 0
        while not self._stop():
            outcome = corpus.backfill(seconds=_BITE_SECONDS)
            if outcome is None:
                return Made(made, len(corpus.index().missing_vectors(_COUNTED)) if self._has_embedder() else 0)
            made += outcome.made
            missing = outcome.left + len(outcome.skipped)
            self.batch_failures += len(outcome.skipped)
            if progress and made + outcome.left:
                progress(made, made + outcome.left)
            if not outcome.left or not (outcome.made or outcome.done):
                break
        return Made(made, missing)

    def _has_embedder(self) -> bool:
        return self.settings.embedder != "none"

    # -- making anew --

    def rebuild(
        self, sources: Sequence[Source], *, progress: Progress | None = None, embedding: Progress | None = None
    ) -> Synced:
        """All documents of the store anew, from their files, in the space of the configured embedder.

        What is told of files is told of these sources only: others may not be for the eyes of whoever asks.
        The old generation serves until the new one is complete, and no text that it has a vector for is embedded
        again. What an interrupted rebuild had done is not done again.
        """
        began = time.monotonic()
        embedder = self._embedders.configured()
        fingerprint = embedder.fingerprint if embedder else NO_SPACE
        before = self.serving()
        tally = Tally()
        with self.folder.rebuilding() as now_ns:
            number, catalogue = self.folder.begin(resumable=self.how.made)
            new = self._generation(number, catalogue)
            try:
                self._fill(new, before.catalogue, fingerprint, tally, now_ns, progress, told_of=sources)
                first = self._complete(new, embedding)
                new.corpus.index().optimize()
                with self.folder.syncing(patience=self.settings.busy_seconds) as now_ns:
                    # What has changed since is taken in while nobody else writes.
                    self._fill(new, before.catalogue, fingerprint, Tally(), now_ns, None)
                    last = self._complete(new, None)
                    catalogue.set_meta("synced", str(self._clock.now()))
                    new.close()
                    self.folder.swap_to(number)
            finally:
                new.close()
        self.serving()
        self.dirty = False
        made = Made(first.vectors + last.vectors, last.missing)
        return tally.receipt("rebuild", made, seconds=time.monotonic() - began)

    def _complete(self, new: Generation, progress: Progress | None) -> Made:
        """The index of a new generation with its vectors; refused when too many cannot be made."""
        new.corpus.catch_up(seconds=0)
        made = self._embed(new, progress)
        chunks = new.catalogue.feed.count()
        if made.missing * 20 > chunks:
            raise ProviderUnavailable(
                f"{made.missing} of {chunks} chunks could not be embedded",
                hint="The old index goes on serving. Run it again to go on where it stopped.",
            )
        return made

    def _fill(
        self,
        new: Generation,
        seeds: Catalogue,
        fingerprint: str,
        tally: Tally,
        now_ns: int,
        progress: Progress | None,
        *,
        told_of: Sequence[Source] = (),
    ) -> None:
        for source in self.sources.everywhere():
            run = SourceSync(
                new.catalogue,
                source,
                self.how,
                now_ns=now_ns,
                tally=tally if source in told_of else Tally(),
                seeds=seeds,
                fingerprint="" if fingerprint == NO_SPACE else fingerprint,
                stop=self._stop,
            )
            if not run.run(progress=progress):
                raise LedgerError("the store was closed while documents were made anew")
        self._drop_unregistered(new, Tally(), told_of=())

    # -- looking --

    def now(self) -> int:
        return self._clock.now()

    def changed_files(self, source: Source) -> tuple[int, int, tuple[Trouble, ...]]:
        """Of one source now: files on disk, files that are new, changed or gone, and what is wrong."""
        found = difference(self.serving().catalogue, source, self.how)
        # One that is only young will be looked into once more, but it is as it was.
        known = found.known
        changed = sum(1 for seen in found.unsure if seen.path not in known or not known[seen.path].looks_like(seen))
        troubles = tuple(Trouble(source.name, each.path, each.reason) for each in found.scanned.skipped)
        return len(found.scanned.files), changed + len(found.gone), troubles

    def troubles(self, source: Source) -> tuple[Trouble, ...]:
        """What was wrong with files of a source when a sync last looked."""
        found = self.serving().catalogue.troubles(source.scope, source.name)
        return tuple(Trouble(source.name, path, reason) for path, reason in found.items())

    def mentions(self, texts: Sequence[str], scopes: Collection[str]) -> tuple[str, ...]:
        """Where documents of these scopes say one of these texts: at most ten citations, each with the whole path."""
        sources = tuple(each for each in self.sources.everywhere() if each.scope in scopes)
        if not sources or not texts:
            return ()
        from memoranda.service.document_mentions import mentions

        try:
            self.freshen(sources)
        except (MemorandaError, OSError):
            self.dirty = True  # what is known is looked through
        return mentions(self.serving().catalogue, sources, texts)

    # -- those who watch --

    @property
    def is_watched(self) -> bool:
        return any(watcher.is_alive for watcher in self._watchers)

    def keep(self, watcher: Watcher) -> None:
        """Close this one, too, when the store is closed."""
        self._watchers.append(watcher)

    def let_go_of(self, watcher: Watcher) -> None:
        """It has been closed."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def close(self) -> None:
        """May be called twice."""
        for watcher in tuple(self._watchers):
            watcher.close()
        with self._opening:
            self._closed = True
            for generation in (*self._retired, self._serving):
                if generation is not None:
                    generation.close()
            self._retired.clear()
            self._serving = None
