"""LangBot as its operators run it, for tests: runtime, application, our plugin as an installed package, a bot, a model.

Everything goes through LangBot's own HTTP API. Messages come in through its HTTP bot, as from any chat platform.
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import yaml

from hosts.places import ROOT

API = "http://127.0.0.1:5300"
MODEL = "http://127.0.0.1:8940/openai/v1"
AUTHOR, NAME = "memoranda", "Memoranda"
_HERE = Path(__file__).parent
_PATIENCE = 240.0
_USER = {"user": "owner@example.org", "password": "only-for-tests-1"}


class NotPossible(Exception):
    """Why LangBot cannot be run here."""


def _apart():
    """The command that gives a process a network of its own, as root or as anybody."""
    for command in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    raise NotPossible("a network namespace cannot be made here (unshare --net)")


class Stack:
    """One LangBot. `say` sends a message and gives the answer; `http` is its API."""

    def __init__(self, installed, folder):
        self.venv = installed / "venv"
        self._wheels = installed / "wheels"
        self.folder = folder
        self.seen_log, self.model_log = folder / "seen.jsonl", folder / "model.jsonl"
        self._env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        python = str(self.venv / "bin/python")
        self._inside = subprocess.Popen(
            [*_apart(), python, str(_HERE / "inside.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**self._env, "PATH": f"/usr/sbin:/sbin:{self._env['PATH']}"},
        )
        assert json.loads(self._inside.stdout.readline() or "{}").get("ready"), "the namespace was not set up"
        self._token = ""
        self.bot = self.pipeline = self._runner = ""

    # -- the namespace --

    def _ask(self, **asked):
        self._inside.stdin.write(json.dumps(asked) + "\n")
        self._inside.stdin.flush()
        told = json.loads(self._inside.stdout.readline())
        assert "error" not in told, told
        return told

    def start(self, name, command, cwd, **env):
        log = str(self.folder / f"{name}.log")
        self._ask(
            do="start", name=name, command=list(map(str, command)), cwd=str(cwd), env={**self._env, **env}, log=log
        )

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def close(self):
        self._inside.stdin.close()
        try:
            self._inside.wait(60)
        except subprocess.TimeoutExpired:
            self._inside.kill()
            self._inside.wait()
        self._inside.stdout.close()

    def http(self, method, path, body=None, *, expect=(200,), headers=None, seconds=120):
        sent = {"content-type": "application/json", **(headers or {})}
        if self._token:
            sent.setdefault("Authorization", f"Bearer {self._token}")
        told = self._ask(
            do="http",
            method=method,
            url=f"{API}{path}",
            headers=sent,
            body=body if body is None or isinstance(body, str) else json.dumps(body),
            seconds=seconds,
        )
        if expect and told["status"] not in expect:
            raise AssertionError(f"{method} {path}: {told['status']} {told['body'][:600]}")
        return json.loads(told["body"]) if told["body"].startswith("{") else told

    def wait(self, what, check, *, patience=_PATIENCE):
        """Until it is so; a test that waits in vain says for what, and shows the ends of the logs."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = check()
            if found:
                return found
            time.sleep(0.3)
        tails = "\n".join(
            f"== {each.name}\n{each.read_text(errors='replace')[-1500:]}" for each in self.folder.glob("*.log")
        )
        raise AssertionError(f"waited in vain for {what}\n{tails}")

    # -- setting up --

    def boot(self):
        (self.folder / "data").mkdir()
        self._write_config()
        index = self._index()
        lbp = self.venv / "bin/lbp"
        self.start(
            "model",
            [self.venv / "bin/python", "-m", "memoranda.testing.agents", "--port", "8940", "--log", self.model_log],
            self.folder,
        )
        self.start("runtime", [lbp, "rt"], self.folder, LANGBOT_PLUGIN_PYPI_INDEX_URL=index)
        self.start("langbot", [self.venv / "bin/langbot", "--standalone-runtime"], self.folder)
        self.wait("LangBot's API", self._up)
        self.http("POST", "/api/v1/user/init", _USER)
        self._token = self.http("POST", "/api/v1/user/auth", _USER)["data"]["token"]
        debug = self.wait("the plugin runtime", self._debug_info)
        self._install_plugin(lbp)
        runner = self.folder / "runner"
        shutil.copytree(_HERE / "runner", runner)
        self.wait("the plugin", lambda: self.status(NAME) == "initialized")
        self.start(
            "runner",
            [lbp, "run"],
            runner,
            DEBUG_RUNTIME_WS_URL="ws://127.0.0.1:5401/plugin/debug/ws",
            PLUGIN_DEBUG_KEY=debug,
            ONLOOKER_LOG=str(self.seen_log),
        )
        self.wait("the runner", lambda: self.status("TestRunner") == "initialized")
        self._set_up_pipeline()
        self._set_up_bot()

    def _up(self):
        told = self._ask(do="http", method="GET", url=f"{API}/api/v1/system/info", headers={}, body=None, seconds=5)
        return told["status"] == 200

    def _debug_info(self):
        told = self.http("GET", "/api/v1/plugins/debug-info", expect=())
        return told["data"].get("plugin_debug_key") if told.get("code") == 0 else None

    def _write_config(self):
        template = next(self.venv.glob("lib/python3*/site-packages/langbot/templates/config.yaml"))
        config = yaml.safe_load(template.read_text(encoding="utf-8"))
        config["api"].update(host="127.0.0.1", port=5300)
        config["space"].update(disable_telemetry=True, disable_models_service=True)
        config["plugin"].update(runtime_ws_url="ws://127.0.0.1:5400/control/ws", enable_marketplace=False)
        config["box"]["enabled"] = False
        (self.folder / "data/config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")

    def _index(self):
        """A package index in a folder: what LangBot's runtime installs for a plugin comes from there."""
        wheels, simple = self.folder / "wheels", self.folder / "simple"
        command = [self.venv / "bin/python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--disable-pip-version-check", "--wheel-dir", wheels, ROOT], check=True)
        for wheel in [*self._wheels.glob("*.whl"), *wheels.glob("*.whl")]:
            page = simple / re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower() / "index.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f'<a href="{wheel.as_uri()}">{wheel.name}</a>\n', encoding="utf-8")
        return simple.as_uri()

    def _install_plugin(self, lbp):
        source = self.folder / "plugin"
        shutil.copytree(ROOT / "plugins/langbot", source, ignore=shutil.ignore_patterns("__pycache__", "data"))
        subprocess.run([lbp, "build", "-o", self.folder / "dist"], cwd=source, check=True, capture_output=True)
        package = next((self.folder / "dist").glob("*.lbpkg"))
        self.upload("/api/v1/plugins/install/local", package.read_bytes(), package.name)

    def upload(self, path, content, filename):
        body = self.folder / "upload.bin"
        boundary = "----memoranda-test-boundary"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        head += "Content-Type: application/octet-stream\r\n\r\n"
        body.write_bytes(head.encode() + content + f"\r\n--{boundary}--\r\n".encode())
        return self._posted_file(path, body, f"multipart/form-data; boundary={boundary}")

    def _posted_file(self, path, body, kind):
        told = self._ask(
            do="http_file",
            url=f"{API}{path}",
            headers={"content-type": kind, "Authorization": f"Bearer {self._token}"},
            path=str(body),
        )
        assert told["status"] == 200, told
        return json.loads(told["body"])

    def status(self, name):
        plugins = self.http("GET", "/api/v1/plugins")["data"]["plugins"]
        found = [each for each in plugins if each["manifest"]["manifest"]["metadata"]["name"] == name]
        return found[0].get("status", "") if found else ""

    def _set_up_pipeline(self):
        provider = self.http(
            "POST",
            "/api/v1/provider/providers",
            {"name": "local", "requester": "openai-chat-completions", "base_url": MODEL, "api_keys": ["sk-local"]},
        )["data"]["uuid"]
        model = self.http(
            "POST",
            "/api/v1/provider/models/llm",
            {"name": "fake-1", "provider_uuid": provider, "abilities": ["func_call"], "extra_args": {}},
        )["data"]["uuid"]
        pipelines = self.http("GET", "/api/v1/pipelines")["data"]["pipelines"]
        if not pipelines:
            self.http("POST", "/api/v1/pipelines", {"name": "t", "description": "t", "is_default": True})
            pipelines = self.http("GET", "/api/v1/pipelines")["data"]["pipelines"]
        self.pipeline = pipelines[0]["uuid"]
        metadata = self.http("GET", "/api/v1/pipelines/_/metadata")["data"]["configs"]
        self._runner = re.search(r'"(plugin:[^"]*one_tool[^"]*|[^"]*one_tool[^"]*)"', json.dumps(metadata))[1]
        self._model = model
        self.configure()

    def configure(self, *knowledge_bases):
        """The pipeline, with these knowledge bases."""
        pipeline = self.http("GET", f"/api/v1/pipelines/{self.pipeline}")["data"]["pipeline"]
        config = pipeline["config"]
        config["ai"]["runner"]["id"] = self._runner
        config["ai"]["runner_config"] = {
            self._runner: {
                "model": {"primary": self._model, "fallbacks": []},
                "prompt": [{"role": "system", "content": "You are a helpful assistant."}],
                "knowledge-bases": list(knowledge_bases),
            }
        }
        config["safety"]["rate-limit"].update({"limitation": 100_000})
        config["trigger"]["group-respond-rules"].update({"at": False, "prefix": [], "regexp": [".*"], "random": 1.0})
        config["output"]["misc"].update({"at-sender": False, "quote-origin": False})
        changed = {"name": pipeline["name"], "description": pipeline["description"], "config": config}
        self.http("PUT", f"/api/v1/pipelines/{self.pipeline}", changed)

    def _set_up_bot(self):
        bot = {
            "name": "chat",
            "description": "",
            "adapter": "http_bot",
            "adapter_config": {"signature_required": False, "callback_timeout": 15, "default_session_type": "person"},
            "enable": True,
            # Every message is answered, also one in a group that does not mention the bot.
            "event_bindings": [
                {
                    "event_pattern": "message.received",
                    "target_type": "pipeline",
                    "target_uuid": self.pipeline,
                    "filters": [],
                    "priority": 0,
                    "enabled": True,
                }
            ],
        }
        self.bot = self.http("POST", "/api/v1/platform/bots", bot)["data"]["uuid"]

    def make_admin(self, kind, name):
        self.http("POST", f"/api/v1/platform/bots/{self.bot}/admins", {"launcher_type": kind, "launcher_id": name})

    # -- talking --

    def say(self, text, *, group="", person="", sender="", name="Somebody"):
        """A message in a group by somebody, or in a private chat; the answer as text."""
        told = self.http(
            "POST",
            f"/bots/{self.bot}/sync",
            {
                "session_id": group or person,
                "session_type": "group" if group else "person",
                "sender": {"id": sender or person, "name": name},
                "message": [{"type": "Plain", "text": text}],
            },
        )
        return "".join(part.get("text", "") for part in told["data"]["message"])

    def prompts(self):
        """What was asked of the model, newest last: each the messages of one request."""
        lines = self.model_log.read_text(encoding="utf-8").splitlines()
        bodies = [json.loads(line) for line in lines]
        return [each["body"] for each in bodies if each["path"].endswith("/chat/completions")]

    def seen(self):
        """What another plugin saw of the last message."""
        return json.loads(self.seen_log.read_text(encoding="utf-8").splitlines()[-1])
