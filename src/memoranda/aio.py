"""The async face, derived from the sync one: each verb runs in a worker thread. There is no second implementation."""

import functools
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from memoranda.config import Settings
from memoranda.domain.access import NewToken, Role, Token
from memoranda.domain.clock import Clock
from memoranda.domain.errors import LedgerError
from memoranda.service import opening as sync
from memoranda.service.admin import Admin
from memoranda.service.consolidation import Consolidation
from memoranda.service.conversations import Conversations
from memoranda.service.documents import Documents
from memoranda.service.facts import Facts
from memoranda.service.governance import Governance
from memoranda.service.memory import LongTermMemory
from memoranda.service.preferences import Preferences
from memoranda.service.profile import Profiles
from memoranda.service.retention import Retention
from memoranda.service.review import Review

if TYPE_CHECKING:
    from memoranda.client.memory import RemoteMemory
    from memoranda.client.nouns import RemoteTokens  # noqa: F401 AsyncTokens is a face of it
    from memoranda.service.tokens import Revoked

P = ParamSpec("P")
R = TypeVar("R")
N = TypeVar("N")
A = TypeVar("A", bound="AsyncMemory")
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


class _Face(Generic[N]):
    """One object of the sync side, and the threads that its verbs run in."""

    def __init__(self, behind: Callable[[], N], threads: _Threads) -> None:
        self._behind = behind
        self._threads = threads

    def _verb(self, name: str) -> Callable[..., Any]:
        """As the object has it: a served memory has verbs of its own."""
        found: Callable[..., Any] = getattr(self._behind(), name)
        return found


def _awaited(
    method: Callable[Concatenate[N, P], R],
) -> Callable[Concatenate[_Face[N], P], Coroutine[Any, Any, R]]:
    """The same verb, awaited. It is looked up in the thread: some nouns are made when first used."""

    @functools.wraps(method)
    async def call(self: _Face[N], /, *args: P.args, **kwargs: P.kwargs) -> R:
        given: R = await self._threads.run(lambda: self._verb(method.__name__)(*args, **kwargs))
        return given

    return call


class AsyncAdmin(_Face[Admin]):
    """`memory.admin`, awaited."""

    index_status = _awaited(Admin.index_status)
    rebuild = _awaited(Admin.rebuild)
    optimize = _awaited(Admin.optimize)
    maintain = _awaited(Admin.maintain)
    upkeep = _awaited(Admin.upkeep)
    backup = _awaited(Admin.backup)
    backups = _awaited(Admin.backups)
    verify_backup = _awaited(Admin.verify_backup)
    compare_backup = _awaited(Admin.compare_backup)
    verify = _awaited(Admin.verify)
    doctor = _awaited(Admin.doctor)


class AsyncProfile(_Face[Profiles]):
    """`memory.profile`, awaited."""

    get = _awaited(Profiles.get)
    update = _awaited(Profiles.update)
    set = _awaited(Profiles.set)
    add = _awaited(Profiles.add)
    remove = _awaited(Profiles.remove)
    lines = _awaited(Profiles.lines)
    context = _awaited(Profiles.context)
    export = _awaited(Profiles.export)


class AsyncFacts(_Face[Facts]):
    """`memory.facts`, awaited."""

    add = _awaited(Facts.add)
    about = _awaited(Facts.about)
    lookup = _awaited(Facts.lookup)
    ask = _awaited(Facts.ask)
    forget = _awaited(Facts.forget)
    list = _awaited(Facts.list)


class AsyncPreferences(_Face[Preferences]):
    """`memory.preferences`, awaited."""

    set = _awaited(Preferences.set)
    get = _awaited(Preferences.get)
    list = _awaited(Preferences.list)
    resolve = _awaited(Preferences.resolve)
    resolve_all = _awaited(Preferences.resolve_all)
    forget = _awaited(Preferences.forget)


class AsyncConversations(_Face[Conversations]):
    """`memory.conversations`, awaited."""

    append = _awaited(Conversations.append)
    window = _awaited(Conversations.window)
    compact = _awaited(Conversations.compact)
    get = _awaited(Conversations.get)
    list = _awaited(Conversations.list)
    messages = _awaited(Conversations.messages)
    between = _awaited(Conversations.between)
    expand = _awaited(Conversations.expand)
    search = _awaited(Conversations.search)
    import_transcript = _awaited(Conversations.import_transcript)
    working = _awaited(Conversations.working)
    set_working = _awaited(Conversations.set_working)
    keep_private = _awaited(Conversations.keep_private)
    is_private = _awaited(Conversations.is_private)
    archive = _awaited(Conversations.archive)
    restore = _awaited(Conversations.restore)
    erase = _awaited(Conversations.erase)


class AsyncDocuments(_Face[Documents]):
    """`memory.documents`, awaited. Watching is a thread of its own: `memory.documents.watch` of the sync face."""

    add = _awaited(Documents.add)
    list = _awaited(Documents.list)
    remove = _awaited(Documents.remove)
    sync = _awaited(Documents.sync)
    rebuild = _awaited(Documents.rebuild)
    search = _awaited(Documents.search)
    cold = _awaited(Documents.cold)
    read = _awaited(Documents.read)
    status = _awaited(Documents.status)


class AsyncReview(_Face[Review]):
    """`memory.review`, awaited."""

    list = _awaited(Review.list)
    get = _awaited(Review.get)
    accept = _awaited(Review.accept)
    reject = _awaited(Review.reject)


class AsyncGovernance(_Face[Governance]):
    """`memory.governance`, awaited."""

    regrade = _awaited(Governance.regrade)
    gradings = _awaited(Governance.gradings)
    drift = _awaited(Governance.drift)
    audit = _awaited(Governance.audit)
    write_back = _awaited(Governance.write_back)


class AsyncConsolidation(_Face[Consolidation]):
    """`memory.consolidation`, awaited."""

    proposals = _awaited(Consolidation.proposals)
    accept = _awaited(Consolidation.accept)
    dismiss = _awaited(Consolidation.dismiss)


class AsyncRetention(_Face[Retention]):
    """`memory.retention`, awaited."""

    report = _awaited(Retention.report)
    apply = _awaited(Retention.apply)
    subject = _awaited(Retention.subject)


class AsyncTokens(_Face["RemoteTokens"]):
    """`memory.tokens` of a served memory, awaited."""

    async def create(
        self, *, name: str = "", role: Role, scope: str, above: bool = False, days: int | None = None
    ) -> NewToken:
        """Make a token for a scope and those below it; for every scope of the store when `scope` is empty."""
        return await self._threads.run(
            lambda: self._behind().create(name=name, role=role, scope=scope, above=above, days=days)
        )

    async def list(self, *, below: str = "") -> tuple[Token, ...]:
        """The tokens bound to a scope or to one below it, oldest first, with those that are no longer good."""
        return await self._threads.run(lambda: self._behind().list(below=below))

    async def revoke(self, reference: str) -> "Revoked":
        """It opens nothing any more, nor do those that were made with it."""
        return await self._threads.run(lambda: self._behind().revoke(reference))


class AsyncMemory(_Face[LongTermMemory]):
    """The same verbs as `LongTermMemory`, awaited."""

    def __init__(self, memory: LongTermMemory, threads: _Threads) -> None:
        super().__init__(lambda: memory, threads)
        self._memory = memory
        self.admin = AsyncAdmin(lambda: memory.admin, threads)
        self.profile = AsyncProfile(lambda: memory.profile, threads)
        self.facts = AsyncFacts(lambda: memory.facts, threads)
        self.preferences = AsyncPreferences(lambda: memory.preferences, threads)
        self.conversations = AsyncConversations(lambda: memory.conversations, threads)
        self.documents = AsyncDocuments(lambda: memory.documents, threads)
        self.review = AsyncReview(lambda: memory.review, threads)
        self.governance = AsyncGovernance(lambda: memory.governance, threads)
        self.consolidation = AsyncConsolidation(lambda: memory.consolidation, threads)
        self.retention = AsyncRetention(lambda: memory.retention, threads)

    @property
    def scope(self) -> str:
        """Where this memory reads and writes."""
        return self._memory.scope

    @property
    def sync(self) -> LongTermMemory:
        """The same memory, not awaited: for what calls it from threads of its own."""
        return self._memory

    @property
    def path(self) -> Path:
        """The ledger file."""
        return self._memory.path

    def within(self, scope: str) -> "AsyncMemory":
        """The same store seen from a scope below this one."""
        return AsyncMemory(self._memory.within(scope), self._threads)

    remember = _awaited(LongTermMemory.remember)
    remember_many = _awaited(LongTermMemory.remember_many)
    capture = _awaited(LongTermMemory.capture)
    recall = _awaited(LongTermMemory.recall)
    pack = _awaited(LongTermMemory.pack)
    why_not = _awaited(LongTermMemory.why_not)
    replay = _awaited(LongTermMemory.replay)
    get = _awaited(LongTermMemory.get)
    list = _awaited(LongTermMemory.list)
    history = _awaited(LongTermMemory.history)
    stats = _awaited(LongTermMemory.stats)
    timeline = _awaited(LongTermMemory.timeline)
    growth = _awaited(LongTermMemory.growth)
    scopes = _awaited(LongTermMemory.scopes)
    archive = _awaited(LongTermMemory.archive)
    forget = _awaited(LongTermMemory.forget)
    restore = _awaited(LongTermMemory.restore)
    forget_many = _awaited(LongTermMemory.forget_many)
    archive_many = _awaited(LongTermMemory.archive_many)
    erase = _awaited(LongTermMemory.erase)
    verify_erasure = _awaited(LongTermMemory.verify_erasure)
    mirror = _awaited(LongTermMemory.mirror)
    grade = _awaited(LongTermMemory.grade)
    trust = _awaited(LongTermMemory.trust)
    tag = _awaited(LongTermMemory.tag)
    tags = _awaited(LongTermMemory.tags)
    untag = _awaited(LongTermMemory.untag)
    operations = _awaited(LongTermMemory.operations)
    undo = _awaited(LongTermMemory.undo)
    rollback = _awaited(LongTermMemory.rollback)
    diff = _awaited(LongTermMemory.diff)
    contents = _awaited(LongTermMemory.contents)
    export = _awaited(LongTermMemory.export)
    import_memories = _awaited(LongTermMemory.import_memories)
    imports = _awaited(LongTermMemory.imports)

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


class AsyncRemoteMemory(AsyncMemory):
    """The memory of a server, awaited; also who is let in."""

    def __init__(self, memory: "RemoteMemory", threads: _Threads) -> None:
        super().__init__(memory, threads)
        self._remote = memory
        self.tokens = AsyncTokens(lambda: memory.tokens, threads)

    def within(self, scope: str) -> "AsyncRemoteMemory":
        """The same server seen from a scope below this one."""
        return AsyncRemoteMemory(self._remote.within(scope), self._threads)


class _Opening(Generic[N, A]):
    """What `open` and `connect` return: awaited, or entered with `async with`."""

    def __init__(self, opener: Callable[[], N], face: Callable[[N, _Threads], A]) -> None:
        self._opener = opener
        self._face = face
        self._memory: A | None = None

    async def _open(self) -> A:
        threads = _Threads()
        return self._face(await threads.run(self._opener), threads)

    def __await__(self) -> Generator[Any, None, A]:
        return self._open().__await__()

    async def __aenter__(self) -> A:
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
    read_only: bool | None = None,
) -> _Opening[LongTermMemory, AsyncMemory]:
    """Like `memoranda.open`, for `async with` or `await`."""
    opener = functools.partial(
        sync.open,
        path,
        scope=scope,
        embedder=embedder,
        actor=actor,
        settings=settings,
        clock=clock,
        read_only=read_only,
    )
    return _Opening(opener, AsyncMemory)


def connect(
    url: str | Sequence[str],
    token: str | None = None,
    *,
    scope: str = "",
    timeout: float = 30.0,
    patience: float = 10.0,
    ca_file: str | Path | None = None,
) -> "_Opening[RemoteMemory, AsyncRemoteMemory]":
    """Like `memoranda.connect`, for `async with` or `await`."""
    from memoranda.client import connecting

    opener = functools.partial(
        connecting.connect, url, token, scope=scope, timeout=timeout, patience=patience, ca_file=ca_file
    )
    return _Opening(opener, AsyncRemoteMemory)
