"""How `!memory` writes things: plain lines in a chat. What a memory says stands in one line, cleaned of what hides."""

from collections.abc import Iterable, Mapping
from typing import Any

from memoranda.domain.clock import iso
from memoranda.domain.memory import Memory
from memoranda.domain.profile import Profile
from memoranda.tools.results import level_of, one_line
from memoranda_langbot.uploads import shown_tags

_PREVIEW = 80
_STATUS = {"live": "active", "forgotten": "deleted"}


def status_of(memory: Memory) -> str:
    """The state in LangBot's words."""
    return _STATUS.get(memory.state, memory.state)


def at(memory: Memory) -> int:
    """When it happened, as far as that is known."""
    return memory.created_at if memory.occurred_at is None else memory.occurred_at


def preview(text: str, most: int = _PREVIEW) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def episode(memory: Memory) -> str:
    """`  [id] date (status, imp:n) [tags] text`"""
    tags = shown_tags(memory.tags)
    labels = f" [{', '.join(map(one_line, tags))}]" if tags else ""
    trust = "" if memory.trust == "trusted" else f", {memory.trust}"
    day = iso(at(memory))[:10]
    return (
        f"  [{memory.id}] {day} ({status_of(memory)}, imp:{level_of(memory.importance)}{trust}){labels} "
        f"{preview(memory.text)}"
    )


def profile(title: str, given: Profile) -> list[str]:
    """All fields; `(not set)` and `(none)` for what is empty."""
    return [
        f"{title}:",
        f"  Name: {one_line(given.name) or '(not set)'}",
        f"  Traits: {_listed(given.traits)}",
        f"  Preferences: {_listed(given.preferences)}",
        f"  Notes: {one_line(given.notes) or '(none)'}",
        f"  Updated: {given.updated_at or '(never)'}",
    ]


def _listed(entries: Iterable[str]) -> str:
    return "; ".join(map(one_line, entries)) or "(none)"


def details(memory: Memory) -> list[str]:
    """One memory in full."""
    fields: Mapping[str, Any] = {
        "Status": status_of(memory),
        "Kind": memory.kind,
        "Importance": level_of(memory.importance),
        "Trust": memory.trust,
        "Source": memory.source,
        "Speaker": one_line(memory.speaker),
        "Tags": ", ".join(map(one_line, shown_tags(memory.tags))),
        "Happened": iso(at(memory)),
        "Updated": iso(memory.updated_at),
        "Superseded by": memory.superseded_by or "",
    }
    return [f"  {name}: {value}" for name, value in fields.items() if value not in ("", None)]


def exported(memory: Memory, user_key: str) -> dict[str, Any]:
    """An episode as LangBot's own plugin writes it, and takes it in."""
    return {
        "id": memory.id,
        "content": memory.text,
        "tags": shown_tags(memory.tags),
        "importance": level_of(memory.importance),
        "timestamp": iso(at(memory)),
        "user_key": user_key,
        "sender_id": memory.speaker,
        "status": status_of(memory),
    }
