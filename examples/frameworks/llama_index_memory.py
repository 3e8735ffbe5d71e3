"""A LlamaIndex agent whose memory has a block of Memoranda, and a retriever on the same memory.

python llama_index_memory.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.llms.openai_like import OpenAILike

import memoranda
from memoranda.adapters.llama_index import MemorandaMemoryBlock, MemorandaRetriever, memory_tools


async def main(url: str, name: str) -> None:
    async with memoranda.aio.open("llama_index.db", scope="assistant/anna") as store:
        model = OpenAILike(model=name, api_base=url, api_key="none", is_chat_model=True, is_function_calling_model=True)
        agent = FunctionAgent(tools=memory_tools(store), llm=model, streaming=False)
        for chat, words in (
            ("monday", "Remember that I take the train at seven on Mondays."),
            ("tuesday", "When do I take the train on Mondays?"),
        ):
            block = MemorandaMemoryBlock(memory=store, conversation=chat)
            memory = Memory.from_defaults(session_id=chat, memory_blocks=[block], insert_method="system")
            print(await agent.run(words, memory=memory))
        found = await MemorandaRetriever(store, similarity_top_k=1).aretrieve("when does the train leave?")
        print(found[0].text)


asyncio.run(main(sys.argv[1], sys.argv[2]))
