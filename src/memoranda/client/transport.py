"""Asking a server: one request, its answer, and what is tried again when it breaks off, is busy, or is not there.

No redirects, no proxies, no cookies. The token goes into a header and nowhere else: not into an error, a log or a
repr.
"""

import http.client
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.client.address import Address, addresses_of
from memoranda.client.connections import MOST, Broken, Connections, Line, NotThere
from memoranda.client.events import Event, TooLarge, events
from memoranda.client.trying import Tries
from memoranda.domain.errors import ConfigError, ProviderRejected, ProviderUnavailable
from memoranda.remote import checked_key

JSON = "application/json"
EVENTS = "text/event-stream"
MOST_ANSWERED = 256 * 1024 * 1024
_CHUNK = 64 * 1024
# Told to wait, or the same request is still being worked on.
_BUSY = frozenset({409, 429})
# It is stopping, it cannot reach what it needs, or somebody in between cannot reach it.
_AWAY = frozenset({502, 503, 504})
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


class _Server(NamedTuple):
    address: Address
    connections: Connections


class Transport:
    """Speaks to the servers of one memory for one token: to one of them, as long as it is there. May be used from many
    threads."""

    def __init__(
        self,
        url: str | Sequence[str],
        token: str | None,
        *,
        timeout: float,
        patience: float = 10.0,
        ca_file: str | Path | None = None,
    ) -> None:
        self._timeout = _seconds("timeout", timeout)
        if self._timeout <= 0:
            raise ConfigError("timeout is more than no seconds", hint="30 is a good one.")
        self._patience = _seconds("patience", patience)
        self._token = checked_key(token)
        addresses = addresses_of(url)
        self._servers = tuple(_Server(each, Connections(each, ca_file=ca_file)) for each in addresses)
        self._current = 0
        self._answered = False

    def __repr__(self) -> str:
        return f"Transport({', '.join(repr(str(each.address)) for each in self._servers)})"

    @property
    def address(self) -> Address:
        """Of the server that is asked now."""
        return self._servers[self._current].address

    def close(self) -> None:
        """Close what is open. May be called twice."""
        for each in self._servers:
            each.connections.close()

    def ask(self, asked: Asked, heard: Heard | None = None) -> Answer:
        """The answer. With `heard`, the timeout is for each silence; without, for all of it.

        What is asked may be asked again, since what changes something has a key; but for what goes out `once`. When
        `heard` raises, the connection is closed, whereupon the server stops the work.
        """
        tries = Tries(len(self._servers))
        until = time.monotonic() + self._timeout
        while True:
            position = self._current
            trouble: ProviderUnavailable | None = None
            try:
                answer = self._once(self._servers[position], asked, until, heard)
            except NotThere as error:
                trouble = self._outage(position, f"no connection ({error})", error.hint or _LATER)
                pause = self._pause_away(position, tries)
            except Broken as error:
                trouble = self._outage(position, f"the connection broke ({error})", self._broken_hint(position, asked))
                pause = None if asked.once else self._pause_away(position, tries)
            except _Raised as raised:
                raise raised.error from None
            else:
                self._answered = True
                pause = self._pause_after(answer, asked, position, tries)
            if heard is not None:
                until = time.monotonic() + self._timeout
            if pause is not None and time.monotonic() + pause < until:
                time.sleep(pause)
            elif trouble is None:
                return answer
            else:
                raise trouble

    def _pause_after(self, answer: Answer, asked: Asked, position: int, tries: Tries) -> float | None:
        """Seconds until the same is asked again; None when this is the answer."""
        after = answer.retry_after
        if answer.status in _AWAY and not asked.once:
            return self._pause_away(position, tries, after=after or 0.0)
        if answer.status in _BUSY and after is not None:
            return tries.busy(self._patience, after=after)
        return None

    def _pause_away(self, position: int, tries: Tries, *, after: float = 0.0) -> float | None:
        """Seconds until the next server is asked. One that never answered may have a wrong address: nobody waits."""
        pause = tries.away(self._patience if self._answered else 0.0, after=after)
        if self._current == position:  # else another thread has noticed
            self._current = (position + 1) % len(self._servers)
        return pause

    def _broken_hint(self, position: int, asked: Asked) -> str:
        if asked.changes:
            return _UNSURE
        return _TLS if self._servers[position].address.scheme == "http" else _LATER

    def _once(self, server: _Server, asked: Asked, until: float, heard: Heard | None) -> Answer:
        try:
            with server.connections.line(until) as line:
                response = self._sent(line, server.address, asked, until, streamed=heard is not None)
                if heard is not None and _kind(response) == EVENTS:
                    return self._listened(line, response, heard)
                return self._read(line, response, until)
        except TimeoutError as error:
            hint = _UNSURE if asked.changes else f"Give it more time; at most {MOST} calls go on at once."
            what = f"{server.address}: no answer within {self._timeout:g} seconds"
            raise ProviderUnavailable(what, hint=hint) from error

    def _sent(
        self, line: Line, address: Address, asked: Asked, until: float, *, streamed: bool
    ) -> http.client.HTTPResponse:
        line.wait_at_most(until)
        trouble: OSError | None = None
        try:
            headers = self._headers(asked, streamed=streamed)
            line.send(asked.method, address.prefix + asked.target, asked.body, headers)
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
                if event.name == "result":
                    return Answer(200, JSON, event.data.encode())
                if event.name == "problem":
                    return _problem(event)
                _tell(heard, event)
        except TooLarge as error:
            raise self._too_large() from error
        raise Broken("while it told of its progress")

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

    def _outage(self, position: int, what: str, hint: str) -> ProviderUnavailable:
        others = len(self._servers) - 1
        more = f"; so it is with {others} more" if others else ""
        return ProviderUnavailable(f"{self._servers[position].address}: {what}{more}", hint=hint)


def _seconds(name: str, given: float) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 86_400:
        raise ConfigError(f"{name} is a number of seconds, at most a day", hint="30 is a good one.")
    return float(given)


def _tell(heard: Heard, event: Event) -> None:
    try:
        heard(event)
    except BaseException as error:
        raise _Raised(error) from error


def _problem(event: Event) -> Answer:
    """What an answer of its own would have said."""
    answer = Answer(0, JSON, event.data.encode())
    told = answer.read()
    status, after = (told.get("status"), told.get("retry_after")) if isinstance(told, dict) else (None, None)
    return answer._replace(
        status=status if type(status) is int else 0, retry_after=after if type(after) in (int, float) else None
    )


def _kind(response: http.client.HTTPResponse) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _retry_after(response: http.client.HTTPResponse) -> float | None:
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
