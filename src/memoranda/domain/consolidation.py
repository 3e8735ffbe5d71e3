"""Consolidation: what says the same, or contradicts, put before somebody who decides. Nothing of it is deleted."""

from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.memory import Memory, Trust
from memoranda.domain.row import Row

ProposalKind = Literal["duplicates", "contradiction"]
PROPOSAL_KINDS: tuple[ProposalKind, ...] = get_args(ProposalKind)
ConsolidationMode = Literal["now", "preview"]
CONSOLIDATION_MODES: tuple[ConsolidationMode, ...] = ("now", "preview")
MOST_MEMBERS = 25
"""Memories of one proposal. What is more is proposed when these are settled."""


class Proposal(NamedTuple):
    """Memories of one scope of which one would stay, and the others be superseded by it."""

    id: str
    """Names exactly these members with what they say now. It is no longer good when one of them has changed."""
    kind: ProposalKind
    scope: str
    why: str
    """What was found, in a word or two."""
    trust: Trust
    """Of the result: the least of what adds to it. What is trusted less than the one that stays adds nothing."""
    keep: str
    """The id of the one that stays."""
    supersede: tuple[str, ...]
    members: tuple[Memory, ...]
    """The one that stays first."""

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "supersede": list(self.supersede),
            "members": [memory.as_json() for memory in self.members],
        }


class ProposalsReceipt(NamedTuple):
    """How far was looked, and what was found, in counts."""

    scope: str
    looked_at: int
    """Memories that were compared with their neighbours."""
    compared: int
    """Pairs."""
    duplicates: int
    contradictions: int
    dismissed: int
    """Found again, and not proposed: somebody has said no."""
    left: int
    """Memories that were not looked at yet."""
    degraded: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "degraded": list(self.degraded)}


class Proposals(Row[Proposal]):
    """What is proposed, the oldest first. `next` is the `after` of the call that looks further; None at the end."""

    __slots__ = ("next", "receipt")
    next: int | None
    receipt: ProposalsReceipt

    def __init__(self, items: tuple[Proposal, ...], next: int | None, receipt: ProposalsReceipt) -> None:  # noqa: A002
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "next", next)
        object.__setattr__(self, "receipt", receipt)

    def as_json(self) -> dict[str, Any]:
        return {
            "proposals": [each.as_json() for each in self],
            "next": self.next,
            "receipt": self.receipt.as_json(),
        }


class Skipped(NamedTuple):
    """A proposal that was not taken, and why."""

    id: str
    why: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class ConsolidationReceipt(NamedTuple):
    """What accepting proposals did or, as a preview, would do."""

    scope: str
    mode: ConsolidationMode
    accepted: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    kept: tuple[str, ...]
    superseded: tuple[str, ...]
    tag: str = ""
    """The automatic tag before it; empty when nothing was done."""
    batch: str = ""
    """The operation, for `undo`; empty when nothing was done."""
    sequence: int = 0

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = self._asdict()
        for name in ("accepted", "kept", "superseded"):
            shown[name] = list(shown[name])
        return {**shown, "skipped": [each.as_json() for each in self.skipped]}


class DismissalReceipt(NamedTuple):
    """Proposals that are not made again until one of their members has changed."""

    scope: str
    dismissed: tuple[str, ...]
    skipped: tuple[Skipped, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "dismissed": list(self.dismissed),
            "skipped": [each.as_json() for each in self.skipped],
        }
