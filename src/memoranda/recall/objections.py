"""Objections: for what a memory cannot come back, whatever was asked, by what the ledger knows of it."""

from typing import NamedTuple

from memoranda.domain.memory import Memory, State
from memoranda.domain.request import Request
from memoranda.domain.scope import Scope


class Objection(NamedTuple):
    """The step that stops a memory, and the reason, without ids: reasons are counted."""

    step: str
    reason: str


def objection(request: Request, memory: Memory, scope: Scope) -> Objection | None:
    """Why the ledger does not let this one pass; None when it does."""
    if not scope.sees(memory.scope):
        return Objection("scope", "other scope")
    moment = request.now if request.as_of is None else request.as_of
    state = _state_at(memory, moment)
    if state not in request.states:
        return Objection("ledger", state)
    if "expired" not in request.states and not memory.holds_at(moment):
        return Objection("ledger", "not valid then")
    if request.trust and memory.trust not in request.trust:
        return Objection("trust", memory.trust)
    if memory.trust == "quarantined" and not request.trust:
        return Objection("trust", "quarantined")
    return _filtered(request, memory)


def _state_at(memory: Memory, moment: int) -> State:
    """Its state; what is live and no longer valid has expired, whether or not anybody has written that down."""
    lapsed = memory.valid_until is not None and memory.valid_until <= moment
    return "expired" if memory.state == "live" and lapsed else memory.state


def _filtered(request: Request, memory: Memory) -> Objection | None:
    happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
    least = request.importance_min
    fits = {
        "kind": not request.kinds or memory.kind in request.kinds,
        "source": not request.sources or memory.source in request.sources,
        "about": not request.about or memory.about == request.about,
        "speaker": not request.speaker or memory.speaker == request.speaker,
        "tags": set(request.tags) <= set(memory.tags),
        "time_after": request.time_after is None or happened >= request.time_after,
        "time_before": request.time_before is None or happened < request.time_before,
        "importance_min": least is None or (memory.importance is not None and memory.importance >= least),
    }
    for name, fit in fits.items():
        if not fit:
            return Objection("filter", f"the filter {name} leaves it out")
    return None
