"""Where a host's names are kept: each name is one segment of a scope, exactly, and can be read back from it.

Two names never share a segment, whatever letters are in them; so nobody reads what is kept for somebody else.
"""

import base64
import re
from collections.abc import Iterator, Sequence

from memoranda.domain.errors import InvalidInput
from memoranda.service.memory import LongTermMemory

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:@+-]*")
_ENCODED = "b~"
_PAGE = 1_000


def segment(name: str) -> str:
    """A name as a segment of a scope: as it is where it may stand there, else encoded."""
    if not isinstance(name, str) or not name:
        raise InvalidInput("a name is a text that is not empty", hint="Give the user, the agent or the namespace.")
    if _PLAIN.fullmatch(name):
        return name
    return _ENCODED + base64.urlsafe_b64encode(name.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def name_of(given: str) -> str:
    """The name that a segment stands for."""
    if not given.startswith(_ENCODED):
        return given
    coded = given.removeprefix(_ENCODED)
    return base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode("utf-8", "surrogatepass")


def scope_of(base: str, names: Sequence[str]) -> str:
    """The scope of a row of names below a base."""
    return "/".join([base, *(segment(name) for name in names)])


def names_of(base: str, scope: str) -> tuple[str, ...]:
    """The row of names that a scope below a base stands for."""
    rest = scope.removeprefix(base).strip("/")
    return tuple(name_of(each) for each in rest.split("/")) if rest else ()


def holding(memory: LongTermMemory, *, live: bool) -> Iterator[str]:
    """The scopes at and below a memory's own that hold anything live; or anything, in whatever state."""
    offset = 0
    while True:
        page = memory.scopes(limit=_PAGE, offset=offset)
        yield from (each.scope for each in page if (each.live if live else each.memories))
        offset += _PAGE
        if len(page) < _PAGE:
            return
