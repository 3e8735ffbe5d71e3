"""What every request is read by: its body as JSON, and the one scope in its query."""

import json
from collections.abc import Sequence
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.http.refusal import Refusal
from memoranda.wire.binding import SCOPE


def parsed(raw: bytes) -> Any:
    """A body; an empty one is an empty object."""
    if not raw.strip():
        return {}
    try:
        found = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad-json", "the body is not JSON", hint="Send a JSON object in UTF-8.") from error
    if found is None:
        raise InvalidInput("the body is a JSON object", hint="Send the arguments by their names, or nothing.")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(word)


def scope_asked(query: Sequence[tuple[str, str]]) -> str:
    """The scope that is asked for, which nobody may name twice or leave blank; empty when none is named."""
    asked = [value for name, value in query if name == SCOPE]
    if len(asked) > 1:
        raise InvalidInput(f"{SCOPE} is there {len(asked)} times", hint="Give it once.")
    if asked and not asked[0]:
        raise InvalidInput(
            "the scope is empty", hint="Leave it out for the token's own, or give one: ?scope=home/anna."
        )
    return asked[0] if asked else ""
