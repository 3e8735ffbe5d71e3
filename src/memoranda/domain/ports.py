"""Ports: what an author of an embedder or an index has to write, and nothing more."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from memoranda.domain.memory import State

Role = Literal["query", "document"]
Progress = Callable[[int, int], None]
"""Called with (done, total) by long work. An exception raised by it stops the work cleanly."""


class Embedder(Protocol):
    """Turns text into vectors of one space. Raises a ProviderError when it cannot.

    Clamping, caching, batching, retrying and normalising are done around it, once, by the pipeline.
    """

    @property
    def name(self) -> str:
        """`provider:model`, the name by which it was opened."""

    @property
    def fingerprint(self) -> str:
        """Identity of the vector space: provider, model, preparation. Never a credential. No calls are made."""

    @property
    def dimensions(self) -> int | None:
        """Length of its vectors, or None when only the first answer will tell."""

    def embed(self, texts: Sequence[str], role: Role) -> Any:
        """One row of floats for each text, in order: a list of lists or a numpy array."""

    def close(self) -> None:
        """Release what it holds. May be called twice."""


class IndexEntry(NamedTuple):
    """What an index is told of one memory. `vector` is a unit vector of float32, or None when there is none (yet)."""

    number: int
    scope: str
    text: str
    state: State = "live"
    valid_from: int | None = None
    valid_until: int | None = None
    vector: Any = None


class IndexQuery(NamedTuple):
    """What is looked for. Scope, state, validity and `allow` are filters inside the search, before any limit."""

    scopes: tuple[str, ...]
    text: str = ""
    vector: Any = None
    now: int | None = None
    """The moment that an entry must be valid at; None for any."""
    states: frozenset[State] = frozenset({"live"})
    allow: Collection[int] | None = None
    pool: int = 100
    tail: tuple[IndexEntry, ...] = ()
    """What the ledger has and the index has not followed yet: searched exactly, instead of what the index holds."""
    hidden: frozenset[int] = frozenset()
    """Numbers that the ledger no longer has."""


class Candidate(NamedTuple):
    """One proposal. `coverage` is BM25 over what the query could have scored; `cosine` is None without a vector."""

    number: int
    coverage: float
    cosine: float | None
    lexical_rank: int | None
    semantic_rank: int | None


class IndexAnswer(NamedTuple):
    """The proposals of one search, best first within each lane, and how much was searched."""

    candidates: tuple[Candidate, ...]
    searched: int
    with_vector: int


class IndexCounts(NamedTuple):
    """What an index really holds: counted, not remembered."""

    entries: int
    vectors: int
    bytes: int
    segments: int


class Index(Protocol):
    """Derived from the ledger; finds numbers. May be thrown away at any time.

    One process may apply while others search. What `apply` was given is found by the next `search`.
    """

    @property
    def sequence(self) -> int:
        """The last sequence of the ledger that it contains."""

    def apply(
        self,
        *,
        put: Sequence[IndexEntry],
        drop: Collection[int],
        sequence: int | None,
        after: int | None = None,
    ) -> bool:
        """Take in entries (replacing those of the same number) and remove others, all or nothing.

        `sequence` is what it contains afterwards (None: unchanged). With `after`, nothing is done and False is
        returned unless the index stands exactly there: another process was faster.
        """

    def add_vectors(self, vectors: Mapping[int, Any], *, cheap_only: bool) -> frozenset[int]:
        """Give entries their vectors; which got theirs. Never makes an entry: what was dropped stays dropped.

        With `cheap_only`, only those for which nothing large has to be written.
        """

    def search(self, query: IndexQuery) -> IndexAnswer:
        """Propose candidates of both lanes."""

    def missing_vectors(self, limit: int) -> tuple[int, ...]:
        """Numbers of entries that have no vector, oldest first."""

    def holds(self, numbers: Collection[int]) -> frozenset[int]:
        """Which of these it has an entry for."""

    def counts(self) -> IndexCounts:
        """Count what is there."""

    def optimize(self, progress: Progress | None = None) -> None:
        """Merge what has become many small parts, and drop what is dead."""

    def scrub(self) -> bool:
        """Make removed bytes leave the files. False when a reader of another process is in the way."""

    def files(self) -> tuple[str, ...]:
        """Every file that it keeps, for the proof of erasure."""

    def residues(self, gone: Sequence[IndexEntry]) -> tuple[bytes, ...]:
        """Byte strings by which these entries would be recognised in its files, if they were still there."""

    def rewrite(self) -> None:
        """Write every file anew: the last resort when something removed is still found in them."""

    def close(self) -> None:
        """Release files and memory. May be called twice."""
