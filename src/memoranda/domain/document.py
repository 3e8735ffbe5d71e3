"""Documents: Markdown files that somebody writes, the chunks that mirror them, and citations that lead back to them."""

from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.memory import Trust
from memoranda.domain.row import Row


class Source(NamedTuple):
    """A folder or a file that a scope takes documents from. The files stay the truth."""

    name: str
    scope: str
    root: str
    """An absolute path. Nothing outside of it is ever read for this source."""
    patterns: tuple[str, ...] = ("**/*.md",)
    trust: Trust = "untrusted"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "scope": self.scope,
            "root": self.root,
            "patterns": list(self.patterns),
            "trust": self.trust,
        }


class FileSeen(NamedTuple):
    """One file as the disk tells of it, before anybody has read it."""

    path: str
    """Relative to the root of its source, with forward slashes."""
    size: int
    modified_ns: int
    inode: int = 0


class Chunk(NamedTuple):
    """A part of a document. Lines `start_line` to `end_line` of the file, counted from 1, contain its text."""

    start_line: int
    end_line: int
    text: str
    heading: str = ""
    """The headings above it, joined by ` > `."""
    digest: str = ""
    """SHA-256 of the text, in hexadecimal."""


class Matter(NamedTuple):
    """What a document says of itself, in its front matter and its name."""

    title: str = ""
    tags: tuple[str, ...] = ()
    dated: int | None = None
    """The day that it is about, as milliseconds; None for a document that does not age."""
    trust: Trust | None = None
    """A document may ask to be trusted less, never more."""
    evergreen: bool = False


class DocumentHit(NamedTuple):
    """A chunk that came back, with the lines to cite."""

    path: str
    """As it was written down: the name of the source is not part of it."""
    start_line: int
    end_line: int
    score: float
    """From 0 to 1."""
    snippet: str
    source: str
    """The name of the source it is from."""
    trust: Trust = "untrusted"
    heading: str = ""
    dated: int | None = None
    factors: tuple[tuple[str, float], ...] = ()
    """What the score was made of."""

    @property
    def citation(self) -> str:
        """`path#L10-L15`"""
        return f"{self.path}#L{self.start_line}-L{self.end_line}"

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "score": round(self.score, 4),
            "snippet": self.snippet,
            "source": self.source,
            "citation": self.citation,
            "trust": self.trust,
            "heading": self.heading,
            "dated": None if self.dated is None else iso(self.dated),
            "factors": {name: round(value, 4) for name, value in self.factors},
        }


class Excerpt(NamedTuple):
    """Some lines of a document as they are now. Empty when the file is missing."""

    text: str
    path: str
    from_line: int = 1
    next_from: int | None = None
    """Where to go on reading when there is more."""

    @property
    def truncated(self) -> bool:
        return self.next_from is not None

    def as_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "path": self.path,
            "from": self.from_line,
            "truncated": self.truncated,
            "next_from": self.next_from,
        }


SyncWhy = Literal["open", "search", "watch", "interval", "asked", "rebuild"]


class Trouble(NamedTuple):
    """Something that is not among the documents, or not as it is now, and why."""

    source: str
    path: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Synced(NamedTuple):
    """What a sync did. Chunks that stayed as they were kept their vectors."""

    why: SyncWhy
    added: int = 0
    changed: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    read: int = 0
    """Files that were opened: none when nothing had changed."""
    chunks_added: int = 0
    chunks_removed: int = 0
    embedded: int = 0
    without_vector: int = 0
    failures: tuple[Trouble, ...] = ()
    """What could not be read. What was known of it stays, and is marked as stale."""
    skipped: tuple[Trouble, ...] = ()
    """What is too large, leads out of its folder, or is beyond a limit. It is not among the documents."""
    notes: tuple[Trouble, ...] = ()
    """What was taken in, but not as it was meant: its bytes are not all text."""
    seconds: float = 0.0
    left: str = ""
    """Why it was not done, or not to its end; empty when it was."""

    @property
    def is_noop(self) -> bool:
        """Whether the documents are as they were."""
        return not (self.added or self.changed or self.renamed or self.removed)

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "failures": [each.as_json() for each in self.failures],
            "skipped": [each.as_json() for each in self.skipped],
            "notes": [each.as_json() for each in self.notes],
            "seconds": round(self.seconds, 3),
        }


class FoundReceipt(NamedTuple):
    """How documents were searched. Names and numbers, never their text."""

    searched: int = 0
    """Chunks that were looked at."""
    proposed: int = 0
    lanes: tuple[str, ...] = ()
    embedder: str = "none"
    min_score: float = 0.0
    abstained: str = ""
    """Why nothing came back; empty when something did."""
    degraded: tuple[str, ...] = ()
    dirty: bool = False
    """Whether files have changed that the search does not know of yet."""
    stale: int = 0
    """Hits whose file is no longer what it was when it was read, or cannot be looked at now."""
    action: str = ""
    """What to do about it."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "lanes": list(self.lanes), "degraded": list(self.degraded)}


class Found(Row[DocumentHit]):
    """Chunks of documents, best first. Empty when nothing cleared the bar; the receipt says why."""

    __slots__ = ("receipt",)
    receipt: FoundReceipt

    def __init__(self, hits: tuple[DocumentHit, ...], receipt: FoundReceipt) -> None:
        object.__setattr__(self, "_items", hits)
        object.__setattr__(self, "receipt", receipt)

    def as_json(self) -> dict[str, Any]:
        return {"hits": [hit.as_json() for hit in self], "receipt": self.receipt.as_json()}


class SourceStatus(NamedTuple):
    """One source, counted now: what its folder holds, and what of it can be searched."""

    source: Source
    files: int
    on_disk: int
    chunks: int
    changed: int = 0
    """Files that are new, changed or gone since they were read."""
    trouble: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "source": self.source.as_json()}


VectorState = Literal["ready", "partial", "stale", "off", "unavailable"]


class DocumentStatus(NamedTuple):
    """How the documents that a scope sees stand. Counted now, not remembered."""

    backend: str
    provider: str
    model: str
    sources: tuple[SourceStatus, ...]
    files: int
    on_disk: int
    chunks: int
    dirty: bool
    vector: VectorState
    dimensions: int
    vectors: int
    fts: int
    """Chunks that the words of a query are compared with."""
    cache_entries: int
    """Vectors that are not made again while their text is there."""
    batch_failures: int
    watcher: str
    last_sync: int | None
    generation: int
    bytes: int
    trouble: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "sources": [each.as_json() for each in self.sources],
            "last_sync": None if self.last_sync is None else iso(self.last_sync),
            "trouble": list(self.trouble),
        }

    def lines(self) -> tuple[str, ...]:
        """For people."""
        dimensions = f" ({self.dimensions} dims)" if self.dimensions else ""
        name = ":".join(part for part in (self.provider, self.model) if part)
        return (
            f"Backend: {self.backend} (generation {self.generation}, {self.bytes:,} bytes)",
            f"Provider: {name}",
            f"Indexed: {self.files}/{self.on_disk} files · {self.chunks} chunks",
            f"Dirty: {'yes' if self.dirty else 'no'}",
            f"Vector: {self.vector}{dimensions} · {self.vectors}/{self.chunks} chunks",
            f"FTS: {'ready' if self.fts >= self.chunks else 'behind'} · {self.fts}/{self.chunks} chunks",
            f"Embedding cache: {self.cache_entries} entries",
            f"Batch: failures {self.batch_failures}",
            f"Watcher: {self.watcher}",
            f"Last sync: {'never' if self.last_sync is None else iso(self.last_sync)}",
            *(
                f"Source: {each.source.name} · {each.source.trust} · {each.files}/{each.on_disk} files"
                f" · {each.source.root}" + (f" · {each.trouble}" if each.trouble else "")
                for each in self.sources
            ),
            *self.trouble,
        )


class SourceRemoved(NamedTuple):
    """What went with a source. `purged`: every file of ours was read and nothing of its text is in it any more."""

    source: Source
    files: int
    chunks: int
    purged: bool
    scanned_bytes: int = 0
    traces: int = 0
    """Pieces of the text that were looked for."""
    found: int = 0
    pending: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "source": self.source.as_json()}
