"""Tokens by which a server knows its callers: making them, listing them, revoking them, and telling whose one is."""

import secrets
import threading
from typing import Any, NamedTuple

from memoranda.domain.access import ROLES, NewToken, Principal, Role, Token, token_digest
from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.ids import new_id
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.tokens import USE_NOTED_MS, Tokens
from memoranda.service.engine import Engine
from memoranda.service.screening import refuse_secret_name

PREFIX = "mem_"
"""How every token begins, so that people and scanners know one when they see it."""
MAX_DAYS = 3_650
_ID_LENGTH = 8
_LONGEST_NAME = 100
_LONGEST_SECRET = 200
_MOST_NOTED = 1_000


class Revoked(NamedTuple):
    """What opens nothing any more: a token, and those that were made with it, all the way down."""

    token: Token
    others: tuple[str, ...] = ()
    """The ids of those that were good until now. Who held the token may have kept them."""

    @property
    def revoked_at(self) -> int | None:
        return self.token.revoked_at

    def as_json(self) -> dict[str, Any]:
        return {"token": self.token.as_json(), "others": list(self.others)}


class TokenBook:
    """The tokens of one store.

    `by` is who asks: an admin, who is given and gives no more than it has. Without it, it is the person at the
    machine, who can read the file and may do everything.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tokens = Tokens(engine.gate.ledger.database, engine.clock)
        self._noted: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._lock = threading.Lock()

    def create(
        self,
        *,
        name: str = "",
        role: Role,
        scope: str,
        above: bool = False,
        days: int | None = None,
        by: Principal | None = None,
    ) -> NewToken:
        """Make a token for a scope and those below it; for every scope of the store when `scope` is empty."""
        now = self._engine.clock.now()
        token = Token(
            id="",
            name=self._name(name),
            role=_checked_role(role),
            scope=Scope(scope).path if scope != "" else "",
            above=above,
            created_at=now,
            expires_at=None if days is None else now + _checked_days(days) * DAY_MS,
        )
        if not isinstance(above, bool):
            raise InvalidInput("above: yes or no is expected", hint="Pass True or False.")
        if above and not token.scope:
            raise InvalidInput("a token for every scope has nothing above it", hint="Leave `above` out.")
        if by is not None:
            self._refuse_wider(token, by)
        made_by = self._engine.actor if by is None else by.token_id or by.name
        while True:
            made = token._replace(id=new_id()[:_ID_LENGTH])
            secret = f"{PREFIX}{made.id}_{secrets.token_urlsafe(32)}"
            if self._tokens.add(made, token_digest(secret), made_by=made_by):
                return NewToken(made, secret)

    def list(self, *, below: str = "", by: Principal | None = None) -> tuple[Token, ...]:
        """The tokens bound to a scope or to one below it, oldest first, with those that are no longer good."""
        top = Scope(below).path if below != "" else ""
        if by is None:
            return self._tokens.listed(top)
        _refuse_unless_admin(by)
        if top and not by.reaches(top):
            raise _outside(by)
        return self._tokens.listed(top or by.scope)

    def revoke(self, reference: str, *, by: Principal | None = None) -> Revoked:
        """It opens nothing any more, nor do those that were made with it: at once, in every process."""
        if by is not None:
            _refuse_unless_admin(by)
        # A token that was found where it should not be is revoked by itself.
        given = checked_text(reference, name="id", limit=_LONGEST_SECRET).strip()
        wanted = given.removeprefix(PREFIX).partition("_")[0]
        return Revoked(*self._tokens.revoke(wanted, "" if by is None else by.scope))

    def principal(self, secret: str) -> Principal | None:
        """Who holds this token; None when it opens nothing, whatever the reason.

        Looked up every time: what another process has revoked is refused here by the next request. By its digest: how
        long that takes tells nothing, since nobody can choose a digest bit by bit.
        """
        if not secret.startswith(PREFIX) or len(secret) > _LONGEST_SECRET:
            return None
        token = self._tokens.by_digest(token_digest(secret))
        now = self._engine.clock.now()
        if token is None or not token.is_good_at(now):
            return None
        last = max(token.last_used_at or 0, self._noted.get(token.id, 0))
        if now - last >= USE_NOTED_MS:
            self._note_use(token.id, now)
        return token.principal

    def any_good(self) -> bool:
        """Whether somebody could be let in."""
        return self._tokens.count_good(self._engine.clock.now()) > 0

    # -- last use --

    def _note_use(self, reference: str, now: int) -> None:
        """Written in the background, all that came together at once: nobody waits for the disk to be let in."""
        with self._lock:
            if len(self._noted) >= _MOST_NOTED:
                self._noted = {}
            self._noted[reference] = now
            begun = bool(self._used)
            self._used[reference] = now
        if not begun:
            self._engine.later(self._write_uses)

    def _write_uses(self) -> None:
        with self._lock:
            used, self._used = self._used, {}
        self._tokens.touch(used)

    # -- what may be made --

    def _name(self, name: str) -> str:
        chosen = checked_text(name, name="name", limit=_LONGEST_NAME, empty_ok=True).strip()
        if not chosen.isprintable():
            raise InvalidInput("name: has a sign in it that does not show", hint="Give a name of plain letters.")
        if self._engine.settings.secrets == "refuse":
            refuse_secret_name(chosen, "name")
        return chosen

    def _refuse_wider(self, token: Token, by: Principal) -> None:
        _refuse_unless_admin(by)
        if not by.may(token.role):
            raise Refused(f"the role {token.role} is more than your own", hint=f"Ask for {by.role} or less.")
        if not by.everywhere and not (token.scope and by.reaches(token.scope)):
            raise _outside(by)
        if token.above and not (by.above or by.everywhere):
            raise Refused(
                "what is above your scope is not yours to show", hint="Leave `above` out, or ask an operator."
            )
        maker = self._tokens.by_id(by.token_id) if by.token_id else None
        if maker is not None:
            _refuse_longer(token, maker)


def _refuse_unless_admin(by: Principal) -> None:
    if not by.may("admin"):
        raise Refused("tokens are for admins to see and to make", hint="Ask an operator, or use an admin's token.")


def _refuse_longer(token: Token, maker: Token) -> None:
    if not maker.is_good_at(token.created_at):
        raise Refused("your own token is no longer good", hint="Ask an operator for another.")
    if maker.expires_at is None or (token.expires_at is not None and token.expires_at <= maker.expires_at):
        return
    left = (maker.expires_at - token.created_at) // DAY_MS
    raise Refused(
        "a token does not outlive the one that made it",
        hint=f"Give days={left} or fewer." if left else "Ask an operator for one.",
    )


def _outside(by: Principal) -> Refused:
    return Refused("this scope is outside of what the token reaches", hint=f"It reaches {by.scope} and below.")


def _checked_role(role: str) -> Role:
    for each in ROLES:
        if role == each:
            return each
    raise InvalidInput(f"not a role: {str(role)[:40]!r}", hint=f"Choose one of {', '.join(ROLES)}.")


def _checked_days(days: int) -> int:
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS:
        raise InvalidInput(
            f"days: a whole number from 1 to {MAX_DAYS:,} is expected", hint="Leave it out for a token that stays."
        )
    return days
