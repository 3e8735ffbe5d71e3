"""The contract for hosts that bring a search of their own: what they ask for, ours behind it, and one to fall back on.

Names and defaults are those that hosts know. A manager is for one store and one scope.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from memoranda.config import Settings
from memoranda.domain.document import DocumentStatus, Excerpt, Found, Synced
from memoranda.domain.errors import MemorandaError
from memoranda.service.memory import LongTermMemory
from memoranda.service.opening import open as open_memory

MAX_RESULTS = 6


class Probe(NamedTuple):
    """Whether something can be used now, and if not, why."""

    ok: bool
    detail: str = ""


class SearchManager(Protocol):
    """What a host asks for."""

    def search(self, query: str, *, max_results: int = MAX_RESULTS, min_score: float | None = None) -> Found:
        """Passages that bear on the query, best first. A `min_score` is a bar; without one, it is the usual one."""

    def read_file(self, path: str, *, from_line: int | None = None, lines: int | None = None) -> Excerpt:
        """Some lines of a document; empty text when there is none."""

    def status(self) -> DocumentStatus:
        """How it stands, counted now."""

    def sync(self, *, force: bool = False) -> Synced:
        """Take in what has changed; with `force`, everything anew."""

    def probe_embedding(self) -> Probe:
        """Whether a text can be embedded now."""

    def probe_vector(self) -> Probe:
        """Whether documents are found by meaning now."""

    def close(self) -> None:
        """Release what it holds. May be called twice."""


class DocumentManager:
    """The documents of a memory, as a host asks for them. Closes the memory when it opened it."""

    def __init__(self, memory: LongTermMemory, *, owner: bool = False) -> None:
        self._memory = memory
        self._owner = owner
        self.closed = False

    def search(self, query: str, *, max_results: int = MAX_RESULTS, min_score: float | None = None) -> Found:
        return self._memory.documents.search(query, limit=max_results, min_score=min_score)

    def read_file(self, path: str, *, from_line: int | None = None, lines: int | None = None) -> Excerpt:
        return self._memory.documents.read(path, from_line=from_line, lines=lines)

    def status(self) -> DocumentStatus:
        return self._memory.documents.status()

    def sync(self, *, force: bool = False) -> Synced:
        return self._memory.documents.rebuild() if force else self._memory.documents.sync()

    def probe_embedding(self) -> Probe:
        try:
            vector, name, trouble = self._memory._engine.memories.embed_query("is it well?")
        except MemorandaError as error:
            return Probe(False, str(error))
        if vector is None:
            return Probe(False, trouble or "there is no embedder: documents are found by words")
        return Probe(True, f"{name} answers with {len(vector)} dimensions")

    def probe_vector(self) -> Probe:
        try:
            status = self.status()
        except MemorandaError as error:
            return Probe(False, str(error))
        told = f"{status.vector}: {status.vectors} of {status.chunks} chunks have a vector"
        return Probe(status.vector == "ready", "; ".join((told, *status.trouble)))

    def close(self) -> None:
        self.closed = True
        if self._owner:
            self._memory.close()


class FallbackManager:
    """The first of two; from the first search that fails, the second. Its status says so."""

    def __init__(self, primary: SearchManager, secondary: Callable[[], SearchManager]) -> None:
        """`secondary` is opened when it is needed."""
        self._primary = primary
        self._open_secondary = secondary
        self._secondary: SearchManager | None = None
        self._switching = threading.Lock()
        self.failure = ""
        """Why the first one is no longer asked; empty while it is."""

    @property
    def _serving(self) -> SearchManager:
        return self._primary if self._secondary is None else self._secondary

    def search(self, query: str, *, max_results: int = MAX_RESULTS, min_score: float | None = None) -> Found:
        asked = self._serving
        # Another's search has its own bar, and may not know of None.
        options: dict[str, Any] = {"max_results": max_results}
        if min_score is not None:
            options["min_score"] = min_score
        try:
            found = asked.search(query, **options)
        except Exception as error:
            if asked is not self._primary:
                raise
            # Whatever it was: it is another's code, and somebody waits for an answer.
            self._switch(error)
            found = self._serving.search(query, **options)
        if not self.failure:
            return found
        return Found(tuple(found), found.receipt._replace(degraded=(self._told(), *found.receipt.degraded)))

    def _switch(self, error: Exception) -> None:
        with self._switching:
            if self._secondary is None:
                self._secondary = self._open_secondary()
                self.failure = f"{type(error).__name__}: {error}"

    def _told(self) -> str:
        return f"fell back from the first search ({self.failure})"

    def read_file(self, path: str, *, from_line: int | None = None, lines: int | None = None) -> Excerpt:
        return self._serving.read_file(path, from_line=from_line, lines=lines)

    def status(self) -> DocumentStatus:
        status = self._serving.status()
        return status._replace(trouble=(self._told(), *status.trouble)) if self.failure else status

    def sync(self, *, force: bool = False) -> Synced:
        return self._serving.sync(force=force)

    def probe_embedding(self) -> Probe:
        return self._serving.probe_embedding()

    def probe_vector(self) -> Probe:
        return self._serving.probe_vector()

    def close(self) -> None:
        self._primary.close()
        if self._secondary is not None:
            self._secondary.close()


class Managers:
    """One manager for each store, scope and settings, for a host that asks again and again."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, Settings], DocumentManager] = {}
        self._opening = threading.Lock()

    def get(self, path: str | Path, *, scope: str, settings: Settings) -> DocumentManager:
        """The one that is open, or a new one."""
        key = (str(Path(path).expanduser().absolute()), scope, settings)
        with self._opening:
            if key not in self._open or self._open[key].closed:
                self._open[key] = DocumentManager(open_memory(path, scope=scope, settings=settings), owner=True)
            return self._open[key]

    def close(self) -> None:
        """Close all of them. May be called twice."""
        with self._opening:
            for manager in self._open.values():
                manager.close()
            self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
