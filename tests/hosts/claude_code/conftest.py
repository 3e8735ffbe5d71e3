import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.places import HOSTS

from .responses import ResponsesServer

MEMORANDA = str(Path(sys.executable).parent / "memoranda")
BIN = HOSTS / "claude_code/node_modules/.bin"
# Nothing of this machine's own settings, and no errands of the program's own.
QUIET = {
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "FAKE_KEY": "none",
    "MCP_TIMEOUT": "60000",
    # On a machine with other work, too: these tests are not about the time limit.
    "MEMORANDA_HOOK_SECONDS": "9",
}


@pytest.fixture
def model():
    """The model service that hosts are given."""
    with ResponsesServer() as server:
        yield server


class Person:
    """Somebody with a home folder of their own, who runs programs in a project of theirs."""

    def __init__(self, home, model, model_cache):
        self.home = home
        self.project = home / "project"
        self.project.mkdir(parents=True)
        self.store = home / "memory.db"
        kept = {
            name: each for name, each in os.environ.items() if not name.startswith(("MEMORANDA_", "CLAUDE", "XDG_"))
        }
        self.environment = {
            **kept,
            **QUIET,
            "HOME": str(home),
            "MEMORANDA_CACHE": model_cache,
            "ANTHROPIC_BASE_URL": model.anthropic_url,
        }

    def run(self, *line, **more):
        """What a program prints; it must succeed."""
        done = subprocess.run(
            [str(each) for each in line],
            cwd=self.project,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def memoranda(self, *words):
        return self.run(MEMORANDA, *words)

    def install(self, host, *options):
        where = ("--store", self.store, "--scope", "me", "--embedder", "none")
        return self.memoranda("install", host, *where, *options)

    def claude(self, prompt, *options, **more):
        """One turn of Claude Code: what it answers, and the name of the conversation."""
        line = (BIN / "claude", "-p", prompt, "--output-format", "json", *options)
        found = json.loads(self.run(*line, **more))
        assert found["is_error"] is False, found
        return found["result"], found["session_id"]

    def codex(self, prompt, *options):
        """One turn of Codex: what it answers."""
        options = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json", *options)
        lines = self.run(BIN / "codex", "exec", *options, prompt).splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        (said,) = [each["item"]["text"] for each in events if each.get("item", {}).get("type") == "agent_message"]
        return said

    def memories(self):
        where = ("--store", self.store, "--scope", "me", "--json")
        return sorted(each["text"] for each in json.loads(self.memoranda("list", *where))["memories"])


@pytest.fixture
def anna(tmp_path, model, model_cache):
    return Person(tmp_path / "anna", model, model_cache)
