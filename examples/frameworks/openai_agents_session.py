"""An agent of the OpenAI Agents SDK: its session in Memoranda, and what bears on the user's words before it.

python openai_agents_session.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

import memoranda
from memoranda.adapters.openai_agents import MemorandaAgent

set_tracing_disabled(True)


async def main(url: str, name: str) -> None:
    async with memoranda.aio.open("openai_agents.db", scope="assistant/anna") as store:
        memory = MemorandaAgent(store)
        model = OpenAIChatCompletionsModel(name, openai_client=AsyncOpenAI(base_url=url, api_key="none"))
        agent = Agent(name="assistant", instructions="Be brief.", model=model, tools=memory.tools())

        for chat, words in (
            ("monday", "Remember that I take the train at seven on Mondays."),
            ("tuesday", "When do I take the train on Mondays?"),
        ):
            session = memory.session(chat)
            result = await Runner.run(agent, words, session=session, run_config=memory.run_config(chat))
            await memory.capture(result, conversation=chat)
            print(result.final_output, "|", len(await session.get_items()), "items in the session")


asyncio.run(main(sys.argv[1], sys.argv[2]))
