"""A real server in a process of its own, with its log."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager


class Served:
    """A server that has said that it is ready."""

    def __init__(self, process):
        self._process = process
        line = process.stdout.readline()
        assert line, process.stderr.read()
        told = json.loads(line)
        self._url, self._token = told["url"], told["token"]

    def ask(self, method, path, body=None):
        """The status of the answer."""
        request = urllib.request.Request(
            self._url + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def end(self):
        """Its log."""
        self._process.terminate()
        return self._process.communicate(timeout=30)[1]


@contextmanager
def serving(store):
    """A server on any port that is free."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    command = ["--embedder", "none", "serve", "--json", "--port", "0", "--store", str(store)]
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda", *command],
        env={**kept, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
