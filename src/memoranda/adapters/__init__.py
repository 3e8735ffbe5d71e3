"""Adapters: what agent frameworks call memory, over the facade. One module for each, and none keeps anything itself.

Nothing here is imported by `memoranda`: `from memoranda.adapters.langgraph import MemorandaStore` loads LangGraph, and
says which extra to install where it is missing. `memoranda.adapters.mem0` needs none.
"""
