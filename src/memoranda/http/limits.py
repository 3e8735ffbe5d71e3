"""Limits: how much one caller may ask for, how large, how long; and the threads that do the work."""

import asyncio
import contextvars
import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.domain.access import Principal
from memoranda.http.guards import IMPORT_PATHS, is_address
from memoranda.http.refusal import Refusal

MOST_IMPORTED = 64 * 1024 * 1024
"""Largest file that a door takes as its body."""
WAITING = 256
"""Requests that may wait for a thread."""

_T = TypeVar("_T")
_LONG_THREADS = 2
_DOOR_THREADS = 2
_LONG_WAITING = 16
_MOST_CALLERS = 10_000
_FAILURES_A_MINUTE = 30
_BURST_SECONDS = 10
_NET = 64


class Buckets:
    """So many a minute for each key, some of them at once. Whoever has not asked for longest is forgotten first."""

    def __init__(
        self, a_minute: float, *, burst: float, most: int = _MOST_CALLERS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = a_minute / 60
        self._burst = max(1.0, burst)
        self._most = most
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, key: str) -> float:
        """Take one. 0 when there was one; else the seconds until there is."""
        with self._lock:
            level = self._level(key)
            wait = 0.0 if level >= 1 else (1 - level) / self._rate
            self._levels[key] = (level if wait else level - 1, self._now())
            self._levels.move_to_end(key)
            if len(self._levels) > self._most:
                self._levels.popitem(last=False)
            return wait

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (self._burst, self._now()))
        return min(self._burst, level + (self._now() - at) * self._rate)


class SignIns:
    """Counts tokens that were no good, by address, and tells whoever sends too many of them to wait.

    Only those: a token is far too long to be guessed, and one that is good is not held up by what others at its
    address do.
    """

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._failures = Buckets(_FAILURES_A_MINUTE, burst=_FAILURES_A_MINUTE, now=now)

    def failed(self, address: str) -> None:
        """A token was no good. Raises a Refusal when too many were."""
        wait = self._failures.take(_net(address))
        if wait:
            raise _too_many(wait, "too many tokens that are no good came from this address")


def _net(address: str) -> str:
    """Who has one address of version 6 has many: the net counts."""
    if not is_address(address):
        return address
    found = ipaddress.ip_address(address)
    return str(ipaddress.ip_network((found, _NET), strict=False)) if found.version == 6 else address


def _too_many(wait: float, detail: str) -> Refusal:
    hint = "Wait as long as Retry-After says, then go on."
    return Refusal(429, "too-many-requests", detail, hint=hint, retry_after=wait)


class RateLimit:
    """So many requests a minute for each principal, whom the authentication has put into the request's state."""

    def __init__(self, app: ASGIApp, *, a_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._buckets = Buckets(a_minute, burst=a_minute * _BURST_SECONDS / 60, now=now) if a_minute else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope.get("state", {}).get("principal") if scope["type"] == "http" else None
        if self._buckets is not None and isinstance(principal, Principal):
            wait = self._buckets.take(principal.token_id or principal.name)
            if wait:
                await _too_many(wait, "this token has asked too often")(scope, receive, send)
                return
        await self._app(scope, receive, send)


class BodyLimit:
    """Bodies of at most so many bytes, within so many seconds. They are counted as they come in: what a header says
    of the length is not believed, only taken at its word when it is too much."""

    def __init__(self, app: ASGIApp, *, most: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = max(self._most, MOST_IMPORTED) if scope["path"] in IMPORT_PATHS else self._most
        counted = _Counted(most, self._seconds, receive, send)
        if _announced(scope) > most:
            await _too_large(most)(scope, receive, send)
            return
        try:
            await self._app(scope, counted.receive, counted.send)
        except Refusal as refusal:
            if refusal is not counted.refusal or counted.started:
                raise
        if counted.refusal is not None and not counted.started:
            await counted.refusal(scope, receive, send)


class _Counted:
    """One body on its way in. Once it is refused, whatever else would be answered is not."""

    def __init__(self, most: int, seconds: float, receive: Receive, send: Send) -> None:
        self._most = most
        self._until = time.monotonic() + seconds
        self._receive = receive
        self._send = send
        self._size = 0
        self._complete = False
        self.refusal: Refusal | None = None
        self.started = False

    async def receive(self) -> Message:
        if self.refusal is not None:
            raise self.refusal
        if self._complete:  # a client that waits for its answer may wait long
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            self.refusal = Refusal(
                408,
                "body-too-slow",
                "the body of the request did not come",
                hint="Send it again.",
                headers={"connection": "close"},
            )
            raise self.refusal from None
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._size > self._most:
                self.refusal = _too_large(self._most)
                raise self.refusal
        return message

    async def send(self, message: Message) -> None:
        if self.refusal is not None and not self.started:
            return
        self.started = True
        await self._send(message)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value[:18])
    return 0


def _too_large(most: int) -> Refusal:
    return Refusal(
        413,
        "body-too-large",
        f"the body has more than {most:,} bytes",
        hint="Send it in parts, or raise the setting server_max_body.",
        headers={"connection": "close"},  # the rest of it is not read
    )


class Workers:
    """The threads that do the work. A bounded number waits for them; more are turned away at once.

    Long work has threads of its own, so that it does not hold up the rest; and so has what is asked of the database
    at the door, so that who is at work inside does not hold up who comes.
    """

    def __init__(self, threads: int, *, seconds: float, waiting: int = WAITING) -> None:
        self._seconds = seconds
        self._lanes = {
            False: _Lane(threads, threads + waiting, "memoranda-work"),
            True: _Lane(_LONG_THREADS, _LONG_THREADS + _LONG_WAITING, "memoranda-long-work"),
        }
        self._door = _Lane(_DOOR_THREADS, threads + waiting, "memoranda-door")
        self.stopping = False
        """Set when the server is told to stop: it finishes what it has, and is no longer ready."""

    @property
    def busy(self) -> int:
        """Requests that are worked on or wait."""
        return sum(lane.taken for lane in self._lanes.values())

    async def look(self, work: Callable[[], _T]) -> _T:
        """What a short look into the store gives, for whoever decides who is let in."""
        future = self._door.submit(contextvars.copy_context(), work)
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(_look_at)
        done, _ = await asyncio.wait({waited}, timeout=self._seconds)
        if done:
            return waited.result()
        future.cancel()
        raise _busy()

    async def run(self, work: Callable[[], _T], *, long: bool = False) -> _T:
        """What the work gives, within the time for one request; long work may take as long as it does.

        The work sees the context variables of who asked. It is not stopped when the time is up or nobody waits for it
        any more: what it does, it does whole.
        """
        future = self._lanes[long].submit(contextvars.copy_context(), work)
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(_look_at)
        if long:
            return await waited
        done, _ = await asyncio.wait({waited}, timeout=self._seconds)
        if done:
            return waited.result()
        if future.cancel():
            raise _busy()
        raise Refusal(
            504,
            "took-too-long",
            f"this was not done within {self._seconds:g} seconds; it goes on, and a write may yet happen",
            hint="Look whether it happened, or send it again with the same Idempotency-Key.",
        )

    def drain(self, seconds: float) -> bool:
        """Wait until nothing is worked on any more; whether that came about in time."""
        until = time.monotonic() + seconds
        while self.busy and time.monotonic() < until:
            time.sleep(0.02)
        return not self.busy

    def close(self) -> None:
        """Begin nothing more."""
        for lane in (*self._lanes.values(), self._door):
            lane.pool.shutdown(wait=False, cancel_futures=True)


class _Lane:
    def __init__(self, threads: int, most: int, name: str) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most = most
        self._lock = threading.Lock()
        self.taken = 0

    def submit(self, context: contextvars.Context, work: Callable[[], _T]) -> "Future[_T]":
        with self._lock:
            if self.taken >= self._most:
                raise _busy()
            self.taken += 1
        try:
            future = self.pool.submit(context.run, work)
        except RuntimeError as error:
            self._let_go(None)
            raise Refusal(
                503, "stopping", "the server is stopping", hint="Try again when it is back.", retry_after=5
            ) from error
        future.add_done_callback(self._let_go)
        return future

    def _let_go(self, _: object) -> None:
        with self._lock:
            self.taken -= 1


def _busy() -> Refusal:
    hint = "Try again in a moment; it was not begun."
    return Refusal(503, "busy", "too many requests wait already", hint=hint, retry_after=1)


def _look_at(future: "asyncio.Future[Any]") -> None:
    """When nobody waits for it any more, what it raised is not told as an error that nobody took."""
    if not future.cancelled():
        future.exception()
