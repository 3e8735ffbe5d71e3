"""Which host wrote a transcript, told by its beginning."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from memoranda.conversations.transcripts.items import Format
from memoranda.conversations.transcripts.pieces import lines, parsed
from memoranda.domain.errors import InvalidInput

# By the names of fields; inside a text the quotes have backslashes before them.
_FIELD = re.compile(rb'"(mapping|parentUuid|leafUuid|sessionId|parentId|messages|role)"\s*:')
_BY_FIELD: dict[bytes, Format] = {
    b"mapping": "chatgpt",
    b"parentUuid": "claude_code",
    b"leafUuid": "claude_code",
    b"sessionId": "claude_code",
    b"parentId": "openclaw",
    b"messages": "openai",
    b"role": "openai",
}


def detect(head: bytes) -> Format:
    """The format of a transcript whose first `HEAD` bytes, or all of them, are given."""
    for piece in lines(BytesIO(head)):
        found = _of_line(parsed(piece.raw))
        if found is not None:
            return found
    # One JSON over many lines, or a first line that is longer than this.
    field = _FIELD.search(head)
    if field is None:
        raise InvalidInput(
            "this is no transcript of a kind that is known",
            hint="Say its format: openai, openclaw, claude_code or chatgpt.",
        )
    return _BY_FIELD[field[1]]


def _of_line(value: Any) -> Format | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, Mapping):
        return None
    if "mapping" in value:
        return "chatgpt"
    if "uuid" in value or "sessionId" in value or "leafUuid" in value:
        return "claude_code"
    if value.get("type") == "session" or (value.get("type") == "message" and "message" in value):
        return "openclaw"
    return "openai" if "messages" in value or "role" in value else None
