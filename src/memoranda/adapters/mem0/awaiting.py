"""The same, awaited: each verb runs in a thread. There is no second implementation."""

import functools
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from memoranda.adapters.around import awaited
from memoranda.adapters.mem0.client import MemoryClient
from memoranda.adapters.mem0.memory import Memory

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=Memory)


class _Face:
    """What is awaited, over the one that is not."""

    def __init__(self, behind: Memory) -> None:
        self._behind = behind

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._behind.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await awaited(self._behind.close)


def _verb(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[_Face, P], Coroutine[Any, Any, R]]:
    @functools.wraps(method)
    async def call(self: _Face, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given: R = await awaited(getattr(self._behind, method.__name__), *args, **kwargs)
        return given

    return call


class AsyncMemory(_Face):
    """mem0's `AsyncMemory`."""

    def __init__(self, config: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(Memory(config, **kwargs))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """As mem0 makes it."""
        return cls(config_dict)

    add = _verb(Memory.add)
    get = _verb(Memory.get)
    get_all = _verb(Memory.get_all)
    search = _verb(Memory.search)
    update = _verb(Memory.update)
    delete = _verb(Memory.delete)
    delete_all = _verb(Memory.delete_all)
    history = _verb(Memory.history)
    reset = _verb(Memory.reset)


class AsyncMemoryClient(_Face):
    """mem0's `AsyncMemoryClient`."""

    def __init__(self, api_key: str | None = None, host: str | None = None, *, scope: str = "") -> None:
        super().__init__(MemoryClient(api_key, host, scope=scope))

    add = _verb(MemoryClient.add)
    get = _verb(MemoryClient.get)
    get_all = _verb(MemoryClient.get_all)
    search = _verb(MemoryClient.search)
    update = _verb(MemoryClient.update)
    delete = _verb(MemoryClient.delete)
    delete_all = _verb(MemoryClient.delete_all)
    history = _verb(MemoryClient.history)
    reset = _verb(MemoryClient.reset)
    users = _verb(MemoryClient.users)
    delete_users = _verb(MemoryClient.delete_users)
    batch_update = _verb(MemoryClient.batch_update)
    batch_delete = _verb(MemoryClient.batch_delete)
