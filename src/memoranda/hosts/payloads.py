"""What hosts tell a hook, in our words, and our answer in theirs.

Only what is named here is taken from a payload: nothing that a host, or somebody through it, adds can choose a scope, a
mode or a limit.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.hosts.table import BY_NAME, HookEvent

HOOK_HOSTS: tuple[str, ...] = tuple(name for name, host in BY_NAME.items() if host.hooks)
# Prompts that no person wrote: wake-ups of the host, and what its own agents and tasks report.
_MACHINES = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
_REPORTS = ("<task-notification>", "<agent-notification>", "<teammate-message", "<system-reminder>")


class Heard(NamedTuple):
    """What a hook is to work on; or nothing, and why."""

    given: Mapping[str, Any]
    skipped: str = ""


def heard(host: str, event: HookEvent, payload: Mapping[str, Any]) -> Heard:
    """A host's payload in our words."""
    if payload.get("agent_id") or payload.get("parent_agent_id"):
        return Heard({}, "a sub-agent's turn is nobody's conversation")
    given = {"conversation": _text(payload, "session_id", "conversation_id")}
    if event == "session-start":
        return Heard(given)
    return _READERS[host](event, payload, given)


def answered(host: str, event: HookEvent, context: str, degraded: list[str]) -> dict[str, Any]:
    """What the host is given: the context, where it takes one. What is wrong is told to the person once a session."""
    names = [name for name, ours in BY_NAME[host].hooks.items() if ours == event]
    if host == "cursor":
        return {"additional_context": context} if event == "session-start" and context else {"continue": True}
    answer: dict[str, Any] = {}
    if context and names:
        answer["hookSpecificOutput"] = {"hookEventName": names[0], "additionalContext": context}
    if degraded and event == "session-start":
        answer["systemMessage"] = f"memoranda: {degraded[0]}"
    return answer


def _transcribed(event: HookEvent, payload: Mapping[str, Any], given: dict[str, Any]) -> Heard:
    """Hosts that keep a transcript and tell where."""
    if event == "before-turn":
        prompt = payload.get("prompt")
        if payload.get("source") in _MACHINES or (isinstance(prompt, str) and prompt.lstrip().startswith(_REPORTS)):
            return Heard({}, "no person wrote this prompt")
        return Heard({**given, "prompt": prompt})
    path = payload.get("transcript_path")
    if path is None or (isinstance(path, str) and path and not _is_there(path)):
        return Heard({}, "the host keeps no transcript of this conversation: it is private")
    return Heard({**given, "transcript_path": path})


def _handed_over(event: HookEvent, payload: Mapping[str, Any], given: dict[str, Any]) -> Heard:
    """Hosts that tell what was said."""
    if event == "before-turn":
        return Heard({**given, "prompt": payload.get("prompt")})
    said = [{"role": "user", "content": payload.get("prompt")}]
    if isinstance(answer := payload.get("prompt_response"), str):
        said.append({"role": "assistant", "content": answer})
    return Heard({**given, "messages": said})


_Reader = Callable[[HookEvent, Mapping[str, Any], dict[str, Any]], Heard]
_READERS: dict[str, _Reader] = {
    "claude-code": _transcribed,
    "codex": _transcribed,
    "gemini": _handed_over,
    "cursor": _handed_over,
}


def _is_there(path: str) -> bool:
    try:
        return Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return True  # whoever reads it says what is wrong with it


def _text(payload: Mapping[str, Any], *names: str) -> str:
    found = next((payload[name] for name in names if payload.get(name) is not None), "")
    return found if isinstance(found, str) else str(found)
