"""What is known about a subject: facts and memories, as plain data. Blocks: for the executor only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoranda import Fact, LongTermMemory, Memory

_MOST = 20


def what_is_known(memory: LongTermMemory, words: str, subjects: Sequence[str]) -> dict[str, Any]:
    """Facts about the subjects themselves first, then what is found by the words."""
    facts: dict[str, Fact] = {}
    for subject in subjects:
        facts |= {each.id: each for each in memory.facts.about(subject)}
    if words.strip():
        facts |= {each.id: each for each in memory.facts.ask(words, limit=_MOST)}
    found = list(facts.values())[:_MOST]
    return {
        "subjects": sorted({*subjects, *(each.about for each in found if each.attribute and each.about)}),
        "facts": [_fact(each) for each in found if each.attribute],
        "memories": [shown(each.memory) for each in found if not each.attribute],
    }


def shown(memory: Memory, score: float | None = None) -> dict[str, Any]:
    """A memory as services give it."""
    from memoranda.tools.results import shown as as_shown

    return {**as_shown(memory, score=score), "kind": memory.kind}


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "about": fact.about,
        "attribute": fact.attribute,
        "value": fact.value,
        "text": fact.memory.text,
        "confidence": round(fact.confidence, 2),
        "trust": fact.memory.trust,
    }
