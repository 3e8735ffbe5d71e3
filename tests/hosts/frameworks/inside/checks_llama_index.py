"""LlamaIndex, with the real package."""

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.llms.openai_like import OpenAILike
from told import ASKED, KEPT, TOLD, kept_texts

from memoranda.adapters.llama_index import MemorandaMemoryBlock, MemorandaRetriever, memory_tools


@pytest.fixture
def ask(url):
    chosen = OpenAILike(
        model="fake-1", api_base=url, api_key="none", is_chat_model=True, is_function_calling_model=True
    )

    async def asked(memory, words, chat):
        block = MemorandaMemoryBlock(memory=memory, conversation=chat)
        kept = Memory.from_defaults(session_id=chat, memory_blocks=[block], insert_method="system")
        agent = FunctionAgent(tools=memory_tools(memory), llm=chosen, streaming=False)
        return str(await agent.run(words, memory=kept))

    return asked


async def test_the_block_packs_and_captures(memory, model, ask):
    assert "[MEM]" not in await ask(memory, TOLD, "monday")
    assert "[MEM]" in await ask(memory, ASKED, "tuesday")
    assert KEPT in model.prompts[-1]
    assert [text for text in kept_texts(memory) if KEPT in text] == ["I take the train at seven on Mondays."]


async def test_a_tool_writes(memory, ask):
    assert (await ask(memory, 'CALL remember {"text": "Anna owns a blue bicycle."}', "a")).startswith("TOOLRESULT")
    assert any("blue bicycle" in text for text in kept_texts(memory))


async def test_a_history_can_be_kept_at_once(embedded):
    block = MemorandaMemoryBlock(memory=embedded, conversation="c")
    await block.keep([ChatMessage(role="user", content="I prefer tea to coffee.")])
    assert kept_texts(embedded) == ["I prefer tea to coffee."]


async def test_the_retriever_gives_nodes_with_relevance(memory):
    memory.remember("Anna keeps bees behind the house.")
    retriever = MemorandaRetriever(memory, similarity_top_k=1)
    found = retriever.retrieve("what does Anna keep behind the house?")
    assert [(node.text, 0 < node.score <= 1) for node in found] == [("Anna keeps bees behind the house.", True)]
    assert await retriever.aretrieve("how tall is the Eiffel tower in metres?") == []
