"""MCP at /mcp: the tools for agents, in the same process and behind the same tokens as everything else.

What an agent writes there has the source `assistant`. The scope is the token's own, or `?scope=` inside it; another
family of tools has a path of its own.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, MemorandaError
from memoranda.http.limits import Workers
from memoranda.http.refusal import Refusal
from memoranda.service.store import Store
from memoranda.wire.binding import SCOPE

PATH = "/mcp"
DOOR = "mcp"
_T = TypeVar("_T")
# What a model can do about it; the refusal's own words are for programs.
_NEXT = {
    "busy": "It was not begun: call again in a moment.",
    "took-too-long": "Look whether it happened before you call again, and tell the user so.",
}
_LATER = "Go on without it, and tell the user that the memory cannot be used at the moment."


class NotNow(MemorandaError):
    """The server has no thread or no time for it. Told to a model in a sentence, as other errors are."""

    default_hint = _LATER


class Agents:
    """The applications for agents, one for each family of tools; or the reason why there is none."""

    def __init__(self, store: Store, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._apps: dict[str, Any] = {}
        try:
            from memoranda.mcp.streamable import asgi_app
            from memoranda.tools.toolbox import TOOLSETS
        except ImportError:
            return
        for toolset in TOOLSETS:
            path = PATH if toolset == "default" else f"{PATH}/{toolset}"
            self._apps[path] = asgi_app(
                self._guest,
                toolset=toolset,
                hosts=None,  # checked before it comes here
                run=self._run,
                most_bytes=store.settings.server_max_body,
            )

    def routes(self) -> list[Route]:
        """A path for each family."""
        if not self._apps:
            return [Route(PATH, _missing, methods=["GET", "POST", "DELETE"])]
        return [Route(path, _Named(app)) for path, app in self._apps.items()]

    @asynccontextmanager
    async def running(self, _: Any = None) -> AsyncIterator[None]:
        """For the lifespan of the server."""
        async with AsyncExitStack() as stack:
            for app in self._apps.values():
                await stack.enter_async_context(app.running())
            yield

    def _guest(self, scope: Mapping[str, Any] | None) -> Any:
        from memoranda.mcp.guest import Guest, watched

        assert scope is not None
        state: dict[str, Any] = scope["state"]
        principal: Principal = state["principal"]
        asked = [value for name, value in parse_qsl(scope["query_string"].decode("latin-1"), True) if name == SCOPE]
        if len(asked) > 1 or asked == [""]:
            raise InvalidInput("one scope is expected", hint="Write it once into the address: /mcp?scope=home/anna.")
        where = principal.scope_for(asked[0] if asked else "")
        state["scope"] = where.path

        def called(tool: str) -> None:
            state["door"] = f"{DOOR}.{tool}"

        def done(receipt: object) -> None:
            state["receipt"] = receipt

        memory = watched(self._store.memory(where), done)
        return Guest(memory, may_write=principal.may("writer"), name=principal.name, called=called)

    async def _run(self, work: Callable[[], _T]) -> _T:
        try:
            return await self._workers.run(work)
        except Refusal as refusal:
            raise NotNow(refusal.detail, hint=_NEXT.get(refusal.name, _LATER)) from refusal


class _Named:
    """An application that says which door it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["door"] = DOOR
        await self._app(scope, receive, send)


async def _missing(request: Request) -> Any:
    return Refusal(501, "no-mcp", "MCP is not installed here", hint='Run: pip install "memoranda[mcp]"')
