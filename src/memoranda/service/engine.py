"""What the verbs of one store share: the ledger, the index that follows it, the embedder, and the one who follows.

The index and the embedder are opened when they are first needed, so that keeping something costs neither.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.errors import (
    ConfigError,
    LedgerDamaged,
    LedgerFull,
    LedgerLocked,
    MemorandaError,
    ProviderError,
)
from memoranda.domain.ports import Extractor, IndexAnswer, IndexEntry, IndexQuery, Progress, Role
from memoranda.ledger.ledger import Ledger
from memoranda.service.breaker import Breaker, BreakerState, digest_of, is_breakable
from memoranda.service.shown import Shown

if TYPE_CHECKING:
    from memoranda.embedding.pipeline import EmbeddingPipeline
    from memoranda.embedding.words import WordTable
    from memoranda.index.embedded import EmbeddedIndex
    from memoranda.index.follower import Backfill, Space

_INDEX_BUSY_SECONDS = 1.0
_BACKFILL_IN_RECALL = 0.5
_EXACT_TAIL = 4_000
_IDLE_SECONDS = 30.0
_BITE_SECONDS = 0.1
_QUIET_SECONDS = 0.1
_MOST_QUIETS = 20
_LAST_WAIT_SECONDS = 5.0
_NO_SPACE = "none"


class Standing(NamedTuple):
    """How far the index is: what it has not followed, and what is wrong."""

    tail: tuple[IndexEntry, ...] = ()
    hidden: frozenset[int] = frozenset()
    degraded: tuple[str, ...] = ()


class Engine:
    """One open store."""

    def __init__(self, path: Path, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.clock = clock
        self.ledger = Ledger(path, clock=clock, busy_seconds=settings.busy_seconds)
        self.index_path = path.with_name(path.name + "-index")
        self.shown = Shown(path, lambda name: self.ledger.name_digest(name).hex())
        self.breaker = Breaker(path, seconds=settings.breaker_seconds, clock=clock)
        self._opening = threading.RLock()
        self._following = threading.Lock()
        self._backfilling = threading.Lock()
        self._retired: list[EmbeddedIndex] = []
        self._index: EmbeddedIndex | None = None
        self._mark: tuple[int, int] = (0, 0)
        self._embedders: dict[str, EmbeddingPipeline | None] = {}
        self._words: WordTable | None = None
        self._extractor: Extractor | None = None
        self._unembeddable: set[int] = set()
        self._settled = threading.local()
        self._ready: dict[str, dict[int, Any]] = {}
        self._stop = threading.Event()
        self._nudged = threading.Event()
        self._worker: threading.Thread | None = None

    # -- opening what is needed --

    @property
    def folder(self) -> Any:
        from memoranda.index.folder import IndexFolder

        return IndexFolder(self.index_path, busy_seconds=_INDEX_BUSY_SECONDS)

    def configured(self) -> "EmbeddingPipeline | None":
        """The embedder that the settings name."""
        return self._embedder(self.settings.embedder)

    def _embedder(self, name: str) -> "EmbeddingPipeline | None":
        with self._opening:
            if name not in self._embedders:
                from memoranda.embedding.registry import open_embedder

                self._embedders[name] = open_embedder(name, self.settings)
            return self._embedders[name]

    def extractor(self) -> "Extractor | None":
        """The model that the settings name for looking into conversations; it learns what its service refuses."""
        with self._opening:
            if self._extractor is None:
                from memoranda.models.registry import open_extractor

                self._extractor = open_extractor(self.settings.extractor, self.settings)
            return self._extractor

    def index(self) -> "EmbeddedIndex":
        """The index that serves now, also when another process has swapped it."""
        with self._opening:
            mark = self.folder.mark()
            while self._index is None or mark != self._mark:
                # Looked at before opening, and again after: another process may swap in between.
                self._mark = mark
                self._retire()
                self._index = self._open_index()
                mark = self.folder.mark()
            return self._index

    def _retire(self) -> None:
        """Put the index away; another thread may still be searching it, but hardly the one before."""
        self.release_retired()
        if self._index is not None:
            self._retired.append(self._index)
            self._index = None

    def release_retired(self) -> None:
        """Close what was put away, so that its file is really gone."""
        with self._opening:
            for index in self._retired:
                index.close()
            self._retired.clear()

    def _open_index(self) -> "EmbeddedIndex":
        embedder = self.configured()
        fingerprint = embedder.fingerprint if embedder else _NO_SPACE
        index: EmbeddedIndex = self.folder.open(fingerprint)
        if index.fingerprint != fingerprint and fingerprint != _NO_SPACE and not index.counts().vectors:
            index.adopt(fingerprint)  # it has words only: any space may move in
        return index

    def serving(self) -> "tuple[EmbeddingPipeline | None, str]":
        """The embedder whose space the index holds, and what is wrong with it, if anything."""
        if self.settings.embedder == "none":
            return None, ""
        fingerprint = self.index().fingerprint
        serving = self.configured()
        if serving is None or serving.fingerprint != fingerprint:
            try:
                serving = self._embedder(fingerprint.partition("|")[0])
            except (ConfigError, ProviderError) as error:
                return None, f"semantic lane off: the index was made by {fingerprint} ({error}); rebuild it"
        if serving is None or serving.fingerprint != fingerprint:
            return None, f"semantic lane off: the index was made by {fingerprint}; rebuild it"
        rest = self.breaker_state(serving)
        return (None, f"semantic lane off: {rest}") if rest.open else (serving, "")

    def breaker_state(self, embedder: "EmbeddingPipeline") -> BreakerState:
        """Whether an embedder is left alone because it failed a moment ago."""
        until = self.breaker.until(self._who(embedder)) if is_breakable(embedder.name) else 0
        return BreakerState(embedder.name, until)

    def _who(self, embedder: "EmbeddingPipeline") -> str:
        return digest_of(embedder.name, embedder.fingerprint, self.settings.embedder_url)

    def _asked(
        self, embedder: "EmbeddingPipeline", texts: Sequence[str], role: Role, *, once: bool = False
    ) -> list[Any]:
        """Vectors, or the reasons why there are none. One that cannot be reached is left alone for a while."""
        if not is_breakable(embedder.name):
            return _reasons(embedder.embed(texts, role, once=once))
        name = self._who(embedder)
        with self.breaker.asking(name) as may_ask:
            if not may_ask:
                return [str(self.breaker_state(embedder))] * len(texts)
            outcomes = _reasons(embedder.embed(texts, role, once=once))
            if not _any_vector(outcomes) and not self._answers(embedder, role):
                self.breaker.failed(name)
            elif self.breaker.answered(name):
                self._unembeddable.clear()  # what it could not do then it may do now
        return outcomes

    def _answers(self, embedder: "EmbeddingPipeline", role: Role) -> bool:
        """Whether it was the texts: then something harmless gets a vector. A service that failed is not asked again."""
        harmless = f"hello {os.urandom(4).hex()}"  # of which no cache knows
        return _any_vector(_reasons(embedder.embed([harmless], role)))

    # -- following --

    def catch_up(self, *, seconds: float = _BACKFILL_IN_RECALL, progress: Progress | None = None) -> Standing:
        """Bring the index up to date, as far as it can be done now; say what is missing."""
        from memoranda.index.follower import follow

        ledger_version = self.ledger.database.version()
        if getattr(self._settled, "at", None) == (ledger_version, *self._index_version()):
            return Standing()  # nobody has written since this thread last found everything done
        degraded: list[str] = []
        try:
            with self._following:
                follow(self.ledger, self.index(), self.space(), progress)
        except LedgerLocked:
            return self._exact_tail()
        except LedgerFull as error:
            return self._exact_tail(f"the index is behind: {error}")
        except LedgerDamaged:
            self._discard_index()
            with self._following:
                follow(self.ledger, self.index(), self.space(), progress)
            degraded.append("the index was damaged and has been made anew")
        if seconds > 0:
            outcome = self.backfill(seconds=seconds)
            if outcome is not None and outcome.reason:
                degraded.append(f"{len(outcome.skipped)} memories have no vector: {outcome.reason}")
            elif outcome is not None and outcome.left:
                degraded.append(f"{outcome.left} memories have no vector yet")
            elif outcome is None and self.settings.embedder != "none" and self.index().missing_vectors(1):
                degraded.append("some memories have no vector yet")
            elif self._unembeddable:
                degraded.append(f"{len(self._unembeddable)} memories have no vector")
            elif not degraded and (outcome is not None or self.settings.embedder == "none"):
                self._settled.at = (ledger_version, *self._index_version())
        return Standing(degraded=tuple(degraded))

    def _index_version(self) -> tuple[int, object]:
        """Which index, and which state of it: another file may have the same number."""
        index = self.index()
        return index.version(), index

    def space(self) -> "Space":
        """The vector space that the index holds, with its vocabulary; neither when it holds words only."""
        return self._space(self.index().fingerprint)

    def _space(self, fingerprint: str) -> "Space":
        from memoranda.index.follower import Space

        return Space() if fingerprint == _NO_SPACE else Space(fingerprint, self.vocabulary())

    def vocabulary(self) -> "WordTable | None":
        """The words of the bundled model, whichever embedder serves; None when words are compared as they are."""
        if self.settings.embedder == "none":
            return None
        with self._opening:
            if self._words is None:
                from memoranda.embedding.words import WordTable

                table = WordTable(self.settings.cache_folder())
                try:
                    table.open()
                except (ProviderError, OSError):
                    return None  # recall is then a little less forgiving about words; the embedder says what is wrong
                self._words = table
            return self._words

    def _exact_tail(self, *degraded: str) -> Standing:
        """The index cannot be written now: what it has not followed is searched exactly, from the ledger."""
        from memoranda.index.follower import entries

        index = self.index()
        changes = self.ledger.changes_since(index.sequence, limit=_EXACT_TAIL)
        put, drop = entries(self.ledger, changes.numbers, self.space())
        if not changes.complete:
            degraded = (*degraded, "the index is far behind; only a part of what is new was searched")
        return Standing(tuple(put), frozenset(drop), degraded)

    def backfill(self, *, seconds: float) -> "Backfill | None":
        """Make missing vectors for at most so long. None when there is no embedder."""
        from memoranda.index.follower import backfill

        embedder, _ = self.serving()
        if embedder is None or not self._backfilling.acquire(timeout=seconds):
            return None
        try:
            return backfill(
                self.ledger,
                self.index(),
                self._space(embedder.fingerprint),
                lambda texts: self._asked(embedder, texts, "document"),
                seconds=seconds,
                ready=self._ready.setdefault(embedder.fingerprint, {}),
                skip=self._unembeddable,
                stop=self._stop.is_set,
            )
        except (LedgerLocked, LedgerFull):
            return None
        finally:
            self._backfilling.release()

    def try_again(self) -> None:
        """What could not be embedded may be tried once more, and whoever failed may be asked."""
        self._unembeddable.clear()
        self.breaker.reset()

    def nudge(self) -> None:
        """Something was written: the background follower may begin."""
        if not self.settings.follow or self._stop.is_set():
            return
        if self._worker is None:
            with self._opening:
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
                self.catch_up(seconds=0)
                outcome = self._backfill_all()
            except (MemorandaError, OSError):
                # The next recall meets the same trouble and says so in its receipt.
                self._stop.wait(_IDLE_SECONDS)
                continue
            if outcome is not None and outcome.skipped:
                self._unembeddable.clear()
                self._stop.wait(_IDLE_SECONDS)

    def _wait_for_quiet(self) -> None:
        """Until nobody has written for a moment, but not for ever: who writes should not be slowed by who follows."""
        for _ in range(_MOST_QUIETS):
            self._nudged.clear()
            if self._nudged.wait(_QUIET_SECONDS) is False or self._stop.is_set():
                return

    def _backfill_all(self) -> "Backfill | None":
        """In bites, so that a recall in another thread need not wait for all of it."""
        while not self._stop.is_set():
            outcome = self.backfill(seconds=_BITE_SECONDS)
            if outcome is None or outcome.skipped or not outcome.left or not (outcome.made or outcome.done):
                return outcome
            if self._nudged.is_set():  # somebody writes: they come first
                self._wait_for_quiet()
        return None

    # -- searching --

    def embed_query(self, text: str) -> tuple[Any, str, str]:
        """(vector or None, name of the embedder, what went wrong)."""
        return self.embed_one(text, "query")

    def embed_one(self, text: str, role: Role) -> tuple[Any, str, str]:
        """The same for a text in either role. A document is asked for once: whoever compares texts can do without."""
        embedder, trouble = self.serving()
        if embedder is None:
            return None, _NO_SPACE, trouble
        outcome = self._asked(embedder, [text], role, once=role == "document")[0]
        if isinstance(outcome, str):
            return None, embedder.name, f"semantic lane off: {outcome}"
        return outcome, embedder.name, ""

    def search(self, query: IndexQuery) -> IndexAnswer:
        return self.index().search(query)

    # -- upkeep --

    def forget_cached(self, texts: Sequence[str]) -> None:
        """Erased text leaves the caches in memory, too."""
        with self._backfilling:
            self._ready.clear()
        for embedder in self._embedders.values():
            if embedder is not None:
                embedder.forget(texts)

    def _discard_index(self) -> None:
        with self._opening:
            self._retire()
            self.folder.discard()

    def rebuild(self, progress: Progress | None = None) -> dict[int, str]:
        """A new index in the space of the configured embedder; the old one serves until it is complete.

        Vectors are kept in the ledger as they are made, so that an interrupted rebuild goes on where it stopped.
        """
        from memoranda.domain.errors import ProviderUnavailable
        from memoranda.index.follower import embed_all, follow

        embedder = self.configured()
        fingerprint = embedder.fingerprint if embedder else _NO_SPACE
        before = self.index().fingerprint
        skipped: dict[int, str] = {}
        if embedder is not None:
            skipped = embed_all(
                self.ledger, fingerprint, lambda texts: _reasons(embedder.embed(texts, "document")), progress
            )
            total = self.ledger.count()
            if skipped and len(skipped) * 20 > total:
                raise ProviderUnavailable(
                    f"{len(skipped)} of {total} memories could not be embedded: {next(iter(skipped.values()))}",
                    hint="The old index goes on serving. Run the rebuild again to go on where it stopped.",
                )
        space = self._space(fingerprint)
        with self.folder.rebuilding():
            new = self.folder.begin(fingerprint)
            try:
                follow(self.ledger, new, space, progress)
                new.optimize()
                with self._following:
                    follow(self.ledger, new, space)
                    self.folder.swap_to(new)
            finally:
                new.close()
                self.folder.tidy()
        self.index()
        if before not in (fingerprint, _NO_SPACE) and fingerprint != _NO_SPACE:
            self.ledger.drop_vectors(before)
        self._unembeddable.clear()
        return skipped

    def close(self) -> None:
        """Stop following and close everything. May be called twice."""
        self._stop.set()
        self._nudged.set()
        if self._worker is not None and self._worker is not threading.current_thread():
            # A dead embedder must not keep the program from ending; what it was asked for is asked for again.
            self._worker.join(timeout=_LAST_WAIT_SECONDS)
        with self._opening:
            for index in (*self._retired, self._index):
                if index is not None:
                    index.close()
            self._index = None
            for embedder in self._embedders.values():
                if embedder is not None:
                    embedder.close()
            self._embedders.clear()
            if self._extractor is not None:
                self._extractor.close()
        self.ledger.close()


def _any_vector(outcomes: Sequence[Any]) -> bool:
    return any(not isinstance(outcome, str) for outcome in outcomes)


def _reasons(outcomes: Sequence[Any]) -> list[Any]:
    """Vectors as they are; a vector that could not be made as its reason."""
    return [getattr(outcome, "reason", outcome) for outcome in outcomes]
