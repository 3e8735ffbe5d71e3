"""Memoranda for the OpenAI Agents SDK: a session, a filter that shows the model its memory, and tools.

memory = MemorandaAgent(memoranda.open("agents.db", scope="assistant/anna"))
agent = Agent(name="a", model=model, tools=memory.tools())
result = await Runner.run(agent, "Hi", session=memory.session("chat-1"), run_config=memory.run_config())
await memory.capture(result, conversation="chat-1")
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from memoranda.adapters.around import Store, Turns, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.talks import Talk
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.conversation import KeptMessage
from memoranda.domain.memory import Source
from memoranda.domain.message import Message, ToolCall
from memoranda.domain.results import Captured
from memoranda.tools import Tools

with of_extra("openai-agents"):
    from agents import FunctionTool, RunConfig
    from agents.memory import SessionSettings
    from agents.run import CallModelData, ModelInputData

Items = Sequence[Any]
_ANSWERS = ("function_call_output", "custom_tool_call_output")
_CALLS = ("function_call", "custom_tool_call")


class MemorandaSession:
    """The SDK's `Session` over `memory.conversations`: kept word for word, older messages summed up.

    What was said, calls of tools and their results come back; a model's reasoning is not kept.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, memory: Store, session_id: str) -> None:
        self.session_id = session_id
        self._talk = Talk(facade(memory), session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The latest items in the order in which they came; all of them without a limit."""
        items = [item for each in await awaited(self._talk.shown) for item in _items(each)]
        wanted = limit if limit is not None or self.session_settings is None else self.session_settings.limit
        return items if wanted is None else items[max(0, len(items) - wanted) :]

    async def add_items(self, items: Items) -> None:
        """Keep items at the end."""
        await awaited(self._talk.append, messages_of(items))

    async def pop_item(self) -> Any:
        """The last item, taken back; None when there is none."""
        last = await awaited(self._talk.take_back)
        return None if last is None else _items(last)[-1]

    async def clear_session(self) -> None:
        """Erase what was said in this session. What was captured from it stays."""
        await awaited(self._talk.clear)


class MemorandaAgent:
    """A memory around the runs of an agent: a session, a filter before every call of the model, capture after a run."""

    def __init__(self, memory: Store, *, budget: int = 800, capture: CaptureMode | None = None) -> None:
        self._memory = facade(memory)
        self._turns = Turns(memory, budget=budget, mode=capture)

    def session(self, session_id: str) -> MemorandaSession:
        """The history of one conversation."""
        return MemorandaSession(self._memory, session_id)

    def input_filter(self, conversation: str = "") -> Callable[[CallModelData], Awaitable[ModelInputData]]:
        """For `RunConfig(call_model_input_filter=...)`: what bears on the user's last words stands in the instructions.

        Made once for a run: the model sees the same pack each time it is called in it.
        """
        packed: dict[str, str] = {}

        async def shown(data: CallModelData) -> ModelInputData:
            given = data.model_data
            query = _last_words(given.input)
            if query not in packed:
                packed.clear()
                packed[query] = await awaited(self._turns.before, query, conversation=conversation)
            if not packed[query]:
                return given
            instructions = f"{given.instructions}\n\n" if given.instructions else ""
            return ModelInputData(input=given.input, instructions=f"{instructions}{packed[query]}")

        return shown

    def run_config(self, conversation: str = "", **settings: Any) -> RunConfig:
        """A `RunConfig` with the filter; other settings as the SDK has them."""
        return RunConfig(call_model_input_filter=self.input_filter(conversation), **settings)

    async def capture(self, result: Any, *, conversation: str = "") -> Captured | None:
        """Keep what a run shows should be kept. Takes the result of a run."""
        return await awaited(self._turns.after, messages_of(result.to_input_list()), conversation=conversation)

    def tools(self, *, source: Source = "assistant", conversation: str = "") -> list[FunctionTool]:
        """The tools of Memoranda: remember, recall, forget and others, of this scope."""
        return function_tools(self._memory, source=source, conversation=conversation)


def function_tools(memory: Store, *, source: Source = "assistant", conversation: str = "") -> list[FunctionTool]:
    """The tools of one memory as the SDK has them. What a model writes is not trusted, unless `source` says so."""
    box = Tools(facade(memory), source=source, conversation=conversation, toolset="default")

    def bound(name: str) -> Callable[[Any, str], Awaitable[str]]:
        async def invoke(_: Any, arguments: str) -> str:
            return (await awaited(box.call, name, arguments)).text

        return invoke

    return [
        FunctionTool(
            name=each["name"],
            description=each["description"],
            params_json_schema=each["inputSchema"],
            on_invoke_tool=bound(each["name"]),
            strict_json_schema=False,
        )
        for each in box.definitions("mcp")
    ]


def messages_of(items: Items) -> list[Message | Mapping[str, Any]]:
    """Items of the SDK as messages. What is neither said nor a tool's is left out: it cannot be shown again."""
    found: list[Message | Mapping[str, Any]] = []
    for item in items:
        given = item if isinstance(item, Mapping) else item.model_dump(exclude_none=True)
        kind = given.get("type", "message")
        if kind in _CALLS:
            arguments = given.get("arguments", given.get("input", ""))
            call = ToolCall(str(given.get("call_id", "")), str(given.get("name", "")), str(arguments))
            found.append(Message("assistant", "", tool_calls=(call,)))
        elif kind in _ANSWERS:
            found.append(Message("tool", _text(given.get("output")), tool_call_id=str(given.get("call_id", ""))))
        elif kind == "message" and "role" in given:
            found.append({"role": given["role"], "content": given.get("content", "")})
    return found


def _items(message: KeptMessage) -> list[dict[str, Any]]:
    """A message that was kept, as the items that the SDK hands to a model."""
    if message.tool_call_id:
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.text}]
    shown = message.for_model()
    said = [{"role": message.role, "content": shown["content"]}] if message.text else []
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return [*said, *calls]


def _last_words(items: Any) -> str:
    if isinstance(items, str):
        return items
    for item in reversed(items):
        if isinstance(item, Mapping) and item.get("role") == "user":
            return _text(item.get("content"))
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(str(each.get("text", "")) for each in content if isinstance(each, Mapping))
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)
