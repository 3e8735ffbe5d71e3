"""A LangChain agent with memory around its turns, and a LangGraph store in the same place.

python langgraph_agent.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

import memoranda
from memoranda.adapters.langchain import MemorandaMiddleware, MemorandaRetriever
from memoranda.adapters.langgraph import MemorandaStore

url, name = sys.argv[1], sys.argv[2]

with memoranda.open("langgraph.db", scope="assistant") as memory:
    anna = memory.within("assistant/anna")
    store = MemorandaStore(memory)
    agent = create_agent(
        ChatOpenAI(model=name, base_url=url, api_key="none"),
        middleware=[MemorandaMiddleware(anna, tools=True)],
        store=store,
    )

    for thread, words in (
        ("monday", "Remember that I take the train at seven on Mondays."),
        ("tuesday", "When do I take the train on Mondays?"),
    ):
        thread_of = {"configurable": {"thread_id": thread}}
        told = agent.invoke({"messages": [("user", words)]}, config=thread_of)
        print(told["messages"][-1].text)

    store.put(("anna", "recipes"), "borscht", {"text": "Beetroot soup, an hour on a small flame."})
    print(store.search(("anna",), query="how long does the beetroot soup take?")[0].key)
    print(MemorandaRetriever(anna, k=1).invoke("when does the train leave?")[0].page_content)
