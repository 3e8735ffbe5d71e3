"""Connections to one server: kept open between calls, shared by threads, at most so many at once."""

import contextlib
import http.client
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from memoranda.client.address import Address
from memoranda.domain.errors import ConfigError, LedgerError

MOST = 8
_CONNECT_SECONDS = 10.0


class Broken(Exception):
    """The connection ended before the whole answer was there."""


class NotThere(Exception):
    """No connection came about. Nothing was sent."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint


class Line:
    """One connection. Whoever has it is alone with it."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._socket: socket.socket | None = None
        self.reusable = False
        """Whether the last answer was read to its end, so that the next one begins where that ended."""

    def connect(self) -> None:
        self._connection.connect()
        # Kept by us: http.client lets go of its socket as soon as the headers of a last answer are there.
        self._socket = self._connection.sock

    def wait_at_most(self, until: float) -> None:
        """For what is sent or read next. `until` is a moment of `time.monotonic`."""
        assert self._socket is not None
        self._socket.settimeout(left(until))

    def send(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> None:
        self.reusable = False
        self._connection.request(method, target, body=body, headers=headers)

    def answer(self) -> http.client.HTTPResponse:
        return self._connection.getresponse()

    def is_silent(self) -> bool:
        """Whether nothing came while nobody asked. All that a server then says is goodbye."""
        if self._socket is None or self._socket.fileno() < 0:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return not selector.select(0)

    def close(self) -> None:
        self._connection.close()
        if self._socket is not None:
            self._socket.close()


class Connections:
    """The connections to one server."""

    def __init__(self, address: Address, *, ca_file: str | Path | None = None) -> None:
        self._address = address
        self._context = _tls(ca_file) if address.scheme == "https" else None
        self._idle: list[Line] = []
        self._slots = threading.BoundedSemaphore(MOST)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False

    @contextlib.contextmanager
    def line(self, until: float) -> Iterator[Line]:
        """One connection, open. It is kept for the next call if its answer was read to the end."""
        if not self._slots.acquire(timeout=left(until)):
            raise TimeoutError
        try:
            line = self._taken() or self._made(until)
            try:
                yield line
            finally:
                self._given_back(line)
        finally:
            self._slots.release()

    def close(self) -> None:
        """Close those that nobody uses; the others are closed when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for line in idle:
            line.close()

    def _taken(self) -> Line | None:
        """One that was used before and can be used again."""
        while True:
            with self._lock:
                if self._closed:
                    raise LedgerError("this memory is closed", hint="Connect again with memoranda.connect().")
                if self._process != os.getpid():  # two processes on one connection would read each other's answers
                    self._process, self._idle = os.getpid(), []
                line = self._idle.pop() if self._idle else None
            if line is None or line.is_silent():
                return line
            line.close()

    def _made(self, until: float) -> Line:
        line = Line(self._connection(min(left(until), _CONNECT_SECONDS)))
        try:
            line.connect()
        except ssl.SSLCertVerificationError as error:
            raise ConfigError(
                f"the certificate of {self._address} is not trusted",
                hint="Pass the file of the authority that signed it as ca_file.",
            ) from error
        except ssl.SSLError as error:
            raise ConfigError(
                f"{self._address}: what answers there does not speak TLS, or not the kind that is spoken here",
                hint="If the server was started without a certificate, the address begins with http://.",
            ) from error
        except socket.gaierror as error:
            hint = "Correct the name in the address, or look whether this machine has a network."
            raise NotThere(f"the name {self._address.host} is not known", hint) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotThere(type(error).__name__) from error
        return line

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        address = self._address
        if address.scheme == "unix":
            return _SocketConnection(address.path, timeout=timeout)
        if self._context is None:
            return http.client.HTTPConnection(address.host, address.port, timeout=timeout)
        return http.client.HTTPSConnection(address.host, address.port, timeout=timeout, context=self._context)

    def _given_back(self, line: Line) -> None:
        with self._lock:
            kept = line.reusable and not self._closed and self._process == os.getpid()
            if kept:
                self._idle.append(line)
        if not kept:
            line.close()


class _SocketConnection(http.client.HTTPConnection):
    """Over a socket in the file system."""

    def __init__(self, path: str, *, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise ConfigError("this system has no such sockets", hint="Connect to http://127.0.0.1:8765 instead.")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except BaseException:
            self.sock.close()
            raise


def _tls(ca_file: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"ca_file cannot be read: {error}", hint="Give a file of certificates in PEM.") from error


def left(until: float) -> float:
    """Seconds until then; TimeoutError when there are none."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
