"""`Memory` and `MemoryClient` with the verbs, arguments and answers of mem0: change the import, and keep the rest.

    from memoranda.adapters.mem0 import Memory

    memory = Memory()
    memory.add("Alice loves hiking", user_id="alice")
    memory.search("what does she do outdoors?", filters={"user_id": "alice"})

No model, no key and no other package is needed. A user, an agent and a run are scopes: what is kept for one user is
found only by naming that user. What is deleted is forgotten, and erased after the grace period.
"""

from memoranda.adapters.mem0.awaiting import AsyncMemory as AsyncMemory
from memoranda.adapters.mem0.awaiting import AsyncMemoryClient as AsyncMemoryClient
from memoranda.adapters.mem0.client import MemoryClient as MemoryClient
from memoranda.adapters.mem0.memory import Memory as Memory

__all__ = ["AsyncMemory", "AsyncMemoryClient", "Memory", "MemoryClient"]
