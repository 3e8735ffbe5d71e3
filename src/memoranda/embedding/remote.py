"""Embedders behind HTTP: what is the same for all of them. Knows no format and no service."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from memoranda.domain.errors import ProviderUnavailable
from memoranda.domain.ports import Role
from memoranda.remote import JsonClient


class RemoteEmbedder(ABC):
    """An embedder behind HTTP. A subclass says what is asked and where the vectors are in the answer."""

    def __init__(
        self,
        name: str,
        *,
        fingerprint: str,
        dimensions: int | None,
        client: JsonClient,
        timeout: float,
        max_items: int = 1000,
    ) -> None:
        self._name = name
        self._fingerprint = fingerprint
        self._dimensions = dimensions
        self._client = client
        self._timeout = timeout
        self._max_items = max_items

    @property
    def name(self) -> str:
        return self._name

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int | None:
        return self._dimensions

    def embed(self, texts: Sequence[str], role: Role) -> list[Any]:
        """One row for each text, in order."""
        return self.embed_within(texts, role, seconds=self._timeout)

    def embed_within(self, texts: Sequence[str], role: Role, *, seconds: float) -> list[Any]:
        """Like `embed`, but not longer than so many seconds, nor than the embedder's own timeout."""
        until = time.monotonic() + min(seconds, self._timeout)
        rows: list[Any] = []
        for start in range(0, len(texts), self._max_items):
            part = texts[start : start + self._max_items]
            path, body = self._question(part, role)
            answer = self._client.post(path, body, until=until)
            try:
                found = self._rows(answer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ProviderUnavailable(f"{self._name}: an answer without vectors") from error
            if len(found) != len(part):
                raise ProviderUnavailable(
                    f"{self._name}: wrong number of vectors: expected {len(part)}, got {len(found)}"
                )
            rows += found
        return rows

    def close(self) -> None:  # noqa: B027 - nothing is held between two calls
        """Nothing to release."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    @abstractmethod
    def _question(self, texts: Sequence[str], role: Role) -> tuple[str, dict[str, Any]]:
        """The path below the base URL, and the body."""

    @abstractmethod
    def _rows(self, answer: Any) -> list[Any]:
        """The vectors in the answer. May raise KeyError, TypeError or ValueError when it is not as agreed."""


def rows_by_index(answer: Any) -> list[Any]:
    """The vectors of `{"data": [{"index": 0, "embedding": [...]}]}`, in the order of the texts."""
    data = answer["data"]
    placed = {int(item.get("index", place)): item["embedding"] for place, item in enumerate(data)}
    if sorted(placed) != list(range(len(data))):
        raise ValueError("the indexes are not those of the texts")
    return [placed[place] for place in range(len(data))]
