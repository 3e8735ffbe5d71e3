"""What is the server's own: whether it is well, who one is, what it did lately, its description, its metrics."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import memoranda
from memoranda.domain.access import Principal, Role
from memoranda.domain.errors import InvalidInput, LedgerUnavailable, MemorandaError
from memoranda.http import sample
from memoranda.http.activity import Activity
from memoranda.http.auth import entitled
from memoranda.http.limits import Workers
from memoranda.http.metrics import Metrics
from memoranda.http.performing import JSON, as_json
from memoranda.http.refusal import Refusal
from memoranda.service.store import Store

_LONGEST_MINUTES = 1_440
_READY_SECONDS = 2.0


class Own(NamedTuple):
    """A path that is no verb of the facade, with what its description says."""

    name: str
    path: str
    about: str
    role: Role | None
    """None: anybody may ask."""
    answer: dict[str, Any]
    """The schema of what it says."""
    minutes: bool = False
    """Whether it takes a number of minutes."""
    whole: bool = False
    content_type: str = JSON
    method: Literal["GET", "POST"] = "GET"


_WELL = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
_WHO = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "role": {"type": "string"},
        "scope": {"type": "string"},
        "above": {"type": "boolean"},
        "everywhere": {"type": "boolean"},
        "version": {"type": "string"},
        "sample": {"type": "boolean"},
    },
    "required": ["name", "role", "scope", "above", "everywhere", "version", "sample"],
}
_CLEARED = {
    "type": "object",
    "properties": {
        **{name: {"type": "integer"} for name in ("memories", "conversations", "sources", "found")},
        "left": {"type": "array", "items": {"type": "string"}},
    },
}
_OBJECT: dict[str, Any] = {"type": "object"}

HEALTH = Own("healthz", "/healthz", "Whether the process answers.", None, _WELL)
READY = Own(
    "readyz", "/readyz", "Whether it takes requests: 503 when it is stopping or its store is not well.", None, _WELL
)
DESCRIPTION = Own("openapi", "/openapi.json", "This description.", None, _OBJECT)
WHO = Own("whoami", "/v1/whoami", "Whom the token stands for, and what it reaches.", "reader", _WHO)
ACTIVITY = Own(
    "activity",
    "/v1/activity",
    "What this server did lately in the scopes that the token reaches: counts, times, abstentions.",
    "reader",
    _OBJECT,
    minutes=True,
)
METRICS = Own(
    "metrics",
    "/metrics",
    "Counts and times for Prometheus. Never a scope, an id or a text.",
    "reader",
    {"type": "string"},
    whole=True,
    content_type="text/plain",
)
CLEAR_SAMPLE = Own(
    "clear_sample",
    "/v1/sample/clear",
    "Erase the sample data, with the notes that came with it.",
    "admin",
    _CLEARED,
    whole=True,
    method="POST",
)
OWN: tuple[Own, ...] = (HEALTH, READY, DESCRIPTION, WHO, ACTIVITY, METRICS, CLEAR_SAMPLE)


class Desk:
    """Answers for the server itself."""

    def __init__(
        self,
        store: Store,
        workers: Workers,
        *,
        activity: Activity,
        metrics: Metrics,
        describe: Callable[[], dict[str, Any]],
        is_sample: Callable[[], bool],
    ) -> None:
        self._store = store
        self._workers = workers
        self._activity = activity
        self._metrics = metrics
        self._describe = describe
        self._is_sample = is_sample
        self._description = b""

    def routes(self) -> list[Route]:
        """Every path with what answers there."""
        answers = (
            (HEALTH, self._health),
            (READY, self._ready),
            (DESCRIPTION, self._described),
            (WHO, self._who),
            (ACTIVITY, self._lately),
            (METRICS, self._counted),
            (CLEAR_SAMPLE, self._cleared),
        )
        return [Route(each.path, _admitting(each, answer), methods=[each.method]) for each, answer in answers]

    async def _health(self, request: Request) -> Response:
        return _said({"status": "ok"})

    async def _ready(self, request: Request) -> Response:
        if self._workers.stopping:
            raise Refusal(503, "stopping", "the server is stopping", hint="Ask another, or wait.", retry_after=5)
        try:
            # A database that is away is waited for elsewhere; whoever sends requests here wants to know now.
            async with asyncio.timeout(_READY_SECONDS):
                await self._workers.look(self._store.check)
        except (TimeoutError, LedgerUnavailable):
            raise Refusal(
                503,
                "database-away",
                "the database does not answer",
                hint="Look whether its server runs; nothing has to be done here when it is back.",
                retry_after=1,
            ) from None
        except (MemorandaError, OSError):
            raise Refusal(
                503, "not-ready", "the store is not well", hint="Run: memoranda doctor", retry_after=5
            ) from None
        return _said({"status": "ready"})

    async def _described(self, request: Request) -> Response:
        if not self._description:
            self._description = as_json(self._describe())
        return Response(self._description, media_type=JSON)

    async def _who(self, request: Request) -> Response:
        who: Principal = request.scope["state"]["principal"]
        sample = await self._workers.run(self._is_sample)
        return _said(
            {
                "name": who.name,
                "role": who.role,
                "scope": who.scope,
                "above": who.above,
                "everywhere": who.everywhere,
                "version": memoranda.__version__,
                "sample": sample and who.reaches("sample"),
            }
        )

    async def _lately(self, request: Request) -> Response:
        who: Principal = request.scope["state"]["principal"]
        return _said(self._activity.summary(_reached(who), minutes=_minutes(request)))

    async def _counted(self, request: Request) -> Response:
        body, content_type = await self._workers.run(self._metrics.shown)
        return Response(body, headers={"content-type": content_type})

    async def _cleared(self, request: Request) -> Response:
        gone = await self._workers.run(lambda: sample.clear(self._store), long=True)
        return _said(gone.as_json())


def _reached(who: Principal) -> Callable[[str], bool]:
    """What concerns no scope is the operator's business."""
    return lambda scope: who.everywhere if not scope else who.reaches(scope)


def _minutes(request: Request) -> int:
    written = request.query_params.get("minutes", "60")
    is_short = 1 <= len(written) <= len(str(_LONGEST_MINUTES)) and written.isascii() and written.isdigit()
    if not is_short or not 1 <= int(written) <= _LONGEST_MINUTES:
        raise InvalidInput(f"minutes is a number from 1 to {_LONGEST_MINUTES:,}", hint="60 is the last hour.")
    return int(written)


def _admitting(own: Own, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
    async def admitted(request: Request) -> Response:
        request.scope["state"]["door"] = own.name
        if own.role is not None:
            entitled(request.scope["state"]["principal"], own.role, whole=own.whole)
        found: Response = await answer(request)
        return found

    return admitted


def _said(value: dict[str, Any]) -> Response:
    return Response(as_json(value), media_type=JSON)
