"""Drives an ASGI application by hand: what a server would send it, and what it answers."""

import asyncio
import json
from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        told = json.loads(self.body)
        assert told["status"] == self.status
        assert told["type"].startswith("urn:memoranda:")
        assert told["hint"].endswith(".")
        return told


def asked(method="GET", path="/v1/stats", *, headers=(), server=("127.0.0.1", 8765), scheme="http", state=None):
    """A scope. `headers` are pairs; a Host is there unless one is given."""
    given = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    if not any(name == b"host" for name, _ in given):
        given.insert(0, (b"host", b"127.0.0.1:8765"))
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": given,
        "server": server,
        "client": ("127.0.0.1", 50000),
        "scheme": scheme,
        "state": {} if state is None else state,
    }


async def answered(app, scope, chunks=(b"",)):
    """The answer to a request whose body comes in these parts; a part that is a number is a pause in seconds."""
    sent = []
    left = list(chunks)

    async def receive():
        while left and not isinstance(left[0], bytes):
            await asyncio.sleep(left.pop(0))
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) == 1, sent
    assert sent[0] is starts[0]
    names = [name.decode() for name, _ in starts[0]["headers"]]
    assert len(names) == len(set(names)), names
    headers = {name.decode(): value.decode("latin-1") for name, value in starts[0]["headers"]}
    return Answer(starts[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


def ask(app, scope, chunks=(b"",)):
    return asyncio.run(answered(app, scope, chunks))


async def hello(scope, receive, send):
    """An application that reads the whole body and says how long it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(size).encode()})
