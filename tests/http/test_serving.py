"""From the socket to the end: where it listens, whom it refuses to serve, signals, TLS, proxies, and what it prints."""

import asyncio
import datetime
import http.client
import io
import ipaddress
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from asgi_driving import hello
from running import ByFile, command, environment, events, run, serving

from memoranda import config
from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import ConfigError, Conflict, InvalidInput, NotFound, Refused
from memoranda.http import protocol
from memoranda.http.activity import Activity
from memoranda.http.limits import Workers
from memoranda.http.logs import Logs, Observed
from memoranda.http.metrics import Metrics
from memoranda.http.serving import Listening, Serving
from memoranda.http.upkeep import Upkeep
from memoranda.service.store import Scope, Store
from support import open_store


def no():
    return False


def yes():
    return True


# -- where it listens --


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example.org"])
def test_others_are_not_let_near_without_tokens(host):
    listening = Listening(host=host)
    with pytest.raises(Refused, match="no token yet") as refused:
        listening.check(asks_for_tokens=True, has_tokens=no)
    assert "memoranda token create" in refused.value.hint
    with pytest.raises(Refused, match="nobody would need a token"):
        listening.check(asks_for_tokens=False, has_tokens=yes)
    assert "TLS" in listening.check(asks_for_tokens=True, has_tokens=yes)
    assert not listening._replace(forwarded_by="127.0.0.1").check(asks_for_tokens=True, has_tokens=yes)


@pytest.mark.parametrize("listening", [Listening(), Listening(host="::1"), Listening(uds="/run/memoranda.sock")])
def test_ones_own_machine_needs_neither_tokens_nor_tls(listening):
    assert listening.check(asks_for_tokens=False, has_tokens=no) == ""


@pytest.mark.parametrize(
    ("listening", "port", "url"),
    [
        (Listening(), 8765, "http://127.0.0.1:8765"),
        (Listening(), 80, "http://127.0.0.1"),
        (Listening(host="::1"), 8765, "http://[::1]:8765"),
        (Listening(host="0.0.0.0"), 1234, "http://127.0.0.1:1234"),
        (Listening(tls_cert="x"), 443, "https://127.0.0.1"),
        (Listening(uds="/run/m.sock"), 0, "unix:/run/m.sock"),
    ],
)
def test_the_url_is_one_that_works_here(listening, port, url):
    assert listening.url(port) == url


def test_a_port_in_use_is_told_with_the_next_step():
    with Listening(port=0).bound() as taken:
        port = taken.getsockname()[1]
        assert port > 0
        with pytest.raises(Conflict, match=f"port {port} of 127.0.0.1 is in use") as refused:
            Listening(port=port).bound()
    assert "--port 0" in refused.value.hint


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_what_is_no_address_of_this_machine_is_told(host):
    with pytest.raises(InvalidInput):
        Listening(host=host, port=0).bound()


def test_a_socket_in_the_file_system_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "m.sock"
    with Listening(uds=str(path)).bound():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(Conflict, match="another server listens"):
            Listening(uds=str(path)).bound()
    assert path.exists()
    with Listening(uds=str(path)).bound():  # nobody listened any more
        pass
    other = tmp_path / "file"
    other.write_text("mine")
    with pytest.raises(Conflict, match="no socket"):
        Listening(uds=str(other)).bound()
    assert other.read_text() == "mine"
    with pytest.raises(InvalidInput):
        Listening(uds=str(tmp_path / ("x" * 200))).bound()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_port", "65536"),
        ("server_threads", "0"),
        ("server_max_body", "10"),
        ("server_timeout", "0"),
        ("server_log", "loud"),
        ("server_watch", "perhaps"),
        ("server_hosts", "x" * 101),
        ("server_roots", "/" * 4097),
    ],
)
def test_a_setting_that_makes_no_sense_is_told(name, value):
    with pytest.raises(ConfigError, match=name):
        config.load(environ={f"MEMORANDA_{name.upper()}": value, "MEMORANDA_CONFIG": ""})


def test_lists_among_the_settings_come_from_the_environment_in_one_text():
    environ = {"MEMORANDA_SERVER_HOSTS": "a.example|b.example:8443", "MEMORANDA_SERVER_ROOTS": f"/{'long/' * 50}x"}
    found = config.load(environ=environ)
    assert found.server_hosts == ("a.example", "b.example:8443")
    assert len(found.server_roots) == 1


# -- in this process, with applications that do as they are told --


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


def test_what_is_under_way_when_it_is_told_to_stop_is_finished():
    gate = threading.Event()
    bench = Bench(slow(lambda: bench.workers, gate))
    answers = []
    with bench:
        asking = threading.Thread(target=lambda: answers.append(bench.ask()))
        asking.start()
        until(lambda: bench.workers.busy)
        bench.serving.stop()
        assert bench.workers.stopping
        until(lambda: not _accepts(bench.serving.port))
        assert answers == []
        gate.set()
        asking.join(10)
    assert answers == [(200, b"0")]
    assert events(bench.stream.getvalue())[-1]["left"] == 0


def test_what_never_ends_is_given_up_when_its_time_is_over():
    gate = threading.Event()
    bench = Bench(slow(lambda: bench.workers, gate), drain=1.0)
    with bench:
        connection = bench.connect()
        connection.request("GET", "/")
        until(lambda: bench.workers.busy)
        began = time.monotonic()
        bench.serving.stop()
        bench.thread.join(15)
        assert 0.9 < time.monotonic() - began < 14
        gate.set()
        connection.close()
    assert events(bench.stream.getvalue())[-1]["left"] == 1


def test_what_is_given_up_is_told_so_and_logged_as_what_it_was():
    gate = threading.Event()

    async def app(scope, receive, send):
        scope["state"]["door"] = "stats"
        await slow(lambda: bench.workers, gate)(scope, receive, send)

    stream, clock = io.StringIO(), SystemClock()
    logs = Logs(form="json", clock=clock, stream=stream)
    bench = Bench(Observed(app, logs=logs, metrics=Metrics(), activity=Activity(clock), clock=clock), drain=1.0)
    with bench:
        connection = bench.connect()
        connection.request("GET", "/v1/stats")
        until(lambda: bench.workers.busy)
        bench.serving.stop()
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
        assert (told["type"], told["retry_after"]) == ("urn:memoranda:stopping", 5)
        assert (answer.headers["retry-after"], answer.headers["cache-control"]) == ("5", "no-store")
        bench.thread.join(15)
        gate.set()
        connection.close()
    (line,) = events(stream.getvalue())
    assert (line["door"], line["status"]) == ("stats", 503)
    assert "Traceback" not in bench.stream.getvalue()


def test_connections_that_are_only_kept_open_do_not_hold_it_up():
    with Bench(drain=30.0) as bench:
        connection = bench.connect()
        connection.request("GET", "/")
        connection.getresponse().read()
        began = time.monotonic()
        bench.serving.stop()
        bench.thread.join(20)
        assert time.monotonic() - began < 15
        connection.close()


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def _accepts(port):
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


def test_headers_without_end_are_not_kept():
    with Bench() as bench:
        port = bench.serving.port
        begun = b"GET / HTTP/1.1\r\nHost: x\r\n"
        fits = raw(port, begun, b"X-A: " + b"a" * 30_000 + b"\r\nConnection: close\r\n\r\n")
        assert fits.startswith(b"HTTP/1.1 200")
        for parts in ([b"X-A: "], [b"X-A: b\r\n" * 100]):
            answer = raw(port, begun, *parts, *[b"a" * 10_000] * 50)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 431")
        assert bench.ask()[0] == 200


def test_a_large_body_right_behind_its_headers_is_no_large_header():
    with Bench() as bench:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n"
        assert b"\r\n200000\r\n" in raw(bench.serving.port, head + b"x" * 200_000)


def test_who_connects_and_says_nothing_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with Bench() as bench:
        began = time.monotonic()
        assert raw(bench.serving.port) == b""
        assert raw(bench.serving.port, b"GET / HTTP/1.1\r\nHo") == b""
        kept = raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n")
        assert kept.startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 15


def test_a_slow_answer_is_not_cut_by_the_time_for_headers(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)

    async def slowly(scope, receive, send):
        await asyncio.sleep(0.6)
        await hello(scope, receive, send)

    with Bench(slowly) as bench:
        assert bench.ask() == (200, b"0")


# -- what comes behind a request --

CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


async def at_once(scope, receive, send):
    """An application that answers before it has seen the body, as a refusal does."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


class Pushing:
    """A connection that goes on sending what nobody asked for."""

    def __init__(self, port, begun):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.connection.sendall(begun)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def answer(self):
        received = b""
        while b"\r\n\r\n" not in received and (piece := self.connection.recv(65536)):
            received += piece
        return received

    def push(self, piece, most):
        """Bytes that were taken until the connection was cut; at most so many are sent."""
        sent = 0
        try:
            while sent < most:
                self.connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        return sent

    def is_cut(self, drip=b"", seconds=10):
        end = time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while time.monotonic() < end:
            try:
                self.connection.sendall(drip)
                if self.connection.recv(65536) == b"":
                    return True
            except TimeoutError:
                continue
            except OSError:
                return True
        return False


MUCH = 40_000_000
BUFFERED = 16_000_000  # what the machine itself may hold of a connection that nobody reads


@pytest.mark.parametrize("app", [at_once, hello], ids=["answered", "unanswered"])
@pytest.mark.parametrize("piece", [b"X-A: " + b"a" * 1_000 + b"\r\n", b"a" * 1_000], ids=["many", "one"])
def test_headers_behind_a_body_are_not_taken_without_end(app, piece):
    with Bench(app) as bench:
        begun = CHUNKED + b"0\r\nX-A: b\r\n" + (b"" if b":" in piece else b"X-B: ")
        with Pushing(bench.serving.port, begun) as pushing:
            if app is at_once:
                assert b" 401 " in pushing.answer()
            assert pushing.push(piece * 100, MUCH) < BUFFERED
        assert bench.ask()[0] in (200, 401)


def test_headers_behind_a_body_do_not_become_headers_of_the_request():
    async def names(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        body = b" ".join(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with Bench(names) as bench:
        begun = CHUNKED.replace(b"Host: x", b"Host: x\r\nConnection: close")
        told = raw(bench.serving.port, begun, b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
    assert b"host connection transfer-encoding" in told
    assert b"authorization" not in told


def test_a_body_that_goes_on_after_the_answer_is_not_taken_without_end():
    with Bench(at_once) as bench, Pushing(bench.serving.port, CHUNKED) as pushing:
        assert b" 401 " in pushing.answer()
        assert pushing.push(b"1000\r\n" + b"a" * 4096 + b"\r\n", MUCH) < BUFFERED


def test_a_body_that_drips_after_the_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 0.3)
    with Bench(at_once) as bench:
        for begun in (CHUNKED, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"):
            with Pushing(bench.serving.port, begun) as pushing:
                assert b" 401 " in pushing.answer()
                assert pushing.is_cut(b"1\r\na\r\n")


def test_a_body_that_ends_soon_after_the_answer_costs_nobody_the_connection(monkeypatch):
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 1.0)
    with Bench(at_once) as bench, Pushing(bench.serving.port, CHUNKED) as pushing:
        assert b" 401 " in pushing.answer()
        assert pushing.push(b"1000\r\n" + b"a" * 4096 + b"\r\n", 200_000) >= 200_000
        pushing.connection.sendall(b"0\r\n\r\n")
        time.sleep(1.3)
        pushing.connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 401 " in pushing.answer()


def test_empty_lines_between_requests_do_not_keep_a_connection(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with Bench() as bench, Pushing(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as pushing:
        assert b" 200 " in pushing.answer()
        assert pushing.is_cut(b"\r\n")


def test_more_connections_than_there_may_be_are_cut(monkeypatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    with Bench() as bench:
        held = [socket.create_connection(("127.0.0.1", bench.serving.port)) for _ in range(3)]
        until(lambda: raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == b"")
        for each in held:
            each.close()
        until(lambda: raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") != b"")


async def who(scope, receive, send):
    body = json.dumps([scope["scheme"], scope["client"][0]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    ("by", "told"),
    [("", ["http", "127.0.0.1"]), ("127.0.0.1", ["https", "192.0.2.9"]), ("192.0.2.1", ["http", "127.0.0.1"])],
)
def test_only_the_proxy_that_was_named_is_believed(by, told, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.9"}
    with Bench(who, forwarded_by=by) as bench:
        assert json.loads(bench.ask(headers=headers)[1]) == told


# -- TLS --


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """(certificate, key) for 127.0.0.1"""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form, pem = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    locked = serialization.BestAvailableEncryption(b"password")
    (folder / "locked.pem").write_bytes(key.private_bytes(pem, form, locked))
    return folder


def test_it_speaks_tls(certificate):
    files = {"tls_cert": str(certificate / "cert.pem"), "tls_key": str(certificate / "key.pem")}
    assert Listening(**files).check(asks_for_tokens=True, has_tokens=yes) == ""
    assert Listening(host="0.0.0.0", **files).check(asks_for_tokens=True, has_tokens=yes) == ""
    with Bench(who, **files) as bench:
        trusting = ssl.create_default_context(cafile=files["tls_cert"])
        connection = http.client.HTTPSConnection("127.0.0.1", bench.serving.port, timeout=10, context=trusting)
        connection.request("GET", "/")
        assert json.loads(connection.getresponse().read())[0] == "https"
        connection.close()
        assert bench.serving.url.startswith("https://")


def test_files_for_tls_are_looked_at_before_anything_is_served(certificate):
    cert, key = str(certificate / "cert.pem"), str(certificate / "key.pem")
    for files, error in [
        ({"tls_cert": "nowhere.pem"}, NotFound),
        ({"tls_cert": cert}, InvalidInput),
        ({"tls_key": key}, InvalidInput),
        ({"tls_cert": cert, "tls_key": cert}, InvalidInput),
        ({"tls_cert": cert, "tls_key": str(certificate / "locked.pem")}, InvalidInput),
    ]:
        with pytest.raises(error):
            Listening(**files).check(asks_for_tokens=True, has_tokens=yes)


# -- as people start it --


def test_it_starts_serves_and_ends_well_and_keeps_what_it_acknowledged(path):
    with serving("--store", path) as server:
        assert server.ask("GET", "/healthz", token="")[0] == 200
        assert server.ask("GET", "/readyz", token="")[0] == 200
        status, kept = server.ask("POST", "/v1/memories?scope=home/anna", {"text": "Zebediah keeps a heron."})
        assert status == 200
        assert server.ask("GET", "/v1/stats?scope=home/anna", token="")[0] == 401
        assert server.ask("GET", "/v1/stats?scope=home/anna", token="mem_run_wrong")[0] == 401
        code, out, log = server.end()
    assert (code, out) == (0, "")
    assert [event["event"] for event in events(log)][0::6] == ["ready", "stopped"]
    assert [event["door"] for event in events(log) if event["event"] == "request"][2] == "remember"
    for secret in ("Zebediah", "heron", "home/anna", server.token, kept["memory"]["id"]):
        assert secret not in log
    with open_store(path) as memory:
        assert memory.get(kept["memory"]["id"]).text == "Zebediah keeps a heron."


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_that_was_acknowledged_is_lost_when_it_ends_under_load(path, sent, code):
    acknowledged, troubles = [], []

    def write(number):
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
            for count in range(100_000):
                said = {"text": f"Heron {number} was seen {count} times."}
                try:
                    status, kept = server.over(connection, "POST", "/v1/memories?scope=home", said)
                except (OSError, http.client.HTTPException):
                    return  # it has ended
                if status == 200:
                    acknowledged.append(kept["memory"]["id"])
                elif status != 503:
                    troubles.append((status, kept))

    with serving("--store", path) as server:
        writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for each in writers:
            each.start()
        until(lambda: len(acknowledged) > 50, seconds=30)
        assert server.end(sent)[0] == code
        for each in writers:
            each.join(30)
    assert troubles == []
    with open_store(path, "home") as memory:
        assert {memory.get(each).id for each in acknowledged} == set(acknowledged)
        assert memory.admin.verify().ok


def test_each_start_has_a_token_of_its_own_that_is_stored_nowhere(path):
    from support import occurrences

    with serving("--store", path) as first:
        first.ask("GET", "/v1/whoami?scope=home")
        first.end()
    with serving("--store", path) as second:
        assert first.token != second.token
        assert second.ask("GET", "/v1/whoami?scope=home", token=first.token)[0] == 401
        second.end(signal.SIGINT)
        assert second.process.returncode == 0
    assert occurrences(path, first.token, second.token) == []


def test_a_second_signal_ends_it_at_once(tmp_path):
    program = tmp_path / "slow.py"
    program.write_text(
        "import threading\n"
        "from memoranda.domain.clock import SystemClock\n"
        "from memoranda.http.limits import Workers\n"
        "from memoranda.http.logs import Logs\n"
        "from memoranda.http.serving import Listening, Serving\n"
        "workers, where = Workers(1, seconds=60), Listening(port=0)\n"
        "async def app(scope, receive, send):\n"
        "    if scope['type'] == 'lifespan':\n"
        "        while True:\n"
        "            await send({'type': (await receive())['type'] + '.complete'})\n"
        "    print('asked', flush=True)\n"
        "    await workers.run(threading.Event().wait)\n"
        "logs = Logs(form='json', clock=SystemClock())\n"
        "serving = Serving(app, workers, where, where.bound(), logs=logs, drain=60)\n"
        "serving.run(lambda: print(serving.port, flush=True))\n"
    )
    process = subprocess.Popen([sys.executable, program], env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=10)
        connection.request("GET", "/")
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        connection.close()
    finally:
        process.kill()
        process.communicate()


def test_people_are_shown_the_console_and_one_line_for_each_way_in(path):
    process = subprocess.Popen(
        command("--store", path, "--scope", "home/anna", "serve", "--port", "0", "--log", "text"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    try:
        while not lines or not lines[-1].startswith("Stop with"):
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        shown = {line.split()[0]: line.partition("  ")[2].strip() for line in lines[1:5]}
        url, _, token = shown["console"].removeprefix("console").strip().partition("/#token=")
        assert url.startswith("http://127.0.0.1:")
        assert f'memoranda.connect("{url}", token="{token}", scope="home/anna")' in shown["Python"]
        assert f'"{url}/mcp?scope=home/anna"' in shown["MCP"]
        curl = shown["curl"].removeprefix("curl").strip()
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, timeout=30, check=True)
        assert json.loads(done.stdout)["scope"] == "home/anna"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert "everything that was acknowledged is kept" in log
    assert token not in log


def test_the_browser_is_shown_the_console_and_no_other_program_the_token(path, tmp_path):
    script, seen, page = (tmp_path / name for name in ("browser", "seen", "page"))
    script.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {page}.part\necho "$1" > {seen}\nmv {page}.part {page}\n')
    script.chmod(0o700)
    with serving("--store", path, "--open", BROWSER=f"{script} %s") as server:
        until(page.exists)
        assert f"url={server.url}/#token={server.token}" in page.read_text()
        shown = Path(seen.read_text().strip().removeprefix("file://"))
        assert server.token not in seen.read_text()
        assert stat.S_IMODE(shown.parent.stat().st_mode) == 0o700
        server.end()
    assert not shown.exists()


def test_without_tokens_it_does_not_listen_for_others(path):
    refused = run("serve", "--store", path, "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 4
    assert "memoranda token create" in refused.stderr
    assert not path.exists()
    refused = run("serve", "--store", path, "--host", "0.0.0.0", "--port", "0", "--no-auth")
    assert (refused.returncode, "--no-auth" in refused.stderr) == (4, True)


def test_with_a_token_it_listens_for_others_and_warns_that_they_can_be_overheard(path):
    made = run("token", "create", "--store", path, "--scope", "bot-1", "--quiet")
    assert made.returncode == 0, made.stderr
    with serving("--store", path, "--host", "0.0.0.0") as server:
        token = made.stdout.strip()
        assert server.ask("GET", "/v1/stats", token=token)[1]["scope"] == "bot-1"
        assert server.ask("GET", "/v1/stats?scope=bot-10", token=token)[0] == 403
        assert server.ask("GET", "/v1/stats", token=token, headers={"Host": "evil.example"})[0] == 421
        assert "without TLS" in server.end()[2]


def test_without_authentication_everybody_on_this_machine_is_let_in_and_no_web_page(path):
    with serving("--store", path, "--no-auth") as server:
        assert server.token == ""
        assert server.ask("GET", "/v1/stats?scope=home", token="")[0] == 200
        headers = {"Origin": "http://evil.example"}
        assert server.ask("GET", "/v1/stats?scope=home", token="", headers=headers)[0] == 403
        server.end()


def test_a_taken_port_ends_it_with_the_next_step_and_makes_no_store(path):
    with Listening(port=0).bound() as taken:
        refused = run("serve", "--store", path, "--sample", "--port", taken.getsockname()[1])
    assert (refused.returncode, "--port 0" in refused.stderr) == (4, True)
    assert not path.exists()


def test_it_can_be_reached_by_a_file_and_takes_it_away(path, tmp_path):
    where = tmp_path / "m.sock"
    with serving("--store", path, "--uds", where) as server:
        assert stat.S_IMODE(where.stat().st_mode) == 0o600
        connection = ByFile(where)
        assert server.over(connection, "GET", "/v1/whoami?scope=home")[1]["role"] == "admin"
        connection.close()
        assert server.end()[0] == 0
    assert not where.exists()


def test_only_folders_that_were_opened_for_it_may_be_named(path, tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "inside-not"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "note.md").write_text("# Note\n\nThe herons are back.\n")
    (inside / "link").symlink_to(outside)
    with serving("--store", path, "--root", inside) as server:
        asked = {
            name: server.ask("POST", "/v1/documents?scope=home", {"path": str(name)})[0] for name in (inside, outside)
        }
        assert asked == {inside: 200, outside: 403}
        assert server.ask("POST", "/v1/documents?scope=home", {"path": str(inside / "link")})[0] == 403
        assert server.ask("POST", "/v1/documents?scope=home", {"path": str(inside / ".." / "inside-not")})[0] == 403
        server.end()
    missing = run("serve", "--store", path, "--root", tmp_path / "nowhere")
    assert (missing.returncode, "--root" in missing.stderr) == (3, True)


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_a_missing_package_is_named(package, path):
    program = f"import sys; sys.modules[{package!r}] = None\nfrom memoranda.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", "--store", str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5
    assert 'pip install "memoranda[server]"' in done.stderr


def test_make_run_serves_with_sample_data_and_takes_more_options():
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    root = Path(__file__).parents[2]
    # Not as a part of the make that may have started these tests.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "-n", "run", "SERVE=--port 0"]
    shown = subprocess.run(command, cwd=root, env=alone, capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.rstrip().endswith("memoranda serve --sample --port 0")


# -- upkeep --


@pytest.fixture
def store(path):
    from memoranda import Settings

    with Store.open(path, settings=Settings(embedder="none", follow=False)) as opened:
        yield opened


def upkeep_of(store, **more):
    stream = io.StringIO()
    logs = Logs(form="json", clock=store.clock, stream=stream)
    return Upkeep(store, logs, **{"hours": 0, "watch": False, **more}), stream


def test_upkeep_is_told_in_numbers(store):
    memory = store.memory(Scope("home/anna"))
    memory.remember("Zebediah keeps a heron.", valid_until="2020-01-01")
    upkeep, stream = upkeep_of(store)
    assert upkeep.once()
    (told,) = events(stream.getvalue())
    assert (told["event"], told["expired"], told["erased"]) == ("upkeep", 1, 0)
    assert "Zebediah" not in stream.getvalue()


def test_one_upkeep_at_a_time(store):
    upkeep, _ = upkeep_of(store)
    assert upkeep._working.acquire(blocking=False)
    assert not upkeep.once()
    upkeep._working.release()
    assert upkeep.once()


def test_upkeep_runs_by_itself_and_again(store):
    upkeep, stream = upkeep_of(store, hours=0.2 / 3600)
    upkeep.start()
    until(lambda: stream.getvalue().count('"upkeep"') >= 2)
    upkeep.close()


def test_an_upkeep_that_fails_is_told_and_tried_again(store):
    upkeep, stream = upkeep_of(store)
    store.close()
    assert not upkeep.once()
    assert events(stream.getvalue())[0]["event"] == "upkeep failed"


def test_folders_of_documents_are_watched_as_long_as_there_are_any(store, tmp_path):
    pytest.importorskip("watchfiles")
    folder = tmp_path / "notes"
    folder.mkdir()
    documents = store.memory(Scope("home/anna")).documents
    documents.add(folder, name="notes")
    upkeep, _ = upkeep_of(store, watch=True, look_seconds=0.1)
    upkeep.start()
    try:
        until(lambda: upkeep.watched == ("home/anna",))
        (folder / "note.md").write_text("# Note\n\nThe herons are back on the lake.\n")
        until(lambda: documents.status().as_json() and documents.search("herons on the lake"))
        documents.remove("notes")
        until(lambda: upkeep.watched == ())
    finally:
        upkeep.close()
    assert not upkeep._thread.is_alive()
    assert os.path.isfile(folder / "note.md")
