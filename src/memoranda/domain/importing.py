"""What a reader of another system's memories gives: one at a time, in an order that is the same every time."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memoranda.domain.memory import Kind, State


class Imported(NamedTuple):
    """One memory of another system, in our words. What it does not say is empty."""

    text: str
    id: str = ""
    """Theirs. It goes into `source_ref`, as `SYSTEM:ID`."""
    place: str = ""
    """Where it stands, for people: `line 12`, `facts row 3`."""
    kind: Kind | None = None
    about: str = ""
    attribute: str = ""
    value: Any = None
    context: str = ""
    importance: float | None = None
    confidence: float | None = None
    speaker: str = ""
    conversation: str = ""
    tags: tuple[str, ...] = ()
    lang: str = ""
    metadata: Mapping[str, Any] | None = None
    state: State = "live"
    superseded_by: str = ""
    """Their id of what took its place."""
    created_at: int | None = None
    updated_at: int | None = None
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    owner: str = ""
    """Whose it is there (a user id, an agent, a session key): mapped to a scope, or refused."""


class Unread(NamedTuple):
    """Something that could not be read, where, and why. Never the text itself."""

    place: str
    reason: str


class Importer(Protocol):
    """A reader of one format."""

    name: str
    """As it is given to --from: `mem0`, `openclaw-lancedb`."""
    title: str
    """One line for people: what it reads."""

    def reads(self, path: Path) -> bool:
        """Whether this looks like its format. Looks at little, changes nothing, never raises."""
        ...

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        """Everything, in an order that is the same every time; that is how an import goes on after a crash.

        Raises InvalidInput with a hint when it is not this format at all; one bad record is an `Unread`.
        """
        ...
