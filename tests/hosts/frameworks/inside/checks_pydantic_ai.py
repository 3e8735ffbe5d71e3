"""Pydantic AI, with the real package."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from told import ASKED, KEPT, TOLD, kept_texts

from memoranda.adapters.pydantic_ai import MemorandaCapability, MemorandaToolset


def agent_of(url, **options):
    chosen = OpenAIChatModel("fake-1", provider=OpenAIProvider(base_url=url, api_key="none"))
    return Agent(chosen, instructions="Be brief.", **options)


def test_the_capability_packs_before_a_run_and_captures_after_it(memory, model, url):
    agent = agent_of(url, capabilities=[MemorandaCapability(memory)])
    assert "[MEM]" not in agent.run_sync(TOLD).output
    assert "[MEM]" in agent.run_sync(ASKED).output
    assert KEPT in model.prompts[-1]
    assert [text for text in kept_texts(memory) if KEPT in text] == ["I take the train at seven on Mondays."]


def test_a_tool_writes_and_the_pack_stays_for_the_whole_run(embedded, model, url):
    embedded.remember("Anna takes the train at seven on Mondays.")
    agent = agent_of(url, capabilities=[MemorandaCapability(embedded)])
    said = agent.run_sync(f'{ASKED} CALL remember {{"text": "Anna owns a blue bicycle."}}').output
    assert said.startswith("TOOLRESULT")
    assert all("<relevant-memories" in prompt for prompt in model.prompts[-2:])
    kept = next(each for each in embedded.list() if "bicycle" in each.text)
    assert kept.trust == "untrusted"


def test_the_toolset_stands_alone(memory, url):
    agent = agent_of(url, toolsets=[MemorandaToolset(memory)])
    agent.run_sync('CALL remember {"text": "Anna owns a blue bicycle."}')
    assert "blue bicycle" in agent.run_sync('CALL recall {"query": "what does Anna ride?", "limit": 3}').output
    assert "Error" in agent.run_sync('CALL recall {"quarry": "a wrong name"}').output


def test_each_person_has_a_scope_of_their_own(embedded, url):
    agent = agent_of(url, capabilities=[MemorandaCapability(embedded, person=lambda ctx: ctx.deps)], deps_type=str)
    agent.run_sync(TOLD, deps="anna")
    assert "[MEM]" in agent.run_sync(ASKED, deps="anna").output
    assert "[MEM]" not in agent.run_sync(ASKED, deps="bob").output
