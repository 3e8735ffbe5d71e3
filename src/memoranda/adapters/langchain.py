"""Memoranda for LangChain: an agent middleware, a retriever, and the history of a chat.

    agent = create_agent(model, tools=[...], middleware=[MemorandaMiddleware(memory)])

Before the model answers it sees what bears on the user's last words; after the turn, what should be kept is captured.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired

from memoranda.adapters.around import Store, Turns, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.places import scope_of
from memoranda.adapters.talks import Talk
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.clock import iso
from memoranda.domain.memory import Source
from memoranda.domain.request import Policy
from memoranda.domain.results import Hit
from memoranda.service.memory import LongTermMemory
from memoranda.tools import Tools

with of_extra("langchain"):
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        BaseMessage,
        HumanMessage,
        SystemMessage,
        convert_to_messages,
        convert_to_openai_messages,
    )
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.config import get_config
    from langgraph.runtime import get_runtime

Person = Callable[[Any], str | Sequence[str]]
"""Who a turn belongs to, from the runtime of the agent: a name, or several from the widest to the narrowest."""


class _State(AgentState):
    """The agent's state with the pack of the turn: made once, however often the model is called in it."""

    memoranda_pack: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class MemorandaMiddleware(AgentMiddleware):
    """A pack before the model answers, capture after the turn. Fails open.

    `person` says whom a turn belongs to: what is kept goes into a scope of theirs below the memory's own, and what is
    kept for others is not seen. `capture` is the mode of capture, `off` for none. With `tools`, the agent may
    remember, recall and forget by itself, too.
    """

    state_schema = _State

    def __init__(
        self,
        memory: Store,
        *,
        budget: int = 800,
        capture: CaptureMode | None = None,
        person: Person | None = None,
        tools: bool = False,
    ) -> None:
        super().__init__()
        self._turns = Turns(memory, budget=budget, mode=capture)
        self._person = person
        self.tools = memory_tools(memory, person=person) if tools else []

    def _around(self, runtime: Any) -> Turns:
        if self._person is None:
            return self._turns
        return self._turns.within(_scope_of_person(self._turns.memory, self._person, runtime))

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """The pack of the turn, into the state."""
        return {"memoranda_pack": self._around(runtime).before(_last_words(state), conversation=_thread())}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """The same, awaited."""
        around, conversation = self._around(runtime), _thread()
        return {"memoranda_pack": await awaited(around.before, _last_words(state), conversation=conversation)}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """The model sees the pack behind the system prompt."""
        return handler(_with_pack(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """The same, awaited."""
        return await handler(_with_pack(request))

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Keep what the turn shows should be kept."""
        self._around(runtime).after(_as_dicts(state["messages"]), conversation=_thread())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """The same, awaited."""
        around, conversation = self._around(runtime), _thread()
        await awaited(around.after, _as_dicts(state["messages"]), conversation=conversation)


def _scope_of_person(memory: LongTermMemory, person: Person, runtime: Any) -> str:
    names = person(runtime)
    return scope_of(memory.scope, [names] if isinstance(names, str) else list(names))


def memory_tools(
    memory: Store, *, source: Source = "assistant", conversation: str = "", person: Person | None = None
) -> list[BaseTool]:
    """The tools of Memoranda for an agent: remember, recall, forget and others, of one scope, or of each person's."""
    given = facade(memory)
    box = Tools(given, source=source, conversation=conversation, toolset="default")

    def bound(name: str) -> Callable[..., str]:
        def call(**arguments: Any) -> str:
            if person is None:
                return box.call(name, arguments).text
            own = given.within(_scope_of_person(given, person, get_runtime()))
            tools = Tools(own, source=source, conversation=conversation, toolset="default")
            return tools.call(name, arguments).text

        return call

    return [
        StructuredTool.from_function(
            bound(each["name"]), name=each["name"], description=each["description"], args_schema=each["inputSchema"]
        )
        for each in box.definitions("mcp")
    ]


class MemorandaRetriever(BaseRetriever):
    """What bears on a query, as documents. Gives nothing when nothing bears on it."""

    memory: Any
    k: int = 5
    policy: Policy = "balanced"

    def __init__(self, memory: Store, **kwargs: Any) -> None:
        super().__init__(memory=facade(memory), **kwargs)

    def _get_relevant_documents(self, query: str, *, run_manager: Any = None, **kwargs: Any) -> list[Document]:
        memory: LongTermMemory = self.memory
        found = memory.recall(query, limit=kwargs.get("k") or self.k, policy=self.policy)
        return [_document(hit) for hit in found]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any = None, **kwargs: Any) -> list[Document]:
        return await awaited(self._get_relevant_documents, query, **kwargs)


class MemorandaChatMessageHistory(BaseChatMessageHistory):
    """The messages of one chat, kept word for word in `memory.conversations`. Older ones are summed up there."""

    def __init__(self, memory: Store, session_id: str) -> None:
        self.session_id = session_id
        self._talk = Talk(facade(memory), session_id)

    @property
    def messages(self) -> list[BaseMessage]:
        """What a model should see of the chat: the summary of what is older, and what was said since."""
        return list(convert_to_messages([each.for_model() for each in self._talk.shown()]))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Keep these at the end."""
        self._talk.append(_as_dicts(messages))

    def clear(self) -> None:
        """Erase the chat for good. What was captured from it stays."""
        self._talk.clear()


def _document(hit: Hit) -> Document:
    memory = hit.memory
    metadata = {
        "id": memory.id,
        "score": hit.score,
        "kind": memory.kind,
        "trust": memory.trust,
        "source": memory.source,
        "scope": memory.scope,
        "about": memory.about,
        "created_at": iso(memory.created_at),
        **dict(memory.metadata),
    }
    return Document(page_content=memory.text, metadata=metadata, id=memory.id)


def _with_pack(request: ModelRequest) -> ModelRequest:
    pack = request.state.get("memoranda_pack")
    if not pack:
        return request
    before = "" if request.system_message is None else f"{request.system_message.text}\n\n"
    return request.override(system_message=SystemMessage(content=f"{before}{pack}"))


def _last_words(state: Mapping[str, Any]) -> str:
    """What the user said last, to which the model is about to answer."""
    return next((each.text for each in reversed(state["messages"]) if isinstance(each, HumanMessage)), "")


def _as_dicts(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    given = convert_to_openai_messages(list(messages))
    ids = [message.id for message in messages]
    return [{**each, **({"id": own} if own else {})} for each, own in zip(given, ids, strict=True)]


def _thread() -> str:
    """The thread that the graph runs in, if it has one."""
    try:
        return str(get_config().get("configurable", {}).get("thread_id") or "")
    except RuntimeError:
        return ""
