"""What is written for a request with a key is written only by whoever has the claim on it.

That is looked at in each transaction: a claim may have been taken over meanwhile, by somebody who does the same. What
must not be done twice says there that it was done, too. Most verbs may be repeated after a server was killed before it
could answer: what is there already is found there. Outside of a request with a key all this is nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from memoranda.ledger.connection import Connection


class Working(NamedTuple):
    """The claim that the call under way works on."""

    kept_in: object
    """The database that it is kept in. Others know nothing of it: an index of this machine, another shard."""
    check: Callable[[Connection], None]
    """Raises Conflict when somebody else has the claim now."""
    mark: Callable[[Connection], None]
    """Keeps that it was done; raises as `check` does."""


_CURRENT: ContextVar[Working | None] = ContextVar("memoranda-claim", default=None)


@contextmanager
def working_on(claim: Working | None) -> Iterator[None]:
    """What is done inside belongs to a request, or to none. Work that goes on in the background does not."""
    token = _CURRENT.set(claim)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_in(database: object) -> Working | None:
    """The claim that the call under way works on, if it is kept there."""
    claim = _CURRENT.get()
    return claim if claim is not None and claim.kept_in is database else None


def done_now(connection: Connection) -> None:
    """This transaction does what must not be done again."""
    claim = _CURRENT.get()
    if claim is not None:
        claim.mark(connection)
