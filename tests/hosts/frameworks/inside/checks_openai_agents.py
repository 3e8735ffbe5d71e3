"""The OpenAI Agents SDK, with the real package."""

import pytest
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.memory import Session
from openai import AsyncOpenAI
from told import ASKED, KEPT, TOLD, kept_texts

from memoranda.adapters.openai_agents import MemorandaAgent, MemorandaSession

set_tracing_disabled(True)


@pytest.fixture
def agent(url):
    def made(memory):
        chosen = OpenAIChatCompletionsModel("fake-1", openai_client=AsyncOpenAI(base_url=url, api_key="none"))
        return Agent(name="a", instructions="Be brief.", model=chosen, tools=memory.tools())

    return made


async def test_a_run_remembers_with_a_tool_and_its_session_keeps_the_call(memory, agent):
    around = MemorandaAgent(memory)
    session = around.session("s")
    words = 'CALL remember {"text": "Anna owns a blue bicycle."}'
    told = await Runner.run(agent(around), words, session=session, run_config=around.run_config("s"))
    assert told.final_output.startswith("TOOLRESULT")
    items = await session.get_items()
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "function_call",
        "function_call_output",
        "assistant",
    ]
    again = await Runner.run(agent(around), "and now?", session=session)
    assert again.final_output.startswith("ECHO")
    assert len(await session.get_items()) == 6
    assert any("blue bicycle" in text for text in kept_texts(memory))


async def test_memory_of_one_conversation_is_in_the_prompt_of_the_next(memory, agent, model):
    around = MemorandaAgent(memory)
    first = await Runner.run(agent(around), TOLD, run_config=around.run_config("a"))
    captured = await around.capture(first, conversation="a")
    assert [each.text for each in captured.kept] == ["I take the train at seven on Mondays."]
    second = await Runner.run(agent(around), ASKED, run_config=around.run_config("b"))
    assert "[MEM]" in second.final_output
    assert KEPT in model.prompts[-1]
    assert "Be brief." in model.prompts[-1]


async def test_a_session_is_what_the_sdk_asks_for(memory):
    session = MemorandaSession(memory, "s")
    assert isinstance(session, Session)
    assert await session.get_items() == []
    assert await session.pop_item() is None
    said = [{"role": "user", "content": f"line {number}"} for number in range(5)]
    await session.add_items(said)
    assert await session.get_items() == said
    assert await session.get_items(limit=2) == said[-2:]
    assert await session.pop_item() == said[-1]
    assert await session.pop_item() == said[-2]
    await session.add_items([{"role": "assistant", "content": "another"}])
    assert await MemorandaSession(memory, "s").get_items() == [*said[:3], {"role": "assistant", "content": "another"}]
    assert await session.pop_item() == {"role": "assistant", "content": "another"}
    assert await session.get_items() == said[:3]
    assert await MemorandaSession(memory, "other").get_items() == []
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items(said[:1])
    assert await session.get_items() == said[:1]
