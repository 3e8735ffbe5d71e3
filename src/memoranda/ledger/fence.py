"""The fence: what the call under way may touch, for engines that can hold a second fence around the first.

The first fence is the scope in every statement. The second is the engine's own: PostgreSQL shows and takes no row
outside of it, also to a statement that forgot its scope. It is not against somebody who writes SQL: whoever can set
it can lift it. SQLite has nothing like it and pays nothing for it.

The verbs of a memory are called inside of a fence; upkeep, followers and everything else of the whole store are not.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from memoranda.domain.scope import Scope

if TYPE_CHECKING:
    from memoranda.ledger.connection import Connection

_C = TypeVar("_C", bound=type)
_CURRENT: ContextVar[Scope | None] = ContextVar("memoranda_fence", default=None)
_BETWEEN = ","
"""No scope has one in it."""


class _Bound(Protocol):
    _scope: Scope


@runtime_checkable
class Fenceable(Protocol):
    """A connection of an engine that can hold a fence."""

    fence: str
    """What its transaction was told; empty for the whole store."""

    @property
    def is_well(self) -> bool:
        """Whether its transaction takes statements: it is open, and none has failed."""

    def tell_fence(self, fence: str) -> None:
        """From now on, until the transaction ends."""


def current() -> str:
    """The scopes that the call under way may see, its own first; empty for the whole store."""
    scope = _CURRENT.get()
    return "" if scope is None else written(scope)


def written(scope: Scope) -> str:
    """A fence as an engine is told of it: what is seen above, nearest first. All below the first is inside, too."""
    return _BETWEEN.join(scope.chain())


@contextmanager
def fenced(scope: Scope) -> Iterator[None]:
    """What is done inside, in this thread, touches nothing but this scope, what it sees above and what is below."""
    token = _CURRENT.set(scope)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def lifted() -> Iterator[None]:
    """For what is of the whole store, though a verb of one scope needs it: following, erasing everywhere."""
    token = _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def tell(connection: "Connection", fence: str) -> None:
    """The transaction under way has this fence from now on."""
    if isinstance(connection, Fenceable):
        connection.tell_fence(fence)


@contextmanager
def told_on(connection: "Connection", fence: str) -> Iterator[None]:
    """The same for what is done inside."""
    if not isinstance(connection, Fenceable) or connection.fence == fence:
        yield
        return
    outer = connection.fence
    connection.tell_fence(fence)
    try:
        yield
    finally:
        if connection.is_well:  # one that has failed is rolled back, with what it was told
            connection.tell_fence(outer)


def lifted_on(connection: "Connection") -> AbstractContextManager[None]:
    """Statements in here, of a transaction that has begun, see the whole store."""
    return told_on(connection, "")


def fences(*, but: tuple[str, ...] = ()) -> Callable[[_C], _C]:
    """A class whose objects are bound to a scope: each of its verbs is called inside of that fence."""

    def around(verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def inside(self: _Bound, *args: Any, **kwargs: Any) -> Any:
            token = _CURRENT.set(self._scope)
            try:
                return verb(self, *args, **kwargs)
            finally:
                _CURRENT.reset(token)

        return inside

    return _wrapping(around, but)


def lifts(*, but: tuple[str, ...] = ()) -> Callable[[_C], _C]:
    """A class whose objects serve the whole store, whoever calls: no fence reaches into its methods."""

    def around(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def outside(self: Any, *args: Any, **kwargs: Any) -> Any:
            token = _CURRENT.set(None)
            try:
                return method(self, *args, **kwargs)
            finally:
                _CURRENT.reset(token)

        return outside

    return _wrapping(around, but)


def _wrapping(around: Callable[[Callable[..., Any]], Callable[..., Any]], but: tuple[str, ...]) -> Callable[[_C], _C]:
    def wrapped(kind: _C) -> _C:
        for name, found in list(vars(kind).items()):
            if isinstance(found, FunctionType) and not name.startswith("_") and name not in but:
                setattr(kind, name, around(found))
        return kind

    return wrapped
