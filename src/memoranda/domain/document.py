"""Documents: Markdown files that somebody writes, the chunks that mirror them, and citations that lead back to them."""

from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.memory import Trust


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
