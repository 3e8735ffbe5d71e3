"""What a verb gives, as the body of an answer: always an object, or nothing at all."""

import inspect
from typing import Any, get_origin

from memoranda.wire.codec import decode, encode
from memoranda.wire.shapes import is_shaped

ITEMS, VALUE, CONTENT = "items", "value", "content"


def wrapping(of: Any) -> str:
    """Under which name a result stands: `items` for several, `value` for a plain one, none for an object of ours."""
    if is_shaped(of) or get_origin(of) is dict:
        return ""
    origin = get_origin(of)
    return ITEMS if inspect.isclass(origin) and issubclass(origin, tuple) else VALUE


def is_empty(of: Any) -> bool:
    """Whether a verb gives nothing."""
    return of is None or of is type(None)


def to_body(of: Any, result: Any) -> Any:
    """The result of a verb that gives `of`, as it is sent."""
    name = wrapping(of)
    return {name: encode(result)} if name else encode(result)


def from_body(of: Any, body: Any) -> Any:
    """The result again."""
    name = wrapping(of)
    return decode(of, body[name] if name else body)
