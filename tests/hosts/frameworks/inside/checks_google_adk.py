"""Google's Agent Development Kit, with the real package."""

import json

import pytest
from google.adk.agents import LlmAgent
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types
from told import ASKED, KEPT, TOLD

from memoranda.adapters.google_adk import MemorandaMemoryService


def content(text):
    return types.Content(role="user", parts=[types.Part(text=text)])


@pytest.fixture
def talk(memory, url):
    service, sessions = MemorandaMemoryService(memory), InMemorySessionService()
    agent = LlmAgent(
        name="a",
        model=LiteLlm(model="openai/fake-1", api_base=url, api_key="none"),
        tools=[load_memory, PreloadMemoryTool()],
    )
    runner = Runner(agent=agent, app_name="app", session_service=sessions, memory_service=service)

    async def said(user, chat, words):
        whose = {"app_name": "app", "user_id": user, "session_id": chat}
        await sessions.create_session(**whose)
        answer = ""
        async for event in runner.run_async(user_id=user, session_id=chat, new_message=content(words)):
            if event.is_final_response() and event.content:
                answer = event.content.parts[0].text
        session = await sessions.get_session(**whose)
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)
        return answer

    said.service = service
    return said


async def test_a_session_is_kept_and_another_one_of_the_same_user_finds_it(memory, model, talk):
    await talk("anna", "monday", TOLD)
    assert KEPT in await talk("anna", "tuesday", ASKED)
    assert KEPT not in await talk("bob", "wednesday", ASKED)
    await talk("anna", "thursday", 'CALL load_memory {"query": "when does the train leave on Mondays?"}')
    given = [each for each in json.loads(model.prompts[-1])["messages"] if each["role"] == "tool"]
    assert len(given) == 1
    assert KEPT in str(given[0]["content"])
    anna = memory.within(f"{memory.scope}/app/anna")
    assert [each.text for each in anna.list(here=True)] == ["I take the train at seven on Mondays."]
    assert anna.conversations.get("monday").messages == 2


async def test_memories_are_added_searched_and_deleted(memory):
    service = MemorandaMemoryService(memory)
    anna = {"app_name": "app", "user_id": "anna"}
    entries = [
        MemoryEntry(content=content("Anna keeps bees."), author="user"),
        MemoryEntry(content=content("Anna sells honey."), author="model"),
    ]
    await service.add_memory(**anna, memories=entries)
    found = (await service.search_memory(**anna, query="what animals does Anna keep, and what does she sell?")).memories
    assert [each.content.parts[0].text for each in found] == ["Anna keeps bees."]
    every = MemorandaMemoryService(memory, trust=("trusted", "untrusted"))
    assert len((await every.search_memory(**anna, query="does Anna sell honey of her bees?")).memories) == 2
    bob = {"app_name": "app", "user_id": "bob"}
    await service.delete_memory(**bob, memory_id=found[0].id)
    assert (await service.search_memory(**anna, query="which animals does Anna keep?")).memories
    await service.delete_memory(**anna, memory_id=found[0].id)
    assert not (await service.search_memory(**anna, query="which animals does Anna keep?")).memories
    assert not (await service.search_memory(**anna, query=" ")).memories
