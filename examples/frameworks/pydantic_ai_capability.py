"""A Pydantic AI agent with memory as a capability: a pack in its instructions, capture after it, and tools.

python pydantic_ai_capability.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import memoranda
from memoranda.adapters.pydantic_ai import MemorandaCapability

url, name = sys.argv[1], sys.argv[2]

with memoranda.open("pydantic_ai.db", scope="assistant/anna") as memory:
    model = OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, instructions="Be brief.", capabilities=[MemorandaCapability(memory)])
    for words in (
        "Remember that I take the train at seven on Mondays.",
        "When do I take the train on Mondays?",
    ):
        print(agent.run_sync(words).output)
