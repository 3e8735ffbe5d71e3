"""`Served`: a memory server as people start it, in a process of its own, which may be away and come back."""

import json
import os
import subprocess
import sys
from pathlib import Path


class Served:
    def __init__(self, store: Path) -> None:
        self.store = store
        self.process = None
        self.port = 0
        self.url = ""

    def start(self) -> None:
        """On any free port; later on the same one."""
        self.process = subprocess.Popen(
            [*self._command("serve"), "--json", "--port", str(self.port)],
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        told = json.loads(self.process.stdout.readline())
        self.url = told["url"]
        self.port = int(self.url.rpartition(":")[2].strip("/"))

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=60)
            self.process = None

    def token(self, scope: str) -> str:
        return self._run("token", "create", "--scope", scope, "--role", "writer", "--quiet").strip()

    def revoke(self, token: str) -> None:
        listed = json.loads(self._run("token", "list", "--json"))
        for each in listed["tokens"] if isinstance(listed, dict) else listed:
            if token.startswith(f"mem_{each['id']}") or each["id"] in token:
                self._run("token", "revoke", each["id"])

    def recalled(self, scope: str, query: str) -> str:
        return self._run("recall", query, "--scope", scope, "--json")

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "memoranda", *arguments, "--store", str(self.store), "--embedder", "none"]

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            self._command(*arguments), env=self._environment(), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
