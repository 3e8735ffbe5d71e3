"""Agents with a model: Home Assistant's own integration of one, against a service for tests that does as it is told."""

import json
import re

import pytest

from hosts.home_assistant.core import as_text
from memoranda.testing.agents import AgentServer

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(600)]
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
    """Anna and Ben, and two agents with a model: one that also controls the house, and one with memory alone."""

    def __init__(self, core, server):
        self.core = core
        self.server = server
        self.anna = core.onboard("Anna")
        self.made = self.anna.set_up({"next_step_id": "embedded"}, {"home": "home"})
        self.ben = core.join(self.anna, "Ben")
        if core.newest:
            self.model, self.memory_alone = self._newer_agents("assist", "memoranda")
        else:
            self.model, self.memory_alone = self._older_agents("memoranda_assist", "memoranda")
        self.anna.set_options(self.made["result"]["entry_id"], {**self.made["options"], "agent": self.model})
        self.anna.call("memory_search", query="where is the key?")
        self.anna.ask(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=["input_boolean.garage_door"],
            should_expose=True,
        )

    def _older_agents(self, *apis):
        """Each an entry of the integration, with an API in its options."""
        for at, api in enumerate(apis):
            made = self.anna.set_up({"api_key": f"any-{at}"}, handler="anthropic")
            assert made["type"] == "create_entry", made
            before = self.server.loaded
            told = self.anna.set_options(
                made["result"]["entry_id"], {"recommended": True, "prompt": "Be brief.", "llm_hass_api": api}
            )
            assert told["type"] == "create_entry", told
            self.core.wait(lambda before=before: self.server.loaded > before, "the options did not take effect")
        return self._there("conversation.claude", "conversation.claude_2")

    def _newer_agents(self, *apis):
        """Each a subentry of one entry."""
        made = self.anna.set_up({"url": self.server.openai_url}, handler="litellm")
        assert made["type"] == "create_entry", made
        path = "/api/config/config_entries/subentries/flow"
        for api in apis:
            flow = self.anna.post(path, {"handler": [made["result"]["entry_id"], "conversation"]})
            told = self.anna.post(
                f"{path}/{flow['flow_id']}", {"model": "fake-1", "prompt": "Be brief.", "llm_hass_api": [api]}
            )
            assert told["type"] == "create_entry", told
        return self._there("conversation.fake_1", "conversation.fake_1_2")

    def _there(self, *agents):
        self.core.wait(
            lambda: set(agents) <= {each["id"] for each in self.anna.ask("conversation/agent/list")["agents"]},
            "the agents of the model are not there",
        )
        return agents

    def tools(self):
        """What the model was offered last, by the names that we know them by."""
        offered = json.loads(self.last_prompt())["tools"]
        found = [each.get("function", each) for each in offered]
        return {each["name"].rpartition("__")[2]: each for each in found}

    def use(self, person, tool, **given):
        """Have the model call one of its tools: what the result says."""
        person.say("hello", agent=self.model)
        name = self.tools()[tool]["name"]
        return person.say(f"CALL {name} {json.dumps(given)}", agent=self.model)["speech"]

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
    assert "Stored memory" in home.use(home.anna, "memory_store", text="The tortoise is called Igor.")
    assert "Igor" in home.use(home.anna, "memory_recall", query="what is the tortoise called?")


def test_what_a_model_stored_is_not_trusted(home):
    kept = home.anna.call("memory_search", query="tortoise")["results"]
    assert [(each["trust"], each["source"]) for each in kept] == [("untrusted", "assistant")]


def test_a_model_reaches_only_what_its_user_reaches(home):
    found = home.use(home.ben, "memory_recall", query="what is the tortoise called?")
    assert "TOOLRESULT" in found
    assert "Igor" not in found
    for name in ("memory_store", "memory_recall"):
        tool = home.tools()[name]
        assert "scope" not in tool.get("input_schema", tool.get("parameters"))["properties"]


def test_a_model_forgets_nothing_that_somebody_said(home):
    own = home.anna.call("memory_store", text="The gate code changes every spring.")["id"]
    assert "error" in home.use(home.anna, "memory_forget", id=own)
    assert "every spring" in as_text(home.anna.call("memory_list"))


def test_a_model_asks_about_things_by_their_names(home):
    home.anna.call("remember_fact", entity_id="input_boolean.garage_door", attribute="note", value="sticks in winter")
    assert "sticks in winter" in home.use(home.anna, "what_do_you_know_about", subject="the garage door")


def test_a_model_is_told_what_happened_from_the_history(home):
    home.anna.post("/api/services/input_boolean/turn_on", {"entity_id": "input_boolean.garage_door"})
    assert "Garage door: on" in home.use(home.anna, "what_happened", period="the last hour", subject="garage door")


def test_a_wrong_call_is_told_to_the_model(home):
    assert "error" in home.use(home.anna, "memory_recall", question="what?")


def test_beside_memory_the_model_still_controls_the_house(home):
    home.anna.say("hello", agent=home.model)
    assert {"HassTurnOn", "memory_store", "memory_recall", "memory_forget", "what_happened"} <= set(home.tools())


def test_memory_can_be_given_to_a_model_alone(home):
    home.anna.say("hello", agent=home.memory_alone)
    assert "memory_recall" in home.tools()
    assert "HassTurnOn" not in home.tools()


def test_the_profile_is_in_the_prompt_of_any_agent_that_has_the_tools(home):
    home.anna.call("profile", action="set", field="name", value="Anna Maria")
    home.anna.say("hello", agent=home.model)
    assert "Anna Maria" in home.last_prompt()
    home.ben.say("hello", agent=home.model)
    assert "Anna Maria" not in home.last_prompt()


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


def test_an_agent_that_is_gone_is_a_repair_and_the_house_still_answers(home):
    entry = home.made["result"]["entry_id"]
    home.anna.set_options(entry, {**home.made["options"], "agent": "conversation.gone"})
    assert home.anna.say("turn on the office light", agent=REMEMBERING)["type"] == "action_done"
    keys = [each["translation_key"] for each in home.anna.ask("repairs/list_issues")["issues"]]
    assert "agent_gone" in keys
    home.anna.set_options(entry, {**home.made["options"], "agent": home.model})
    home.anna.say("hello", agent=REMEMBERING)
    keys = [each["translation_key"] for each in home.anna.ask("repairs/list_issues")["issues"]]
    assert "agent_gone" not in keys


def test_nothing_went_wrong_and_nothing_blocked(home):
    assert "Detected blocking call" not in home.core.log
    ours = [
        line
        for line in home.core.log.splitlines()
        if "custom_components.memoranda" in line and re.search(r" (ERROR|WARNING) ", line)
    ]
    assert ours == []
