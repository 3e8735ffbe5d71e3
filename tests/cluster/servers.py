"""`memoranda serve`, several times, on one store in PostgreSQL: started, killed and started again at the same ports."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

_START_SECONDS = 90


class Server:
    """One process. Each has a folder of its own, as if it were on a machine of its own, unless told."""

    def __init__(self, address, folder, **settings):
        self.address = address
        self.folder = folder
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self.log = folder / f"server-{self.port}.log"
        self._settings = {
            "local_folder": str(folder / f"local-{self.port}"),
            "embedder": "none",
            "server_rate": 0,
            "server_watch": "false",
            "busy_seconds": 15,
            **settings,
        }
        self._process = None

    def start(self, *, wait=True):
        with open(self.log, "a") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "memoranda",
                    "serve",
                    "--json",
                    "--port",
                    str(self.port),
                    "--no-console",
                    "--no-mcp",
                ],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        return self.ready() if wait else self

    def ready(self):
        """Takes requests when this returns."""
        told = json.loads(self._process.stdout.readline() or "{}")
        assert "token" in told, f"it did not start: {told}\n{self.log.read_text()[-3000:]}"
        self.token = told["token"]
        return self

    @property
    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def metrics(self):
        """What it tells Prometheus."""
        return self.get("/metrics", token=self.token)[1]

    def is_well(self):
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def kill(self):
        """As when the machine fails."""
        self._process.kill()
        self._process.wait(30)
        self._process.stdout.close()

    def end(self):
        """In good order."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(40)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._process is not None:
            self._process.stdout.close()

    def get(self, target, *, token=""):
        """(status, body) of a question."""
        request = urllib.request.Request(self.url + target)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def events(self, name):
        """What it logged under this name."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == name]

    def _environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
        own = {f"MEMORANDA_{name.upper()}": str(value) for name, value in self._settings.items()}
        return {**kept, **own, "MEMORANDA_STORE": self.address, "PYTHONPATH": os.pathsep.join(sys.path)}


def start_all(servers):
    """All ready when this returns."""
    servers[0].start()  # makes the tables, while nobody else does
    for each in servers[1:]:
        each.start(wait=False)
    for each in servers[1:]:
        each.ready()


def until(done, *, seconds=60, complaint="it did not come about"):
    """Wait for something."""
    patience = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < patience, complaint() if callable(complaint) else complaint
        time.sleep(0.1)
    return found


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
