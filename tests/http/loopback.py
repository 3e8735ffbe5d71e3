"""A real server on loopback in a thread of this process, and a client that sends exactly what it is told to."""

import http.client
import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from memoranda import Settings
from memoranda.http.app import Options, create_app
from memoranda.http.logs import Logs
from memoranda.service.store import Store

EVERYWHERE = "mem_loopback_" + "e" * 43
"""The token of whoever started the server: an admin's, of every scope."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> dict[str, Any]:
        """A problem that says all that one has to say."""
        assert self.headers["content-type"] == "application/problem+json", self
        told = self.json()
        assert told["status"] == self.status
        assert told["type"].startswith("urn:memoranda:")
        assert told["hint"].endswith("."), told
        return told

    @property
    def said(self) -> bytes:
        """Everything that a caller can read: the body and the headers."""
        return b"\n".join((self.body, *(f"{name}: {value}".encode("latin-1") for name, value in self.headers.items())))


class Caller:
    """One connection that is kept. Targets are sent as they are, with nothing made tidy."""

    def __init__(self, port: int, token: str | None = EVERYWHERE, *, timeout: float = 60) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._token = token

    def ask(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """`body` as JSON unless it is bytes; `token` instead of the caller's own, None for none."""
        sent = dict(headers or {})
        known = self._token if token == "" else token
        if known is not None:
            sent.setdefault("authorization", f"Bearer {known}")
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if raw is not None:
            sent.setdefault("content-type", "application/json")
        try:
            self._connection.request(method, target, raw, sent)
            response = self._connection.getresponse()
            content = response.read()
        except BaseException:
            self._connection.close()
            raise
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, content)

    def get(self, target: str, **options: Any) -> Answer:
        return self.ask("GET", target, **options)

    def post(self, target: str, body: Any = None, **options: Any) -> Answer:
        return self.ask("POST", target, {} if body is None else body, **options)

    def close(self) -> None:
        self._connection.close()


class Event(NamedTuple):
    name: str
    data: Any


def events_of(body: bytes) -> list[Event]:
    """What a stream said, without what only keeps it awake."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            found.append(Event(fields["event"], json.loads(fields["data"])))
    return found


class Loopback:
    """A server that answers."""

    def __init__(self, store: Store, port: int, log: io.StringIO) -> None:
        self.store = store
        self.port = port
        self.log = log
        self.url = f"http://127.0.0.1:{port}"
        self._callers = [Caller(port)]
        self._caller = self._callers[0]

    def caller(self, token: str | None = EVERYWHERE, **options: Any) -> Caller:
        """A connection of its own, closed with the server."""
        self._callers.append(Caller(self.port, token, **options))
        return self._callers[-1]

    def token(self, scope: str, role: Any = "writer", **options: Any) -> str:
        """A new token."""
        return self.store.tokens.create(role=role, scope=scope, **options).secret

    def ask(self, method: str, target: str, body: Any = None, **options: Any) -> Answer:
        return self._caller.ask(method, target, body, **options)

    def get(self, target: str, **options: Any) -> Answer:
        return self._caller.get(target, **options)

    def post(self, target: str, body: Any = None, **options: Any) -> Answer:
        return self._caller.post(target, body, **options)

    def close(self) -> None:
        for each in self._callers:
            each.close()


@contextmanager
def loopback(
    path: Path, *, roots: tuple[str, ...] = (), clock: Any = None, console: bool = False, mcp: bool = False, **more: Any
) -> Iterator[Loopback]:
    """A server on a store, by words and without a limit of requests unless `more` settings say otherwise."""
    settings = Settings(**{"embedder": "none", "follow": False, "server_rate": 0, **more})
    store = Store.open(path, settings=settings, clock=clock)
    log = io.StringIO()
    options = Options(run_secret=EVERYWHERE, roots=roots, console=console, mcp=mcp)
    served = create_app(store, options, logs=Logs(form="json", clock=store.clock, stream=log))
    config = uvicorn.Config(
        served.app,
        port=0,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_keep_alive=600,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.005)
    made = Loopback(store, server.servers[0].sockets[0].getsockname()[1], log)
    try:
        yield made
    finally:
        made.close()
        server.should_exit = True
        thread.join(20)
        served.workers.drain(20)
        served.workers.close()
        store.close()
