"""Agents with a model: Home Assistant's own integration of one, against a service for tests that does as it is told."""

import json
import re

import pytest

from hosts.home_assistant.core import as_text
from memoranda.testing.agents import AgentServer

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(600)]
MODEL = "conversation.claude"
REMEMBERING = "conversation.memoranda_agent"


class ModelServer(AgentServer):
    """Also describes one model by its name, which the integration asks for whenever it is loaded; and may be away."""

    away = False
    loaded = 0

    def reply(self, request):
        return (500, {}, b"{}") if self.away else super().reply(request)

    def look(self, request):
        if "/models/" in request.path:
            self.loaded += 1
            name = request.path.rpartition("/")[2].partition("?")[0]
            body = {"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
            return 200, {}, json.dumps(body).encode()
        return super().look(request)


class Home:
    def __init__(self, core, server):
        self.core = core
        self.server = server
        self.anna = core.onboard("Anna")
        self.made = self.anna.set_up({"next_step_id": "embedded"}, {"home": "home"})
        self.ben = core.join(self.anna, "Ben")
        model = self.anna.set_up({"api_key": "any"}, handler="anthropic")
        assert model["type"] == "create_entry", model
        self._wait_for(MODEL)
        self.model = model["result"]["entry_id"]
        self.give_tools("memoranda_assist")
        self.anna.set_options(self.made["result"]["entry_id"], {**self.made["options"], "agent": MODEL})
        self.anna.call("memory_search", query="where is the key?")
        self.anna.ask(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=["input_boolean.garage_door"],
            should_expose=True,
        )

    def _wait_for(self, agent):
        self.core.wait(
            lambda: agent in [each["id"] for each in self.anna.ask("conversation/agent/list")["agents"]],
            "the model's agent is not there",
        )

    def give_tools(self, api):
        """The model's integration is told which API its agent may use."""
        before = self.server.loaded
        told = self.anna.set_options(self.model, {"recommended": True, "prompt": "Be brief.", "llm_hass_api": api})
        assert told["type"] == "create_entry", told
        self.core.wait(lambda: self.server.loaded > before, "the options did not take effect")
        self._wait_for(MODEL)

    def last_prompt(self):
        return self.server.prompts[-1]


@pytest.fixture(scope="module")
def server():
    with ModelServer(marker="<relevant-memories") as running:
        yield running


@pytest.fixture(scope="module")
def home(make_core, server):
    core = make_core(ANTHROPIC_BASE_URL=server.anthropic_url)
    core.start()
    return Home(core, server)


# -- tools that a model calls --


def test_a_model_stores_and_recalls_with_tools(home):
    stored = home.anna.say('CALL memory_store {"text": "The tortoise is called Igor."}', agent=MODEL)
    assert "Stored memory" in stored["speech"]
    found = home.anna.say('CALL memory_recall {"query": "what is the tortoise called?"}', agent=MODEL)
    assert "Igor" in found["speech"]


def test_what_a_model_stored_is_not_trusted(home):
    kept = home.anna.call("memory_search", query="tortoise")["results"]
    assert [(each["trust"], each["source"]) for each in kept] == [("untrusted", "assistant")]


def test_a_model_reaches_only_what_its_user_reaches(home):
    found = home.ben.say('CALL memory_recall {"query": "what is the tortoise called?"}', agent=MODEL)
    assert "TOOLRESULT" in found["speech"]
    assert "Igor" not in found["speech"]
    ours = [tool for tool in json.loads(home.last_prompt())["tools"] if tool["name"].startswith("memory_")]
    assert all("scope" not in tool["input_schema"]["properties"] for tool in ours)


def test_a_model_forgets_what_it_stored_but_not_what_somebody_said(home):
    own = home.anna.call("memory_store", text="The gate code changes every spring.")["id"]
    refused = home.anna.say(f'CALL memory_forget {{"id": "{own}"}}', agent=MODEL)
    assert "error" in refused["speech"]
    assert "every spring" in as_text(home.anna.call("memory_list"))


def test_a_model_asks_about_things_by_their_names(home):
    home.anna.call("remember_fact", entity_id="input_boolean.garage_door", attribute="note", value="sticks in winter")
    told = home.anna.say('CALL what_do_you_know_about {"subject": "the garage door"}', agent=MODEL)
    assert "sticks in winter" in told["speech"]


def test_a_model_is_told_what_happened_from_the_history(home):
    home.anna.post("/api/services/input_boolean/turn_on", {"entity_id": "input_boolean.garage_door"})
    told = home.anna.say('CALL what_happened {"period": "the last hour", "subject": "garage door"}', agent=MODEL)
    assert re.search(r"Garage door: on", told["speech"])


def test_a_wrong_call_is_told_to_the_model(home):
    told = home.anna.say('CALL memory_recall {"question": "what?"}', agent=MODEL)
    assert "error" in told["speech"]


def test_beside_memory_the_model_still_controls_the_house(home):
    home.anna.say("hello", agent=MODEL)
    tools = {tool["name"] for tool in json.loads(home.last_prompt())["tools"]}
    assert {"HassTurnOn", "memory_store", "memory_recall", "memory_forget", "what_happened"} <= tools


def test_memory_can_be_given_to_a_model_alone(home):
    home.give_tools("memoranda")
    home.anna.say("hello", agent=MODEL)
    tools = {tool["name"] for tool in json.loads(home.last_prompt())["tools"]}
    assert "memory_recall" in tools
    assert "HassTurnOn" not in tools
    home.give_tools("memoranda_assist")


# -- the agent around it --


def test_the_turn_is_captured_and_later_ones_are_told(home):
    home.anna.say("Remember that I water the ferns on Mondays.", agent=REMEMBERING)
    answer = home.anna.say("When do I water the ferns?", agent=REMEMBERING)
    assert answer["speech"].endswith("[MEM]")
    assert "ferns on Mondays" in home.last_prompt()


def test_nobody_elses_memories_are_in_a_prompt(home):
    answer = home.ben.say("When do I water the ferns?", agent=REMEMBERING)
    assert "[MEM]" not in answer["speech"]
    assert "Mondays" not in home.last_prompt()


def test_what_was_put_into_a_prompt_is_not_captured_again(home):
    before = home.anna.call("memory_list")["total"]
    home.anna.say("When do I water the ferns?", agent=REMEMBERING)
    assert home.anna.call("memory_list")["total"] == before


def test_a_conversation_goes_on_through_the_agent(home):
    first = home.ben.say("my favourite number today", agent=REMEMBERING)
    home.ben.say("and again", agent=REMEMBERING, conversation_id=first["conversation"])
    assert "my favourite number today" in home.last_prompt()


def test_what_happened_is_told_from_the_history_and_not_from_memory(home):
    home.anna.call("memory_store", text="Today the garage door was painted yellow.")
    home.anna.say("What happened today at the garage door?", agent=REMEMBERING)
    assert "From the history" in home.last_prompt()
    assert "yellow" not in home.last_prompt()


def test_when_the_model_is_away_its_error_stands_and_a_request_is_kept(home):
    home.server.away = True
    answer = home.anna.say("Remember that the plumber comes on Thursday.", agent=REMEMBERING)
    home.server.away = False
    assert answer["type"] == "error"
    assert "plumber" not in answer["speech"]
    assert "plumber" in as_text(home.anna.call("memory_search", query="plumber"))


def test_nothing_went_wrong_and_nothing_blocked(home):
    assert "Detected blocking call" not in home.core.log
    ours = [
        line
        for line in home.core.log.splitlines()
        if "custom_components.memoranda" in line and re.search(r" (ERROR|WARNING) ", line)
    ]
    assert ours == []
