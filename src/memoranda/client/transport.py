"""Asking a server: one request, its answer, and what is tried again when the connection breaks or it is busy.

No redirects, no proxies, no cookies. The token goes into a header and nowhere else: not into an error, a log or a
repr.
"""

import http.client
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.client.address import Address
from memoranda.client.connections import MOST, Broken, Connections, Line, NotThere
from memoranda.client.events import Event, TooLarge, events
from memoranda.domain.errors import ConfigError, ProviderRejected, ProviderUnavailable
from memoranda.remote import checked_key

JSON = "application/json"
EVENTS = "text/event-stream"
MOST_ANSWERED = 256 * 1024 * 1024
_CHUNK = 64 * 1024
_TIMES_BROKEN = 2
_PAUSE = 0.1
_TIMES_BUSY = 5
_LONGEST_WAIT = 5.0
# Told to wait, or the same request is still being worked on.
_BUSY = frozenset({409, 429, 503})
_LATER = "Is it running? Start it with `memoranda serve`, or correct the address."
_TLS = "Is it running? If it speaks TLS, the address begins with https://."
_UNSURE = "It may have been done: look before you do it again."

Heard = Callable[[Event], None]
"""Hears of each event while the work goes on."""


class Asked(NamedTuple):
    """One request. With a `key` the server does it once, however often it comes."""

    method: str
    target: str
    body: bytes | None = None
    kind: str = JSON
    key: str = ""
    once: bool = False
    """It changes something and the server takes no key for it: it is never sent a second time."""

    @property
    def changes(self) -> bool:
        return bool(self.key) or self.once


class Answer(NamedTuple):
    """What the server said, complete. `kind` is the type of the body."""

    status: int
    kind: str
    body: bytes
    retry_after: float | None = None

    def read(self) -> Any:
        """The body as JSON; None when it is not."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class _Raised(Exception):
    """What the listener raised: it is the caller's own, whatever class it has."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Transport:
    """Speaks to one server for one token. May be used from many threads."""

    def __init__(self, url: str, token: str | None, *, timeout: float, ca_file: str | Path | None = None) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 86_400:
            raise ConfigError("timeout is a number of seconds, at most a day", hint="30 is a good one.")
        self.address = Address.of(url)
        self._token = checked_key(token)
        self._timeout = float(timeout)
        self._connections = Connections(self.address, ca_file=ca_file)

    def __repr__(self) -> str:
        return f"Transport({str(self.address)!r})"

    def close(self) -> None:
        """Close what is open. May be called twice."""
        self._connections.close()

    def ask(self, asked: Asked, heard: Heard | None = None) -> Answer:
        """The answer. With `heard`, the timeout is for each silence; without, for all of it.

        What is asked may be asked again, since what changes something has a key; but for what goes out `once`. When
        `heard` raises, the connection is closed, whereupon the server stops the work.
        """
        until = time.monotonic() + self._timeout
        broken = busy = 0
        while True:
            try:
                answer = self._once(asked, until, heard)
            except Broken as error:
                broken += 1
                last = asked.once or broken > _TIMES_BROKEN
                if last or not self._pause(_PAUSE * 4 ** (broken - 1), until):
                    hint = _UNSURE if asked.changes else _TLS if self.address.scheme == "http" else _LATER
                    raise self._outage(f"the connection broke ({error})", hint) from error
                continue
            except _Raised as raised:
                raise raised.error from None
            wait = answer.retry_after if answer.status in _BUSY else None
            busy += 1
            if wait is None or wait > _LONGEST_WAIT or busy > _TIMES_BUSY or not self._pause(wait, until):
                return answer

    def _pause(self, seconds: float, until: float) -> bool:
        """Wait, if there is time for it."""
        if time.monotonic() + seconds >= until:
            return False
        time.sleep(seconds)
        return True

    def _once(self, asked: Asked, until: float, heard: Heard | None) -> Answer:
        try:
            with self._connections.line(until) as line:
                response = self._sent(line, asked, until, streamed=heard is not None)
                if heard is not None and _kind(response) == EVENTS:
                    return self._listened(line, response, heard)
                return self._read(line, response, until)
        except NotThere as error:
            raise self._outage(f"no connection ({error})", error.hint or _LATER) from error
        except TimeoutError as error:
            hint = _UNSURE if asked.changes else f"Give it more time; at most {MOST} calls go on at once."
            raise self._outage(f"no answer within {self._timeout:g} seconds", hint) from error

    def _sent(self, line: Line, asked: Asked, until: float, *, streamed: bool) -> http.client.HTTPResponse:
        line.wait_at_most(until)
        trouble: OSError | None = None
        try:
            line.send(
                asked.method, self.address.prefix + asked.target, asked.body, self._headers(asked, streamed=streamed)
            )
        except TimeoutError:
            raise
        except OSError as error:
            trouble = error  # a server that does not want all of a large body has said so
        try:
            return line.answer()
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Broken(type(trouble or error).__name__) from error

    def _headers(self, asked: Asked, *, streamed: bool) -> dict[str, str]:
        headers = {"Accept": f"{EVENTS}, {JSON}" if streamed else JSON, "User-Agent": "memoranda"}
        if asked.body is not None:
            headers["Content-Type"] = asked.kind
        if asked.key:
            headers["Idempotency-Key"] = asked.key
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _read(self, line: Line, response: http.client.HTTPResponse, until: float) -> Answer:
        body = bytearray()
        try:
            while True:
                line.wait_at_most(until)
                chunk = response.read1(_CHUNK)
                if not chunk:
                    break
                body += chunk
                if len(body) > MOST_ANSWERED:
                    raise self._too_large()
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Broken(type(error).__name__) from error
        response.close()  # of this answer only: the connection is ready for the next one
        line.reusable = not response.will_close
        return Answer(response.status, _kind(response), bytes(body), _retry_after(response))

    def _listened(self, line: Line, response: http.client.HTTPResponse, heard: Heard) -> Answer:
        """Hear of events until one of them is the answer."""
        try:
            for event in events(self._lines(line, response), most=MOST_ANSWERED):
                if event.name in ("result", "problem"):
                    status = 200 if event.name == "result" else 0
                    return Answer(status, JSON, event.data.encode())
                _tell(heard, event)
        except TooLarge as error:
            raise self._too_large() from error
        raise self._outage("the connection broke while it told of its progress", _UNSURE)

    def _lines(self, line: Line, response: http.client.HTTPResponse) -> Iterator[bytes]:
        while True:
            line.wait_at_most(time.monotonic() + self._timeout)
            try:
                found = response.readline(MOST_ANSWERED)
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException):
                return
            if not found:
                return
            yield found

    def _too_large(self) -> ProviderRejected:
        what = f"{self.address}: the answer has more than {MOST_ANSWERED:,} bytes"
        return ProviderRejected(what, hint="Ask for fewer at once.")

    def _outage(self, what: str, hint: str) -> ProviderUnavailable:
        return ProviderUnavailable(f"{self.address}: {what}", hint=hint)


def _tell(heard: Heard, event: Event) -> None:
    try:
        heard(event)
    except BaseException as error:
        raise _Raised(error) from error


def _kind(response: http.client.HTTPResponse) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _retry_after(response: http.client.HTTPResponse) -> float | None:
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
