"""Folders that may be named over HTTP, and for whom: `DIR` for admins of the whole store, `SCOPE=DIR` for a scope's."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.scope import Scope
from memoranda.service.documents import RealPath


class Root(NamedTuple):
    """A folder, without links. With a scope, admins of that scope and of those below may name what is in it."""

    folder: Path
    scope: Scope | None = None

    @classmethod
    def of(cls, written: str) -> "Root":
        """`notes`, or `bot-1=notes`. A folder with an equals sign in its name is told by `./` before it."""
        before, equals, behind = written.partition("=")
        try:
            scope = Scope(before) if equals else None
        except InvalidInput:
            scope = None
        folder = written if scope is None else behind
        if not folder.strip():
            raise InvalidInput("a root is a folder", hint="Write --root DIR, or --root SCOPE=DIR.")
        return cls(Path(folder).expanduser().resolve(), scope)

    def opens(self, real: str, principal: Principal, scope: Scope | None) -> bool:
        """Whether what is at this place may be named by them in this scope."""
        inside = real == str(self.folder) or real.startswith(f"{self.folder}{os.sep}")
        bound = self.scope is not None and scope is not None and self.scope.contains(scope.path)
        return inside and (bound or principal.everywhere)


def confined(path: Any, roots: Sequence[Root], principal: Principal, scope: Scope | None) -> RealPath:
    """A path on this machine as it may be used: inside a root, links resolved. Says the same whether it is there."""
    written = str(path)
    if "\0" in written or not is_text(written) or not os.path.isabs(written):
        raise InvalidInput("a whole path on the server's machine is needed", hint="Begin it with a slash.")
    real = os.path.realpath(written)
    if not any(root.opens(real, principal, scope) for root in roots):
        raise Refused(
            "this path is outside of the folders that the server may use for this token",
            hint="Start the server with --root SCOPE=DIR, or run the command on its machine.",
        )
    return RealPath(real)


def is_text(written: str) -> bool:
    """Whether it can be written in UTF-8."""
    try:
        written.encode()
    except UnicodeEncodeError:
        return False
    return True
