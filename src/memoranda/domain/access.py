"""Access: who may do what, and where. A server knows its callers by tokens; the embedded facade trusts its program."""

import hashlib
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.scope import Scope

Role = Literal["reader", "writer", "admin"]
"""`reader` asks, `writer` also keeps and hides, `admin` also decides, erases and lets others in."""
ROLES: tuple[Role, ...] = get_args(Role)


def token_digest(secret: str) -> bytes:
    """What is stored of a token. It is long and random: a fast hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Token(NamedTuple):
    """What is known of a token. Not the token itself: that was shown once."""

    id: str
    """The beginning of the token, by which people tell them apart."""
    name: str
    role: Role
    scope: str
    """It reaches this scope and those below; empty for every scope of the store."""
    above: bool
    """Whether it also sees, and never changes, what is kept in the scopes above."""
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    last_used_at: int | None = None

    def is_good_at(self, now: int) -> bool:
        """Whether it still opens the door."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def principal(self) -> "Principal":
        return Principal(self.name or self.id, self.role, self.scope, self.above, self.id)

    def as_json(self) -> dict[str, Any]:
        times = ("created_at", "expires_at", "revoked_at", "last_used_at")
        shown: dict[str, Any] = self._asdict()
        return {**shown, **{name: None if shown[name] is None else iso(shown[name]) for name in times}}


class NewToken(NamedTuple):
    """A token that was just made. `secret` is shown now and never again."""

    token: Token
    secret: str

    def as_json(self) -> dict[str, Any]:
        return {"token": self.token.as_json(), "secret": self.secret}


class Principal(NamedTuple):
    """Who asks: bound to a part of the store and to a role, by the credential and by nothing that is sent with it."""

    name: str
    role: Role
    scope: str
    """Empty for every scope."""
    above: bool = False
    token_id: str = ""

    @property
    def everywhere(self) -> bool:
        return not self.scope

    def may(self, role: Role) -> bool:
        """Whether the role is enough for what needs `role`."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def reaches(self, path: str) -> bool:
        """Whether a scope is the principal's own or below it."""
        return self.everywhere or path == self.scope or path.startswith(self.scope + "/")

    def scope_for(self, asked: str) -> Scope:
        """The scope to work in: the one that was asked for, if it is the principal's to ask for; else its own."""
        if not asked and self.everywhere:
            raise InvalidInput("a scope is needed: this token has none of its own", hint="Add ?scope=home/anna.")
        wanted = Scope(asked or self.scope)
        if not self.reaches(wanted.path):
            raise Refused("this scope is outside of what the token reaches", hint=f"It reaches {self.scope} and below.")
        return Scope(wanted.path, top="" if self.above else self.scope)
