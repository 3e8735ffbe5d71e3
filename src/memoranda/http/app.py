"""The server as one ASGI application: doors, what is the server's own, the console and MCP; guarded and counted."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from memoranda.domain.access import Principal
from memoranda.domain.errors import MemorandaError
from memoranda.domain.ids import new_id
from memoranda.http import events, openapi, pages
from memoranda.http.activity import Activity
from memoranda.http.agents import Agents
from memoranda.http.auth import Authentication, Doorkeeper
from memoranda.http.guards import HostGuard
from memoranda.http.limits import BodyLimit, RateLimit, SignIns, Workers
from memoranda.http.logs import Logs, Observed
from memoranda.http.metrics import Metrics, Standing
from memoranda.http.metrics import Serving as ServingStanding
from memoranda.http.own import Desk
from memoranda.http.performing import (
    Answer,
    Asked,
    Performer,
    admitted,
    checked_filename,
    checked_key,
    permitted,
    request_digest,
    told,
)
from memoranda.http.reading import parsed
from memoranda.http.refusal import Refusal
from memoranda.http.roots import Root
from memoranda.http.tooling import ToolDesk
from memoranda.service.store import Store
from memoranda.wire.binding import arguments_of
from memoranda.wire.doors import DOORS, Door

Endpoint = Callable[[Request], Awaitable[Response]]


class Options(NamedTuple):
    """What a server is started with, beside the settings of its store."""

    host: str = "127.0.0.1"
    """The address it is bound to."""
    roots: tuple[str, ...] = ()
    """Folders that a path may name over HTTP: `DIR`, or `SCOPE=DIR` for the admins of a scope."""
    run_secret: str = ""
    """A token of an admin that lives as long as the server."""
    open_door: bool = False
    """Whether everybody who reaches it is let in; for a loopback address only."""
    console: bool = True
    mcp: bool = True
    leads: Callable[[], bool] = lambda: False
    """Whether this process does the upkeep of the store."""


class Served(NamedTuple):
    """The application, and what whoever runs it has to look after."""

    app: ASGIApp
    workers: Workers


class _Desk:
    """Takes requests at the doors and gives them to the threads that do the work."""

    def __init__(self, store: Store, workers: Workers, roots: Sequence[Root]) -> None:
        self._performer = Performer(store, boot=new_id())
        self._workers = workers
        self._roots = roots

    def routes(self) -> list[BaseRoute]:
        """One for each path, so that who asks with another method is told of all that it has."""
        by_path: dict[str, dict[str, Endpoint]] = {}
        for door in DOORS:
            by_path.setdefault(door.path, {})[door.method] = self._endpoint(door)
        return [Route(path, _by_method(found), methods=list(found)) for path, found in by_path.items()]

    def _endpoint(self, door: Door) -> Endpoint:
        async def answer(request: Request) -> Response:
            state = request.scope["state"]
            state["door"] = door.verb
            asked = await self._asked(door, request)
            state["scope"] = "" if asked.scope is None else asked.scope.path
            if door.callbacks and events.CONTENT_TYPE in request.headers.get("accept", ""):
                return self._streamed(asked, state)
            given = await self._workers.run(lambda: self._performer.perform(asked), long=bool(door.callbacks))
            state["receipt"] = getattr(given.result, "receipt", None)
            return Response(given.body, given.status, given.headers)

        return answer

    async def _asked(self, door: Door, request: Request) -> Asked:
        principal: Principal = request.scope["state"]["principal"]
        query = request.query_params.multi_items()
        scope = admitted(door, principal, query)
        raw = b"" if door.method == "GET" else await request.body()
        body = None if door.method == "GET" or door.upload else parsed(raw)
        arguments = arguments_of(door, request.path_params, query, body)
        arguments = permitted(door, principal, scope, arguments, self._roots)
        key = request.headers.get("idempotency-key")
        # What makes a secret is not kept to be repeated.
        key = checked_key(key) if key is not None and door.writes and door.noun != "tokens" else ""
        digest = request_digest(door, f"{request.url.path}?{request.url.query}", raw) if key else b""
        if not door.upload:
            return Asked(door, principal, scope, arguments, key, digest)
        return Asked(door, principal, scope, arguments, key, digest, raw, checked_filename(query))

    def _streamed(self, asked: Asked, state: dict[str, Any]) -> Response:
        def run(work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
            return asyncio.ensure_future(self._workers.run(work, long=True))

        def done(given: Answer) -> None:
            state["receipt"] = getattr(given.result, "receipt", None)

        body = events.stream(run, lambda steps: self._performer.perform(asked, steps), done=done)
        return StreamingResponse(body, media_type=events.CONTENT_TYPE, headers={"x-accel-buffering": "no"})


def _by_method(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    async def answer(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return answer


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemorandaError)
    given = told(error)
    return Response(given.body, given.status, given.headers)


async def _on_refusal(request: Request, error: Exception) -> Any:
    return error  # it is its own answer


async def _on_fault(request: Request, error: Exception) -> Response:
    raise error  # or Starlette would say it in plain text: whoever observes all requests makes a problem of it


async def _on_no_route(request: Request, error: Exception) -> Any:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = dict(error.headers or {})
        return Refusal(405, "method", "this path has no such method", hint="See /openapi.json.", headers=allowed)
    return Refusal(error.status_code, "no-such-path", "there is nothing at this path", hint="See /openapi.json.")


def create_app(store: Store, options: Options | None = None, *, logs: Logs | None = None) -> Served:
    """The application for a store. Whoever runs it closes the workers and the store after it."""
    options = options or Options()
    settings = store.settings
    workers = Workers(settings.server_threads, seconds=settings.server_timeout)
    roots = tuple(Root.of(each) for each in (*options.roots, *settings.server_roots))
    metrics = Metrics(
        lambda: Standing(*store.standing(), bool(store.owed())),
        busy=lambda: workers.busy,
        serving=lambda: ServingStanding(options.leads(), *(store.pool() or ())),
    )
    activity = Activity(store.clock)
    desk = _Desk(store, workers, roots)
    own = Desk(
        store,
        workers,
        activity=activity,
        metrics=metrics,
        describe=openapi.document,
        is_sample=store.has_sample,
    )
    routes = desk.routes()
    routes += own.routes()
    routes += ToolDesk(store, workers).routes()
    agents = Agents(store, workers) if options.mcp else None
    if agents is not None:
        routes += agents.routes()
    if options.console:
        routes += pages.routes()
    handlers = {MemorandaError: _on_error, Refusal: _on_refusal, HTTPException: _on_no_route, Exception: _on_fault}
    lifespan = None if agents is None else agents.running
    routed = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    # Or what is nearly a path would be sent on to where the Host header says.
    routed.router.redirect_slashes = False
    inner: ASGIApp = BodyLimit(routed, most=settings.server_max_body, seconds=settings.server_timeout)
    inner = RateLimit(inner, a_minute=settings.server_rate)
    keeper = Doorkeeper(store, options.run_secret, options.open_door)
    inner = Authentication(inner, keeper=keeper, sign_ins=SignIns(), workers=workers)
    inner = HostGuard(inner, host=options.host, hosts=settings.server_hosts)
    told_to = logs or Logs(form="json", clock=store.clock, scopes=settings.server_log_scopes)
    inner = Observed(inner, logs=told_to, metrics=metrics, activity=activity, clock=store.clock)
    return Served(inner, workers)
