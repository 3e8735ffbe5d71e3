"""Tools for conversations with several people: remember, recall_memory, forget, update_profile."""

from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Source, State, basis_of, confidence_of
from memoranda.tools.caller import Caller
from memoranda.tools.results import ToolResult, as_json, importance_of, kept, one_line, shown_episode

Given = dict[str, Any]

_NOTHING = "No relevant memories found."
_WAITS = {
    "untrusted": " It is not shown until the user says it.",
    "quarantined": " It looks written to steer a model: it waits for a person's review and is not shown until then.",
}
_STATES: dict[str, State] = {"active": "live", "superseded": "superseded", "archived": "archived"}


def remember(caller: Caller, given: Given) -> ToolResult:
    remembered = caller.memory.remember(
        given["content"],
        kind="episode",
        importance=importance_of(given["importance"]),
        tags=given.get("tags", ()),
        source=caller.source,
        basis=basis_of(caller.source),
        confidence=confidence_of(caller.source),
        speaker=caller.speaker,
        conversation=caller.conversation,
    )
    data = {"id": remembered.id, "receipt": remembered.receipt.as_json()}
    return kept(remembered.memory, f"Remembered: {one_line(remembered.memory.text)}", data)


def recall_memory(caller: Caller, given: Given) -> ToolResult:
    least = given.get("importance_min", 1)
    source = given.get("source")
    sources: tuple[Source, ...] = () if source is None else ("assistant" if source == "agent" else source,)
    found = caller.memory.recall(
        given["query"],
        limit=given["top_k"],
        speaker=given.get("speaker_id") or given.get("speaker_name") or "",
        time_after=given.get("time_after"),
        time_before=given.get("time_before"),
        # The lowest level is everything, also what was never graded.
        importance_min=importance_of(least) if least > 1 else None,
        source=sources,
        states=(_STATES[given["status"]],),
        prefer_speaker=caller.speaker,
    )
    episodes = [shown_episode(hit) for hit in found]
    data = {"count": len(episodes), "memories": episodes, "receipt": found.receipt.as_json()}
    return ToolResult(as_json(episodes) if episodes else _NOTHING, data)


def forget(caller: Caller, given: Given) -> ToolResult:
    changed = caller.forget(caller.memory.get(given["episode_id"].strip()), reason="forgotten by a tool")
    return ToolResult(f"Forgot memory: {changed.id}", {"id": changed.id, "receipt": changed.receipt.as_json()})


def update_profile(caller: Caller, given: Given) -> ToolResult:
    speaker = ""
    if given["scope"] == "speaker":
        speaker = caller.speaker
        if not speaker:
            raise InvalidInput("nobody is known to be speaking", hint="Use scope session.")
    profile = caller.memory.profile
    field, value, key = given["field"], given["value"], given.get("fact_key", "")
    if given["action"] == "remove":
        changed = profile.remove(field, value, key=key, speaker=speaker, source=caller.source)
    else:
        act = profile.set if given["action"] == "set" else profile.add
        changed = act(
            field, value, key=key, previous=given.get("previous_value", ""), speaker=speaker, source=caller.source
        )
    return ToolResult(
        f"Profile updated: {field} ({given['action']}).{_WAITS.get(changed.receipt.trust, '')}",
        {"trust": changed.receipt.trust, "profile": changed.profile.as_json(), "receipt": changed.receipt.as_json()},
    )
