"""What is read of a connection that is no body which somebody waits for: the beginning of a request, what follows a
body, what still comes after the answer. So much, for so long, of so many. The rest is a matter of the limits."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Longest beginning of a request, up to the end of its headers, in bytes; and what may stand between the parts of a
body and behind it."""
MOST_CONNECTIONS = 500
HEAD_SECONDS = 20.0
MOST_UNREAD = 1024 * 1024
"""What may still come of a request that has its answer. Who is cut off while sending may not see the answer."""
UNREAD_SECONDS = 10.0

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Protocol(HttpToolsProtocol):
    """One connection. The parser itself would keep headers without end, from callers who wait without end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._in_head = True
        self._in_body = False
        self._head = 0
        """Bytes of the head, or since the last part of a body."""
        self._unread = 0
        """Bytes of the request since its answer."""
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._give_up_in(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        if self._is_unwanted:
            self._unread += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        # What came with it may have been a body, and the end of the headers.
        if self._unread > MOST_UNREAD:
            self.transport.abort()
        elif self._head > MOST_HEAD and (self._in_head or (self._in_body and not self._is_unwanted)):
            self._refuse()
        elif self._is_idle and self._timer is None:
            # Empty lines are no request, and do not keep a connection.
            self._give_up_in(HEAD_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if not self._in_head:
            self._in_head, self._head = True, 0
            self._give_up_in(HEAD_SECONDS)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Behind a body they would be added to those that were checked, and nobody here asks for them.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head, self._in_body, self._unread = False, True, 0
        self._stop_waiting()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body, self._unread = False, 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_unwanted and not self.transport.is_closing():
            self._give_up_in(UNREAD_SECONDS)

    @property
    def _is_unwanted(self) -> bool:
        """Whether what comes belongs to a request that has its answer."""
        return self._in_body and self.cycle.response_complete

    @property
    def _is_idle(self) -> bool:
        """Whether every request has come to its end and has its answer."""
        return not self._in_head and not self._in_body and self.cycle.response_complete

    def _refuse(self) -> None:
        if self._in_head or not self.cycle.response_started:
            self.transport.write(_TOO_LARGE)
        self.transport.close()

    def _give_up_in(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
