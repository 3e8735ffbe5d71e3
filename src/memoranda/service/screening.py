"""Screening: what may not be kept at all, and what may not speak, through whichever door it came."""

import json

from memoranda.config import Settings
from memoranda.domain.errors import Refused
from memoranda.domain.memory import Memory

# Who runs the store may write what they like; what they let in from elsewhere has its own source.
_UNSUSPECTED = frozenset({"operator", "system"})


def screened(memory: Memory, settings: Settings) -> Memory:
    """The memory with the trust that it may have, or the reason why it is not kept."""
    if settings.secrets == "refuse":
        _refuse_secrets(memory)
    if settings.injection == "allow" or memory.source in _UNSUSPECTED:
        return memory
    from memoranda.capture.injection import suspicion

    suspected = suspicion(memory.text)
    if suspected is None or suspected.severity != "injection":
        return memory
    if settings.injection == "refuse":
        raise Refused(
            f"this text looks written to steer a model ({suspected.rule}), not to be remembered",
            hint="If it is harmless, set injection = 'quarantine' and accept it with `memoranda review accept ID`.",
        )
    return memory._replace(trust="quarantined", metadata={**memory.metadata, "review": {"why": "injection"}})


def _refuse_secrets(memory: Memory) -> None:
    from memoranda.capture.secrets import secrets

    for name in ("text", "about", "attribute", "context", "speaker", "source_ref", "value", "metadata", "tags"):
        part = getattr(memory, name)
        if not part:
            continue
        text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=dict)
        found = secrets(text)
        if found:
            raise Refused(
                f"there is a secret in {name} ({found[0].rule}); secrets are not kept",
                hint="Keep it in a password manager and remember where; or, to keep it here, set secrets = 'allow'.",
            )
