"""Ids in the metadata of a memory that our own code noted: random by nature, and no secrets.

A search for secrets would take them for tokens: what waits would forget what it corrects, what was captured would
forget the message it came from. Only under names that nobody else may write.
"""

from collections.abc import Mapping
from typing import Any

from memoranda.domain.governance import DERIVED_FROM
from memoranda.domain.ids import is_whole_id

_OURS = frozenset({DERIVED_FROM, "review", "mirror"})
_HOSTS = "message"


def is_own_id(under: str, text: str) -> bool:
    """Whether a text under this name of the metadata is wholly an id: of ours, or what a host calls a message."""
    return not _is_secret(text) if under == _HOSTS else under in _OURS and is_whole_id(text)


def without_own_ids(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata as a search for secrets is to see it: ids left blank, everything else as it is."""
    return {name: _blank(name, value) for name, value in metadata.items()}


def _blank(under: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _blank(under, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_blank(under, each) for each in value]
    return "" if isinstance(value, str) and is_own_id(under, value) else value


def _is_secret(text: str) -> bool:
    """Whether there is more in a name than letters in no order."""
    from memoranda.capture.secrets import RANDOM, secrets

    return any(found.rule != RANDOM for found in secrets(text))
