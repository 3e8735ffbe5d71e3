"""CrewAI's memory with Memoranda as its storage. Recall does not need the model; remembering here does not, either.

python crewai_storage.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import sys

from crewai import LLM
from crewai.memory.unified_memory import Memory

import memoranda
from memoranda.adapters.crewai import MemorandaStorage

url, name = sys.argv[1], sys.argv[2]

with memoranda.open("crewai.db", scope="crew") as store:
    storage = MemorandaStorage(store)
    memory = Memory(
        storage=storage,
        embedder=storage.embedder,
        llm=LLM(model=f"openai/{name}", base_url=url, api_key="none"),
    )
    memory.remember("Anna takes the train at seven on Mondays.", scope="/anna", categories=["travel"], importance=0.7)
    memory.remember("Bob keeps bees behind the house.", scope="/bob", categories=["animals"], importance=0.5)
    for match in memory.recall("when does the train leave?", scope="/anna", depth="shallow"):
        print(f"{match.score:.2f}  {match.record.content}")
    print(storage.list_scopes(), storage.list_categories())
