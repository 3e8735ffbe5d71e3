"""Memoranda for Google's Agent Development Kit: a memory service.

runner = Runner(agent=agent, app_name="app", session_service=sessions, memory_service=MemorandaMemoryService(memory))

The tools `load_memory` and `PreloadMemoryTool()` of the kit then search Memoranda. Each user of each app has a scope.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.adapters.around import Store, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.places import scope_of
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.clock import iso
from memoranda.domain.draft import Draft
from memoranda.domain.errors import NotFound
from memoranda.domain.memory import Memory, Source, Trust
from memoranda.domain.message import Message
from memoranda.domain.request import Policy
from memoranda.service.memory import LongTermMemory

with of_extra("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types


class MemorandaMemoryService(BaseMemoryService):
    """The kit's `BaseMemoryService` over a memory, embedded or served.

    A session that is added is kept word for word as a conversation, and what it shows should be kept is captured;
    `search_memory` gives what was captured or added, not the transcript. A session may be added again and again.
    The kit searches unasked, too, so only what is trusted is given; `trust` names what else may be.
    """

    def __init__(
        self,
        memory: Store,
        *,
        limit: int = 5,
        capture: CaptureMode | None = None,
        policy: Policy = "balanced",
        source: Source = "assistant",
        trust: Sequence[Trust] = ("trusted",),
    ) -> None:
        self._memory = facade(memory)
        self._trust = tuple(trust)
        self._limit = limit
        self._capture = capture
        self._policy = policy
        self._source = source

    def _of(self, app_name: str, user_id: str) -> LongTermMemory:
        return self._memory.within(scope_of(self._memory.scope, [app_name, user_id]))

    async def add_session_to_memory(self, session: Any) -> None:
        """Keep a session, and capture from it; what was added before is not added again."""
        await awaited(self._add, session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep some events of a session, and capture from them."""
        await awaited(self._add, app_name, user_id, events, session_id or "")

    def _add(self, app_name: str, user_id: str, events: Sequence[Any], session: str) -> None:
        memory = self._of(app_name, user_id)
        said = [
            Message("user" if event.author == "user" else "assistant", text, id=event.id or "")
            for event in events
            if (text := _text(event.content))
        ]
        if not said:
            return
        if session:
            memory.conversations.append(said, conversation=session)
        memory.capture(said, conversation=session, mode=self._capture)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep these as they are. What the user said is theirs; anything else is not trusted."""
        drafts = [
            Draft(
                text=_text(entry.content),
                source="user" if entry.author == "user" else self._source,
                occurred_at=entry.timestamp,
                metadata={**entry.custom_metadata, **(custom_metadata or {})},
            )
            for entry in memories
            if _text(entry.content)
        ]
        if drafts:
            await awaited(self._of(app_name, user_id).remember_many, drafts)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What bears on the query in the user's memory; nothing when nothing does."""
        if not query.strip():
            return SearchMemoryResponse()
        memory = self._of(app_name, user_id)
        found = await awaited(memory.recall, query[:4_000], limit=self._limit, policy=self._policy, trust=self._trust)
        return SearchMemoryResponse(memories=[_entry(hit.memory) for hit in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory of the user. It can be restored for a while; unknown ones are no error."""
        if memory_id:
            await awaited(self._forget, self._of(app_name, user_id), memory_id)

    def _forget(self, memory: LongTermMemory, reference: str) -> None:
        try:
            memory.forget(reference, reason="deleted")
        except NotFound:
            return


def _entry(memory: Memory) -> MemoryEntry:
    role = "user" if memory.source == "user" else "model"
    return MemoryEntry(
        id=memory.id,
        author=memory.speaker or role,
        timestamp=iso(memory.created_at if memory.occurred_at is None else memory.occurred_at),
        content=types.Content(role=role, parts=[types.Part(text=memory.text)]),
        custom_metadata={**memory.metadata, "kind": memory.kind, "trust": memory.trust},
    )


def _text(content: Any) -> str:
    parts = getattr(content, "parts", None) or ()
    return "\n".join(part.text for part in parts if part.text and not getattr(part, "thought", None)).strip()
