"""Grade and trust: set by people, never by what a text says of itself, and never offered to a model."""

from typing import TYPE_CHECKING

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import InvalidInput, NotFound, Refused
from memoranda.domain.memory import TRUSTS, Memory, Trust, checked_choice, outranks
from memoranda.ledger.fence import fences
from memoranda.service.nouns import Nouns

if TYPE_CHECKING:
    from memoranda.domain.governance import Graded, Trusted


@fences()
class Governing(Nouns):
    """The verbs of the facade that say how much a memory weighs."""

    def grade(self, reference: Reference, importance: float | str, *, rationale: str = "") -> "Graded":
        """Say how important a memory is: 0 to 1, `86%`, or a word such as `high`. It stays, whatever is regraded.

        What belongs to a scope above is graded there.
        """
        from memoranda.domain import labels
        from memoranda.domain.governance import BY_HAND
        from memoranda.ledger.gradings import Given, Gradings
        from memoranda.service.screening import checked_reason

        score = labels.importance(importance)
        if score is None:
            raise InvalidInput("`unknown` is no grade", hint="Give 0 to 1, or one of: high, medium, low.")
        why = checked_reason(rationale, self._engine.settings)
        given = Given(score, labels.label(score), why, BY_HAND, "")
        graded = Gradings(self._engine.ledger.database, self._engine.clock).grade(
            id_of(reference), given, scope=self._scope, actor=self._engine.actor
        )
        self._engine.nudge()
        return graded

    def trust(self, reference: Reference, trust: Trust, *, reason: str = "", confirm: bool = False) -> "Trusted":
        """Say whether a memory may speak: `trusted`, `untrusted`, or `quarantined` until somebody decides.

        Lowered, it takes down with it what was derived from it. Raised, it goes alone; what looks written to steer a
        model, or was derived from what is trusted less, needs `confirm`. From its own scope only.
        """
        from memoranda.ledger.trusting import Trusts
        from memoranda.service.screening import checked_reason

        checked_choice(trust, TRUSTS, name="trust")
        if not isinstance(confirm, bool):
            raise InvalidInput("confirm: true or false is expected", hint="Pass confirm=True when you have read it.")
        why = checked_reason(reason, self._engine.settings)
        memory = self._engine.ledger.get(id_of(reference), scope=self._scope)
        assert memory is not None
        if not confirm and outranks(trust, memory.trust):
            self._refuse_rashness(memory, trust)
        changed = Trusts(self._engine.ledger.database, self._engine.clock).change(
            memory.id, trust, scope=self._scope, actor=self._engine.actor, reason=why
        )
        self._engine.nudge()
        return changed

    def _refuse_rashness(self, memory: Memory, trust: Trust) -> None:
        """Raise for what should be read before it is trusted."""
        from memoranda.governance.trust import parents_of

        hint = "Read it; if it may speak, pass confirm=True (CLI: --confirm)."
        if self._looks_steering(memory):
            raise Refused(f"{memory.id} looks written to steer a model, not to be remembered", hint=hint)
        for parent in parents_of(memory):
            try:
                found = self._engine.ledger.get(parent, scope=self._scope)
            except (NotFound, InvalidInput):  # erased, or not to be seen from here
                continue
            if found is not None and outranks(trust, found.trust):
                raise Refused(f"{memory.id} was derived from {found.id}, which is {found.trust}", hint=hint)

    def _looks_steering(self, memory: Memory) -> bool:
        """As if it came from a page, whoever wrote it and whatever the settings let in."""
        from memoranda.service.screening import screened

        suspicious = self._engine.settings._replace(injection="quarantine", secrets="allow")
        return screened(memory._replace(source="web", trust="untrusted"), suspicious).trust == "quarantined"
