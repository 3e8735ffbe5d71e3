"""Screening: what may not be kept at all, and what may not speak, through whichever door it came."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memoranda.config import Settings
from memoranda.domain.errors import Refused
from memoranda.domain.memory import Memory
from memoranda.domain.text import checked_text

if TYPE_CHECKING:
    from memoranda.capture.injection import Suspicion

# Who runs the store may write what they like; what they let in from elsewhere has its own source.
# Everything that people or models can put words into.
_WORDS = (
    "text", "about", "attribute", "context", "speaker", "conversation", "source_ref", "value", "metadata", "tags",
)  # fmt: skip
_UNSUSPECTED = frozenset({"operator", "system"})
_NAMES = frozenset({"source_ref", "conversation"})
"""What hosts call things. An `about` is one when it says so: a host's own key of something, after `item:`."""
ITEM = "item:"


def screened(memory: Memory, settings: Settings) -> Memory:
    """The memory with the trust that it may have, or the reason why it is not kept."""
    if settings.secrets == "refuse":
        _refuse_secrets(memory)
    if settings.injection == "allow" or memory.source in _UNSUSPECTED:
        return memory
    suspected = next(filter(None, map(_steering, (memory.text, memory.value, memory.context))), None)
    if suspected is None:
        return memory
    if settings.injection == "refuse":
        raise Refused(
            f"this text looks written to steer a model ({suspected.rule}), not to be remembered",
            hint="If it is harmless, set injection = 'quarantine' and accept it with `memoranda review accept ID`.",
        )
    return memory._replace(trust="quarantined", metadata={**memory.metadata, "review": {"why": "injection"}})


def _steering(words: Any) -> "Suspicion | None":
    """Why words look written to steer a model, if they do."""
    from memoranda.capture.injection import suspicion

    found = suspicion(words) if isinstance(words, str) and words else None
    return found if found is not None and found.severity == "injection" else None


def refuse_secret(text: str, name: str) -> None:
    """Raise when there is a secret in a text that would be kept."""
    from memoranda.capture.secrets import secrets

    found = secrets(text)
    if found:
        raise Refused(
            f"there is a secret in {name} ({found[0].rule}); secrets are not kept",
            hint="Keep it in a password manager and remember where; or, to keep it here, set secrets = 'allow'.",
        )


def refuse_secret_name(text: str, name: str) -> None:
    """The same for what a host calls something: there, letters in no order are an id and no secret."""
    from memoranda.capture.secrets import RANDOM, secrets

    if any(found.rule != RANDOM for found in secrets(text)):
        refuse_secret(text, name)


def checked_reason(reason: str, settings: Settings) -> str:
    """Why something was done, as it is written into the history."""
    checked = checked_text(reason, name="reason", limit=500, empty_ok=True)
    if settings.secrets == "refuse":
        refuse_secret(checked, "reason")
    return checked


def without_secrets(text: str, settings: Settings) -> str:
    """A text that leaves for an embedder or a receipt, with what is secret in it taken out."""
    if settings.secrets == "allow":
        return text
    from memoranda.capture.secrets import redacted

    return redacted(text)


def json_without_secrets(value: Any, settings: Settings) -> Any:
    """The same with every text in it cleaned of secrets, names of fields, too."""
    if isinstance(value, str):
        return without_secrets(value, settings)
    if isinstance(value, Mapping):
        return {
            without_secrets(str(name), settings): json_without_secrets(each, settings) for name, each in value.items()
        }
    return [json_without_secrets(each, settings) for each in value] if isinstance(value, list | tuple) else value


def _refuse_secrets(memory: Memory) -> None:
    for name in _WORDS:
        part = getattr(memory, name)
        if name in _NAMES or (name == "about" and part.startswith(ITEM)):
            refuse_secret_name(part, name)
        elif part:
            refuse_secret(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=dict), name)


def with_its_end(memory: Memory, settings: Settings) -> Memory:
    """With the end that the rule of its kind gives it, where the settings have one."""
    if not settings.ttl_days:
        return memory
    from memoranda.governance.retention import with_end

    return with_end(memory, settings.ttl_ms)
