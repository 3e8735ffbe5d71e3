"""The faces of one memory: embedded, awaited, over HTTP, and in PostgreSQL. The same tests run on each of them.

Over HTTP there is a real server in a thread of this process, and an application in it for every store that a test
opens, with that test's clock and settings. In PostgreSQL each store is a schema of one server for all tests; the
path that a test names it by stands for that schema, and the files of this machine lie beside that path.
"""

import asyncio
import contextlib
import functools
import hashlib
import io
import itertools
import os
import socket
import threading
import time
import weakref
from pathlib import Path

import memoranda
import postgres

FACES = ("embedded", "async", "http", "postgres")
_NOUNS = (
    "admin", "profile", "facts", "preferences", "conversations", "documents", "review", "governance",
    "consolidation", "retention",
)  # fmt: skip
_PLAIN = ("scope", "path")

_FACE, _RUN = "TESTS_FACE", "TESTS_RUN"
_now = os.environ.get(_FACE, "embedded")


@contextlib.contextmanager
def on(face):
    """What is opened inside is opened on this face."""
    global _now
    before, _now = _now, face
    try:
        yield
    finally:
        _now = before
        _drop_schemas()


def opened(path, *, scope, settings, clock=None):
    """A store on the face of this test."""
    if _now == "http":
        return _served(path, scope=scope, settings=settings, clock=clock)
    if _now == "async":
        return _awaited(path, scope=scope, settings=settings, clock=clock)
    if _now == "postgres":
        settings = settings._replace(local_folder=local_folder(path))
        return memoranda.open(place(path), scope=scope, settings=settings, clock=clock)
    return memoranda.open(path, scope=scope, settings=settings, clock=clock)


def engine_of(memory):
    """What is behind a memory in this process, for tests that arrange what no verb does."""
    if isinstance(memory, Awaited):
        return memory._behind._memory._engine
    return memory._engine if hasattr(memory, "_engine") else _stores[memory._caller.transport]._engine


# -- in PostgreSQL --

_schemas = set()


def place(path):
    """What names the store of this path on the face of this test: the path, or an address."""
    if _now != "postgres":
        return path
    schema = _schema(path)
    _schemas.add(schema)
    return postgres.shared().address(schema)


def local_folder(path):
    """Where such a store keeps its files on this machine; nothing on other faces."""
    return str(Path(path).with_name(Path(path).name + "-local")) if _now == "postgres" else ""


def local_path(path):
    """What the files of the store on this machine are named after."""
    return memoranda.Settings(store=str(place(path)), local_folder=local_folder(path)).store_path()


def for_children():
    """What the environment of a child says, so that its stores are on the same face."""
    return {_FACE: _now, _RUN: str(postgres.run_folder())}


def tables_of(path):
    """(name, bytes) of each table and index that the server keeps for the store of this path, as it is on its disk."""
    return postgres.shared().relations(_schema(path)) if _now == "postgres" else []


def _schema(path):
    return "t_" + hashlib.blake2b(str(path).encode(), digest_size=10).hexdigest()


if _RUN in os.environ:
    postgres.begin(os.environ[_RUN], owner=os.getpid())


def _drop_schemas():
    """Those of a test that has ended: thousands of them would make the server slow."""
    while _schemas:
        postgres.shared().sql(f"drop schema if exists {_schemas.pop()} cascade")


# -- awaited --


def _awaited(path, **options):
    loop = _Loop()

    async def opening():
        return await memoranda.aio.open(path, **options)

    try:
        return Awaited(loop, loop.run(opening()), owner=True)
    except BaseException:
        loop.close()
        raise


class _Loop:
    """The event loop of one opened store, in a thread of its own: several threads may await in it. After its end it
    still awaits, elsewhere: the store must say that it is closed."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, awaited):
        if self._loop.is_closed():
            return asyncio.run(awaited)
        return asyncio.run_coroutine_threadsafe(awaited, self._loop).result()

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Awaited:
    """The async face, called as if it were the sync one. Each verb is awaited in an event loop."""

    def __init__(self, loop, behind, *, owner=False):
        self._loop = loop
        self._behind = behind
        self._owner = owner

    def __getattr__(self, name):
        found = getattr(self._behind, name)
        if name in _NOUNS:
            return Awaited(self._loop, found)
        if name in _PLAIN:
            return found
        return functools.wraps(found)(lambda *args, **kwargs: self._loop.run(found(*args, **kwargs)))

    def within(self, scope):
        return Awaited(self._loop, self._behind.within(scope))

    def close(self):
        if self._owner:
            self._owner = False
            self._loop.run(self._behind.close())
            self._loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# -- over HTTP --


class Street:
    """One server for the whole run. Each store has a house in it: an application of its own, by the first part of the
    path, as behind a proxy."""

    def __init__(self):
        import uvicorn

        self._houses = {}
        self._numbers = itertools.count(1)
        # With its protocol: only then the loop sends small parts at once.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            self._app, log_config=None, access_log=False, lifespan="off", loop="asyncio", interface="asgi3"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    @property
    def url(self):
        host, port = self._socket.getsockname()
        return f"http://{host}:{port}"

    async def _app(self, scope, receive, send):
        _, number, rest = scope["path"].split("/", 2)
        path = f"/{rest}"
        await self._houses[number]({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    def house(self, app):
        """Its address, and what takes it away."""
        number = str(next(self._numbers))
        self._houses[number] = app
        return f"{self.url}/{number}", lambda: self._houses.pop(number, None)

    def close(self):
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


_street = None


def street():
    global _street
    if _street is None:
        _street = Street()
    return _street


def close():
    """At the end of the run."""
    global _street
    if _street is not None:
        _street.close()
        _street = None


_stores = weakref.WeakKeyDictionary()
_SECRET = "mem_faces_" + "s" * 43


def _served(path, *, scope, settings, clock):
    from memoranda.domain.scope import Scope
    from memoranda.http.app import Options, create_app
    from memoranda.http.logs import Logs
    from memoranda.service.store import Store

    Scope(scope)
    generous = settings._replace(server_rate=0, server_max_body=10_000_000)
    store = Store.open(path, settings=generous, clock=clock)
    try:
        if generous.sweep:  # as `memoranda.open` does; a server leaves it to its upkeep
            store.upkeep().admin.sweep_if_due()
        options = Options(run_secret=_SECRET, roots=(str(Path(path).parent),), console=False, mcp=False)
        served = create_app(store, options, logs=Logs(form="json", clock=store.clock, stream=io.StringIO()))
        url, leave = street().house(served.app)
        memory = memoranda.connect(url, _SECRET, scope=scope, timeout=120)
    except BaseException:
        store.close()
        raise
    shut = memory.close
    _stores[memory._caller.transport] = store

    def close():
        shut()
        leave()
        served.workers.drain(10)
        served.workers.close()
        store.close()

    memory.close = close
    return memory
