"""Answers in the form that mem0 gives them."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from memoranda.adapters.mem0.owners import Owner
from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory
from memoranda.domain.results import Remembered, Revision

ORIGIN = "mem0:"
"""Before the id of the first version, in the `source_ref` of what was put in its place."""
_OURS = ("created_at", "role", "actor_id", "expiration_date", "review", "capture", "message", "said_at", "ends")
_DAY_MS = 86_400_000


def identity(memory: Memory) -> str:
    """The id by which mem0's callers know a memory: that of its first version, whatever was updated since."""
    reference = memory.source_ref
    return reference.removeprefix(ORIGIN) if reference.startswith(ORIGIN) else memory.id


def metadata_of(memory: Memory) -> dict[str, Any]:
    """What the caller gave along."""
    return {name: value for name, value in memory.metadata.items() if name not in _OURS}


def payload(memory: Memory, owner: Owner) -> dict[str, Any]:
    """What filters look at: the ids, what the caller gave along, and what mem0 has by name."""
    said = {name: memory.metadata[name] for name in ("role", "actor_id", "expiration_date") if name in memory.metadata}
    return {
        **metadata_of(memory),
        **owner.ids,
        **said,
        "created_at": iso(_created(memory)),
        "updated_at": iso(memory.created_at),
        "categories": list(memory.tags),
    }


def item(memory: Memory, owner: Owner, *, score: float | None = None, scored: bool = False) -> dict[str, Any]:
    """One memory as `get`, `get_all` and `search` give it."""
    shown: dict[str, Any] = {
        "id": identity(memory),
        "memory": memory.text,
        "hash": hashlib.md5(memory.text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
        "metadata": metadata_of(memory) or None,
        **({"score": score} if scored else {}),
        "created_at": iso(_created(memory)),
        "updated_at": iso(memory.created_at),
        **owner.ids,
    }
    for name in ("actor_id", "role", "expiration_date"):
        if name in memory.metadata:
            shown[name] = memory.metadata[name]
    return shown


def added(remembered: Remembered) -> dict[str, Any]:
    """One memory as `add` gives it."""
    memory, receipt = remembered
    known = receipt.outcome == "reinforced"
    event = "NONE" if known else "UPDATE" if receipt.superseded else "ADD"
    return {"id": identity(memory), "memory": memory.text, "event": event}


def history(revisions: Sequence[Revision], first: str) -> list[dict[str, Any]]:
    """What happened to a memory and to what was put in its place, oldest first."""
    lines: list[dict[str, Any]] = []
    before: Memory | None = None
    for event, memory in revisions:
        deleted = event.action in ("forgotten", "archived", "erased", "expired")
        told = "DELETE" if deleted else "ADD" if before is None else "UPDATE"
        same = before is not None and before.text == memory.text
        if event.action == "superseded" or (same and not deleted and event.action != "restored"):
            continue
        lines.append(
            {
                "id": f"{memory.id}-{event.sequence}",
                "memory_id": first,
                "old_memory": None if before is None else before.text,
                "new_memory": None if deleted else memory.text,
                "event": told,
                "created_at": iso(_created(memory)),
                "updated_at": iso(event.at),
                "is_deleted": deleted,
                "actor_id": memory.metadata.get("actor_id"),
                "role": memory.metadata.get("role"),
            }
        )
        before = memory
    return lines


def end_of_day(given: Any) -> tuple[str, int]:
    """The last day on which something holds, as mem0 writes it, and the moment at which it no longer does."""
    try:
        day = given.date() if isinstance(given, datetime) else given
        day = day if isinstance(day, date) else date.fromisoformat(str(day))
    except ValueError as error:
        raise InvalidInput(
            "expiration_date must be a valid date in YYYY-MM-DD format.", hint="Write it as 2026-12-31."
        ) from error
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return day.isoformat(), int(start.timestamp() * 1000) + _DAY_MS


def without_ids(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the caller gave along, without the names that say whom it belongs to: those come from the arguments."""
    taken = ("user_id", "agent_id", "run_id", "actor_id", *_OURS)
    return {name: value for name, value in (metadata or {}).items() if name not in taken}


def _created(memory: Memory) -> int:
    first = memory.metadata.get("created_at")
    return first if isinstance(first, int) else memory.created_at
