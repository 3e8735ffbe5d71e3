"""A server that ends, is killed, has no space or is locked out: nothing that it acknowledged is lost."""

import http.client
import json
import random
import resource
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import apsw
import pytest
from loopback import Caller, loopback
from running import command, environment

from support import open_store

SCOPE = "home/anna"
LINE = f"/v1/memories?scope={SCOPE}"
CLIENTS = 16
KILLS = 8
DRAIN = 10


class Served:
    """`memoranda serve` in a process of its own, its log in a file: a pipe that nobody reads would fill up."""

    def __init__(self, process, log):
        told = json.loads(process.stdout.readline())
        assert "token" in told, told
        self.process, self.token, self.port = process, told["token"], urlsplit(told["url"]).port
        self._log = log
        self._caller = Caller(self.port, self.token)
        # Rules are made when the first text is looked at: that is not what is measured here.
        self.ask("POST", "/v1/memories?scope=warm", {"text": "Client 0 keeps thing number 0."})

    def ask(self, method, target, body=None, **options):
        answer = self._caller.ask(method, target, body, **options)
        return answer.status, answer.json()

    def end(self, sent=signal.SIGTERM):
        """Its exit code, and what it logged."""
        self._caller.close()
        self.process.send_signal(sent)
        return self.process.wait(30), self._log.read_text()

    def close(self):
        self._caller.close()


@contextmanager
def serving(path):
    log = path.with_name("server.log")
    more = {"MEMORANDA_SERVER_RATE": "0", "MEMORANDA_SERVER_DRAIN": str(DRAIN)}
    with (
        log.open("w") as stream,
        subprocess.Popen(
            command("serve", "--json", "--port", "0", "--store", path),
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        ) as process,
    ):
        try:
            server = Served(process, log)
            yield server
            server.close()
        finally:
            if process.poll() is None:
                process.kill()


class Writers:
    """Clients that write as fast as they are answered, and keep the account."""

    def __init__(self, server, *, prefix=""):
        self.acknowledged = []
        self.refused = []
        self.broken = []
        """Requests on a connection that was closed: nobody said that they were done."""
        self.away = 0
        """Clients that found nobody there any more."""
        self.odd = []
        self._prefix = prefix
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(each,)) for each in range(CLIENTS)]

    def __enter__(self):
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for each in self._threads:
            each.join(30)

    def _write(self, client):
        caller = Caller(self._server.port, self._server.token, timeout=30)
        number = 0
        while not self._stop.is_set():
            number += 1
            text = f"Client {client} of {self._prefix} keeps thing number {number}."
            try:
                answer = caller.post(LINE, {"text": text})
            except ConnectionRefusedError:
                self.away += 1
                return
            except (OSError, http.client.IncompleteRead) as error:
                self.broken.append((text, type(error).__name__))
                return
            except Exception as error:
                self.odd.append((text, repr(error)))
                return
            if answer.status == 200:
                self.acknowledged.append(text)
            elif answer.status == 503 and answer.problem["hint"]:
                self.refused.append(text)
            else:
                self.odd.append((text, answer))
        caller.close()


def until(true, *, seconds=30):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def _kept(path):
    with open_store(path, SCOPE) as memory:
        assert memory.admin.verify().ok
        found, offset = set(), 0
        while page := memory.list(limit=1000, offset=offset, states=()):
            found |= {each.text for each in page}
            offset += len(page)
        return found


@pytest.mark.slow
def test_sigterm_under_load_loses_nothing_and_ends_well(path, capsys):
    with serving(path) as server:
        with Writers(server) as writers:
            until(lambda: len(writers.acknowledged) > 200)
            time.sleep(1)
            began = time.monotonic()
            code, log = server.end()
            seconds = time.monotonic() - began
        assert code == 0, log[-2000:]
    kept = _kept(path)
    lost = set(writers.acknowledged) - kept
    with capsys.disabled():
        print(
            f"\nSIGTERM under {CLIENTS} clients: {len(writers.acknowledged):,} acknowledged, {len(lost)} lost, "
            f"{len(writers.refused)} refused, {len(writers.broken)} cut off, {writers.away} turned away, "
            f"ended after {seconds:.2f} s"
        )
    assert len(writers.acknowledged) > 100
    assert lost == set()
    assert writers.odd == []
    assert seconds < DRAIN
    events = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert not [each for each in events if each["event"] == "failed"]
    # What was cut off may have happened or not; nothing happened that nobody asked for.
    asked = {*writers.acknowledged, *writers.refused, *(text for text, _ in writers.broken)}
    assert kept <= asked


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_sigkill_again_and_again_loses_nothing_acknowledged(path, capsys):
    chance = random.Random(20261116)
    acknowledged, cut = set(), 0
    for number in range(KILLS):
        with serving(path) as server, Writers(server, prefix=f"run {number}") as writers:
            until(lambda: len(writers.acknowledged) > 50)
            time.sleep(chance.random() / 2)
            server.process.kill()
            server.process.wait(10)
        assert writers.odd == []
        acknowledged |= set(writers.acknowledged)
        cut += len(writers.broken)
    lost = acknowledged - _kept(path)
    with capsys.disabled():
        print(f"\nSIGKILL x {KILLS}: {len(acknowledged):,} acknowledged, {len(lost)} lost, {cut} cut off")
    assert len(acknowledged) > 50 * KILLS
    assert lost == set()


@pytest.mark.slow
def test_sigterm_is_followed_by_a_start_that_knows_everything(path):
    texts = []
    for number in range(3):
        with serving(path) as server:
            status, told = server.ask("POST", LINE, {"text": f"Start number {number}."})
            assert status == 200
            texts.append(told["memory"]["text"])
            status, listed = server.ask("GET", LINE)
            assert {each["text"] for each in listed["memories"]} == set(texts)
            assert server.end()[0] == 0


def test_a_store_that_is_locked_is_told_and_works_again(path):
    with loopback(path, busy_seconds=0.3) as server:
        assert server.post(LINE, {"text": "Before."}).status == 200
        other = apsw.Connection(str(path))
        other.execute("begin immediate")
        locked = server.post(LINE, {"text": "Meanwhile."})
        read = server.get(LINE)
        other.execute("rollback")
        other.close()
        assert locked.status == 503, locked
        assert locked.problem["type"] == "urn:memoranda:ledger-locked"
        assert [each["text"] for each in read.json()["memories"]] == ["Before."]
        assert server.post(LINE, {"text": "After."}).status == 200
        assert {each["text"] for each in server.get(LINE).json()["memories"]} == {"Before.", "After."}


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process cannot be set here")
def test_a_disk_that_is_full_is_told_and_writes_work_again(path):
    with serving(path) as server:
        kept = []
        for number in range(10):
            status, told = server.ask("POST", LINE, {"text": f"Before, number {number}."})
            assert status == 200
            kept.append(told["memory"]["id"])
        size = max(each.stat().st_size for each in path.parent.glob("store.db*") if each.is_file())
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 65_536, resource.RLIM_INFINITY))
        for number in range(200):
            status, told = server.ask("POST", LINE, {"text": f"Bulky, number {number}: " + f"filling{number} " * 400})
            if status != 200:
                break
            kept.append(told["memory"]["id"])
        assert status == 507, (status, told)
        assert told["type"] == "urn:memoranda:ledger-full"
        assert "space" in told["hint"]
        assert server.ask("GET", "/healthz")[0] == 200
        status, listed = server.ask("GET", f"{LINE}&limit=1000")
        assert status == 200
        assert {each["id"] for each in listed["memories"]} == set(kept)
        assert server.ask("POST", f"/v1/recall?scope={SCOPE}", {"query": "Before, number 3"})[0] == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        status, told = server.ask("POST", LINE, {"text": "After."})
        assert status == 200, told
        kept.append(told["memory"]["id"])
        assert server.end()[0] == 0
    with open_store(path, SCOPE) as memory:
        assert memory.admin.verify().ok
        assert {each.id for each in memory.list(limit=1000)} == set(kept)
