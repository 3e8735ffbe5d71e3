"""`Corpus`: one body of texts that can be searched, and the index that follows it: memories, or transcripts.

The index is opened when it is first needed, so that keeping something costs none.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import ConfigError, LedgerDamaged, LedgerFull, LedgerLocked, ProviderError
from memoranda.domain.keys import Key
from memoranda.domain.ports import IndexAnswer, IndexEntry, IndexQuery, Progress, Role
from memoranda.ledger.feed import Feed
from memoranda.service.embedders import Embedders, reasons
from memoranda.service.index_homes import in_folder
from memoranda.service.once import once

if TYPE_CHECKING:
    from memoranda.embedding.pipeline import EmbeddingPipeline
    from memoranda.index.follower import Backfill, Space
    from memoranda.index.home import IndexHome, ServedIndex

NO_SPACE = "none"
_BACKFILL_IN_RECALL = 0.5
_EXACT_TAIL = 4_000


class Standing(NamedTuple):
    """How far the index is: what it has not followed, and what is wrong."""

    tail: tuple[IndexEntry, ...] = ()
    hidden: frozenset[int] = frozenset()
    degraded: tuple[str, ...] = ()


class Corpus:
    """What a feed tells of, found by words and by meaning. `called` is its word for what it holds."""

    def __init__(
        self,
        feed: Feed,
        path: Path,
        embedders: Embedders,
        *,
        called: str,
        stop: Callable[[], bool] = lambda: False,
        key: Key | None = None,
        homes: "Callable[[Corpus], IndexHome] | None" = None,
    ) -> None:
        """`homes` opens the home of its index, if that is not a folder beside the ledger."""
        self.feed = feed
        self.path = path
        self.called = called
        self._embedders = embedders
        self._stop = stop
        self.key = key
        self._homes = homes or in_folder
        self.opening = threading.RLock()
        """Held by whoever opens or swaps the index."""
        self._following = threading.Lock()
        self._backfilling = threading.Lock()
        self._retired: list[ServedIndex] = []
        self._index: ServedIndex | None = None
        self._mark: tuple[int, int] = (0, 0)
        self._unembeddable: set[int] = set()
        self._answered_again = 0
        self._settled = threading.local()
        self._ready: dict[str, dict[int, Any]] = {}

    # -- opening what is needed --

    @once
    def home(self) -> "IndexHome":
        """Where its index lives."""
        return self._homes(self)

    def is_used(self) -> bool:
        """Whether there is, or ever was, anything to follow."""
        return self._index is not None or self.feed.sequence() > 0

    def index(self) -> "ServedIndex":
        """The index that serves now, also when another process has swapped it."""
        with self.opening:
            mark = self.home.mark()
            while self._index is None or mark != self._mark:
                # Looked at before opening, and again after: another process may swap in between.
                self._mark = mark
                self._retire()
                self._index = self._open_index()
                mark = self.home.mark()
            return self._index

    def _retire(self) -> None:
        """Put the index away; another thread may still be searching it, but hardly the one before."""
        self.release_retired()
        if self._index is not None:
            self._retired.append(self._index)
            self._index = None

    def release_retired(self) -> None:
        """Close what was put away, so that its file is really gone."""
        with self.opening:
            for index in self._retired:
                index.close()
            self._retired.clear()

    def _open_index(self) -> "ServedIndex":
        embedder = self._embedders.configured()
        fingerprint = embedder.fingerprint if embedder else NO_SPACE
        index: ServedIndex = self.home.open(fingerprint)
        if self._is_of_another_life(index) and not self._steps_back(index):
            index.close()
            self.home.discard()
            index = self.home.open(fingerprint)
        same_space = embedder is not None and embedder.fingerprint == index.fingerprint
        self._probe(index, embedder.dimensions if embedder is not None and same_space else None)
        if index.fingerprint != fingerprint and fingerprint != NO_SPACE and not index.counts().vectors:
            index.adopt(fingerprint)  # it has words only: any space may move in
        return index

    def _probe(self, index: "ServedIndex", dimensions: int | None) -> None:
        """An index that lets through what is filtered is refused. Ours is not asked: its contract is tested."""
        from memoranda.index.embedded import EmbeddedIndex

        if isinstance(index, EmbeddedIndex):
            return
        from memoranda.index.probe import probe_once

        try:
            note, now = self.home.path / "PROBED", SystemClock().now()
            probe_once(index, dimensions=dimensions, serving=self.home.mark(), note=note, now=now)
        except BaseException:
            index.close()
            raise

    def _is_of_another_life(self, index: "ServedIndex") -> bool:
        """Whether it has followed another history than the ledger's: a backup was put in its place, or a copy."""
        return not self._has_been(*index.standing)

    def _steps_back(self, index: "ServedIndex") -> bool:
        from memoranda.index.home import Rewinding

        return isinstance(index, Rewinding) and index.step_back(self._has_been)

    def _has_been(self, sequence: int, mark: str) -> bool:
        """Whether the ledger has stood there."""
        return sequence <= self.feed.sequence() and (not mark or mark == self.feed.mark_at(sequence))

    def serving(self) -> "tuple[EmbeddingPipeline | None, str]":
        """The embedder whose space the index holds, and what is wrong with it, if anything."""
        if self._embedders.settings.embedder == "none":
            return None, ""
        fingerprint = self.index().fingerprint
        serving = self._embedders.configured()
        if serving is None or serving.fingerprint != fingerprint:
            try:
                serving = self._embedders.named(fingerprint.partition("|")[0])
            except (ConfigError, ProviderError) as error:
                return None, f"semantic lane off: the index was made by {fingerprint} ({error}); rebuild it"
        if serving is None or serving.fingerprint != fingerprint:
            return None, f"semantic lane off: the index was made by {fingerprint}; rebuild it"
        rest = self._embedders.breaker_state(serving)
        return (None, f"semantic lane off: {rest}") if rest.open else (serving, "")

    # -- following --

    def catch_up(self, *, seconds: float = _BACKFILL_IN_RECALL, progress: Progress | None = None) -> Standing:
        """Bring the index up to date, as far as it can be done now; say what is missing."""
        from memoranda.index.follower import follow

        ledger_version = self.feed.version()
        if getattr(self._settled, "at", None) == (ledger_version, *self._index_version()):
            return Standing()  # nobody has written since this thread last found everything done
        degraded: list[str] = []
        try:
            with self._following:
                follow(self.feed, self.index(), self.space(), progress)
        except LedgerLocked:
            return self._exact_tail()
        except LedgerFull as error:
            return self._exact_tail(f"the index is behind: {error}")
        except LedgerDamaged:
            self._discard_index()
            with self._following:
                follow(self.feed, self.index(), self.space(), progress)
            degraded.append("the index was damaged and has been made anew")
        if seconds > 0:
            outcome = self.backfill(seconds=seconds)
            if outcome is not None and outcome.reason:
                degraded.append(f"{len(outcome.skipped)} {self.called} have no vector: {outcome.reason}")
            elif outcome is not None and outcome.left:
                degraded.append(f"{outcome.left} {self.called} have no vector yet")
            elif outcome is None and self._embedders.settings.embedder != "none" and self.index().missing_vectors(1):
                degraded.append(f"some {self.called} have no vector yet")
            elif self._unembeddable:
                degraded.append(f"{len(self._unembeddable)} {self.called} have no vector")
            elif not degraded and (outcome is not None or self._embedders.settings.embedder == "none"):
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

        return Space() if fingerprint == NO_SPACE else Space(fingerprint, self._embedders.vocabulary())

    def _exact_tail(self, *degraded: str) -> Standing:
        """The index cannot be written now: what it has not followed is searched exactly, from the ledger."""
        from memoranda.index.follower import entries

        index = self.index()
        changes = self.feed.changes_since(index.sequence, limit=_EXACT_TAIL)
        put, drop = entries(self.feed, changes.numbers, self.space())
        if not changes.complete:
            degraded = (*degraded, "the index is far behind; only a part of what is new was searched")
        return Standing(tuple(put), frozenset(drop), degraded)

    def backfill(self, *, seconds: float) -> "Backfill | None":
        """Make missing vectors for at most so long. None when there is no embedder."""
        from memoranda.index.follower import backfill

        if self._embedders.answered_again != self._answered_again:
            self._answered_again = self._embedders.answered_again
            self._unembeddable.clear()
        embedder, _ = self.serving()
        if embedder is None or not self._backfilling.acquire(timeout=seconds):
            return None
        try:
            return backfill(
                self.feed,
                self.index(),
                self._space(embedder.fingerprint),
                lambda texts: self._embedders.asked(embedder, texts, "document"),
                seconds=seconds,
                ready=self._ready.setdefault(embedder.fingerprint, {}),
                skip=self._unembeddable,
                stop=self._stop,
            )
        except (LedgerLocked, LedgerFull):
            return None
        finally:
            self._backfilling.release()

    def try_again(self) -> None:
        """What could not be embedded may be tried once more."""
        self._unembeddable.clear()

    # -- searching --

    def embed_query(self, text: str) -> tuple[Any, str, str]:
        """(vector or None, name of the embedder, what went wrong)."""
        return self.embed_one(text, "query")

    def embed_one(self, text: str, role: Role) -> tuple[Any, str, str]:
        """The same for a text in either role. A document is asked for once: whoever compares texts can do without."""
        embedder, trouble = self.serving()
        if embedder is None:
            return None, NO_SPACE, trouble
        outcome = self._embedders.asked(embedder, [text], role, once=role == "document")[0]
        if isinstance(outcome, str):
            return None, embedder.name, f"semantic lane off: {outcome}"
        return outcome, embedder.name, ""

    def search(self, query: IndexQuery) -> IndexAnswer:
        try:
            return self.index().search(query)
        except LedgerLocked:  # another process swapped it away meanwhile: ask the one that serves now
            return self.index().search(query)

    # -- upkeep --

    def forget_ready(self) -> None:
        """Vectors that wait to be taken in are made again: one of them may be of what was erased."""
        with self._backfilling:
            self._ready.clear()

    def _discard_index(self) -> None:
        with self.opening:
            self._retire()
            self.home.discard()

    def rebuild(self, progress: Progress | None = None) -> dict[int, str]:
        """A new index in the space of the configured embedder; the old one serves until it is complete.

        Vectors are kept in the ledger as they are made, so that an interrupted rebuild goes on where it stopped.
        """
        from memoranda.domain.errors import ProviderUnavailable
        from memoranda.index.follower import embed_all, follow

        embedder = self._embedders.configured()
        fingerprint = embedder.fingerprint if embedder else NO_SPACE
        before = self.index().fingerprint
        skipped: dict[int, str] = {}
        if embedder is not None:
            skipped = embed_all(
                self.feed, fingerprint, lambda texts: reasons(embedder.embed(texts, "document")), progress
            )
            total = self.feed.count()
            if skipped and len(skipped) * 20 > total:
                raise ProviderUnavailable(
                    f"{len(skipped)} of {total} {self.called} could not be embedded: {next(iter(skipped.values()))}",
                    hint="The old index goes on serving. Run the rebuild again to go on where it stopped.",
                )
        space = self._space(fingerprint)
        with self.home.rebuilding():
            new = self.home.begin(fingerprint)
            try:
                follow(self.feed, new, space, progress)
                new.optimize()
                with self._following:
                    follow(self.feed, new, space)
                    self.home.swap_to(new)
            finally:
                new.close()
                self.home.tidy()
        self.index()
        if before not in (fingerprint, NO_SPACE) and fingerprint != NO_SPACE:
            self.feed.drop_vectors(before)
        self._unembeddable.clear()
        return skipped

    def close(self) -> None:
        """Close the index. May be called twice."""
        with self.opening:
            for index in (*self._retired, self._index):
                if index is not None:
                    index.close()
            self._retired.clear()
            self._index = None
