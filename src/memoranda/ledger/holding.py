"""Holding a name for long, and knowing whether one still does. For a short while `Database.hold` is enough."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Protocol

from memoranda.ledger.database import Database
from memoranda.ledger.locking import Busy


class Holding(Protocol):
    """A name that nobody else holds who has the store open, on whatever machine."""

    def is_ours(self) -> bool:
        """Whether it is still held. A session of a database server may have been lost."""

    def close(self) -> None:
        """Let go of it. May be called twice."""


class _File:
    """Held for as long as the process lives."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def is_ours(self) -> bool:
        return True

    def close(self) -> None:
        self._stack.close()


def taken(database: Database, name: str) -> Holding | None:
    """The name, if it could be had at once."""
    if database.dialect.name == "postgres":
        from memoranda.ledger.postgres.database import PostgresDatabase
        from memoranda.ledger.postgres.listening import taken_in

        assert isinstance(database, PostgresDatabase)
        return taken_in(database, name)
    stack = ExitStack()
    try:
        stack.enter_context(database.hold(name))
    except Busy:
        return None
    return _File(stack)


@contextmanager
def keeping(database: Database, name: str) -> Iterator[Holding]:
    """Hold a name meanwhile, for work that looks now and then whether it still does. `Busy` when somebody else does."""
    held = taken(database, name)
    if held is None:
        database.version()  # a server that is away says so here: then nobody holds it
        raise Busy
    with closing(held):
        yield held
