"""Memoranda for Pydantic AI: a toolset, and a capability that puts memory around every run of an agent.

agent = Agent(model, capabilities=[MemorandaCapability(memory)])
"""

from collections.abc import Sequence
from typing import Any

from memoranda.adapters.around import Store, Turns, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.places import scope_of
from memoranda.domain.candidate import CaptureMode
from memoranda.domain.memory import Source
from memoranda.domain.message import Message
from memoranda.service.memory import LongTermMemory
from memoranda.tools import Tools

with of_extra("pydantic-ai"):
    from collections.abc import Callable

    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import SchemaValidatorProt, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema

Person = Callable[[Any], str | Sequence[str]]
"""Who a run belongs to, from its context: a name, or several from the widest to the narrowest."""
_ANY: SchemaValidatorProt = SchemaValidator(core_schema.dict_schema())


def _of_person(memory: LongTermMemory, person: Person | None, ctx: RunContext[Any]) -> LongTermMemory:
    if person is None:
        return memory
    names = person(ctx)
    return memory.within(scope_of(memory.scope, [names] if isinstance(names, str) else list(names)))


class MemorandaToolset(AbstractToolset[Any]):
    """The tools of one memory: remember, recall, forget and others. They never leave their scope, and never erase."""

    def __init__(
        self,
        memory: Store,
        *,
        source: Source = "assistant",
        person: Person | None = None,
        id: str | None = "memoranda",  # noqa: A002 the framework's word
    ) -> None:
        self._memory = facade(memory)
        self._source = source
        self._person = person
        self._id = id

    @property
    def id(self) -> str | None:
        """By which the agent knows this toolset."""
        return self._id

    def _box(self, ctx: RunContext[Any]) -> Tools:
        return Tools(_of_person(self._memory, self._person, ctx), source=self._source, toolset="default")

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, Any]:
        """The tools as the model is told of them."""
        return {
            each["name"]: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=each["name"], description=each["description"], parameters_json_schema=each["inputSchema"]
                ),
                max_retries=1,
                args_validator=_ANY,
            )
            for each in self._box(ctx).definitions("mcp")
        }

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: Any) -> Any:
        """Do what the model asks for. A wrong call is answered with what to do next."""
        result = await awaited(self._box(ctx).call, name, tool_args)
        return result.text


class MemorandaCapability(AbstractCapability[Any]):
    """A pack in the instructions of every run, capture after it, and the tools. Fails open.

    `person` says whom a run belongs to: a scope of theirs below the memory's own. `capture` is the mode of capture.
    """

    def __init__(
        self,
        memory: Store,
        *,
        budget: int = 800,
        capture: CaptureMode | None = None,
        tools: bool = True,
        source: Source = "assistant",
        person: Person | None = None,
    ) -> None:
        self.id = "memoranda"
        self._memory = facade(memory)
        self._turns = Turns(memory, budget=budget, mode=capture)
        self._person = person
        self._tools = MemorandaToolset(memory, source=source, person=person) if tools else None
        self._packs: dict[str, str] = {}

    def _around(self, ctx: RunContext[Any]) -> Turns:
        return self._turns.within(_of_person(self._memory, self._person, ctx).scope) if self._person else self._turns

    def get_toolset(self) -> Any:
        """The tools, unless they were not wanted."""
        return self._tools

    def get_instructions(self) -> Any:
        """What bears on the user's words; the same for every request of a run."""

        async def packed(ctx: RunContext[Any]) -> str:
            run = str(ctx.run_id)
            if run not in self._packs:
                query = _prompt(ctx)
                self._packs[run] = await awaited(self._around(ctx).before, query, conversation=_conversation(ctx))
            return self._packs[run]

        return packed

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        """Keep what the run shows should be kept."""
        self._packs.pop(str(ctx.run_id), None)
        await awaited(self._around(ctx).after, messages_of(result.all_messages()), conversation=_conversation(ctx))
        return result

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> Any:
        """Nothing is kept of a run that failed; its pack is dropped."""
        self._packs.pop(str(ctx.run_id), None)
        raise error


def messages_of(messages: Sequence[ModelMessage]) -> list[Message]:
    """What was said in a run. Calls of tools and their results are nobody's words."""
    said: list[Message] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            said += [Message("user", _text(part.content)) for part in message.parts if isinstance(part, UserPromptPart)]
        elif isinstance(message, ModelResponse):
            text = "\n".join(part.content for part in message.parts if isinstance(part, TextPart))
            said += [Message("assistant", text)] if text else []
    return said


def _prompt(ctx: RunContext[Any]) -> str:
    if ctx.prompt is not None:
        return _text(ctx.prompt)
    users = [each.text for each in messages_of(ctx.messages) if each.role == "user"]
    return users[-1] if users else ""


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each for each in content if isinstance(each, str))


def _conversation(ctx: RunContext[Any]) -> str:
    return str(getattr(ctx, "conversation_id", None) or "")
