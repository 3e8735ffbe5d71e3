"""Tools by name over plain HTTP, for plugins of hosts: `GET /v1/tools/{toolset}`, `POST /v1/tools/{toolset}/{name}`.

The same tools as over MCP, in the same process and behind the same tokens. The host says on whose behalf a model calls;
files travel with the request and the answer, so that the caller's disk stays the caller's.
"""

from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, NotFound, Refused
from memoranda.domain.memory import OPERATORS, SOURCES, Source, checked_choice
from memoranda.domain.scope import Scope
from memoranda.http.auth import entitled
from memoranda.http.limits import Workers
from memoranda.http.performing import JSON, as_json
from memoranda.http.reading import parsed, scope_asked
from memoranda.mcp.guest import watched
from memoranda.service.acting import acting_as
from memoranda.service.store import Store
from memoranda.tools.bounding import bounded
from memoranda.tools.files import Sent
from memoranda.tools.results import ToolResult
from memoranda.tools.schema import Definition
from memoranda.tools.toolbox import TOOLSETS, Tools, Toolset, definitions, offer

LIST_PATH = "/v1/tools/{toolset}"
CALL_PATH = "/v1/tools/{toolset}/{name}"
LIST_DOOR, CALL_DOOR = "tools", "tools.call"
_LONGEST_WORD = 512


class Call(NamedTuple):
    """What a request brings beside the names in its path."""

    arguments: dict[str, Any] = {}  # noqa: RUF012 a named tuple's default; never changed
    """What the model wrote."""
    source: Source = "assistant"
    """Who vouches for what is written: `user` when a person approved the call."""
    speaker: str = ""
    conversation: str = ""
    whole: bool = False
    """All of the result, for programs; otherwise as much as a model should be given at once."""
    file: str | None = None
    """What is in the file that a tool reads."""


class ToolDesk:
    """Lists tools and calls them."""

    def __init__(self, store: Store, workers: Workers) -> None:
        self._store = store
        self._workers = workers

    def routes(self) -> list[Route]:
        return [
            Route(LIST_PATH, self._list, methods=["GET"]),
            Route(CALL_PATH, self._call, methods=["POST"]),
        ]

    async def _list(self, request: Request) -> Response:
        request.scope["state"]["door"] = LIST_DOOR
        principal: Principal = request.scope["state"]["principal"]
        entitled(principal, "reader", whole=False)
        shown = definitions("mcp", toolset=_toolset(request), files=True)
        if not principal.may("writer"):
            shown = [each for each in shown if each["annotations"]["readOnlyHint"]]
        return Response(as_json({"tools": shown}), media_type=JSON)

    async def _call(self, request: Request) -> Response:
        state = request.scope["state"]
        state["door"] = CALL_DOOR
        principal: Principal = state["principal"]
        entitled(principal, "reader", whole=False)
        toolset = _toolset(request)
        tool = _tool(toolset, request.path_params["name"])
        state["door"] = f"{LIST_DOOR}.{tool.name}"
        entitled(principal, "reader" if tool.reads else "writer", whole=False)
        scope = principal.scope_for(scope_asked(request.query_params.multi_items()))
        state["scope"] = scope.path
        call = _checked(parsed(await request.body()), principal)

        def work() -> tuple[ToolResult, Sent]:
            return self._done(tool, toolset, call, scope, state, principal.name)

        result, files = await self._workers.run(work, long=tool.carries)
        return Response(as_json(_told(result, files, whole=call.whole)), media_type=JSON)

    def _done(
        self, tool: Definition, toolset: Toolset, call: Call, scope: Scope, state: dict[str, Any], name: str
    ) -> tuple[ToolResult, Sent]:
        files = Sent(None if call.file is None else call.file.encode("utf-8", "surrogatepass"))
        memory = watched(self._store.memory(scope), lambda receipt: state.__setitem__("receipt", receipt))
        tools = Tools(
            memory,
            source=call.source,
            speaker=call.speaker,
            conversation=call.conversation,
            toolset=toolset,
            files=files,
        )
        with acting_as(name):
            return tools.call(tool.name, call.arguments), files


def _told(result: ToolResult, files: Sent, *, whole: bool) -> dict[str, Any]:
    shown = result if whole else bounded(result)
    data = {name: value for name, value in shown.data.items() if name not in ("receipt", "latency_ms")}
    return {
        "text": shown.text,
        "data": data,
        "failed": shown.failed,
        "receipt": result.data.get("receipt"),
        "latency_ms": result.data["latency_ms"],
        "file": None if files.written is None else files.written.decode("utf-8", "replace"),
    }


def _toolset(request: Request) -> Toolset:
    asked = request.path_params["toolset"]
    for toolset in TOOLSETS:
        if toolset == asked:
            return toolset
    raise NotFound("there is no such family of tools", hint=f"There are: {', '.join(TOOLSETS)}.")


def _tool(toolset: Toolset, name: str) -> Definition:
    offered = offer(toolset, files=True)
    for tool in offered.definitions:
        if tool.name == name:
            return tool
    names = ", ".join(each.name for each in offered.definitions)
    raise NotFound("there is no such tool in this family", hint=f"There are: {names}.")


def _checked(body: Any, principal: Principal) -> Call:
    if not isinstance(body, dict):
        raise InvalidInput("the body is a JSON object", hint="Send the arguments of the tool as `arguments`.")
    unknown = sorted(set(body) - set(Call._fields))
    if unknown:
        raise InvalidInput("the body has a field that is not known", hint=f"It may have: {', '.join(Call._fields)}.")
    for name, kind in (("arguments", dict), ("speaker", str), ("conversation", str), ("whole", bool)):
        if name in body and not isinstance(body[name], kind):
            raise InvalidInput(f"{name} is not of its type", hint=f"Give {name} as {_KINDS[kind]}.")
    if not isinstance(body.get("file"), str | None):
        raise InvalidInput("file is not a text", hint="Send what is in the file as a text.")
    call = Call(**body)
    checked_choice(call.source, SOURCES, name="source")
    if call.source in OPERATORS and not principal.may("admin"):
        raise Refused("only an admin's token speaks as operator or system", hint="Leave the source out.")
    for name in ("speaker", "conversation"):
        if len(getattr(call, name)) > _LONGEST_WORD:
            raise InvalidInput(f"{name} has more than {_LONGEST_WORD} characters", hint="Give its id.")
    return call


_KINDS: dict[type, str] = {dict: "an object", str: "a text", bool: "true or false"}
