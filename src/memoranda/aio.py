"""The async face, derived from the sync one: each verb runs in a worker thread. There is no second implementation."""

import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.errors import LedgerError
from memoranda.service import memory as sync
from memoranda.service.admin import Admin
from memoranda.service.memory import LongTermMemory

P = ParamSpec("P")
R = TypeVar("R")
_THREADS = 8


class _Threads:
    """Threads of our own: slow work here does not starve what else the program runs in threads."""

    def __init__(self) -> None:
        self._shut = False
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="memoranda-aio")

    async def run(self, call: Callable[[], R]) -> R:
        import asyncio

        if self._shut:
            raise LedgerError("this store is closed", hint="Open it again with memoranda.aio.open().")
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def shut(self) -> None:
        self._shut = True
        self._pool.shutdown(wait=False)


def _in_thread(
    method: Callable[Concatenate[LongTermMemory, P], R],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, R]]:
    @functools.wraps(method)
    async def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._threads.run(functools.partial(method, self._memory, *args, **kwargs))

    return call


def _admin_in_thread(
    method: Callable[Concatenate[Admin, P], R],
) -> Callable[Concatenate["AsyncAdmin", P], Coroutine[Any, Any, R]]:
    @functools.wraps(method)
    async def call(self: "AsyncAdmin", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._threads.run(functools.partial(method, self._admin, *args, **kwargs))

    return call


class AsyncAdmin:
    """`memory.admin`, awaited."""

    def __init__(self, admin: Admin, threads: _Threads) -> None:
        self._admin = admin
        self._threads = threads

    index_status = _admin_in_thread(Admin.index_status)
    rebuild = _admin_in_thread(Admin.rebuild)
    optimize = _admin_in_thread(Admin.optimize)
    maintain = _admin_in_thread(Admin.maintain)
    verify = _admin_in_thread(Admin.verify)
    doctor = _admin_in_thread(Admin.doctor)


class AsyncMemory:
    """The same verbs as `LongTermMemory`, awaited."""

    def __init__(self, memory: LongTermMemory, threads: _Threads) -> None:
        self._memory = memory
        self._threads = threads
        self.admin = AsyncAdmin(memory.admin, threads)

    @property
    def scope(self) -> str:
        """Where this memory reads and writes."""
        return self._memory.scope

    @property
    def path(self) -> Path:
        """The ledger file."""
        return self._memory.path

    def within(self, scope: str) -> "AsyncMemory":
        """The same store seen from a scope below this one."""
        return AsyncMemory(self._memory.within(scope), self._threads)

    remember = _in_thread(LongTermMemory.remember)
    remember_many = _in_thread(LongTermMemory.remember_many)
    recall = _in_thread(LongTermMemory.recall)
    pack = _in_thread(LongTermMemory.pack)
    why_not = _in_thread(LongTermMemory.why_not)
    replay = _in_thread(LongTermMemory.replay)
    get = _in_thread(LongTermMemory.get)
    list = _in_thread(LongTermMemory.list)
    history = _in_thread(LongTermMemory.history)
    stats = _in_thread(LongTermMemory.stats)
    archive = _in_thread(LongTermMemory.archive)
    forget = _in_thread(LongTermMemory.forget)
    restore = _in_thread(LongTermMemory.restore)
    erase = _in_thread(LongTermMemory.erase)

    async def close(self) -> None:
        """Close the store. May be called twice."""
        if self._memory._owner:
            await _Threads().run(self._memory.close)
            self._threads.shut()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Opening:
    """What `open` returns: awaited, or entered with `async with`."""

    def __init__(self, opener: Callable[[], LongTermMemory]) -> None:
        self._opener = opener
        self._memory: AsyncMemory | None = None

    async def _open(self) -> AsyncMemory:
        threads = _Threads()
        return AsyncMemory(await threads.run(self._opener), threads)

    def __await__(self) -> Any:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


def open(  # noqa: A001 memoranda.aio.open() is how it reads
    path: str | Path | None = None,
    *,
    scope: str,
    embedder: str | None = None,
    actor: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
) -> _Opening:
    """Like `memoranda.open`, for `async with` or `await`."""
    return _Opening(
        functools.partial(sync.open, path, scope=scope, embedder=embedder, actor=actor, settings=settings, clock=clock)
    )
