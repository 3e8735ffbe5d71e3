"""Connecting to a served memory."""

from collections.abc import Sequence
from pathlib import Path

from memoranda.client.calling import Caller
from memoranda.client.memory import RemoteMemory
from memoranda.client.transport import Transport
from memoranda.config import secret
from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.scope import Scope

TOKEN_VARIABLE = "MEMORANDA_TOKEN"  # noqa: S105 the name of it


def connect(
    url: str | Sequence[str],
    token: str | None = None,
    *,
    scope: str = "",
    timeout: float = 30.0,
    patience: float = 10.0,
    ca_file: str | Path | None = None,
) -> RemoteMemory:
    """The memory of a server, with the verbs of `memoranda.open`. Asks it once who one is, and what one reaches.

    `url` is `http://127.0.0.1:8765`, `https://…`, or `unix:/path` for a socket; several of them, in a list or with
    commas between, are servers of one store: when one is away, the next is asked. Without a `token`, the one in
    MEMORANDA_TOKEN. Without a `scope`, the token's own; a token that reaches every scope needs one. `timeout` is
    the seconds for one call, or for a silence of one that tells of its progress. `patience` is the seconds for which
    a call is tried again after its server broke off or was away; a first one is not waited for. What is written is
    written once, however often it is tried. `ca_file` has the certificates that are trusted, in place of the
    system's.
    """
    bound = Scope(scope) if scope else None
    chosen = secret(TOKEN_VARIABLE) if token is None else token
    transport = Transport(url, chosen, timeout=timeout, patience=patience, ca_file=ca_file)
    try:
        caller = Caller(transport, "")
        own = str(caller.whoami().get("scope", ""))
        if bound is None and not own:
            raise InvalidInput("a scope is needed: this token has none of its own", hint="Pass scope='home/anna'.")
        bound = bound or Scope(own)
        if not Principal("", "reader", own).reaches(bound.path):
            raise Refused(
                f"{bound} is outside of what the token reaches", hint=f"It reaches {own} and below: pass a scope there."
            )
        return RemoteMemory(caller.within(bound.path), bound, owner=True)
    except BaseException:
        transport.close()
        raise
