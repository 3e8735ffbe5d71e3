"""Agno, with the real package."""

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.learn import LearningMachine
from agno.learn.stores.protocol import LearningStore
from agno.models.openai.like import OpenAILike
from told import ASKED, KEPT, TOLD

from memoranda.adapters.agno import MemorandaLearning


def agent_of(memory, url):
    return Agent(
        model=OpenAILike(id="fake-1", base_url=url, api_key="none"),
        db=InMemoryDb(),
        learning=LearningMachine(custom_stores={"memory": MemorandaLearning(memory)}),
        telemetry=False,
    )


def test_it_is_a_learning_store(embedded):
    assert isinstance(MemorandaLearning(embedded), LearningStore)


def test_an_agent_learns_for_each_user_apart(memory, model, url):
    agent = agent_of(memory, url)
    agent.run(TOLD, user_id="anna", session_id="a")
    assert "[MEM]" in agent.run(ASKED, user_id="anna", session_id="b").content
    assert KEPT in model.prompts[-1]
    assert "[MEM]" not in agent.run(ASKED, user_id="bob", session_id="c").content


def test_what_nobody_in_particular_said_is_shown_to_no_user(memory, url):
    agent = agent_of(memory, url)
    agent.run(TOLD, session_id="a")
    assert "[MEM]" not in agent.run(ASKED, user_id="anna", session_id="b").content
    assert "[MEM]" in agent.run(ASKED, session_id="c").content


async def test_a_tool_writes_into_the_memory_of_the_user(memory, url):
    agent = agent_of(memory, url)
    words = 'CALL remember {"text": "Anna owns a blue bicycle."}'
    assert (await agent.arun(words, user_id="anna", session_id="a")).content.startswith("TOOLRESULT")
    assert memory.within(f"{memory.scope}/anna").list(here=True)[0].trust == "untrusted"
    assert memory.within(f"{memory.scope}/bob").list(here=True).total == 0
