"""The server's log: one line for each request, as JSON or as text, on standard error.

Never in it: memory text, names, queries, paths with ids in them, headers, messages of exceptions. An exception is told
by its type and by the places in the code.
"""

import asyncio
import json
import logging
import queue
import re
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from typing import IO, Any, Literal

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.domain.access import Principal
from memoranda.domain.clock import Clock, iso
from memoranda.http.activity import Activity, Done
from memoranda.http.guards import with_security
from memoranda.http.metrics import Metrics
from memoranda.http.refusal import Refusal

LogForm = Literal["json", "text"]
NO_DOOR = "none"
"""The door of a request that none was found for."""

_RUN = "run"
"""Stands for the token of this run, which has no id."""
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST_PLACES = 20
_MOST_LINES = 10_000
_LAST_SECONDS = 2.0
_MOST_CAUSES = 5
# What uvicorn says itself is about sockets; its templates hold nothing of a request.
_TOLD_LOGGER = "uvicorn"


class CutShort(Exception):
    """The answer was under way when something went wrong: the connection is closed, so that it is seen to be cut."""


class _Behind:
    """Writes lines in a thread of its own: a log that nobody reads holds up nobody. What finds no room is counted."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(_MOST_LINES)
        self._dropped = 0
        self._thread = threading.Thread(target=self._work, name="memoranda-log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1

    def _work(self) -> None:
        while (text := self._lines.get()) is not None:
            dropped, self._dropped = self._dropped, 0
            told = f"{dropped} lines of the log found no room\n" if dropped else ""
            with suppress(OSError, ValueError):
                self._stream.write(text + told)
                self._stream.flush()

    def close(self) -> None:
        """Write what is left, if somebody reads it."""
        with suppress(queue.Full):
            self._lines.put(None, timeout=_LAST_SECONDS)
        self._thread.join(timeout=_LAST_SECONDS)


class Logs:
    """Where the lines go; `behind`, by a thread of its own."""

    def __init__(
        self,
        *,
        form: LogForm,
        clock: Clock,
        scopes: bool = False,
        stream: IO[str] | None = None,
        behind: bool = False,
    ) -> None:
        self._form = form
        self._clock = clock
        self._scopes = scopes
        self._stream = stream or sys.stderr
        self._behind = _Behind(self._stream) if behind else None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Write what is left."""
        if self._behind is not None:
            self._behind.close()

    def event(self, event: str, **known: Any) -> None:
        """Something that happened to the server. What is known are numbers and words of our own."""
        self._line({"at": iso(self._clock.now()), "event": event, **known})

    def request(self, *, scope: str, **known: Any) -> None:
        """One request that was answered."""
        self.event("request", **known, **({"scope": scope} if self._scopes and scope else {}))

    def trouble(self, event: str, error: BaseException, **known: Any) -> None:
        """Something that should not have happened: where, and of which type."""
        self.event(event, **known, error=told(error))

    def _line(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=True) if self._form == "json" else _as_text(line)
        if self._behind is not None:
            self._behind.write(text + "\n")
            return
        # A log that is closed does not keep the server from its work.
        with suppress(OSError, ValueError), self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()

    def take_over(self) -> None:
        """Other packages' warnings, and what ends a thread, are told in the same way."""
        handler = _Handler(self)
        root = logging.getLogger()
        root.handlers[:] = [handler]
        root.setLevel(logging.WARNING)
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True

        def ended(given: threading.ExceptHookArgs) -> None:
            if given.exc_value is not None:
                self.trouble("a thread ended", given.exc_value)

        threading.excepthook = ended


class _Handler(logging.Handler):
    def __init__(self, logs: Logs) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        known = {"level": record.levelname.lower(), "by": record.name, "place": f"{record.module}:{record.lineno}"}
        if record.name.partition(".")[0] == _TOLD_LOGGER and isinstance(record.msg, str):
            known["message"] = record.msg
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            self._logs.event("message", **known)
        else:
            self._logs.trouble("message", error, **known)


def told(error: BaseException) -> list[dict[str, Any]]:
    """An exception and what led to it: types and places, never what they say."""
    shown: list[dict[str, Any]] = []
    current: BaseException | None = error
    while current is not None and len(shown) < _MOST_CAUSES:
        frames = traceback.extract_tb(current.__traceback__)[-_MOST_PLACES:]
        places = [f"{_short(frame.filename)}:{frame.lineno}" for frame in frames]
        shown.append({"type": type(current).__name__, "at": places})
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return shown


def _short(filename: str) -> str:
    """The last parts of a path: where something is installed is nobody's business."""
    return "/".join(PurePath(filename).parts[-3:])


def _as_text(line: dict[str, Any]) -> str:
    at, event = line["at"][11:19], line["event"]
    if event == "request":
        end = f" {line['scope']}" if "scope" in line else ""
        return f"{at} {line['status']} {line['door']} {line['milliseconds']:.1f} ms {line['token'] or '-'}{end}"
    rest = " ".join(f"{name}={value}" for name, value in line.items() if name not in ("at", "event", "error"))
    places = [f"    {each['type']} {place}" for each in line.get("error", ()) for place in each["at"][-_MOST_CAUSES:]]
    types = ", ".join(each["type"] for each in line.get("error", ()))
    return "\n".join([" ".join(filter(None, (at, event, rest, types))), *places])


def request_id(given: str) -> str:
    """The id that the caller gave, if it is one; else a new one."""
    return given if _SANE_ID.fullmatch(given) else secrets.token_hex(8)


class Observed:
    """The outermost layer: gives each request its id, and tells the log, the metrics and the activity of it.

    What is inside says in the request's `state` what it knows: `door`, `scope`, `principal`, and the `receipt` of what
    was done. What it raises is answered with 500, without a word of what the exception says.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        logs: Logs,
        metrics: Metrics,
        activity: Activity,
        clock: Clock,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._app = app
        self._logs = logs
        self._metrics = metrics
        self._activity = activity
        self._clock = clock
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, request_id(_header(scope, b"x-request-id")))
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = answer.id
        began = self._now()
        try:
            await self._app(scope, receive, answer.send)
        except asyncio.CancelledError:
            await self._cancelled(scope, receive, answer)
        except ClientDisconnect:
            pass  # who asked went away while sending: nobody is there to be answered
        except Exception as error:  # noqa: BLE001 the one broad catch: whatever it is, the server goes on
            await self._failed(error, scope, receive, answer, state)
        finally:
            self._tell(scope, state, answer, self._now() - began)

    async def _failed(
        self, error: Exception, scope: Scope, receive: Receive, answer: "_Answer", state: dict[str, Any]
    ) -> None:
        refusal = error if isinstance(error, Refusal) else None
        if refusal is None:
            self._logs.trouble("failed", error, id=answer.id, door=str(state.get("door", NO_DOOR)))
            hint = f"Please report it, with the request's id {answer.id}."
            refusal = Refusal(500, "our-fault", "something went wrong that should not have", hint=hint)
        if answer.whole:
            return
        if answer.status is not None:
            raise CutShort from None
        await _refused(refusal, scope, receive, answer)

    async def _cancelled(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        """The server ends, and its time to finish what is under way is over: nothing else cancels a request."""
        if answer.status is not None:
            raise CutShort from None
        hint = "Try again when it is back; a write may have happened, so use the same Idempotency-Key."
        refusal = Refusal(
            503, "stopping", "the server is stopping, and this was not done in time", hint=hint, retry_after=5
        )
        await _refused(refusal, scope, receive, answer)

    def _tell(self, scope: Scope, state: dict[str, Any], answer: "_Answer", seconds: float) -> None:
        door, where, receipt = str(state.get("door", NO_DOOR)), str(state.get("scope", "")), state.get("receipt")
        principal = state.get("principal")
        status = answer.status or 499
        self._metrics.request(door=door, method=scope["method"], status=status, seconds=seconds)
        self._metrics.receipt(receipt)
        milliseconds = round(seconds * 1000, 3)
        if door != NO_DOOR:
            self._activity.note(
                Done.of(
                    receipt,
                    at=self._clock.now(),
                    door=door,
                    scope=where,
                    milliseconds=milliseconds,
                    status=status,
                )
            )
        self._logs.request(
            scope=where,
            id=answer.id,
            token=(principal.token_id or _RUN) if isinstance(principal, Principal) else "",
            door=door,
            status=status,
            milliseconds=milliseconds,
            bytes=answer.bytes,
        )


async def _refused(refusal: Refusal, scope: Scope, receive: Receive, answer: "_Answer") -> None:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": with_security(list(message["headers"]), scope["path"])}
        await answer.send(message)

    await refusal(scope, receive, secured)


class _Answer:
    """One answer on its way out: its status, and how large it is."""

    def __init__(self, send: Send, given: str) -> None:
        self._send = send
        self.id = given
        self.status: int | None = None
        """None as long as nothing was sent; it stays so when the caller went away."""
        self.bytes = 0
        self.whole = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", self.id.encode())
            message = {**message, "headers": [*message.get("headers", ()), own]}
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)
        await self._send(message)


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for each, value in scope["headers"] if each.lower() == name), "")
