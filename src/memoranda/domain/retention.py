"""Retention: how long things stay, what goes next, and what was let go of. Ids and counts, never what a memory says."""

from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import DAY_MS, iso

RetentionMode = Literal["now", "preview"]
RETENTION_MODES: tuple[RetentionMode, ...] = ("now", "preview")
MOST_IDS = 1_000
"""Ids that a receipt lists; it counts all."""


class KindHeld(NamedTuple):
    """What one scope holds of one kind."""

    scope: str
    kind: str
    live: int = 0
    """Live and valid now."""
    with_end: int = 0
    """Of these, how many have an end, said or by the rule."""
    ends_in_7: int = 0
    ends_in_30: int = 0
    """Of these, how many end within so many days; what ends within 7 is counted here, too."""
    lapsed: int = 0
    """Still live, but their end has come: the next upkeep writes that down. They are not recalled."""
    oldest: int | None = None
    """When the oldest that is live was created."""
    forgotten: int = 0
    """Waiting for erasure."""
    erased_first: int | None = None
    """When the first of them is erased; None when nothing waits."""
    erased_last: int | None = None

    def as_json(self) -> dict[str, Any]:
        return _with_times(self._asdict(), ("oldest", "erased_first", "erased_last"))


class ScopeHeld(NamedTuple):
    """How full one scope is."""

    scope: str
    live: int
    lasting: int
    """Of these, what no rule ends or evicts: graded must_remember, or part of a profile."""
    over: int
    """How many are more than the cap allows; 0 without a cap."""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class RetentionReport(NamedTuple):
    """The rules, and what they mean for what is held now."""

    scope: str
    at: int
    rules: dict[str, int]
    """How long memories of a kind hold, in milliseconds, for kinds that have a rule."""
    cap: int
    """Live memories that one scope may have; 0 for any number."""
    grace_ms: int
    """How long what is forgotten can be restored."""
    kinds: tuple[KindHeld, ...]
    scopes: tuple[ScopeHeld, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "at": iso(self.at),
            "ttl_days": {kind: length / DAY_MS for kind, length in self.rules.items()},
            "scope_cap": self.cap,
            "grace_days": self.grace_ms / DAY_MS,
            "kinds": [each.as_json() for each in self.kinds],
            "scopes": [each.as_json() for each in self.scopes],
        }


class RetentionReceipt(NamedTuple):
    """What a retention did or, as a preview, would do."""

    scope: str
    mode: RetentionMode
    given: int = 0
    """Had no end, and have one that is yet to come, because their kind has a rule."""
    lifted: int = 0
    """Had an end by the rule, and have none any more: they became part of what lasts."""
    expired: int = 0
    """Ended: their time was over."""
    evicted: int = 0
    """Forgotten because their scope was over its cap; can be restored until the grace period is over."""
    over: int = 0
    """Still over the cap, because what is left lasts."""
    scopes: int = 0
    """In how many scopes something was done."""
    expired_ids: tuple[str, ...] = ()
    evicted_ids: tuple[str, ...] = ()
    erased_after: int | None = None
    """When what was evicted now will be erased."""
    tag: str = ""
    """The automatic tag before it; empty when nothing was done that needs one."""
    batch: str = ""
    """The operation, for `undo`; empty when nothing was done."""
    sequence: int = 0

    @property
    def changed(self) -> int:
        """How many memories were, or would be, changed: each is counted once."""
        return self.given + self.lifted + self.expired + self.evicted

    def as_json(self) -> dict[str, Any]:
        shown = _with_times(self._asdict(), ("erased_after",))
        return {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}


# -- everything known of a person --

SubjectFormat = Literal["json", "markdown"]
SUBJECT_FORMATS: tuple[SubjectFormat, ...] = ("json", "markdown")
How = Literal["about", "said", "scope", "mentions"]
"""Why something is in the report: it is about the person, they said it, it is kept in a scope of their name, or its
text has a name of theirs in it, which may be somebody else's as well."""


class SubjectMemory(NamedTuple):
    """One memory that tells of a person, as programs read it, with its history."""

    section: str
    """profile, facts, preferences or memories."""
    how: tuple[How, ...]
    memory: dict[str, Any]
    ends: str | None
    """When it stops to hold."""
    ends_by: str
    """`rule` of its kind, `said` when it was kept, or empty."""
    erased_after: str | None
    """When it will be erased, if it is forgotten."""
    history: tuple[dict[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "how": list(self.how), "history": list(self.history)}


class SubjectTalk(NamedTuple):
    """A conversation in which a person spoke, or was spoken of. The words of others are counted, not told."""

    id: str
    name: str
    scope: str
    created_at: int
    messages: tuple[dict[str, Any], ...]
    """What they said."""
    by_others: int
    mentioned_by_others: int
    summaries: int
    """Summaries that have a name of theirs in them."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "created_at": iso(self.created_at), "messages": list(self.messages)}


class SubjectReport(NamedTuple):
    """Everything that a scope holds of one person. The same store at the same moment gives the same report."""

    person: str
    names: tuple[str, ...]
    """What was looked for, in whatever case."""
    scope: str
    below: bool
    above: bool
    redacted: bool
    at: int
    sequence: int
    memories: tuple[SubjectMemory, ...]
    conversations: tuple[SubjectTalk, ...]
    documents: tuple[str, ...]
    """Citations of lines that have a name of theirs in them. The files are whose they are."""
    tokens: tuple[dict[str, Any], ...]
    mirrors: tuple[str, ...]
    backups: tuple[str, ...]
    notes: tuple[str, ...]
    """What was not looked at, and why."""
    path: str = ""
    """Where it was written; empty when it was not."""

    @property
    def counts(self) -> dict[str, int]:
        """How much of each there is."""
        sections = dict.fromkeys(("profile", "facts", "preferences", "memories"), 0)
        for each in self.memories:
            sections[each.section] += 1
        return {
            **sections,
            "conversations": len(self.conversations),
            "messages": sum(len(each.messages) for each in self.conversations),
            "documents": len(self.documents),
            "tokens": len(self.tokens),
            "mirrors": len(self.mirrors),
            "backups": len(self.backups),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "format": "memoranda.subject.v1",
            "person": self.person,
            "names": list(self.names),
            "scope": self.scope,
            "below": self.below,
            "above": self.above,
            "redacted": self.redacted,
            "at": iso(self.at),
            "sequence": self.sequence,
            "counts": self.counts,
            "memories": [each.as_json() for each in self.memories],
            "conversations": [each.as_json() for each in self.conversations],
            "documents": list(self.documents),
            "tokens": list(self.tokens),
            "mirrors": list(self.mirrors),
            "backups": list(self.backups),
            "notes": list(self.notes),
        }


def _with_times(shown: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**shown, **{name: None if shown[name] is None else iso(shown[name]) for name in names}}
