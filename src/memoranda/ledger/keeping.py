"""Keeping one memory: new, said again, or instead of another. Inside the caller's transaction."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from memoranda.domain.errors import Conflict, NotFound, Refused
from memoranda.domain.fact import holds_many
from memoranda.domain.lasting import BY_RULE, end_said_again
from memoranda.domain.memory import MAX_JSON, MAX_TAGS, UNVOUCHED, Memory, Trust, json_size, outranks
from memoranda.domain.receipt import ChangeReceipt, RememberReceipt
from memoranda.domain.results import Changed, Remembered
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection

REINFORCEMENT = 0.1

Slot = Literal["", "one", "many"]


class Forgotten(Conflict):
    """It was forgotten not long ago, and nobody asked for it again."""


SAID_AT = "said_at"
"""The name in the metadata of a captured memory for when it was said."""
_SKEW_MS = 300_000
"""Clocks of hosts differ."""


class Keep(NamedTuple):
    """A memory about to be kept, and how."""

    memory: Memory
    kind_given: bool = False
    supersedes: str | None = None
    even_if_erased: bool = False
    slot: Slot = ""
    """`one`: what is in its slot now is superseded. `many`: slots hold several, but no value twice."""
    unless_forgotten: bool = False
    reinforces: str | None = None
    """What it says again in other words: that one is reinforced, and this one is not kept."""
    said_at: int | None = None
    """When it was said. What was said before something that is known replaces nothing of it."""


def keep_one(connection: Connection, keep: Keep, *, scope: Scope, actor: str, erased: bool) -> Remembered:
    """Keep it, or raise before anything is written."""
    memory = keep.memory
    if erased:
        raise Refused(
            "this text was erased from this scope and is not taken back",
            hint="If the person wants it kept again, pass after_erase='allow' (CLI: --even-if-erased).",
        )
    if keep.unless_forgotten and memories.was_forgotten(connection, memory):
        raise Forgotten("this was forgotten and is not taken back unasked")
    named = [] if keep.supersedes is None else [_to_supersede(connection, keep.supersedes, memory, scope)]
    neighbours = memories.in_slot(connection, memory) if keep.slot else []
    same = _same(connection, keep, neighbours, scope)
    if same is not None and all(number != same[0] for number, _ in named):
        remembered = _reinforced(connection, same, keep, actor=actor)
    else:
        _refuse_what_is_older(keep, (*named, *(neighbours if keep.slot == "one" else ())))
        number = memories.insert(connection, memory)
        sequence = memories.record(connection, "remembered", number, memory, at=memory.updated_at, actor=actor)
        receipt = RememberReceipt("created", memory.id, memory.scope, sequence, trust=memory.trust)
        remembered = Remembered(memory, receipt)
    replaced = dict(named)
    if keep.slot == "one":
        replaced.update((number, old) for number, old in neighbours if not outranks(old.trust, memory.trust))
    for number, old in replaced.items():
        if old.id != remembered.id:
            remembered = _superseded(connection, number, old, remembered, at=memory.updated_at, actor=actor)
    return remembered


def _same(
    connection: Connection, keep: Keep, neighbours: Sequence[tuple[int, Memory]], scope: Scope
) -> tuple[int, Memory] | None:
    """The live memory that says the same: in the same words, with the same value, or as somebody has found out."""
    memory = keep.memory
    if keep.reinforces is not None:
        number, found = memories.find(connection, scope, keep.reinforces)
        if found.state == "live" and found.scope == memory.scope and not outranks(found.trust, memory.trust):
            return number, found
    if memory.value is not None:
        for number, old in neighbours:
            if old.trust == memory.trust and json.dumps(old.value) == json.dumps(memory.value):  # 1 is not true
                return number, old
    return memories.find_same(connection, memory)


def _refuse_what_is_older(keep: Keep, replaced: Sequence[tuple[int, Memory]]) -> None:
    """A message that is looked at late must not undo what was said since."""
    if keep.said_at is None:
        return
    for _, old in replaced:
        said = old.metadata.get(SAID_AT)
        if (said if isinstance(said, int) else old.updated_at) > keep.said_at + _SKEW_MS:
            raise Conflict(f"{old.id} was said later than this")


def _superseded(connection: Connection, number: int, old: Memory, by: Remembered, *, at: int, actor: str) -> Remembered:
    _, sequence = memories.change(
        connection, number, old, "superseded", at=at, actor=actor, state="superseded", superseded_by=by.id
    )
    return Remembered(by.memory, by.receipt._replace(superseded=old.id, sequence=sequence))


def _to_supersede(connection: Connection, reference: str, memory: Memory, scope: Scope) -> tuple[int, Memory]:
    number, old = memories.find(connection, scope, reference)
    refuse_from_below(scope, old)
    if old.state not in ("live", "expired"):
        raise Conflict(f"{old.id} is {old.state} and cannot be superseded")
    if outranks(old.trust, memory.trust):
        raise Refused(
            f"{old.id} is {old.trust}; something {memory.trust} cannot supersede it",
            hint="Let the person say it, or keep the new one beside the old one.",
        )
    return number, old


def _reinforced(connection: Connection, same: tuple[int, Memory], keep: Keep, *, actor: str) -> Remembered:
    number, memory = same
    said_again = keep.memory
    at = said_again.updated_at
    end, by_rule = end_said_again(memory, said_again)
    validity = (memory.valid_from if said_again.valid_from is None else said_again.valid_from, end)
    merged = memory._replace(valid_from=validity[0], valid_until=validity[1])
    if said_again.holds_at(at) and not merged.holds_at(at):
        validity = (said_again.valid_from, said_again.valid_until)  # said again after its end: it holds again
        by_rule = said_again.metadata.get(BY_RULE) is True
    importance = said_again.importance if said_again.importance is not None else memory.importance
    if by_rule and memory._replace(importance=importance).grade == "must_remember":
        validity, by_rule = (validity[0], None), False  # what must be remembered is ended by no rule
    kept, sequence = memories.change(
        connection,
        number,
        memory,
        "reinforced",
        at=at,
        actor=actor,
        kind=said_again.kind if keep.kind_given else memory.kind,
        confidence=_surer(memory),
        importance=importance,
        tags=tuple(dict.fromkeys((*memory.tags, *said_again.tags)))[:MAX_TAGS],
        metadata=_marked(_joined(memory.metadata, said_again.metadata), by_rule),
        valid_from=validity[0],
        valid_until=validity[1],
    )
    return Remembered(kept, RememberReceipt("reinforced", kept.id, kept.scope, sequence, trust=kept.trust))


def _surer(memory: Memory) -> float:
    """Said again, it is surer; what nobody vouches for does not become certain by being repeated."""
    most = 1.0 if memory.trust == "trusted" else max(memory.confidence, UNVOUCHED)
    return min(most, round(memory.confidence + REINFORCEMENT, 6))


def accept(
    connection: Connection,
    reference: str,
    *,
    trust: Trust,
    supersedes: str | None,
    scope: Scope,
    actor: str,
    at: int,
) -> Changed:
    """Give it the trust that was held back."""
    number, memory = memories.find(connection, scope, reference)
    refuse_from_below(scope, memory)
    if memory.state != "live" or memory.trust != "quarantined":
        raise Conflict(
            f"{memory.id} does not wait for a decision: it is {memory.state} and {memory.trust}",
            hint="`memoranda review` lists what waits.",
        )
    metadata = MappingProxyType({name: value for name, value in memory.metadata.items() if name != "review"})
    accepted, sequence = memories.change(
        connection, number, memory, "trusted", at=at, actor=actor, trust=trust, metadata=metadata
    )
    single = bool(memory.attribute) and not holds_many(memory.attribute)
    replaced = dict(memories.in_slot(connection, memory)) if single else {}
    if supersedes is not None:
        with contextlib.suppress(NotFound):  # erased meanwhile: there is nothing left to replace
            replaced.update([memories.find(connection, scope, supersedes)])
    for place, old in replaced.items():
        if place != number and old.state == "live" and scope.contains(old.scope) and not outranks(old.trust, trust):
            _, sequence = memories.change(
                connection, place, old, "superseded", at=at, actor=actor, state="superseded", superseded_by=memory.id
            )
    return Changed(accepted, ChangeReceipt("trusted", memory.id, memory.scope, "live", "live", sequence))


def counted(counts: Mapping[str, int], outcomes: Sequence[Remembered | Refused | Conflict]) -> dict[str, int]:
    """The counts of a turn with what became of its candidates."""
    together = dict(counts)
    for outcome in outcomes:
        name = refusal_of(outcome) if isinstance(outcome, Refused | Conflict) else _kept_as(outcome)
        together[name] = together.get(name, 0) + 1
    return together


def refusal_of(error: Refused | Conflict) -> str:
    """Why the ledger did not take it, in one of the words for that."""
    if isinstance(error, Forgotten):
        return "forgotten"
    return "erased" if isinstance(error, Refused) else "duplicate"


def _kept_as(remembered: Remembered) -> str:
    if remembered.receipt.outcome == "reinforced":
        return "duplicate"
    return "waiting" if remembered.memory.trust == "quarantined" else "kept"


def refuse_from_below(scope: Scope, memory: Memory) -> None:
    """What is seen from below may not be changed from below."""
    if not scope.contains(memory.scope):
        raise Refused(
            f"{memory.id} belongs to {memory.scope} and cannot be changed from {scope}",
            hint=f"Open the store with scope {memory.scope!r} to change it.",
        )


def _marked(metadata: Mapping[str, Any], by_rule: bool) -> Mapping[str, Any]:
    """With the mark of an end that is the rule's, or without it."""
    if (metadata.get(BY_RULE) is True) == by_rule:
        return metadata
    rest = {name: value for name, value in metadata.items() if name != BY_RULE}
    return MappingProxyType({**rest, BY_RULE: True} if by_rule else rest)


def _joined(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Both together, or the old alone when both would be too much for one memory."""
    together = {**old, **new}
    return MappingProxyType(together) if json_size(together) <= MAX_JSON else old
