"""Scope: who may see a memory. A path such as `bot-1/group-7/alice`, seen upward only.

A scope is always exact text: there are no wildcards, no empty path and no default. What cannot be parsed is an
error, never a wider scope.
"""

import re

from memoranda.domain.errors import InvalidInput

_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]*")
_MAX_LENGTH = 256
_MAX_DEPTH = 16
_HINT = (
    "Write it as segments of ASCII letters, digits and _ . : @ + ~ - joined by '/', each beginning with a letter "
    "or digit, such as 'home/anna'."
)


class Scope:
    """A validated path. Cannot be built from anything that is not one."""

    __slots__ = ("path",)

    path: str

    def __init__(self, path: str) -> None:
        if not isinstance(path, str) or not path:
            raise InvalidInput("a scope is needed: there is no call without one", hint=_HINT)
        segments = path.split("/")
        if len(path) > _MAX_LENGTH or len(segments) > _MAX_DEPTH:
            raise InvalidInput(f"scope is longer than {_MAX_LENGTH} characters or {_MAX_DEPTH} segments", hint=_HINT)
        if not all(_SEGMENT.fullmatch(segment) for segment in segments):
            raise InvalidInput(f"not a scope: {path[:80]!r}", hint=_HINT)
        object.__setattr__(self, "path", path)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Scope does not change")

    def chain(self) -> tuple[str, ...]:
        """This scope and the ones above it, nearest first: what a recall here may see."""
        segments = self.path.split("/")
        return tuple("/".join(segments[:depth]) for depth in range(len(segments), 0, -1))

    def sees(self, other: str) -> bool:
        """Whether a memory kept in `other` is visible from here."""
        return self.path == other or self.path.startswith(other + "/")

    def contains(self, other: str) -> bool:
        """Whether `other` is this scope or lies below it: what may be changed from here."""
        return other == self.path or other.startswith(self.path + "/")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Scope({self.path!r})"
