"""Ports: what an author of an embedder, an extractor, a summarizer or an index has to write, and nothing more."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from memoranda.domain.conversation import Gist
from memoranda.domain.memory import State
from memoranda.domain.message import Message

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


class Vocabulary(Protocol):
    """Pieces of words and how alike they are: what lets two different words count as nearly the same."""

    def pieces(self, word: str) -> tuple[int, ...]:
        """The pieces that a word is made of."""

    def alike(self, kept: Any, asked: Any) -> Any:
        """Cosines of pieces, as a matrix: a row for each of `kept`, a column for each of `asked`."""


class Meaning(NamedTuple):
    """What is made of a text by models: a unit vector of float32, and the pieces of its words."""

    vector: Any
    pieces: Any = None


class Claim(NamedTuple):
    """What a model says that a message says. Nothing is believed before the message was looked at."""

    text: str
    kind: str
    """As the model calls it; it may be none of ours."""
    quote: str
    """The words of the message that it rests on."""
    confidence: float
    message: int
    """The place of that message among those that were handed over; there may be none there."""


class Claims(NamedTuple):
    """What one extraction gave, and what it cost."""

    items: tuple[Claim, ...]
    tokens: int
    calls: int = 1


Again = Callable[[], bool]
"""Asked before each further request: whether it may be made. The first one is allowed."""


def never() -> bool:
    """One request, and no other."""
    return False


class Extractor(Protocol):
    """Asks a model what is worth keeping of a conversation. Raises a ProviderError when it cannot.

    It decides nothing: whether a claim is borne out, screened and kept is looked at around it.
    """

    @property
    def name(self) -> str:
        """`provider:model`, the name by which it was opened."""

    def cost(self, messages: Sequence[Message]) -> int:
        """The most tokens that extracting from these can cost; 0 when nothing would be sent. No call is made."""

    def extract(self, messages: Sequence[Message], *, seconds: float, again: Again = never) -> Claims:
        """What the people among them said that is worth keeping, within so many seconds and in one request, or in as
        many as `again` allows."""

    def close(self) -> None:
        """Release what it holds. May be called twice."""


class Summarized(NamedTuple):
    """What one summary gave, and what it cost."""

    gist: Gist
    tokens: int = 0
    calls: int = 0


class Summarizer(Protocol):
    """Says in few words what messages say, in their language. Raises a ProviderError when it cannot.

    It decides nothing: which messages, where the summary stands and whether it is short enough is seen to around it.
    """

    @property
    def name(self) -> str:
        """The name by which it was opened."""

    def cost(self, messages: Sequence[Message], *, earlier: Gist, most_tokens: int) -> int:
        """The most tokens that this can cost; 0 when nothing would be sent anywhere. No call is made."""

    def summarize(
        self, messages: Sequence[Message], *, earlier: Gist, most_tokens: int, seconds: float, again: Again = never
    ) -> Summarized:
        """These messages, oldest first, after what an earlier summary said, in about so many tokens at most."""

    def close(self) -> None:
        """Release what it holds. May be called twice."""


class Tokenizer(Protocol):
    """Counts tokens as one model does. Without one, `memoranda.domain.tokens` estimates them from above."""

    @property
    def name(self) -> str:
        """The name by which it was opened."""

    def count(self, text: str) -> int:
        """How many tokens the model takes this text for."""


class IndexEntry(NamedTuple):
    """What an index is told of one memory. `meaning` is None when there is none (yet)."""

    number: int
    scope: str
    text: str
    state: State = "live"
    valid_from: int | None = None
    valid_until: int | None = None
    meaning: Meaning | None = None
    speaker: str = ""
    conversation: str = ""
    occurred_at: int = 0
    """0 when it has no time of its own."""


class Times(NamedTuple):
    """What a query says about when: spans of time, half-open, and conversations by their ordinal, from -1 backwards."""

    spans: tuple[tuple[int, int], ...] = ()
    conversations: tuple[tuple[int, int], ...] = ()


class IndexQuery(NamedTuple):
    """What is looked for. Scope, state, validity and `allow` are filters inside the search, before any limit."""

    scopes: tuple[str, ...]
    text: str = ""
    vector: Any = None
    now: int | None = None
    """The moment that an entry must be valid at; None for any."""
    states: frozenset[State] = frozenset({"live"})
    allow: Collection[int] | None = None
    times: Times | None = None
    """What happened then is proposed, too."""
    subjects: frozenset[int] = frozenset()
    """Numbers of what is about a thing that the query names: proposed, too."""
    vocabulary: Vocabulary | None = None
    pool: int = 100
    tail: tuple[IndexEntry, ...] = ()
    """What the ledger has and the index has not followed yet: searched exactly, instead of what the index holds."""
    hidden: frozenset[int] = frozenset()
    """Numbers that the ledger no longer has."""


class Around(NamedTuple):
    """What was said just before and just after in the same conversation, added up."""

    coverage: float
    cosine: float


class Candidate(NamedTuple):
    """One proposal, with what each lane says of it, and what it stands in.

    `coverage` is BM25 over what the query could have scored; `cosine` and `closeness` (of words that are not the
    same) are None without a vector. A rank is None when that lane did not propose it.
    """

    number: int
    coverage: float
    cosine: float | None
    lexical_rank: int | None
    semantic_rank: int | None
    structured_rank: int | None = None
    closeness: float | None = None
    around: Around | None = None
    conversation: int = 0
    """Equal for what belongs to one conversation; 0 for none."""
    named: bool = False
    """Whether the query names its speaker."""
    timely: bool = False
    """Whether it happened when the query says."""
    subject: bool = False
    """Whether it is about a thing that the query names."""


class IndexAnswer(NamedTuple):
    """The proposals of one search, best first within each lane, and how much was searched."""

    candidates: tuple[Candidate, ...]
    searched: int
    with_vector: int
    average_length: float = 0.0
    """Of what was searched, in words; 0 when words were not looked at."""


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

    @property
    def standing(self) -> tuple[int, str]:
        """That sequence, and the mark that came with it; empty when none did."""

    def apply(
        self,
        *,
        put: Sequence[IndexEntry],
        drop: Collection[int],
        sequence: int | None,
        after: int | None = None,
        at_once: bool = True,
        mark: str = "",
    ) -> bool:
        """Take in entries (replacing those of the same number) and remove others, all or nothing.

        What is removed is never found again. Its bytes leave `at_once`, or when that is cheap and by `optimize`.

        `sequence` is what it contains afterwards (None: unchanged), `mark` what is known to have happened there. With
        `after`, nothing is done and False is returned unless the index stands exactly there: another was faster.
        """

    def add_meanings(self, meanings: Mapping[int, Meaning], *, cheap_only: bool) -> frozenset[int]:
        """Give entries their vectors; which got theirs. Never makes an entry: what was dropped stays dropped.

        With `cheap_only`, only those for which nothing large has to be written.
        """

    def search(self, query: IndexQuery) -> IndexAnswer:
        """Propose candidates of every lane."""

    def extent(self, scopes: Collection[str]) -> tuple[int, int] | None:
        """When the oldest and the newest of these scopes happened; None when there is nothing."""

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
