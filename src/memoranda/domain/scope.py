"""Scope: who may see a memory. A path such as `bot-1/group-7/alice`, seen upward only.

A scope is always exact text: there are no wildcards, no empty path and no default. What cannot be parsed is an
error, never a wider scope. With a `top`, nothing above that is seen: whoever was let into `bot-1/group-7` does not
read what is kept in `bot-1`.
"""

import hashlib
import re

from memoranda.domain.errors import InvalidInput

_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]*")
_MAX_LENGTH = 256
_MAX_DEPTH = 16
_HINT = (
    "Write it as segments of ASCII letters, digits and _ . : @ + ~ - joined by '/', each beginning with a letter "
    "or digit, such as 'home/anna'."
)
_LONGEST_SEGMENT = 64
_ESCAPED = re.compile(rb"[^A-Za-z0-9_.:@+-]")


def segment(name: str) -> str:
    """One segment of a scope for any name that a host has, such as that of a group. No two names become the same.

    A name that can be one stays as it is; `~` and two digits stand for each byte that cannot.
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput("a name is needed for a scope", hint="Give the host's own id of the person or group.")
    body = name.encode("utf-8", "surrogatepass")
    written = _ESCAPED.sub(lambda found: b"~%02X" % found[0][0], body).decode()
    if len(written) > _LONGEST_SEGMENT:
        return f"0~~{hashlib.sha256(body).hexdigest()[:48]}"
    return written if written[0].isalnum() else f"0~~~{written}"


class Scope:
    """A validated path. Cannot be built from anything that is not one."""

    __slots__ = ("path", "top")

    path: str
    top: str
    """The widest scope that is seen from here; empty for all above."""

    def __init__(self, path: str, *, top: str = "") -> None:
        if not isinstance(path, str) or not path:
            raise InvalidInput("a scope is needed: there is no call without one", hint=_HINT)
        segments = path.split("/")
        if len(path) > _MAX_LENGTH or len(segments) > _MAX_DEPTH:
            raise InvalidInput(f"scope is longer than {_MAX_LENGTH} characters or {_MAX_DEPTH} segments", hint=_HINT)
        if not all(_SEGMENT.fullmatch(segment) for segment in segments):
            raise InvalidInput(f"not a scope: {path[:80]!r}", hint=_HINT)
        if top and path != top and not path.startswith(top + "/"):
            raise InvalidInput(f"{path[:80]!r} is not inside {top[:80]!r}", hint=_HINT)
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "top", top)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Scope does not change")

    def chain(self) -> tuple[str, ...]:
        """This scope and the ones above it, nearest first: what a recall here may see."""
        segments = self.path.split("/")
        widest = self.top.count("/") + 1 if self.top else 1
        return tuple("/".join(segments[:depth]) for depth in range(len(segments), widest - 1, -1))

    def sees(self, other: str) -> bool:
        """Whether a memory kept in `other` is visible from here."""
        above = self.path == other or self.path.startswith(other + "/")
        return above and len(other) >= len(self.top)

    def contains(self, other: str) -> bool:
        """Whether `other` is this scope or lies below it: what may be changed from here."""
        return other == self.path or other.startswith(self.path + "/")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and (other.path, other.top) == (self.path, self.top)

    def __hash__(self) -> int:
        return hash((self.path, self.top))

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Scope({self.path!r})"
