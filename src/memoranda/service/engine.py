"""What the verbs of one store share: the ledger, what can be searched in it, its models, and the one who follows."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.errors import MemorandaError
from memoranda.domain.keys import Key
from memoranda.domain.memory import Memory
from memoranda.domain.ports import Extractor, Summarizer
from memoranda.ledger.feed import Feed
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.opening import read_from
from memoranda.service.acting import actor
from memoranda.service.breaker import Breaker
from memoranda.service.corpus import Corpus
from memoranda.service.embedders import Embedders
from memoranda.service.index_homes import chosen
from memoranda.service.once import once
from memoranda.service.shown import Shown

if TYPE_CHECKING:
    from memoranda.index.follower import Backfill
    from memoranda.ledger.mirrors import Mirrors
    from memoranda.ledger.sources import Sources
    from memoranda.ledger.transcripts import Transcripts
    from memoranda.service.document_library import Library
    from memoranda.service.missing import Misses

_IDLE_SECONDS = 30.0
_BITE_SECONDS = 0.1
_QUIET_SECONDS = 0.1
_MOST_QUIETS = 20
_LAST_WAIT_SECONDS = 5.0


class Engine:
    """One open store."""

    def __init__(self, path: Path, settings: Settings, clock: Clock, *, key: Key | None = None) -> None:
        if settings.read_only:
            settings = settings._replace(follow=False, sweep=False, misses="none")
        self.settings = settings
        self.clock = clock
        self.key = key
        self.ledger = Ledger(
            path,
            clock=clock,
            busy_seconds=settings.busy_seconds,
            key=key,
            address=settings.store_address(),
            pool_size=settings.pool_size,
            read_only=settings.read_only,
        )
        if settings.replicas:
            read_from(self.ledger.database, settings.replicas)
        self.shown = Shown(path, lambda name: self.ledger.name_digest(name).hex())
        self.breaker = Breaker(path, seconds=settings.breaker_seconds, clock=clock)
        self.embedders = Embedders(settings, self.breaker)
        self._stop = threading.Event()
        self.memories = self._corpus(self.ledger.feed, "index", "memories")
        self.opening = threading.RLock()
        """Held by whoever makes a part that was not needed before."""
        self._library: Library | None = None
        self._extractor: Extractor | None = None
        self._summarizer: Summarizer | None = None
        self._chores: list[threading.Thread] = []
        self._nudged = threading.Event()
        self._worker: threading.Thread | None = None

    def _corpus(self, feed: Feed, folder: str, called: str) -> Corpus:
        path = self.ledger.path.with_name(f"{self.ledger.path.name}-{folder}")
        return Corpus(
            feed,
            path,
            self.embedders,
            called=called,
            stop=self._stop.is_set,
            key=self.key,
            homes=chosen(self.settings, self.ledger.database),
        )

    @property
    def gate(self) -> "Engine":
        """The store that knows who may come in: this one, unless it is one of several."""
        return self

    def refuse_read_only(self) -> None:
        """Raise Refused for whoever is about to change something, when the store is only to be looked at."""
        self.ledger.database.refuse_read_only()

    @property
    def actor(self) -> str:
        """Who acts now, for events."""
        return actor(self.settings.actor)

    @once
    def transcripts(self) -> "Transcripts":
        """Conversations, word for word."""
        from memoranda.ledger.transcripts import Transcripts

        return Transcripts(self.ledger.database, self.clock)

    @once
    def messages(self) -> Corpus:
        """What was said in them, to be searched."""
        return self._corpus(self.transcripts.feed, "transcripts", "messages")

    @once
    def mirrors(self) -> "Mirrors":
        """The folders that this store is mirrored into."""
        from memoranda.ledger.mirrors import Mirrors

        return Mirrors(self.ledger.database, self.clock)

    @once
    def sources(self) -> "Sources":
        """Where documents come from."""
        from memoranda.ledger.sources import Sources

        return Sources(self.ledger.database, self.clock)

    @once
    def misses(self) -> "Misses":
        """What was asked and found nothing."""
        from memoranda.service.missing import Misses

        return Misses(self)

    def library(self) -> "Library":
        """The documents of this store; nothing of them is opened before it is needed."""
        with self.opening:
            if self._library is None:
                from memoranda.service.document_library import Library

                self._library = Library(
                    self.ledger.path.with_name(f"{self.ledger.path.name}-documents"),
                    self.sources,
                    self.settings,
                    self.clock,
                    self.embedders,
                    stop=self._stop.is_set,
                    nudge=self.nudge,
                    key=self.key,
                )
            return self._library

    def extractor(self) -> "Extractor | None":
        """The model that the settings name for looking into conversations; it learns what its service refuses."""
        with self.opening:
            if self._extractor is None:
                from memoranda.models.registry import open_extractor

                self._extractor = open_extractor(self.settings.extractor, self.settings)
            return self._extractor

    def summarizer(self) -> Summarizer | None:
        """The model that the settings name for summing up; None when that is done offline."""
        with self.opening:
            if self._summarizer is None:
                from memoranda.models.registry import open_summarizer

                self._summarizer = open_summarizer(self.settings.summarizer, self.settings)
            return self._summarizer

    def later(self, job: Callable[[], object]) -> None:
        """Do something in the background. What fails is done by whoever finds it undone."""

        def quietly() -> None:
            with suppress(MemorandaError, OSError):
                job()

        self._chores = [thread for thread in self._chores if thread.is_alive()]
        self._chores.append(threading.Thread(target=quietly, name="memoranda-chore", daemon=True))
        self._chores[-1].start()

    def corpora(self) -> tuple[Corpus, ...]:
        """Everything of the ledger that can be searched. A store without conversations has no index of them."""
        return (self.memories, self.messages) if self.messages.is_used() else (self.memories,)

    def _followed_corpora(self) -> tuple[Corpus, ...]:
        """With the documents, once they were used."""
        return self.corpora() if self._library is None else (*self.corpora(), *self._library.corpora())

    def forgotten_long_ago(self) -> list[tuple[int, Memory]]:
        """What was forgotten before the grace period began."""
        return self.ledger.expired_forgotten(before=self.clock.now() - self.settings.grace_ms)

    # -- following --

    def try_again(self) -> None:
        """What could not be embedded may be tried once more, and whoever failed may be asked."""
        self.breaker.reset()
        for corpus in self._followed_corpora():
            corpus.try_again()

    def forget_cached(self, texts: Sequence[str]) -> None:
        """Erased text leaves the caches in memory, too."""
        for corpus in self._followed_corpora():
            corpus.forget_ready()
        self.embedders.forget(texts)

    def nudge(self) -> None:
        """Something was written: the background follower may begin."""
        if not self.settings.follow or self._stop.is_set():
            return
        if self._worker is None:
            with self.opening:
                if self._worker is None:
                    self._worker = threading.Thread(target=self._work, name="memoranda-follower", daemon=True)
                    self._worker.start()
        self._nudged.set()

    def _work(self) -> None:
        while not self._stop.is_set():
            self._nudged.wait()
            self._wait_for_quiet()
            if self._stop.is_set():
                return
            try:
                well = all(self._followed(corpus) for corpus in self._followed_corpora())
            except (MemorandaError, OSError):
                well = False  # the next recall meets the same trouble and says so in its receipt
            if not well:
                self._stop.wait(_IDLE_SECONDS)

    def _followed(self, corpus: Corpus) -> bool:
        """Bring one index up to date, with its vectors; False when some could not be made just now."""
        corpus.catch_up(seconds=0)
        outcome = self._backfill_all(corpus)
        if outcome is None or not outcome.skipped:
            return True
        corpus.try_again()
        return False

    def _wait_for_quiet(self) -> None:
        """Until nobody has written for a moment, but not for ever: who writes should not be slowed by who follows."""
        for _ in range(_MOST_QUIETS):
            self._nudged.clear()
            if self._nudged.wait(_QUIET_SECONDS) is False or self._stop.is_set():
                return

    def _backfill_all(self, corpus: Corpus) -> "Backfill | None":
        """In bites, so that a recall in another thread need not wait for all of it."""
        while not self._stop.is_set():
            outcome = corpus.backfill(seconds=_BITE_SECONDS)
            if outcome is None or outcome.skipped or not outcome.left or not (outcome.made or outcome.done):
                return outcome
            if self._nudged.is_set():  # somebody writes: they come first
                self._wait_for_quiet()
        return None

    def close(self) -> None:
        """Stop following and close everything. May be called twice."""
        self._stop.set()
        self._nudged.set()
        for thread in (self._worker, *self._chores):
            if thread is not None and thread is not threading.current_thread():
                # A dead service must not keep the program from ending; what it was asked for is asked for again.
                thread.join(timeout=_LAST_WAIT_SECONDS)
        self.memories.close()
        if "messages" in self.__dict__:
            self.messages.close()
        if self._library is not None:
            self._library.close()
        self.embedders.close()
        with self.opening:
            for model in (self._extractor, self._summarizer):
                if model is not None:
                    model.close()
        if "misses" in self.__dict__:
            self.misses.flush()
        self.ledger.close()
