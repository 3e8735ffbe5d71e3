"""The files of the console: known by name when the server starts, so that no path leads anywhere else."""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoranda.http import console

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_FOLDER = Path(console.__file__).parent
_FIRST = "index.html"


def routes() -> list[Route]:
    """The first page at `/`, everything else below `/console`."""
    found = []
    for path in sorted(_FOLDER.rglob("*")):
        name = path.relative_to(_FOLDER).as_posix()
        if path.suffix in _TYPES:
            found.append(Route("/" if name == _FIRST else f"/console/{name}", _file(path), methods=["GET"]))
    return found


def _file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache", "content-type": _TYPES[path.suffix]}

    async def answer(request: Request) -> Response:
        request.scope.setdefault("state", {})["door"] = "console"
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers)

    return answer
