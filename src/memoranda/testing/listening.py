"""`LocalServer`: what the servers for tests have in common: they listen, keep what was asked, and fail on demand."""

import json
import threading
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""
_Fault = TypeVar("_Fault", bound=str)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in. Names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: Any


class LocalServer(ABC, Generic[_Fault]):
    """Listens on 127.0.0.1 from `with` (or `start`) to its end (or `close`)."""

    def __init__(self, *, key: str | None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self._key = key
        self._faults: deque[tuple[_Fault, dict[str, str]]] = deque()
        self._closing = threading.Event()
        self._server = _Listener(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/openai/v1"

    def fail(self, fault: _Fault, *, times: int = 1, headers: dict[str, str] | None = None) -> None:
        """Spoil the next answers, with these headers on top: `fail("rate_limited", headers={"Retry-After": "2"})`."""
        self._faults.extend([(fault, headers or {})] * times)

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening, and let go of requests that hang."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self, request: Request) -> tuple[_Fault | None, dict[str, str]]:
        """Keep the request; the fault that is its turn, and the headers that go with it."""
        self.requests.append(request)
        return self._faults.popleft() if self._faults else (None, {})

    @abstractmethod
    def reply(self, request: Request) -> Answer | None:
        """What is answered; None is no answer at all."""

    def look(self, request: Request) -> Answer:
        """What is answered to a GET."""
        return 404, {}, b"{}"


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    owner: LocalServer[Any]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.owner.reply(Request(self.path, headers, json.loads(content or b"null")))
        if reply is None:
            self.close_connection = True
            return
        self._send(reply)

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.owner.look(Request(self.path, headers, None)))

    def do_HEAD(self) -> None:
        self._send((200, {}, b""))

    def _send(self, answer: Answer) -> None:
        status, extra, body = answer
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **extra}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # Who has read enough hangs up.
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server gives it
        """Tests are quiet."""
