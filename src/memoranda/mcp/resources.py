"""What can be read by address: the profile, and single memories. As JSON, in which everything is quoted."""

from typing import Any
from urllib.parse import unquote

import mcp_types as types

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.mcp.guest import Guest
from memoranda.service.words import cleaned
from memoranda.tools.bounding import bounded
from memoranda.tools.default_tools import QUOTED, shown_memory
from memoranda.tools.memories import bare_id, may_be_read
from memoranda.tools.results import ToolResult, as_json

_PROFILE = "memoranda://profile"
_MEMORY = "memoranda://memory/"
_JSON = "application/json"
_LONGEST = 2_000

RESOURCES = [
    types.Resource(
        uri=_PROFILE,
        name="profile",
        title="Profile",
        description="The small stable record of whom this memory belongs to: name, traits, preferences, notes.",
        mime_type=_JSON,
    )
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=_PROFILE + "/{speaker}",
        name="speaker-profile",
        title="Profile of a speaker",
        description="The same of one who speaks here, by the name or id under which they speak.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        uri_template=_MEMORY + "{id}",
        name="memory",
        title="One memory",
        description="One memory by its id, or by the first characters of it.",
        mime_type=_JSON,
    ),
]


def read(guest: Guest, uri: str) -> str:
    """What is at an address, as JSON; NotFound when nothing that may be read is there."""
    if len(uri) > _LONGEST:
        raise InvalidInput("this address is too long", hint="Use one that the server lists.")
    if uri == _PROFILE:
        return _written(_profile(guest, ""))
    if uri.startswith(_PROFILE + "/"):
        return _written(_profile(guest, _part(uri, _PROFILE + "/")))
    if uri.startswith(_MEMORY):
        return _written(_memory(guest, _part(uri, _MEMORY)))
    raise _nothing()


def _part(uri: str, prefix: str) -> str:
    try:
        part = unquote(uri.removeprefix(prefix), errors="strict").strip()
    except UnicodeDecodeError as error:
        raise _nothing() from error
    if not part or "/" in part:
        raise _nothing()
    return part


def _profile(guest: Guest, speaker: str) -> dict[str, Any]:
    profile = guest.memory.profile.get(speaker=speaker)
    shown = {name: _cleaned(value) for name, value in profile.as_json().items()}
    lines = [cleaned(line) for line in guest.memory.profile.lines(speaker=speaker)]
    return {"note": QUOTED, "profile": shown, "lines": lines}


def _memory(guest: Guest, identity: str) -> dict[str, Any]:
    try:
        memory = guest.memory.get(bare_id(identity))
    except InvalidInput as error:
        raise _nothing() from error  # whether or not it could be an id
    if not may_be_read(memory):
        raise _nothing()
    return {"note": QUOTED, "memory": shown_memory(memory, guest.memory.now)}


def _cleaned(value: Any) -> Any:
    return cleaned(value) if isinstance(value, str) else [cleaned(each) for each in value]


def _written(value: dict[str, Any]) -> str:
    return bounded(ToolResult(as_json(value), value)).text


def _nothing() -> NotFound:
    return NotFound("there is nothing to read at this address")
