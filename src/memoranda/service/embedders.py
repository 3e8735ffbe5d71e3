"""Embedders of one store: opened when they are first needed, and left alone for a while when they fail."""

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memoranda.config import Settings
from memoranda.domain.errors import ProviderError
from memoranda.domain.ports import Role
from memoranda.service.breaker import Breaker, BreakerState, digest_of, is_breakable

if TYPE_CHECKING:
    from memoranda.embedding.pipeline import EmbeddingPipeline
    from memoranda.embedding.words import WordTable


class Embedders:
    """Those that the settings name, and those that an older index was made by."""

    def __init__(self, settings: Settings, breaker: Breaker) -> None:
        self.settings = settings
        self.breaker = breaker
        self.answered_again = 0
        """How often one that had failed has answered since: what it could not do then it may do now."""
        self._opening = threading.RLock()
        self._open: dict[str, EmbeddingPipeline | None] = {}
        self._words: WordTable | None = None

    def configured(self) -> "EmbeddingPipeline | None":
        """The embedder that the settings name."""
        return self.named(self.settings.embedder)

    def named(self, name: str) -> "EmbeddingPipeline | None":
        with self._opening:
            if name not in self._open:
                from memoranda.embedding.registry import open_embedder

                self._open[name] = open_embedder(name, self.settings)
            return self._open[name]

    def breaker_state(self, embedder: "EmbeddingPipeline") -> BreakerState:
        """Whether an embedder is left alone because it failed a moment ago."""
        until = self.breaker.until(self._who(embedder)) if is_breakable(embedder.name) else 0
        return BreakerState(embedder.name, until)

    def _who(self, embedder: "EmbeddingPipeline") -> str:
        return digest_of(embedder.name, embedder.fingerprint, self.settings.embedder_url)

    def asked(
        self, embedder: "EmbeddingPipeline", texts: Sequence[str], role: Role, *, once: bool = False
    ) -> list[Any]:
        """Vectors, or the reasons why there are none. One that cannot be reached is left alone for a while."""
        if not is_breakable(embedder.name):
            return reasons(embedder.embed(texts, role, once=once))
        name = self._who(embedder)
        with self.breaker.asking(name) as may_ask:
            if not may_ask:
                return [str(self.breaker_state(embedder))] * len(texts)
            outcomes = reasons(embedder.embed(texts, role, once=once))
            if not _any_vector(outcomes) and not self._answers(embedder, role):
                self.breaker.failed(name)
            elif self.breaker.answered(name):
                self.answered_again += 1
        return outcomes

    def asked_now(self, embedder: "EmbeddingPipeline") -> Any:
        """A vector of something harmless, or the reason why there is none; also of one that is left alone. For who
        wants to know what is wrong with it."""
        outcome = reasons(embedder.embed([f"is it well? {os.urandom(4).hex()}"], "query"))[0]
        if is_breakable(embedder.name):
            name = self._who(embedder)
            if isinstance(outcome, str):
                self.breaker.failed(name)
            elif self.breaker.answered(name):
                self.answered_again += 1
        return outcome

    def _answers(self, embedder: "EmbeddingPipeline", role: Role) -> bool:
        """Whether it was the texts: then something harmless gets a vector. A service that failed is not asked again."""
        harmless = f"hello {os.urandom(4).hex()}"  # of which no cache knows
        return _any_vector(reasons(embedder.embed([harmless], role)))

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

    def forget(self, texts: Sequence[str]) -> None:
        """Erased text leaves the caches in memory, too."""
        for embedder in self._open.values():
            if embedder is not None:
                embedder.forget(texts)

    def close(self) -> None:
        """Release them. May be called twice."""
        with self._opening:
            for embedder in self._open.values():
                if embedder is not None:
                    embedder.close()
            self._open.clear()


def _any_vector(outcomes: Sequence[Any]) -> bool:
    return any(not isinstance(outcome, str) for outcome in outcomes)


def reasons(outcomes: Sequence[Any]) -> list[Any]:
    """Vectors as they are; a vector that could not be made as its reason."""
    return [getattr(outcome, "reason", outcome) for outcome in outcomes]
