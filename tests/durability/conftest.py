import json
import random
import subprocess
import time

import pytest

from support import child, open_store


class Killer:
    """Starts a writer on one store, kills it at a random moment, and keeps the account of what it acknowledged."""

    def __init__(self, path, extras=""):
        self.path = path
        self.extras = extras
        self.kills = 0
        self.acknowledged = {}
        self.begun = {}
        self.erased = set()
        self._random = random.Random(20260301)

    def round(self, *, longest=0.5):
        self.kills += 1
        writer = child("writer", self.path, self.kills, self.extras, 0)
        try:
            first = writer.stdout.readline()
            assert first, writer.stderr.read()
            time.sleep(self._random.uniform(0.0, longest))
        finally:
            writer.kill()
            out, err = writer.communicate(timeout=30)
        assert "Traceback" not in err, err[-3000:]
        return self.account(out)

    def account(self, out, *, until=float("inf")):
        """Take down what the writer said; `until` is when there was nobody left who could be told."""
        fresh = []
        for line in out.splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # cut off by the kill: nobody was told
            said = json.loads(line)
            if said.get("at", 0) >= until:
                continue
            if "id" in said:
                self.acknowledged[said["id"]] = said["text"]
                fresh.append(said["id"])
            elif "erasing" in said:
                self.begun[said["erasing"]] = said["text"]
            elif "erased" in said:
                self.erased.add(said["erased"])
        return fresh

    def check(self, fresh, *, newest=5):
        """The store opens, it is sound, nothing acknowledged is missing, and the newest are recalled."""
        with open_store(self.path, embedder="hashed:words") as memory:
            verified = memory.admin.verify()
            assert verified.ok, verified
            there = set()
            while page := memory.list(states=(), limit=1000, offset=len(there)):
                there.update(each.id for each in page)
            expected = self.acknowledged.keys() - self.begun.keys()
            assert not expected - there, f"{len(expected - there)} acknowledged memories are lost"
            assert not self.erased & there
            for each in [each for each in fresh if each in expected][-newest:]:
                found = memory.recall(self.acknowledged[each], limit=3)
                assert each in [hit.id for hit in found]
            return there


@pytest.fixture
def killer(path):
    return Killer(path)


def run(*command):
    """A command of the system; its exit code decides."""
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
