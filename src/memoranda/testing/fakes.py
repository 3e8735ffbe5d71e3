"""Doubles for tests: a clock that stands still, and an embedder that costs nothing."""

from collections.abc import Sequence

from memoranda.domain.clock import DAY_MS
from memoranda.domain.ports import Role
from memoranda.testing.servers import hashed_vector


class FixedClock:
    """Shows the time it was given until it is moved on."""

    def __init__(self, ms: int = 1_767_225_600_000) -> None:
        """By default 2026-01-01T00:00:00Z."""
        self.ms = ms

    def now(self) -> int:
        return self.ms

    def advance(self, *, days: float = 0, ms: int = 0) -> int:
        """Move on; the new time."""
        self.ms += round(days * DAY_MS) + ms
        return self.ms


class HashedEmbedder:
    """Near for texts that share words, the same each time, made in microseconds. Not a model.

    Another `model` is another vector space. `asked` counts the texts that it was given.
    """

    def __init__(self, model: str = "words", dimensions: int = 64) -> None:
        self.name = f"hashed:{model}"
        self.fingerprint = f"hashed:{model}|1|{dimensions}"
        self.dimensions: int | None = dimensions
        self.asked = 0
        self._model = model

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.asked += len(texts)
        length = self.dimensions or 64
        if self._model == "words":
            return [hashed_vector(text, length) for text in texts]
        marked = [" ".join(f"{word}~{self._model}" for word in text.split()) or self._model for text in texts]
        return [hashed_vector(text, length) for text in marked]

    def close(self) -> None:
        """Nothing is held."""
