"""Guards: who may speak to the server at all, whatever token they have. Against DNS rebinding and forged requests.

A web page that somebody looks at can send requests to their own machine. It cannot choose the Host, the Origin and the
Sec-Fetch headers that the browser sends with them: those tell it apart from the console and from programs.
"""

import ipaddress
from collections.abc import Sequence
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.http.refusal import Refusal
from memoranda.wire.doors import DOORS

IMPORT_PATHS = frozenset(door.path for door in DOORS if door.upload) | {"/v1/tools/openclaw/memory_import"}
"""Doors that take a file as, or in, their body."""

_JSON = frozenset({"application/json"})
_FILES = _JSON | {"application/octet-stream", "application/x-ndjson"}
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_USUAL_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CONTENT_SECURITY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
_ALWAYS = (
    (b"content-security-policy", _CONTENT_SECURITY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
_PUBLIC = frozenset({"/", "/healthz", "/readyz", "/openapi.json"})
_PUBLIC_FOLDER = "/console/"
_LONGEST_PORT = 5


class Host(NamedTuple):
    """The name of a host in small letters, and the port that was named with it."""

    name: str
    port: int | None

    @classmethod
    def of(cls, text: str) -> "Host | None":
        """`localhost:8765` or `[::1]:8765`; None when it is not the name of a host."""
        name, colon, port = text.strip().lower().rpartition(":")
        if not colon or "]" in port:
            name, colon, port = text.strip().lower(), "", ""
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1]
            if not is_address(name):
                return None
        elif not name or not all(char.isascii() and (char.isalnum() or char in "-._") for char in name):
            return None
        if not colon:
            return cls(name, None)
        if len(port) > _LONGEST_PORT or not port.isascii() or not port.isdigit() or int(port) > 65_535:
            return None
        return cls(name, int(port))


def is_address(name: str) -> bool:
    """Whether it is an address in numbers."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    return host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_private_path(path: str) -> bool:
    """Whether a token is needed there. So it is everywhere but at the few places that hold no memories."""
    return path not in _PUBLIC and not path.startswith(_PUBLIC_FOLDER)


def with_security(headers: list[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Headers of an answer with those that every answer has."""
    forced = (*_ALWAYS, (b"cache-control", b"no-store")) if is_private_path(path) else _ALWAYS
    names = {name for name, _ in forced}
    return [*(each for each in headers if each[0].lower() not in names), *forced]


class HostGuard:
    """Turns away who calls the server by a name that is not its own, or comes from a page that is not its own.

    `hosts` are more names, of a proxy for one: with a port it must be that one, without it may be any. A server that
    listens on every address is also called by the very address that was reached.
    """

    def __init__(self, app: ASGIApp, *, host: str, hosts: Sequence[str] = ()) -> None:
        self._app = app
        self._bound = host.strip("[]").lower()
        self._also = [found for each in hosts if (found := Host.of(each)) is not None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_security(list(message.get("headers", ())), scope["path"])}
            await send(message)

        refusal = self._objection(scope)
        await (refusal or self._app)(scope, receive, guarded)

    def _objection(self, scope: Scope) -> Refusal | None:
        headers = _gathered(scope)
        host = self._host(scope, headers.get("host", []))
        if host is None:
            return Refusal(
                421,
                "not-our-host",
                "the Host header names another server",
                hint="Call it by the address that it printed, or add the name to the setting server_hosts.",
            )
        if not _is_own_origin(scope, host, headers.get("origin", [])):
            return Refusal(403, "not-our-origin", "another web page asks", hint="Use the console, or a program.")
        if _is_from_elsewhere(scope, headers.get("sec-fetch-site", []), headers):
            return Refusal(403, "not-our-site", "another web site asks", hint="Use the console, or a program.")
        if any(char < " " or "\x7f" <= char <= "\x9f" for char in scope["path"]):
            # A route would take a line's end behind a path for the end of the path.
            return Refusal(400, "bad-path", "the path has characters that do not show", hint="See /openapi.json.")
        return _wrong_type(scope, headers)

    def _host(self, scope: Scope, given: list[str]) -> Host | None:
        found = Host.of(given[0]) if len(given) == 1 else None
        if found is None or any(each.name == found.name and each.port in (None, found.port) for each in self._also):
            return found
        reached = scope.get("server") or ("", None)
        own = {*_LOOPBACK, self._bound, *([str(reached[0]).lower()] if is_address(str(reached[0])) else [])}
        # A socket in the file system has no port: only who may open the file comes here.
        port = reached[1] if reached[1] is not None else found.port
        named = found.port if found.port is not None else _USUAL_PORTS[_scheme(scope)]
        return found if found.name in own and (port is None or named == port) else None


def _gathered(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _scheme(scope: Scope) -> str:
    return "https" if scope.get("scheme") == "https" else "http"


def _is_own_origin(scope: Scope, host: Host, given: list[str]) -> bool:
    """No page at all, or one that this server gave out. A proxy may have spoken TLS for us."""
    if not given:
        return True
    scheme, separator, rest = given[0].lower().partition("://")
    origin = Host.of(rest)
    if len(given) > 1 or not separator or origin is None or scheme not in {_scheme(scope), "https"}:
        return False
    usual = _USUAL_PORTS[scheme]
    return origin.name == host.name and (origin.port or usual) == (host.port or usual)


def _is_from_elsewhere(scope: Scope, given: list[str], headers: dict[str, list[str]]) -> bool:
    """Whether a page of somebody else makes the browser ask. A link that a person follows to the console is fine."""
    if not given or all(each in ("same-origin", "none") for each in given):
        return False
    followed = headers.get("sec-fetch-mode") == ["navigate"] and headers.get("sec-fetch-dest") == ["document"]
    return not (followed and scope["method"] == "GET" and not is_private_path(scope["path"]))


def _wrong_type(scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
    """A form or a plain text can be sent by any page without being asked first; JSON cannot."""
    if scope["method"] not in _WITH_BODY:
        return None
    given = headers.get("content-type", [])
    has_body = "transfer-encoding" in headers or headers.get("content-length", ["0"]) != ["0"]
    if not given and not has_body:
        return None
    allowed = _FILES if scope["path"] in IMPORT_PATHS else _JSON
    kind, _, parameters = (given[0] if len(given) == 1 else "").partition(";")
    charset = parameters.replace('"', "").replace(" ", "").lower()
    if kind.strip().lower() in allowed and charset in ("", "charset=utf-8"):
        return None
    return Refusal(
        415,
        "wrong-content-type",
        f"the body must be {' or '.join(sorted(allowed))}, in UTF-8",
        hint="Send the header Content-Type: application/json.",
    )
