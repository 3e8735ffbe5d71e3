"""What a tool gives back, and how memories are written for a model.

A model reads `text`: one line of ours, or JSON, in which a memory is a string like any other and cannot pretend to be
anything else. What does not show is taken out of it. Programs read `data`.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.errors import MemorandaError
from memoranda.domain.memory import Memory
from memoranda.domain.results import Hit
from memoranda.service.words import cleaned
from memoranda.tools.advice import advice

_LEVELS = (0.3, 0.5, 0.65, 0.8, 0.95)
USUAL_LEVEL = 2
WAITS = (
    "Not remembered yet: {} looks written to steer a model and waits for a person's review. It is not shown until "
    "then; tell the user so, and do not call again with it."
)


class ToolResult(NamedTuple):
    """`text` for the model, `data` for programs. `failed`: nothing was done, and the text says what to do next."""

    text: str
    data: dict[str, Any]
    failed: bool = False


def failure(error: MemorandaError) -> ToolResult:
    """What went wrong and the next move, for a model."""
    hint = advice(error)
    told = {"name": type(error).__name__, "message": str(error), "hint": hint}
    return ToolResult(f"Error: {one_line(str(error))}. {one_line(hint)}", {"error": told}, failed=True)


def kept(memory: Memory, text: str, data: dict[str, Any]) -> ToolResult:
    """What was kept, in the words of the tool; or that it waits, and then nothing of what it says."""
    waits = memory.trust == "quarantined"
    return ToolResult(WAITS.format(memory.id) if waits else text, {**data, "trust": memory.trust, "waits": waits})


def as_json(value: Any) -> str:
    """JSON as a model reads it: short, and with its letters as they are."""
    return json.dumps(value, ensure_ascii=False)


def one_line(text: str) -> str:
    """Text in a sentence of ours."""
    return " ".join(cleaned(text).split())


def importance_of(level: int) -> float:
    """Importance from 0 to 1 of a level from 1 to 5."""
    return _LEVELS[level - 1]


def level_of(importance: float | None) -> int:
    """The level that an importance reaches; the usual one when it is not known."""
    if importance is None:
        return USUAL_LEVEL
    return max(1, sum(importance >= each for each in _LEVELS))


def shown(memory: Memory, *, score: float | None = None) -> dict[str, Any]:
    """A memory for a model: what it says, and how far it can be relied on."""
    fields: dict[str, Any] = {
        "id": memory.id,
        "text": cleaned(memory.text),
        "category": memory.kind,
        "importance": memory.importance,
        "score": None if score is None else round(score, 3),
        "trust": memory.trust,
        "source": memory.source,
        "speaker": cleaned(memory.speaker),
        "about": cleaned(memory.about),
        "scope": memory.scope,
        "createdAt": iso(memory.created_at),
        "occurredAt": None if memory.occurred_at is None else iso(memory.occurred_at),
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def shown_episode(hit: Hit) -> dict[str, Any]:
    """A memory in the words of `recall_memory`."""
    memory = hit.memory
    fields: Mapping[str, Any] = {
        "id": memory.id,
        "content": cleaned(memory.text),
        "score": round(hit.score, 3),
        "importance": level_of(memory.importance),
        "tags": [cleaned(tag) for tag in memory.tags],
        "timestamp": iso(memory.created_at if memory.occurred_at is None else memory.occurred_at),
        "speaker_id": cleaned(memory.speaker),
        "source": memory.source,
        "trust": memory.trust,
        "status": "active" if memory.state == "live" else memory.state,
    }
    return {name: value for name, value in fields.items() if value not in ("", [])}
