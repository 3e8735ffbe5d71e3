"""An Agno agent that learns with Memoranda; each of its users has a memory of their own.

python agno_learning.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import sys

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.learn import LearningMachine
from agno.models.openai.like import OpenAILike

import memoranda
from memoranda.adapters.agno import MemorandaLearning

url, name = sys.argv[1], sys.argv[2]

with memoranda.open("agno.db", scope="assistant") as memory:
    agent = Agent(
        model=OpenAILike(id=name, base_url=url, api_key="none"),
        db=InMemoryDb(),  # Agno does not learn without one
        learning=LearningMachine(custom_stores={"memory": MemorandaLearning(memory)}),
        telemetry=False,
    )
    for user, session, words in (
        ("anna", "monday", "Remember that I take the train at seven on Mondays."),
        ("anna", "tuesday", "When do I take the train on Mondays?"),
        ("bob", "wednesday", "When do I take the train on Mondays?"),
    ):
        print(user, agent.run(words, user_id=user, session_id=session).content)
