"""Serving: the socket, the signals, and the end. What was acknowledged is on the disk before this ever ends."""

import errno
import math
import os
import signal
import socket
import ssl
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import HANDLED_SIGNALS

from memoranda.domain.errors import Conflict, InvalidInput, MemorandaError, NotFound, Refused
from memoranda.http.guards import is_loopback
from memoranda.http.limits import Workers
from memoranda.http.logs import Logs
from memoranda.http.protocol import Protocol

_BACKLOG = 1_024
_KEEP_ALIVE_SECONDS = 30
_LAST_SECONDS = 1.0
_OWNER_ONLY = 0o177


class Listening(NamedTuple):
    """Where a server listens, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = 8_765
    uds: str = ""
    """A socket in the file system, instead of a host and a port."""
    tls_cert: str = ""
    tls_key: str = ""
    forwarded_by: str = ""
    """The address of a proxy whose word on who asks, and by which scheme, is taken."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return bool(self.uds) or is_loopback(self.host)

    @property
    def is_encrypted(self) -> bool:
        return bool(self.tls_cert)

    def url(self, port: int) -> str:
        """How the machine itself reaches it."""
        if self.uds:
            return f"unix:{self.uds}"
        scheme = "https" if self.is_encrypted else "http"
        usual = {"https": 443, "http": 80}[scheme]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 told apart, not bound
        named = f"[{host}]" if ":" in host else host
        return f"{scheme}://{named}" if port == usual else f"{scheme}://{named}:{port}"

    def check(self, *, asks_for_tokens: bool, has_tokens: Callable[[], bool]) -> str:
        """Refuse to be reached by others when nobody would be kept out. A warning for what is allowed, or nothing."""
        if self.tls_key and not self.tls_cert:
            raise InvalidInput("there is a key for TLS and no certificate", hint="Give --tls-cert as well.")
        if self.is_encrypted:
            self._check_certificate()
        if self.is_local:
            return ""
        if not asks_for_tokens:
            raise Refused(
                f"{self.host} is reached from other machines, and nobody would need a token",
                hint="Leave --no-auth out, or listen on 127.0.0.1.",
            )
        if not has_tokens():
            raise Refused(
                f"{self.host} is reached from other machines, and there is no token yet",
                hint="Make one first: memoranda token create --scope bot-1 --role writer; or listen on 127.0.0.1.",
            )
        if self.is_encrypted or self.forwarded_by:
            return ""
        return "without TLS, tokens and memories can be read on the way: give --tls-cert, or put a proxy before it"

    def _check_certificate(self) -> None:
        for path in filter(None, (self.tls_cert, self.tls_key)):
            if not Path(path).is_file():
                raise NotFound(f"{path} is not there", hint="Check --tls-cert and --tls-key.")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key or None, password=_none)
        except (ssl.SSLError, OSError) as error:
            raise InvalidInput(
                "the certificate and its key cannot be used",
                hint="Give PEM files that belong together; the key must have no password.",
            ) from error

    def bound(self) -> socket.socket:
        """A socket that is ours from now on."""
        return _bound_file(self.uds) if self.uds else _bound_port(self.host, self.port)


def _none() -> str:
    """Nobody is asked for the password of a key."""
    raise ssl.SSLError("the key has a password")


def _bound_port(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"{host!r} is no address", hint="Give one such as 127.0.0.1.") from error
    # Where a name has both, the older kind is what most callers try.
    family, kind, protocol, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise _not_bound(error, host, port) from error
    return made


def _not_bound(error: OSError, host: str, port: int) -> MemorandaError:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"port {port} of {host} is in use",
            hint="Another server may be running. Choose another with --port, or --port 0 for any that is free.",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Refused(f"port {port} may not be used by you", hint="Choose one above 1023, such as --port 8765.")
    return InvalidInput(f"{host} is not an address of this machine", hint="Use 127.0.0.1, or one that it has.")


def _bound_file(path: str) -> socket.socket:
    _clear_stale(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # It must never be there with more rights than it should have, not even for a moment.
    before = os.umask(_OWNER_ONLY)
    try:
        made.bind(path)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        hint = "Give a short path in a folder that is yours."
        raise InvalidInput(f"a socket cannot be made at {path}", hint=hint) from error
    finally:
        os.umask(before)
    return made


def _clear_stale(path: str) -> None:
    """Remove a socket that nobody listens on any more; anything else stays."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Conflict(f"{path} is there and is no socket", hint="Give another path.")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except OSError:
            os.unlink(path)
            return
    raise Conflict(f"another server listens on {path}", hint="Stop it first, or give another path.")


class _Server(uvicorn.Server):
    """Tells when it is ready. The first signal ends it well, the second at once."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            # What was acknowledged is on the disk; there is nothing to save.
            os._exit(128 + sig)
        self.should_exit = True
        self._stopping()


class Serving:
    """One server from its socket to its end."""

    def __init__(
        self, app: ASGIApp, workers: Workers, listening: Listening, bound: socket.socket, *, logs: Logs, drain: float
    ) -> None:
        self._workers = workers
        self._listening = listening
        self._bound = bound
        self._logs = logs
        self._drain = drain
        self._stopped_at = 0.0
        self.port: int = 0 if listening.uds else bound.getsockname()[1]
        """The real one, also when any was asked for; 0 for a socket in the file system."""
        self._ready: Callable[[], None] = lambda: None
        config = uvicorn.Config(
            app,
            http=Protocol,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            proxy_headers=bool(listening.forwarded_by),
            forwarded_allow_ips=listening.forwarded_by or "",
            ssl_certfile=listening.tls_cert or None,
            ssl_keyfile=listening.tls_key or None,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=math.ceil(drain),
        )
        self._server = _Server(config, ready=self._is_ready, stopping=self._is_stopping)

    @property
    def url(self) -> str:
        return self._listening.url(self.port)

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until a signal comes, then finish what is under way. `ready` is called when requests are taken."""
        self._ready = ready
        try:
            self._server.run(sockets=[self._bound])
        except SystemExit as error:
            raise MemorandaError("the server could not start", hint="The log says why.") from error
        finally:
            self._end()

    def stop(self) -> None:
        """As a signal does, for whoever runs it in a thread."""
        if not self._server.should_exit:
            self._server.should_exit = True
            self._is_stopping()

    def _is_ready(self) -> None:
        self._logs.event("ready", pid=os.getpid(), port=self.port, tls=self._listening.is_encrypted)
        self._ready()

    def _is_stopping(self) -> None:
        # Called from a signal's handler: no lock may be taken here, so that nothing is logged yet.
        self._workers.stopping = True
        self._stopped_at = time.monotonic()

    def _end(self) -> None:
        self._workers.stopping = True
        left = self._drain - (time.monotonic() - self._stopped_at) if self._stopped_at else 0.0
        whole = self._workers.drain(max(left, _LAST_SECONDS))
        self._logs.event("stopped", left=0 if whole else self._workers.busy)
        self._workers.close()
        self._bound.close()
        if self._listening.uds:
            with suppress(OSError):
                os.unlink(self._listening.uds)
