"""The server over streamable HTTP, as an application that an HTTP server mounts.

Every request stands alone and is answered with JSON: any process can answer it, and a restart loses nothing. Who asks
must be known already: whoever mounts this lets nobody in who may not.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoranda.mcp.guest import GuestOf
from memoranda.mcp.server import Run, build
from memoranda.tools.toolbox import Toolset

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
MOST_BYTES = 1_048_576


class StreamableApp:
    """An ASGI application for one path. It serves while `running` is entered, which is possible once."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is ever sent unasked, so that there is no stream to listen to and no session to end.
        if scope["type"] == "http" and scope["method"] != "POST":
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """For the lifespan of whoever mounts it."""
        async with self._manager.run():
            yield


def asgi_app(
    guest_of: GuestOf,
    *,
    toolset: Toolset = "default",
    hosts: Sequence[str] | None = LOOPBACK,
    run: Run | None = None,
    most_bytes: int = MOST_BYTES,
) -> StreamableApp:
    """The application. `hosts` are the names by which it may be reached, `:*` for any port; None when whoever mounts
    it has checked Host and Origin before."""
    return StreamableApp(
        StreamableHTTPSessionManager(
            app=build(guest_of, toolset=toolset, run=run),
            json_response=True,
            stateless=True,
            security_settings=_checks(hosts),
            max_request_body_size=most_bytes,
        )
    )


def _checks(hosts: Sequence[str] | None) -> TransportSecuritySettings:
    if hosts is None:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    allowed: dict[str, Any] = {
        "allowed_hosts": list(hosts),
        "allowed_origins": [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    }
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, **allowed)
