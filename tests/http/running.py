"""Starts `memoranda serve` as people do, in a process of its own."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "error", **more}


def command(*arguments):
    return [sys.executable, "-m", "memoranda", "--embedder", "none", *(str(each) for each in arguments)]


def run(*arguments, **more):
    """A command that ends by itself."""
    return subprocess.run(
        command(*arguments), env=environment(**more), capture_output=True, text=True, timeout=60, check=False
    )


class Running:
    """A server that has said that it is ready."""

    def __init__(self, process):
        self.process = process
        line = process.stdout.readline()
        assert line, process.stderr.read()
        told = json.loads(line)
        self.url, self.token, self.pid = told["url"], told["token"], told["pid"]
        self.port = urlsplit(self.url).port

    def ask(self, method, path, body=None, *, token=None, headers=None):
        """(status, parsed body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return self.over(connection, method, path, body, token=token, headers=headers)
        finally:
            connection.close()

    def over(self, connection, method, path, body=None, *, token=None, headers=None):
        sent = {"Authorization": f"Bearer {self.token if token is None else token}", **(headers or {})}
        if token == "":
            del sent["Authorization"]
        raw = None
        if body is not None:
            raw, sent["Content-Type"] = json.dumps(body), "application/json"
        connection.request(method, path, raw, sent)
        answer = connection.getresponse()
        read = answer.read()
        return answer.status, json.loads(read) if "json" in answer.headers.get("content-type", "") else read.decode()

    def end(self, sent=signal.SIGTERM):
        """(exit code, what else it printed, its log)"""
        self.process.send_signal(sent)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def serving(*arguments, **more):
    """A server on any port that is free."""
    process = subprocess.Popen(
        command("serve", "--json", "--port", "0", *arguments),
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


class ByFile(http.client.HTTPConnection):
    """A connection to a socket in the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def events(log):
    """The lines of a log that are JSON."""
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]
