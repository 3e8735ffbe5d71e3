"""A plugin of pytest: the tests that LangGraph publishes with its stores, run on ours in the place of its own.

Nothing in those files is changed. Which of their tests are left out stands in `LEFT_OUT`, each with its reason.
"""

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import ModuleType

import langgraph.store.memory as in_memory
import pytest

import memoranda
from memoranda.adapters.langgraph import MemorandaStore

OTHERS_CODE = "looks into the code of another store"
OTHERS_VECTORS = "expects the numbers that its own counting of letters gives"
NO_SWEEPER = "sweeps in a thread of its own, which is no part of BaseStore; here nothing waits for a sweep"

LEFT_OUT = {
    "test_vector_store_initialization": OTHERS_CODE,
    "test_nonnull_migrations": OTHERS_CODE,
    "test_escape_glob_literal": OTHERS_CODE,
    "test_namespace_match_pattern": OTHERS_CODE,
    "test_list_namespaces_prefix_uses_indexable_condition": OTHERS_CODE,
    "test_sql_injection_vulnerability": "expects its own error for a name; here no name is ever a part of SQL",
    "test_no_running_loop": "expects that the store cannot be called in the thread of an event loop; ours can",
    "test_scores": OTHERS_VECTORS,
    "test_embed_with_path": OTHERS_VECTORS,
    "test_embed_with_path_operation_config": OTHERS_VECTORS,
    "test_ttl_sweeper": NO_SWEEPER,
    "test_async_ttl_sweeper": NO_SWEEPER,
    "test_ttl_override_default": "expects that reading does not prolong a life; TTLConfig says that by default it does",
}


class SteppedClock:
    """The store's clock: a millisecond later each time it is looked at, and later still when a test sleeps.

    Lives of a second are no measure of a machine that has much else to do.
    """

    def __init__(self) -> None:
        self._now = 1_800_000_000_000
        self._lock = threading.Lock()

    def now(self) -> int:
        with self._lock:
            self._now += 1
            return self._now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._now += round(seconds * 1000)

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)


_CLOCK = SteppedClock()
_OPEN: list[memoranda.LongTermMemory] = []
_FOLDER = tempfile.TemporaryDirectory(prefix="memoranda-suites-")


def _memory(path: str | Path) -> memoranda.LongTermMemory:
    memory = memoranda.open(Path(_FOLDER.name) / path, scope="suite", clock=_CLOCK)
    _OPEN.append(memory)
    return memory


def _fields(index: dict | None) -> dict | None:
    chosen = (index or {}).get("fields") or (index or {}).get("text_fields")
    return {"fields": chosen} if chosen else None


class OurStore(MemorandaStore):
    """Made as `InMemoryStore` is: every one has a store of its own."""

    def __init__(self, *, index: dict | None = None, ttl: dict | None = None, path: str = "") -> None:
        super().__init__(_memory(path or f"{len(_OPEN)}.db"), index=_fields(index), ttl=ttl)


class OurSqliteStore(OurStore):
    """Made as `SqliteStore` is."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn: str, *, index: dict | None = None, ttl: dict | None = None) -> Iterator["OurStore"]:
        name = "" if conn == ":memory:" else f"{Path(conn).name}.db"
        yield cls(index=index, ttl=ttl, path=name)

    def setup(self) -> None:
        """There is nothing to set up."""


class OurAsyncStore(OurSqliteStore):
    """Made as `AsyncSqliteStore` is."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn: str, *, index: dict | None = None, ttl: dict | None = None):
        name = "" if conn == ":memory:" else f"{Path(conn).name}.db"
        yield cls(index=index, ttl=ttl, path=name)

    async def setup(self) -> None:
        """There is nothing to set up."""

    async def sweep_ttl(self) -> int:
        return super().sweep_ttl()


def _stand_in(name: str, **members: object) -> None:
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


in_memory.InMemoryStore = OurStore
_stand_in("langgraph.store.sqlite", SqliteStore=OurSqliteStore, AsyncSqliteStore=OurAsyncStore)
_stand_in("langgraph.store.sqlite.aio", AsyncSqliteStore=OurAsyncStore)
_stand_in(
    "langgraph.store.sqlite.base",
    BaseSqliteStore=OurSqliteStore,
    SqliteIndexConfig=dict,
    NS_MATCH_FUNCTION=None,
    _escape_glob_literal=None,
    _namespace_match_pattern=None,
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "flaky(retries): of another plugin; here nothing is tried twice")


def _stepped(module: ModuleType) -> None:
    """What sleeps in a module moves the store's clock, and does not wait."""
    for name, sleep in (("time", _CLOCK.sleep), ("asyncio", _CLOCK.asleep)):
        whole = getattr(module, name)
        if not hasattr(whole, "stepped"):
            stand_in = ModuleType(name)
            stand_in.__dict__.update({**whole.__dict__, "sleep": sleep, "stepped": True})
            setattr(module, name, stand_in)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for module in {item.module for item in items if item.path.name == "test_ttl.py"}:
        _stepped(module)
    for item in items:
        reason = LEFT_OUT.get(item.name) or LEFT_OUT.get(getattr(item, "originalname", item.name))
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    for memory in _OPEN:
        with suppress(memoranda.MemorandaError):
            memory.close()


def pytest_unconfigure() -> None:
    _FOLDER.cleanup()
