"""`Core`: a real Home Assistant process with our component in its configuration folder, driven over its own API."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx

from hosts.home_assistant.socket_client import WebSocket

ROOT = Path(__file__).resolve().parents[3]
COMPONENT = ROOT / "plugins/home_assistant/custom_components/memoranda"
PATIENCE = 240  # seconds for a start on a machine that does much else
PASSWORD = "only-for-tests-1"
CONFIGURATION = """
homeassistant:
  name: Test home
  country: PL
  language: en
  time_zone: Europe/Warsaw
http:
  server_host: 127.0.0.1
  server_port: PORT
api:
assist_pipeline:
auth:
config:
conversation:
diagnostics:
frontend:
history:
logbook:
person:
recorder:
  commit_interval: 0
repairs:
input_boolean:
  office: {name: Office}
  garage_door: {name: Garage door}
input_text:
  answer: {max: 255}
template:
  - light:
      - unique_id: office_light
        name: Office light
        default_entity_id: light.office
        state: "{{ is_state('input_boolean.office', 'on') }}"
        turn_on: {action: input_boolean.turn_on, target: {entity_id: input_boolean.office}}
        turn_off: {action: input_boolean.turn_off, target: {entity_id: input_boolean.office}}
automation:
  - alias: A voice that nobody is signed in for
    triggers: {trigger: event, event_type: voice}
    actions:
      - action: conversation.process
        data: {text: "{{ trigger.event.data.text }}", agent_id: conversation.memoranda_agent}
        response_variable: told
      - action: input_text.set_value
        target: {entity_id: input_text.answer}
        data: {value: "{{ trigger.event.data.text }} -> {{ told.response.speech.plain.speech }}"}
  - alias: What is known of a person
    triggers: {trigger: event, event_type: count}
    actions:
      - action: memoranda.memory_list
        data: {person: "{{ trigger.event.data.person }}"}
        response_variable: told
      - action: input_text.set_value
        target: {entity_id: input_text.answer}
        data: {value: "{{ trigger.event.data.person }} has {{ told.total }}"}
logger:
  default: info
"""
# Before 2025.8 a template light is a platform of light, and has no id of its own choosing.
OLDER_LIGHT = """
light:
  - platform: template
    lights:
      office:
        unique_id: office_light
        friendly_name: Office light
        value_template: "{{ is_state('input_boolean.office', 'on') }}"
        turn_on: {action: input_boolean.turn_on, target: {entity_id: input_boolean.office}}
        turn_off: {action: input_boolean.turn_off, target: {entity_id: input_boolean.office}}
"""


class Failed(Exception):
    """An answer of the core that is no success."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class Core:
    """One home. May be stopped and started again; its folder stays."""

    newest = False

    def __init__(self, hass: Path, folder: Path, environment: dict[str, str]) -> None:
        self.hass = hass
        self.folder = folder
        self.environment = environment
        self.process = None
        self.port = 0
        self._starts = 0
        (folder / "custom_components").mkdir(parents=True)
        shutil.copytree(COMPONENT, folder / "custom_components/memoranda", ignore=shutil.ignore_patterns("__pycache__"))

    # -- the process --

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "output.log").read_text(encoding="utf-8", errors="replace")

    def command(self) -> list[str]:
        return [str(self.hass), "-c", str(self.folder), "--skip-pip"]

    @property
    def configuration(self) -> str:
        before, _, after = CONFIGURATION.partition("template:\n")
        return before + "automation:\n" + after.partition("automation:\n")[2] + OLDER_LIGHT

    def start(self) -> None:
        self._starts += 1
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        written = self.configuration.replace("PORT", str(self.port))
        (self.folder / "configuration.yaml").write_text(written, encoding="utf-8")
        with (self.folder / "output.log").open("ab") as output:
            self.process = subprocess.Popen(
                self.command(),
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **self.environment},
                start_new_session=True,
            )
        self.wait(self._answers, "the core did not start")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            raise AssertionError("the core did not end when it was told to") from None
        finally:
            self.process = None

    def kill(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"the core ended: {self.log[-4000:]}"
        try:
            answer = httpx.get(f"{self.url}/api/onboarding", timeout=5)
        except httpx.HTTPError:
            return False
        return answer.status_code in (200, 401, 404) and self.log.count("Home Assistant initialized") == self._starts

    def wait(self, condition, complaint: str, *, refresh=lambda: None):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = condition()
            if found:
                return found
            time.sleep(0.2)
            refresh()
        raise AssertionError(f"{complaint}: {self.log[-4000:]}")

    # -- people --

    def onboard(self, name: str) -> "Person":
        """The first user, who owns this home."""
        body = {
            "client_id": f"{self.url}/",
            "name": name,
            "username": name.lower(),
            "password": PASSWORD,
            "language": "en",
        }
        code = self._post("/api/onboarding/users", body)["auth_code"]
        return Person(self, name, self._token(code))

    def join(self, owner: "Person", name: str) -> "Person":
        """Another user with a person of their own, as an owner adds them."""
        user = owner.ask("config/auth/create", name=name, group_ids=["system-users"])["user"]
        owner.ask(
            "config/auth_provider/homeassistant/create", user_id=user["id"], username=name.lower(), password=PASSWORD
        )
        owner.ask("person/create", name=name, user_id=user["id"], device_trackers=[])
        return self.login(name)

    def login(self, name: str) -> "Person":
        client = f"{self.url}/"
        flow = self._post(
            "/auth/login_flow", {"client_id": client, "handler": ["homeassistant", None], "redirect_uri": client}
        )
        done = self._post(
            f"/auth/login_flow/{flow['flow_id']}",
            {"client_id": client, "username": name.lower(), "password": PASSWORD},
        )
        return Person(self, name, self._token(done["result"]))

    def _token(self, code: str) -> str:
        form = {"grant_type": "authorization_code", "code": code, "client_id": f"{self.url}/"}
        return httpx.post(f"{self.url}/auth/token", data=form, timeout=60).raise_for_status().json()["access_token"]

    def _post(self, path: str, body: dict) -> dict:
        return httpx.post(self.url + path, json=body, timeout=60).raise_for_status().json()


class NewestCore(Core):
    """In a Debian of its own, below the folder `house`: with another Python, and another world around it."""

    newest = True

    def __init__(self, house: Path, name: str, environment: dict[str, str]) -> None:
        self.house = house
        place = house / "homes" / name
        shutil.rmtree(place, ignore_errors=True)
        super().__init__(Path("/ha/bin/hass"), place / "config", environment)
        shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def command(self) -> list[str]:
        home = "/" + str(self.folder.relative_to(self.house))
        inside = {"PYTHONPATH": home.replace("/config", "/src"), "XDG_CACHE_HOME": "/homes/cache"}
        said = [f"{name}={value}" for name, value in inside.items()]
        return ["chroot", str(self.house), "env", *said, str(self.hass), "-c", home, "--skip-pip"]

    @property
    def configuration(self) -> str:
        return CONFIGURATION


class Person:
    """Somebody who is signed in."""

    def __init__(self, core: Core, name: str, token: str) -> None:
        self.core = core
        self.name = name
        self.token = token

    # -- the two doors --

    def request(self, method: str, path: str, body: dict | None = None):
        answer = httpx.request(
            method,
            self.core.url + path,
            json=body,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=120,
        )
        told = answer.json() if "json" in answer.headers.get("content-type", "") else answer.text
        if answer.status_code >= 400:
            raise Failed(answer.status_code, told)
        return told

    def post(self, path: str, body: dict):
        return self.request("POST", path, body)

    def get(self, path: str):
        return self.request("GET", path)

    def ask(self, command: str, **given):
        """A command of the WebSocket API."""
        return self._asked(command, given)[0]

    def speak(self, text: str, **given) -> str:
        """Through a whole pipeline, as a satellite does: what is said back."""
        given = {"start_stage": "intent", "end_stage": "intent", "input": {"text": text}, **given}
        events = self._asked("assist_pipeline/run", given, until="run-end")[1]
        (ended,) = [each["data"] for each in events if each["type"] == "intent-end"]
        return ended["intent_output"]["response"]["speech"]["plain"]["speech"]

    def _asked(self, command: str, given: dict, until: str = ""):
        """On a connection of its own: one that is idle would be closed."""
        events = []
        socket = WebSocket("127.0.0.1", self.core.port, "/api/websocket")
        try:
            assert socket.receive()["type"] == "auth_required"
            socket.send({"type": "auth", "access_token": self.token})
            assert socket.receive()["type"] == "auth_ok"
            socket.send({"id": 1, "type": command, **given})
            while (answer := socket.receive())["type"] != "result":
                pass
            while until and answer["success"] and not (events and events[-1]["type"] == until):
                events.append(socket.receive()["event"])
        finally:
            socket.close()
        if not answer["success"]:
            raise Failed(answer["error"]["code"], answer["error"]["message"])
        return answer["result"], events

    # -- what people do --

    def call(self, service: str, **data) -> dict:
        """A service of ours, with its response."""
        return self.post(f"/api/services/memoranda/{service}?return_response", data)["service_response"]

    def say(self, text: str, *, language: str = "en", agent: str = "conversation.memoranda_agent", **more) -> dict:
        """What an agent answers: `speech`, `type`, `code` of an error, and the conversation."""
        told = self.post("/api/conversation/process", {"text": text, "language": language, "agent_id": agent, **more})
        response = told["response"]
        return {
            "speech": response["speech"]["plain"]["speech"],
            "type": response["response_type"],
            "code": response["data"].get("code"),
            "conversation": told["conversation_id"],
        }

    def answer_of(self, event: str, beginning: str, **data) -> str:
        """What an automation wrote down after an event; it says first what it was asked."""
        self.post(f"/api/events/{event}", data)
        return self.core.wait(
            lambda: (said := self.state("input_text.answer")).startswith(beginning) and said,
            f"no automation answered {event}",
        )

    def state(self, entity: str) -> str:
        return self.get(f"/api/states/{entity}")["state"]

    def set_up(self, *steps: dict, handler: str = "memoranda") -> dict:
        """A config flow, one answer for each step."""
        return self._flow("/api/config/config_entries/flow", handler, steps)

    def set_options(self, entry: str, options: dict) -> dict:
        return self._flow("/api/config/config_entries/options/flow", entry, [options])

    def fix(self, issue: str, *steps: dict) -> dict:
        flow = self.post("/api/repairs/issues/fix", {"handler": "memoranda", "issue_id": issue})
        for step in steps:
            flow = self.post(f"/api/repairs/issues/fix/{flow['flow_id']}", step)
        return flow

    def _flow(self, path: str, handler: str, steps) -> dict:
        flow = self.post(path, {"handler": handler, "show_advanced_options": False})
        for step in steps:
            flow = self.post(f"{path}/{flow['flow_id']}", step)
        return flow


def as_text(value) -> str:
    return json.dumps(value, ensure_ascii=False)
