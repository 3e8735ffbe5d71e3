"""`memory.review`: what was kept but may not speak until somebody says so. Each is a quarantined memory."""

from typing import NamedTuple

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import Conflict
from memoranda.domain.memory import Memory, Trust, checked_choice, trust_of
from memoranda.domain.request import checked_limit, checked_offset
from memoranda.domain.results import Changed, Listing
from memoranda.domain.scope import Scope
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.service.engine import Engine

_ACCEPTED: tuple[Trust, ...] = ("trusted", "untrusted")


class Waiting(NamedTuple):
    """One that waits: why, and what it would supersede."""

    memory: Memory
    why: str
    supersedes: str

    @property
    def id(self) -> str:
        return self.memory.id


@fences()
class Review:
    """The queue of one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def list(self, *, limit: int = 50, offset: int = 0) -> Listing:
        """What waits in this very scope, newest first."""
        wanted = Filter(states=("live",), trust=("quarantined",), here=True)
        return self._engine.ledger.browse(
            wanted, scope=self._scope, limit=checked_limit(limit), offset=checked_offset(offset)
        )

    def get(self, reference: Reference) -> Waiting:
        """One that waits."""
        memory = self._engine.ledger.get(id_of(reference), scope=self._scope)
        assert memory is not None
        if memory.trust != "quarantined" or memory.state != "live":
            raise Conflict(
                f"{memory.id} does not wait for a decision: it is {memory.state} and {memory.trust}",
                hint="`memoranda review` lists what waits.",
            )
        return waiting(memory)

    def accept(self, reference: Reference, *, trust: Trust | None = None) -> Changed:
        """It may speak: as trusted as its source, or as `trust` says. What it corrects is then superseded."""
        one = self.get(reference)
        given = trust_of(one.memory.source) if trust is None else checked_choice(trust, _ACCEPTED, name="trust")
        changed = self._engine.ledger.accept(
            one.id,
            trust=given,
            supersedes=one.supersedes or None,
            scope=self._scope,
            actor=self._engine.actor,
        )
        self._engine.nudge()
        return changed

    def reject(self, reference: Reference) -> Changed:
        """It is forgotten, and the same words are not taken again unasked."""
        one = self.get(reference)
        changed = self._engine.ledger.change_state(
            one.id,
            "forgotten",
            scope=self._scope,
            actor=self._engine.actor,
            reason="rejected in review",
            grace_ms=self._engine.settings.grace_ms,
        )
        self._engine.nudge()
        return changed


def waiting(memory: Memory) -> Waiting:
    """Why a quarantined memory waits."""
    review = memory.metadata.get("review")
    told = review if isinstance(review, dict) else {}
    return Waiting(memory, str(told.get("why", "quarantined")), str(told.get("supersedes", "")))
