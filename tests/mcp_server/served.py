"""A small HTTP server with the application mounted, as the real one mounts it: `served.py STORE PORT`.

Whoever comes as `Bearer anna` or `Bearer ben` reaches that scope, `Bearer guest` may only read anna's; all others get
401 before the application sees them.
"""

import sys
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

import memoranda
from memoranda.domain.access import Principal
from memoranda.mcp.guest import Guest
from memoranda.mcp.streamable import asgi_app

PRINCIPALS = {
    "anna": Principal("anna", "writer", "home/anna"),
    "ben": Principal("ben", "writer", "home/ben"),
    "guest": Principal("guest", "reader", "home/anna"),
}


class Authentication:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
            if given not in PRINCIPALS:
                await Response(status_code=401)(scope, receive, send)
                return
            scope["state"] = {**scope.get("state", {}), "principal": PRINCIPALS[given]}
        await self.app(scope, receive, send)


def main(store, port):
    settings = memoranda.Settings(embedder="none", follow=False)
    root = memoranda.open(store, scope="home", settings=settings)

    def guest_of(scope):
        principal = scope["state"]["principal"]
        asked = parse_qs(scope["query_string"].decode()).get("scope", [""])[0]
        memory = root.within(principal.scope_for(asked).path)
        return Guest(memory, may_write=principal.may("writer"), name=principal.name)

    mcp = asgi_app(guest_of)

    @asynccontextmanager
    async def lifespan(app):
        async with mcp.running():
            yield
        root.close()

    app = Starlette(routes=[Route("/mcp", mcp)], lifespan=lifespan)
    uvicorn.run(Authentication(app), host="127.0.0.1", port=int(port), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
