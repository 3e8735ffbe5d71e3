"""Memoranda for LlamaIndex: a memory block, a retriever, and tools.

memory = Memory.from_defaults(session_id="s", memory_blocks=[MemorandaMemoryBlock(memory=store)])
await agent.run("Hi", memory=memory)
"""

from collections.abc import Callable
from typing import Any

from memoranda.adapters.around import Store, Turns, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.memory import Source
from memoranda.domain.message import Message
from memoranda.domain.request import Policy
from memoranda.tools import Tools

with of_extra("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.tools import FunctionTool, ToolMetadata


class MemorandaMemoryBlock(BaseMemoryBlock[str]):
    """What bears on the user's last words, as one block of a LlamaIndex `Memory`. Fails open.

    A block is handed only what has left the short-term memory, so capture is done when it is asked for: then it is
    given the whole history. `capture="off"` leaves it to `keep`.
    """

    name: str = Field(default="memoranda")
    budget: int = Field(default=800)
    capture: CaptureMode | None = Field(default=None)
    conversation: str = Field(default="")
    _turns: Turns = PrivateAttr()

    def __init__(self, memory: Store, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._turns = Turns(memory, budget=self.budget, mode=self.capture)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        said = _said(messages or [])
        query = next((each.text for each in reversed(said) if each.role == "user"), "")
        text = await awaited(self._turns.before, query, conversation=self._talk(block_kwargs))
        await awaited(self._turns.after, said, conversation=self._talk(block_kwargs))
        return text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await awaited(self._turns.after, _said(messages), conversation=self.conversation)

    async def keep(self, messages: list[ChatMessage]) -> None:
        """Capture a history now, such as after the last turn of a session, of which no further turn hands it over."""
        await awaited(self._turns.after, _said(messages), conversation=self.conversation)

    def _talk(self, given: dict[str, Any]) -> str:
        return self.conversation or str(given.get("session_id") or "")


class MemorandaRetriever(BaseRetriever):
    """What bears on a query, as nodes with their relevance. Gives nothing when nothing bears on it."""

    def __init__(self, memory: Store, *, similarity_top_k: int = 5, policy: Policy = "balanced", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._memory = facade(memory)
        self._limit = similarity_top_k
        self._policy = policy

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._memory.recall(query_bundle.query_str, limit=self._limit, policy=self._policy)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.memory.text,
                    metadata={"kind": hit.memory.kind, "trust": hit.memory.trust, "source": hit.memory.source},
                ),
                score=hit.score,
            )
            for hit in found
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await awaited(self._retrieve, query_bundle)


def memory_tools(memory: Store, *, source: Source = "assistant", conversation: str = "") -> list[FunctionTool]:
    """The tools of Memoranda for an agent: remember, recall, forget and others, of one scope."""
    box = Tools(facade(memory), source=source, conversation=conversation, toolset="default")

    def bound(name: str) -> Callable[..., str]:
        def call(**arguments: Any) -> str:
            return box.call(name, arguments).text

        return call

    return [
        FunctionTool(
            fn=bound(each["name"]),
            metadata=_Described(each["name"], each["description"], each["inputSchema"]),
        )
        for each in box.definitions("mcp")
    ]


class _Described(ToolMetadata):
    """A tool by its own JSON schema, in the place of one that is read from a function's signature."""

    def __init__(self, name: str, description: str, schema: dict[str, Any]) -> None:
        super().__init__(description=description, name=name)
        self._schema = schema

    def get_parameters_dict(self) -> dict[str, Any]:
        """The parameters as JSON schema."""
        return self._schema


def _said(messages: list[ChatMessage]) -> list[Message]:
    """What people and the model said. The results of tools are nobody's words."""
    roles = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant", MessageRole.CHATBOT: "assistant"}
    return [
        Message("user" if roles[each.role] == "user" else "assistant", each.content)
        for each in messages
        if each.role in roles and each.content
    ]
