"""A server that runs on a port of its own, and one that answers as it is told to."""

import contextlib
import io
import socket
import ssl
import threading
import time

import pytest
import uvicorn

from memoranda import Settings
from memoranda.http.app import Options, create_app
from memoranda.http.logs import Logs
from memoranda.service.store import Store

OPERATOR = "mem_operator_" + "o" * 43


class Running:
    """A store that is served. `log` has what the server wrote."""

    def __init__(self, path, *, clock=None, listening=None, **settings):
        chosen = Settings(**{"embedder": "none", "follow": False, "server_rate": 0, **settings})
        self.store = Store.open(path, settings=chosen, clock=clock)
        self.log = io.StringIO()
        options = Options(run_secret=OPERATOR, roots=(str(path.parent),), console=False, mcp=False)
        logs = Logs(form="json", clock=self.store.clock, stream=self.log)
        self.served = create_app(self.store, options, logs=logs)
        self._socket = port() if listening is None else listening
        config = uvicorn.Config(
            self.served.app, log_config=None, access_log=False, lifespan="off", loop="asyncio", interface="asgi3"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def token(self, **options):
        """A token of a writer of the home, unless told."""
        return self.store.tokens.create(**{"role": "writer", "scope": "home/anna", **options}).secret

    def close(self):
        self._server.should_exit = True
        self._thread.join(20)
        self.served.workers.drain(10)
        self.served.workers.close()
        self.store.close()
        self._socket.close()


def port(number=0):
    """A socket to listen on. With its protocol: only then the loop sends small parts at once."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", number))
    return made


@pytest.fixture
def running(path):
    """Starts servers; all are stopped at the end."""
    with contextlib.ExitStack() as stack:

        def start(**options):
            server = Running(path, **options)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def server(running):
    return running()


class Scripted:
    """Says what it is told to, connection by connection, and keeps what it was sent. An answer is bytes, or a number
    of seconds to be silent, or None to hang up."""

    def __init__(self, *answers, tls=None, port=0):
        self.asked = []
        self.connections = 0
        self._answers = list(answers)
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port = self._listening.getsockname()[1]
        self._listening.settimeout(0.05)
        self._tls = tls
        self._open = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self):
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def _serve(self):
        while not self._done.is_set():
            try:
                line, _ = self._listening.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self.connections += 1
            with contextlib.suppress(OSError, ssl.SSLError):
                line.settimeout(10)
                self._open.append(line if self._tls is None else self._tls.wrap_socket(line, server_side=True))
                threading.Thread(target=self._speak, args=(self._open[-1],), daemon=True).start()

    def _speak(self, line):
        with contextlib.suppress(OSError, ValueError):
            while not self._done.is_set() and self._answers:
                request = _request(line)
                if request is None:
                    break
                self.asked.append(request)
                for part in self._answers.pop(0):
                    if part is None:
                        line.shutdown(socket.SHUT_RDWR)
                        return
                    if isinstance(part, float):
                        self._done.wait(part)
                    else:
                        line.sendall(part)
        line.close()

    def close(self):
        self._done.set()
        self._listening.close()
        self._thread.join(5)
        for line in self._open:
            line.close()


def _request(line):
    """(first line, headers, body) of the next request; None when nobody asks any more."""
    read = b""
    while b"\r\n\r\n" not in read:
        part = line.recv(65_536)
        if not part:
            return None
        read += part
    head, _, body = read.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    while len(body) < int(headers.get("content-length", 0)):
        body += line.recv(65_536)
    return first, headers, body


@pytest.fixture
def scripted():
    """Starts servers that say what they are told to."""
    with contextlib.ExitStack() as stack:

        def start(*answers, **options):
            made = Scripted(*answers, **options)
            stack.callback(made.close)
            return made

        yield start
