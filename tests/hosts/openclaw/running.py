"""Starts OpenClaw, the memory server and a model service as people do, each in a process or on a port of its own."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from hosts.places import installed

OPENCLAW = installed("openclaw")
PLUGIN = OPENCLAW / "plugin"
TOKEN = "gateway-token-of-the-tests"
HOOKS_TOKEN = "hooks-token-of-the-tests"
PATIENCE = 240


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def until(condition, *, seconds=PATIENCE, what="it"):
    """What the condition gives, as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise AssertionError(f"{what} did not happen within {seconds} s")


class Asked:
    """A port of this machine that speaks JSON."""

    def __init__(self, port, token):
        self.port, self._token = port, token

    def ask(self, method, path, body=None, *, token=None, timeout=PATIENCE, **headers):
        """(status, parsed body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            sent = {"Authorization": f"Bearer {token or self._token}", **headers}
            raw = None if body is None else json.dumps(body)
            connection.request(method, path, raw, {**sent, "Content-Type": "application/json"} if raw else sent)
            answer = connection.getresponse()
            read = answer.read()
            is_json = "json" in answer.headers.get("content-type", "")
            return answer.status, json.loads(read) if is_json else read.decode()
        finally:
            connection.close()


@contextmanager
def process(arguments, *, log, env, **more):
    """A process that is ended with the test, whatever becomes of it."""
    with Path(log).open("ab") as file:
        running = subprocess.Popen(arguments, env=env, stderr=file, start_new_session=True, **more)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                running.wait(20)
        # What it started itself is of its own group.
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        if running.stdout is not None:
            running.stdout.close()


def plain_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORANDA_", "OPENCLAW_"))}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", **more}


def memoranda(*arguments):
    return [sys.executable, "-m", "memoranda", *map(str, arguments)]


@contextmanager
def serving(folder, *, also_called=""):
    """`memoranda serve` on a store of its own; gives how to ask it."""
    command = memoranda("--store", folder / "store.db", "--embedder", "none", "serve", "--json", "--port", "0")
    log = folder / "serve.log"
    env = plain_environment(**({"MEMORANDA_SERVER_HOSTS": also_called} if also_called else {}))
    with process(command, log=log, env=env, stdout=subprocess.PIPE, text=True) as running:
        line = running.stdout.readline()
        assert line, log.read_text(encoding="utf-8")
        told = json.loads(line)
        server = Asked(int(told["url"].rpartition(":")[2]), told["token"])
        server.token, server.url, server.store = told["token"], told["url"], folder / "store.db"
        yield server


class Home:
    """A folder in which OpenClaw lives: its state, its settings, its workspace."""

    def __init__(self, folder, *, model_url="http://127.0.0.1:9/v1", gateway_port=1):
        self.folder = folder
        self.workspace = folder / "workspace"
        self.settings_file = folder / "openclaw.json"
        for each in ("home", "state", "workspace", "tmp"):
            (folder / each).mkdir(parents=True)
        model = {
            "id": "fake-1",
            "name": "Fake",
            "reasoning": False,
            "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 120_000,
            "maxTokens": 4_096,
        }
        provider = {"baseUrl": model_url, "apiKey": "sk-local", "api": "openai-completions", "models": [model]}
        self.write(
            {
                "gateway": {
                    "mode": "local",
                    "port": gateway_port,
                    "bind": "loopback",
                    "auth": {"mode": "token", "token": TOKEN},
                    "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
                },
                "hooks": {"enabled": True, "token": HOOKS_TOKEN, "allowRequestSessionKey": False},
                "agents": {
                    "defaults": {
                        "workspace": str(self.workspace),
                        "skipBootstrap": True,
                        "model": {"primary": "fake/fake-1"},
                    }
                },
                "models": {"mode": "merge", "providers": {"fake": provider}},
                # Or a model is offered a tool that searches for tools, in the place of ours.
                "tools": {"toolSearch": False},
            }
        )

    @property
    def settings(self):
        return json.loads(self.settings_file.read_text(encoding="utf-8"))

    def write(self, settings):
        self.settings_file.write_text(json.dumps(settings, indent=2), encoding="utf-8")

    @contextmanager
    def with_settings(self, settings):
        """Others for a while."""
        kept = self.settings
        self.write(settings)
        try:
            yield
        finally:
            self.write(kept)

    def with_plugin(self, **config):
        """As the guide says: the slot, the entry, the permission, the settings."""
        settings = self.settings
        entry = {"enabled": True, "hooks": {"allowConversationAccess": True}, "config": config}
        settings["plugins"] = {
            "load": {"paths": [str(PLUGIN)]},
            "slots": {"memory": "memoranda"},
            "entries": {"memoranda": entry},
        }
        self.write(settings)

    def environment(self):
        binaries = [OPENCLAW / part / "node_modules" / ".bin" for part in ("node", "host")]
        return plain_environment(
            PATH=os.pathsep.join([*map(str, binaries), os.environ["PATH"]]),
            HOME=str(self.folder / "home"),
            TMPDIR=str(self.folder / "tmp"),
            OPENCLAW_STATE_DIR=str(self.folder / "state"),
            OPENCLAW_CONFIG_PATH=str(self.settings_file),
            OPENCLAW_NO_RESPAWN="1",
            NO_COLOR="1",
        )

    def run(self, *arguments, code=0):
        """What a command prints."""
        done = subprocess.run(
            [str(OPENCLAW / "host" / "node_modules" / ".bin" / "openclaw"), *map(str, arguments)],
            env=self.environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def json(self, *arguments, code=0):
        """The same as JSON, whatever stands before it."""
        printed = self.run(*arguments, "--json", code=code)
        return json.loads(printed[printed.index("{") :])


class Gateway(Asked):
    """A gateway that answers."""

    def __init__(self, home, port, log):
        super().__init__(port, TOKEN)
        self.home = home
        self._log = log

    @property
    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def own_lines(self):
        """What the plugin wrote into the log."""
        return [line.partition("memoranda: ")[2] for line in self.log.splitlines() if "memoranda: " in line]

    def receipts(self, name):
        schema = f"memoranda.{name}.receipt.v1"
        found = [json.loads(line) for line in self.own_lines if line.startswith("{")]
        return [each for each in found if each["schema"] == schema]

    def invoke(self, tool, args=None, *, status=200):
        """What a tool gives when it is called without any model: (text, details)."""
        got, answer = self.ask("POST", "/tools/invoke", {"tool": tool, "args": args or {}})
        assert got == status, answer
        return (answer["result"]["content"][0]["text"], answer["result"]["details"]) if status == 200 else answer

    def turn(self, text, *, session):
        """A turn of the agent, as `openclaw agent` does it; gives the answer."""
        body = {"model": "openclaw/main", "user": session, "messages": [{"role": "user", "content": text}]}
        status, answer = self.ask("POST", "/v1/chat/completions", body)
        assert status == 200, answer
        return answer["choices"][0]["message"]["content"]


@contextmanager
def gateway(home):
    port = home.settings["gateway"]["port"]
    log = home.folder / "gateway.log"
    program = str(OPENCLAW / "host" / "node_modules" / ".bin" / "openclaw")
    with (
        log.open("ab") as out,
        process([program, "gateway", "run"], log=log, env=home.environment(), stdout=out, cwd=home.folder) as running,
    ):
        found = Gateway(home, port, log)

        def answers():
            assert running.poll() is None, found.log
            try:
                return found.ask("GET", "/healthz", timeout=5)[0] == 200
            except OSError:
                return False

        until(answers, what="the gateway's start")
        yield found
