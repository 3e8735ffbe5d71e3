"""On whose behalf something is done, when one process serves many. Written into events; decides nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ACTOR: ContextVar[str] = ContextVar("memoranda-actor", default="")


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """What is done inside is done by `name`. Work that goes on in the background is the store's own."""
    token = _ACTOR.set(name)
    try:
        yield
    finally:
        _ACTOR.reset(token)


def actor(otherwise: str) -> str:
    """Who acts now."""
    return _ACTOR.get() or otherwise
