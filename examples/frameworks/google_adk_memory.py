"""An agent of Google's Agent Development Kit with Memoranda as its memory service.

python google_adk_memory.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

import memoranda
from memoranda.adapters.google_adk import MemorandaMemoryService


async def main(url: str, name: str) -> None:
    with memoranda.open("google_adk.db", scope="assistant") as memory:
        service, sessions = MemorandaMemoryService(memory), InMemorySessionService()
        agent = LlmAgent(
            name="assistant",
            model=LiteLlm(model=f"openai/{name}", api_base=url, api_key="none"),
            instruction="Be brief.",
            tools=[load_memory, PreloadMemoryTool()],
        )
        runner = Runner(agent=agent, app_name="app", session_service=sessions, memory_service=service)
        for chat, words in (
            ("monday", "Remember that I take the train at seven on Mondays."),
            ("tuesday", "When do I take the train on Mondays?"),
        ):
            whose = {"app_name": "app", "user_id": "anna", "session_id": chat}
            await sessions.create_session(**whose)
            message = types.Content(role="user", parts=[types.Part(text=words)])
            async for event in runner.run_async(user_id="anna", session_id=chat, new_message=message):
                if event.is_final_response() and event.content:
                    print(event.content.parts[0].text)
            await service.add_session_to_memory(await sessions.get_session(**whose))


asyncio.run(main(sys.argv[1], sys.argv[2]))
