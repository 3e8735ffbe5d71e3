"""Who asks: the bearer token of a request, and the principal that it stands for. Nothing else lets anybody in."""

import hmac
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.domain.access import Principal, Role
from memoranda.domain.errors import MemorandaError
from memoranda.http.guards import is_private_path
from memoranda.http.limits import SignIns, Workers
from memoranda.http.refusal import Refusal, refusal_of
from memoranda.service.store import Store

PERSON = Principal("console", "admin", "")
"""Whoever started the server and holds the token of this run."""
_SCHEME = "bearer"
_LONGEST = 512


class Doorkeeper(NamedTuple):
    """How callers are known. `run_secret` is a token that lives as long as the server and is stored nowhere; with
    `open_door` everybody is the person at the machine, which only a loopback address may have."""

    store: Store
    run_secret: str = ""
    open_door: bool = False

    def run_principal(self, secret: str) -> Principal | None:
        """Whom the token of this run stands for; None when this is another."""
        given = secret.encode("utf-8", "replace")
        return PERSON if self.run_secret and hmac.compare_digest(given, self.run_secret.encode()) else None

    def kept(self, secret: str) -> Principal | None:
        """Whom a token of the store stands for; None when it is no good."""
        return self.store.tokens.principal(secret)


class Authentication:
    """Puts the principal into the request's state, or answers 401. Only what is public needs none."""

    def __init__(self, app: ASGIApp, *, keeper: Doorkeeper, sign_ins: SignIns, workers: Workers) -> None:
        self._app = app
        self._keeper = keeper
        self._sign_ins = sign_ins
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_private_path(scope["path"]):
            try:
                principal = await self._known(scope)
            except Refusal as refusal:
                await refusal(scope, receive, send)
                return
            except MemorandaError as error:  # the store does not answer: nobody is let in, and everybody told
                await refusal_of(error)(scope, receive, send)
                return
            scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)

    async def _known(self, scope: Scope) -> Principal:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given and self._keeper.open_door:
            return PERSON
        if not given:
            raise _unknown("a token is needed", "Send it as `Authorization: Bearer TOKEN`.")
        scheme, _, secret = given[0].decode("latin-1").partition(" ")
        secret = secret.strip()
        if len(given) > 1 or scheme.lower() != _SCHEME or not secret or len(secret) > _LONGEST:
            raise _unknown("the authorization cannot be read", "Send one header, `Authorization: Bearer TOKEN`.")
        # Not on the loop: a database may be far away, or not answer for a while.
        principal = self._keeper.run_principal(secret) or await self._workers.look(lambda: self._keeper.kept(secret))
        if principal is None:
            client = scope.get("client")
            self._sign_ins.failed(client[0] if client else "local")
            raise _unknown("this token is not known, has expired or was revoked", "Make one: memoranda token create.")
        return principal


def entitled(principal: Principal, role: Role, *, whole: bool) -> None:
    """Refuse who has not the role, or reaches a part of the store only where all of it is concerned."""
    if not principal.may(role):
        raise Refusal(
            403,
            "role",
            f"this needs the role {role}, and the token is a {principal.role}'s",
            hint="Use a token of that role.",
        )
    if whole and not principal.everywhere:
        raise Refusal(
            403,
            "whole-store",
            "this concerns the whole store, and the token reaches a part of it",
            hint="Use a token made with --everywhere.",
        )


def _unknown(detail: str, hint: str) -> Refusal:
    return Refusal(401, "not-signed-in", detail, hint=hint, headers={"www-authenticate": "Bearer"})
