"""`Bench`: a server in a thread of the test, around an application that does as it is told."""

import http.client
import io
import json
import socket
import threading
import time

from asgi_driving import hello

from memoranda.domain.clock import SystemClock
from memoranda.http.limits import Workers
from memoranda.http.logs import Logs
from memoranda.http.serving import Listening, Serving


class Bench:
    """A server in a thread."""

    def __init__(self, app=hello, *, drain=5.0, **listening):
        self.stream = io.StringIO()
        self.logs = Logs(form="json", clock=SystemClock(), stream=self.stream)
        self.workers = Workers(2, seconds=30)
        where = Listening(port=0, **listening)
        self.serving = Serving(_living(app), self.workers, where, where.bound(), logs=self.logs, drain=drain)
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.serving.run, args=(self.ready.set,))

    def __enter__(self):
        self.thread.start()
        assert self.ready.wait(30)
        return self

    def __exit__(self, *_):
        self.serving.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.serving.port, timeout=10)

    def ask(self, path="/", headers=None):
        connection = self.connect()
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body


def _living(app):
    """With the answers that a lifespan needs."""

    async def wrapped(scope, receive, send):
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})

    return wrapped


def slow(workers_of, gate):
    async def app(scope, receive, send):
        await workers_of().run(gate.wait)
        await hello(scope, receive, send)

    return app


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def raw(port, *parts):
    """What comes back on a connection of its own, up to its end."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        except OSError:  # cut while we were still sending
            return b""
    return received


async def who(scope, receive, send):
    body = json.dumps([scope["scheme"], scope["client"][0]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
