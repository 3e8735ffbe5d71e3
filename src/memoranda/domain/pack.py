"""`Pack`: the bounded block given to a model before it answers, and the receipt of what went into it."""

from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import iso
from memoranda.domain.document import DocumentHit
from memoranda.domain.memory import Kind, Source, Trust

PackFormat = Literal["xml", "markdown", "json"]
LeftOutReason = Literal["over budget", "per source", "quarantined", "no visible text", "twice"]
PackAbstention = Literal["", "nothing to pack", "budget too small"]

PACK_FORMATS: tuple[PackFormat, ...] = get_args(PackFormat)
CONTEXT_PACK = "memoranda.context-pack.v1"
MAX_BUDGET = 1_000_000


class PackItem(NamedTuple):
    """One memory as it stands in a pack. Its text is cleaned and bounded; it is not the memory itself."""

    number: int
    id: str
    kind: Kind
    text: str
    score: float
    rank: int
    trust: Trust
    source: Source
    source_ref: str
    speaker: str
    about: str
    at: int
    shortened: bool = False
    hidden: bool = False

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": iso(self.at)}


class LeftOut(NamedTuple):
    """A memory that was offered and did not go in, and why."""

    id: str
    reason: LeftOutReason

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class PackReceipt(NamedTuple):
    """What went into a pack and what did not. `excluded` counts what the recall had dropped before."""

    format: PackFormat
    budget: int
    tokens: int
    nonce: str
    included: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    excluded: dict[str, int]
    profile: int = 0
    profile_left_out: int = 0
    notes: tuple[str, ...] = ()
    abstained: PackAbstention = ""
    documents: tuple[str, ...] = ()
    """Citations of the passages that stand behind the memories."""

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "included": list(self.included),
            "left_out": [each.as_json() for each in self.left_out],
            "notes": list(self.notes),
            "documents": list(self.documents),
        }


class Pack(NamedTuple):
    """What to put before the prompt: `text`, empty when there is nothing to say. `tokens` is an upper estimate."""

    text: str
    items: tuple[PackItem, ...]
    tokens: int
    format: PackFormat
    receipt: PackReceipt
    documents: tuple[DocumentHit, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "items": [item.as_json() for item in self.items],
            "tokens": self.tokens,
            "format": self.format,
            "documents": [each.as_json() for each in self.documents],
            "receipt": self.receipt.as_json(),
        }
