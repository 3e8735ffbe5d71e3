"""`Draft`: a memory as a caller gives it. Checked once, at the door; then trusted."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

from memoranda.domain.clock import Moment, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.ids import new_id
from memoranda.domain.memory import (
    BASES,
    KINDS,
    MAX_TAGS,
    SOURCES,
    Basis,
    Kind,
    Memory,
    Source,
    checked_choice,
    checked_json,
    checked_share,
    trust_of,
)
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text, content_hash

AfterErase = Literal["refuse", "allow"]
_SHORT = 512


class Referable(Protocol):
    """Anything that has an id: a memory, a hit, the result of a verb."""

    @property
    def id(self) -> str: ...


Reference = str | Referable


def id_of(reference: Reference) -> str:
    """The id behind a reference."""
    found = reference if isinstance(reference, str) else getattr(reference, "id", None)
    if not isinstance(found, str):
        raise InvalidInput(f"an id is expected, not {type(reference).__name__}", hint="Pass an id, or a result.")
    return found


class Draft(NamedTuple):
    """What is to be kept. Trust is not among it: that follows from the source."""

    text: str
    kind: Kind | None = None
    about: str = ""
    attribute: str = ""
    value: Any = None
    context: str = ""
    importance: float | None = None
    confidence: float = 1.0
    source: Source = "user"
    source_ref: str = ""
    basis: Basis = "stated"
    speaker: str = ""
    conversation: str = ""
    tags: Sequence[str] = ()
    lang: str = ""
    metadata: Mapping[str, Any] | None = None
    occurred_at: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    supersedes: Reference | None = None
    derived_from: Sequence[Reference] = ()
    """What it was made of: it is trusted no more than the least trusted of these."""
    after_erase: AfterErase = "refuse"

    def checked(self, scope: Scope, *, now: int, max_text: int) -> Memory:
        """A memory ready to be kept, or the error that says what is wrong with the draft."""
        text = checked_text(self.text, name="text", limit=max_text)
        short: dict[str, Any] = {
            name: checked_text(getattr(self, name), name=name, limit=_SHORT, empty_ok=True).strip()
            for name in ("about", "attribute", "context", "source_ref", "speaker", "conversation", "lang")
        }
        checked_choice(self.after_erase, ("refuse", "allow"), name="after_erase")
        confidence = checked_share(self.confidence, name="confidence")
        source = checked_choice(self.source, SOURCES, name="source")
        value = None if self.value is None else checked_json(self.value, name="value")
        metadata = {} if self.metadata is None else self.metadata
        if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
            raise InvalidInput(
                "metadata is a mapping of names to values", hint='Give names and values, such as {"room": "hall"}.'
            )
        metadata = checked_json(dict(metadata), name="metadata")
        valid_from = _moment(self.valid_from, "valid_from")
        valid_until = _moment(self.valid_until, "valid_until")
        if valid_from is not None and valid_until is not None and valid_until <= valid_from:
            raise InvalidInput("valid_until is not after valid_from", hint="Give an end that is later than the start.")
        return Memory(
            id=new_id(),
            scope=scope.path,
            kind=checked_choice("note" if self.kind is None else self.kind, KINDS, name="kind"),
            text=text,
            **short,
            value=value,
            importance=checked_share(self.importance, name="importance"),
            confidence=1.0 if confidence is None else confidence,
            trust=trust_of(source),
            source=source,
            basis=checked_choice(self.basis, BASES, name="basis"),
            tags=_tags(self.tags),
            metadata=MappingProxyType(metadata),
            created_at=now,
            updated_at=now,
            occurred_at=_moment(self.occurred_at, "occurred_at"),
            valid_from=valid_from,
            valid_until=valid_until,
            content_hash=content_hash(text),
        )


def _moment(moment: Moment | None, name: str) -> int | None:
    return None if moment is None else to_ms(moment, name=name)


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        raise InvalidInput("tags are a list of texts, not one text", hint="Pass tags=['home', 'light'].")
    cleaned = tuple(dict.fromkeys(checked_text(tag, name="tag", limit=64).strip() for tag in tags))
    if len(cleaned) > MAX_TAGS:
        raise InvalidInput(f"{len(cleaned)} tags are too many; the limit is {MAX_TAGS}", hint="Use fewer tags.")
    return cleaned
