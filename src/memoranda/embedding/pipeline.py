"""Around any embedder: clamp -> cache -> batch -> retry -> normalise. One outcome for each text, in order.

An outcome is a unit vector or `Skipped`, which says why there is none; never a zero vector, never an exception
of a provider. Not a queue: what was skipped is asked for again by whoever needs it.
"""

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from memoranda.domain.errors import ConfigError, ProviderError, ProviderRejected, ProviderUnavailable, ServiceRejected
from memoranda.domain.ports import Embedder, Role
from memoranda.embedding.cache import Vector, VectorCache
from memoranda.embedding.preparation import MARKER, batches, clamp

_LONGEST_WAIT = 60.0
_REASON_LENGTH = 200
_REPEATED = 12  # so many characters of a text in a message are a quotation, not a coincidence


class Skipped(NamedTuple):
    """Why a text has no vector. The reason never contains the text or a key."""

    reason: str


Outcome = Vector | Skipped


class _Haste(NamedTuple):
    """Until when an answer is of use, and how often it may be asked for."""

    deadline: float | None
    tries: int


@runtime_checkable
class BoundedEmbedder(Protocol):
    """An embedder that can be told how long it may take. Others are asked without a limit."""

    def embed_within(self, texts: Sequence[str], role: Role, *, seconds: float) -> Any:
        """Like `embed`; raises ProviderUnavailable when the time is over."""


class EmbeddingPipeline:
    """Asks one embedder, on behalf of any number of threads."""

    def __init__(
        self,
        embedder: Embedder,
        *,
        clamp_chars: int = 6000,
        head_chars: int = 500,
        batch_tokens: int = 8000,
        batch_items: int = 256,
        tries: int = 3,
        backoff: tuple[float, float] = (0.5, 8.0),
        jitter: float = 0.2,
        query_deadline: float = 5.0,
        cooldown: float = 30.0,
        cache_entries: int = 2048,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = random.random,
    ) -> None:
        if not 0 <= head_chars < clamp_chars - len(MARKER):
            raise ConfigError(f"an embedded text of {clamp_chars} characters has no room for a head of {head_chars}")
        self._embedder = embedder
        self._clamp_chars = clamp_chars
        self._head_chars = head_chars
        self._batch_tokens = batch_tokens
        self._batch_items = batch_items
        self._tries = tries
        self._backoff = backoff
        self._jitter = jitter
        self._query_deadline = query_deadline
        self._cooldown = cooldown
        self._cache = VectorCache(cache_entries)
        self._sleep = sleep
        self._monotonic = monotonic
        self._random = random
        self._learnt: int | None = None
        self._cold: tuple[float, Skipped] | None = None

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int | None:
        """The embedder's own, or those of its first answer."""
        return self._embedder.dimensions or self._learnt

    def embed(self, texts: Sequence[str], role: Role, *, once: bool = False) -> list[Outcome]:
        """One outcome for each text. A query is answered within `query_deadline`, with or without vectors.

        `once` is for whoever waits and can do without: the same limit, and no second try.
        """
        deadline = self._monotonic() + self._query_deadline if once or role == "query" else None
        haste = _Haste(deadline, 1 if once else self._tries)
        clamped = [self._clamped(text) for text in texts]
        outcomes: dict[str, Outcome] = {text: Skipped("empty text") for text in clamped if not text.strip()}

        wanted = dict.fromkeys(text for text in clamped if text not in outcomes)
        cached, ticket = self._cache.get(wanted, fingerprint=self.fingerprint, role=role)
        outcomes.update(cached)

        missing = [text for text in wanted if text not in cached]
        for batch in batches(missing, tokens=self._batch_tokens, items=self._batch_items):
            answers = dict(zip(batch, self._answers(batch, role, haste), strict=True))
            fresh = {text: answer for text, answer in answers.items() if not isinstance(answer, Skipped)}
            self._cache.put(fresh, fingerprint=self.fingerprint, role=role, ticket=ticket)
            outcomes.update(answers)
        return [outcomes[text] for text in clamped]

    def forget(self, texts: Iterable[str]) -> None:
        """Drop what the cache has of these texts, in every role. Give them whole or clamped."""
        self._cache.forget([self._clamped(text) for text in texts], fingerprint=self.fingerprint)

    def clear(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    def close(self) -> None:
        """Close the embedder. May be called twice."""
        self._cache.clear()
        self._embedder.close()

    def _clamped(self, text: str) -> str:
        return clamp(text, limit=self._clamp_chars, head=self._head_chars)

    def _answers(self, texts: list[str], role: Role, haste: "_Haste") -> list[Outcome]:
        now = self._monotonic()
        cold = self._cold  # read once: another thread may end the cooling meanwhile
        if cold is not None and now < cold[0]:
            return [cold[1]] * len(texts)
        if haste.deadline is not None and now >= haste.deadline:
            return [Skipped(f"out of time: a query may take {self._query_deadline:g} s")] * len(texts)
        try:
            rows = self._ask(texts, role, haste)
        except ProviderError as error:
            return self._failed(error, texts, role, haste)
        self._cold = None
        return self._units(list(rows), len(texts))

    def _failed(self, error: ProviderError, texts: list[str], role: Role, haste: "_Haste") -> list[Outcome]:
        about_a_text = isinstance(error, ProviderRejected) and not isinstance(error, ServiceRejected)
        if about_a_text and len(texts) > 1:
            # Halves, down to the one bad text: log2(n) questions instead of n.
            middle = len(texts) // 2
            return [
                outcome for half in (texts[:middle], texts[middle:]) for outcome in self._answers(half, role, haste)
            ]
        reason = _reason(error, texts, self.name)
        if not about_a_text:
            if not error.retryable:
                reason = f"{reason} ({error.hint})"
            pause = max(self._cooldown, _told_to_wait(error))
            self._cold = (self._monotonic() + pause, Skipped(f"cooling down after: {reason}"))
        return [Skipped(reason)] * len(texts)

    def _ask(self, texts: list[str], role: Role, haste: "_Haste") -> Any:
        shortest, longest = self._backoff
        failures = 0
        while True:
            try:
                return self._call(texts, role, haste.deadline)
            except ProviderError as error:
                failures += 1
                if not error.retryable or failures >= haste.tries:
                    raise
                spread = 1 + self._jitter * (2 * self._random() - 1)
                delay = max(min(longest, shortest * 2.0 ** (failures - 1)) * spread, _told_to_wait(error))
                if haste.deadline is not None and self._monotonic() + delay >= haste.deadline:
                    raise
            self._sleep(delay)

    def _call(self, texts: list[str], role: Role, deadline: float | None) -> Any:
        if deadline is not None and isinstance(self._embedder, BoundedEmbedder):
            return self._embedder.embed_within(texts, role, seconds=deadline - self._monotonic())
        return self._embedder.embed(texts, role)

    def _units(self, rows: list[Any], count: int) -> list[Outcome]:
        if len(rows) != count:
            return [Skipped(f"wrong number of vectors: expected {count}, got {len(rows)}")] * count
        return [self._unit(row) for row in rows]

    def _unit(self, row: Any) -> Outcome:
        try:
            values = np.asarray(row, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            return Skipped("not a vector of numbers")
        if values.ndim != 1 or not values.size:
            return Skipped("not a vector of numbers")
        if not np.isfinite(values).all():
            return Skipped("a vector that is not finite")
        peak = np.abs(values).max()
        if peak == 0:
            return Skipped("a zero vector")
        expected = self.dimensions
        if expected is None:
            expected = self._learnt = values.size
        if values.size != expected:
            return Skipped(f"wrong dimensions: expected {expected}, got {values.size}")
        # By the peak first: squares of very large or very small values would not fit.
        scaled = values / peak
        unit: Vector = (scaled / np.linalg.norm(scaled)).astype(np.float32)
        unit.setflags(write=False)  # the cache hands out the same array again
        return unit


def _told_to_wait(error: ProviderError) -> float:
    told = error.retry_after if isinstance(error, ProviderUnavailable) else None
    return min(told or 0.0, _LONGEST_WAIT)


def _reason(error: ProviderError, texts: list[str], name: str) -> str:
    message = " ".join(str(error).split())[:_REASON_LENGTH]
    if any(_quotes(message, " ".join(text.split())) for text in texts):
        return f"{name}: {type(error).__name__} (its message repeats the text and is left out)"
    return message


def _quotes(message: str, text: str) -> bool:
    if len(text) < _REPEATED:
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", message) is not None
    return any(message[at : at + _REPEATED] in text for at in range(len(message) - _REPEATED + 1))
