"""The server, apart from how it is reached: which tools, resources and prompts there are, and what is done with them.

All work is done in threads: a slow store or a slow embedder keeps no other request waiting.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from memoranda import __version__
from memoranda.domain.errors import MemorandaError, Refused
from memoranda.mcp import prompts, resources
from memoranda.mcp.guest import Guest, GuestOf
from memoranda.mcp.words import NAME, TITLE, instructions
from memoranda.service.acting import acting_as
from memoranda.tools.advice import advice
from memoranda.tools.bounding import bounded
from memoranda.tools.results import ToolResult, failure, one_line, without_tags
from memoranda.tools.toolbox import Tools, Toolset, offer

_log = logging.getLogger("memoranda.mcp")
_Context = ServerRequestContext[Any, Any]
Run = Callable[[Callable[[], Any]], Awaitable[Any]]
"""How work is done that would hold up others."""


def build(guest_of: GuestOf, *, toolset: Toolset = "default", run: Run | None = None) -> Server[Any]:
    """A server for everybody whom `guest_of` lets in, with one family of tools.

    The SDK's server of functions derives schemas from Python signatures; ours exist, so that its lower level is used.
    """
    _keep_quiet()
    served = _Served(guest_of, toolset, run or to_thread.run_sync)
    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions(toolset),
        get_tool_input_schema=served.input_schema,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
        on_list_resources=served.list_resources,
        on_list_resource_templates=served.list_templates,
        on_read_resource=served.read_resource,
        on_list_prompts=served.list_prompts,
        on_get_prompt=served.get_prompt,
    )


def _keep_quiet() -> None:
    """The SDK's log may quote what was sent, and that may be what somebody wants remembered."""
    log = logging.getLogger("mcp")
    log.addHandler(logging.NullHandler())
    log.propagate = False


class _Served:
    """One answer for each kind of request."""

    def __init__(self, guest_of: GuestOf, toolset: Toolset, run: Run) -> None:
        self._guest_of = guest_of
        self._toolset = toolset
        self._offer = offer(toolset)
        self._run = run
        self._tools = [types.Tool.model_validate(each.as_json("mcp")) for each in self._offer.definitions]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        return next((each.input_schema for each in self._tools if each.name == name), None)

    # -- tools --

    async def list_tools(self, context: _Context, _: Any) -> types.ListToolsResult:
        # On standard input everything is offered, and listed before the store is open.
        if context.request is None or (await self._asked(context, _may_write)):
            return types.ListToolsResult(tools=self._tools)
        return types.ListToolsResult(tools=[each for each in self._tools if self._offer.named(each.name).reads])

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            result = await self._done(context, partial(self._call, params.name, params.arguments or {}))
        except MemorandaError as error:
            result = failure(error)
        except Exception as error:  # noqa: BLE001 a client goes on whatever happens; its words may be in the message
            _log.error("a tool failed: %s", type(error).__name__)
            result = _not_done(error)
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=_structured(result),
            is_error=result.failed,
        )

    def _call(self, name: str, arguments: Mapping[str, Any], guest: Guest) -> ToolResult:
        tool = self._offer.named(name)
        guest.called(tool.name)
        if not guest.may_write and not tool.reads:
            return failure(Refused("this caller may only read", hint="Tell the user that it was not done."))
        tools = Tools(guest.memory, source=guest.source, speaker=guest.speaker, toolset=self._toolset)
        return bounded(tools.call(name, arguments))

    # -- resources --

    async def list_resources(self, context: _Context, _: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.RESOURCES)

    async def list_templates(self, context: _Context, _: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._asked(context, lambda guest: resources.read(guest, uri))
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])

    # -- prompts --

    async def list_prompts(self, context: _Context, _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.PROMPTS)

    async def get_prompt(self, context: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = params.arguments or {}
        text = await self._asked(
            context, lambda guest: prompts.text_of(guest, params.name, given, toolset=self._toolset)
        )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompts.described(params.name), messages=[message])

    # -- work --

    async def _asked(self, context: _Context, work: Callable[[Guest], Any]) -> Any:
        """Work whose failure is an error of the protocol."""
        try:
            return await self._done(context, work)
        except MemorandaError as error:
            message = f"{one_line(str(error))}. {advice(error)}"
            raise MCPError(code=types.INVALID_PARAMS, message=message) from None
        except Exception as error:  # noqa: BLE001 as for tools
            _log.error("a request failed: %s", type(error).__name__)
            raise MCPError(code=types.INTERNAL_ERROR, message=_not_done(error).text) from None

    async def _done(self, context: _Context, work: Callable[[Guest], Any]) -> Any:
        scope = None if context.request is None else context.request.scope
        return await self._run(partial(self._as_guest, scope, work))

    def _as_guest(self, scope: Mapping[str, Any] | None, work: Callable[[Guest], Any]) -> Any:
        guest = self._guest_of(scope)
        if not guest.name:
            return work(guest)
        with acting_as(guest.name):
            return work(guest)


def _structured(result: ToolResult) -> dict[str, Any]:
    """What programs read. Some clients show a model this in place of the text: it says the same, and is as harmless."""
    says_all = result.text.startswith(("{", "["))
    return without_tags(result.data if says_all else {"message": result.text, **result.data})  # type: ignore[no-any-return]


def _may_write(guest: Guest) -> bool:
    return guest.may_write


def _not_done(error: Exception) -> ToolResult:
    told = f"Error: it could not be done ({type(error).__name__}), through no fault of yours. Tell the user so."
    return ToolResult(told, {"error": {"name": type(error).__name__}}, failed=True)
