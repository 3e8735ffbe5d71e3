"""Results of governing: grades, trust, drift, and who did what. Ids, counts and numbers, never memory text."""

from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import iso
from memoranda.domain.looking import ACTIONS
from memoranda.domain.memory import Grade, Memory, Trust
from memoranda.domain.row import Row

Severity = Literal["note", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
BY_HAND = "manual"
"""The method of a grade that somebody gave."""
DERIVED_FROM = "derived_from"
"""The name in the metadata of a memory for the ids of those that it was made of. Only our own code writes it."""
TOKEN_ACTIONS = ("token_created", "token_revoked")
CONVERSATION_ACTIONS = (
    "conversation_archived", "conversation_restored", "conversation_erased", "conversation_redacted",
)  # fmt: skip
"""Not that somebody spoke, nor that it was summed up: the audit would tell of little else."""
AUDITED = (*ACTIONS, *TOKEN_ACTIONS, *CONVERSATION_ACTIONS)


class Grading(NamedTuple):
    """One grade that a memory was given: by whom, how, and why."""

    sequence: int
    score: float
    label: Grade
    rationale: str
    method: str
    version: str
    graded_at: int
    actor: str
    stands: bool
    """Whether the importance is what it is by this one: at most one of a memory's grades stands, and none when its
    importance came otherwise, or was taken back."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "graded_at": iso(self.graded_at)}


class GradeReceipt(NamedTuple):
    """The importance of one memory before and after."""

    id: str
    scope: str
    before: float | None
    after: float
    label: Grade
    method: str
    sequence: int

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Graded(NamedTuple):
    """A memory with its new importance."""

    memory: Memory
    receipt: GradeReceipt

    @property
    def id(self) -> str:
        return self.memory.id

    def as_json(self) -> dict[str, Any]:
        return {"memory": self.memory.as_json(), "receipt": self.receipt.as_json()}


class Regraded(NamedTuple):
    """What a regrade did, or in a preview would do. Grades are counted over all that is live."""

    mode: Literal["now", "preview"]
    scope: str
    below: bool
    force: bool
    looked_at: int
    graded: int
    unchanged: int
    by_hand: int
    """Graded by a person: left as they are, also when forced."""
    left: int
    """Not looked at, because so many were graded as the limit says."""
    before: dict[str, int]
    after: dict[str, int]
    method: str
    version: str
    batch: str
    """What was done together, to be undone together; empty when nothing was done."""
    tag: str
    """The automatic tag that was set before."""
    sequence: int

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class TrustReceipt(NamedTuple):
    """The trust of one memory before and after, and what was derived from it and went down with it."""

    id: str
    scope: str
    before: Trust
    after: Trust
    sequence: int
    demoted: tuple[str, ...] = ()
    left: int = 0
    """Derived, but beyond what one operation takes; the same call again takes more."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "demoted": list(self.demoted)}


class Trusted(NamedTuple):
    """A memory with its new trust."""

    memory: Memory
    receipt: TrustReceipt

    @property
    def id(self) -> str:
        return self.memory.id

    def as_json(self) -> dict[str, Any]:
        return {"memory": self.memory.as_json(), "receipt": self.receipt.as_json()}


class Miss(NamedTuple):
    """A query that found nothing, how often in a period, and why. Its words only where the settings keep them."""

    scope: str
    digest: str
    """Tells one from another; nobody reads the query from it."""
    reason: str
    text: str
    times: int
    first_at: int
    last_at: int

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "first_at": iso(self.first_at), "last_at": iso(self.last_at)}


class Finding(NamedTuple):
    """Something that drifts, how bad it is, and what to do next."""

    name: str
    severity: Severity
    detail: str
    next: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Drift(NamedTuple):
    """How what a scope keeps has moved within a period. What was erased since is in no number."""

    scope: str
    below: bool
    days: int
    since: int
    at: int
    live: int
    live_before: int
    grades: dict[str, int]
    grades_before: dict[str, int]
    unknown_share: float | None
    unknown_share_before: float | None
    trust: dict[str, int]
    stale: int
    stale_days: float
    duplicates: int
    """Live memories that say, word for word, what another of their scope says."""
    duplicate_groups: int
    misses: int
    """Queries of the period that found nothing; counted by days, of which the first is taken in whole."""
    repeated_misses: tuple[Miss, ...]
    """Those that were asked twice or more, most often first; a bounded number."""
    capture: dict[str, int]
    """What capture saw, kept and refused in the period."""
    waiting: int
    """Quarantined, until somebody decides."""
    lapsed: int
    """Live, though they no longer hold: upkeep has not ended them yet."""
    expired: int
    findings: tuple[Finding, ...] = ()
    untracked: tuple[str, ...] = ()
    """What nobody counts here, and why."""

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        return {
            **shown,
            "since": iso(self.since),
            "at": iso(self.at),
            "repeated_misses": [each.as_json() for each in self.repeated_misses],
            "findings": [each.as_json() for each in self.findings],
            "untracked": list(self.untracked),
        }


class AuditEntry(NamedTuple):
    """One thing that somebody did, and the operation that it was a part of."""

    at: int
    action: str
    scope: str
    actor: str
    reason: str = ""
    sequence: int | None = None
    """None for what was done to a token or a conversation: that is no event of a memory."""
    memory_id: str = ""
    token_id: str = ""
    operation: str = ""
    """The name of what was done together; empty for what was done alone."""
    batch: str = ""
    undoes: int | None = None
    conversation_id: str = ""
    """Of a conversation that is still there."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": iso(self.at)}


class Audit(Row[AuditEntry]):
    """One page of who did what, newest first. `next` is the `before` of the page after it; None when there is none."""

    __slots__ = ("next",)
    next: int | None

    def __init__(self, entries: tuple[AuditEntry, ...], next: int | None) -> None:  # noqa: A002 the word users know
        object.__setattr__(self, "_items", entries)
        object.__setattr__(self, "next", next)

    def as_json(self) -> dict[str, Any]:
        return {"entries": [entry.as_json() for entry in self], "next": self.next}
