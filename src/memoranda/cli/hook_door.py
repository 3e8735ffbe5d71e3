"""Where the memory of a hook is, and how long it is waited for."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput, NotFound, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from memoranda import LongTermMemory, Settings

# Erasing what is due takes time that a host waits for: it is left to whoever writes next.
_NOT_NOW = 10_000_000


class Patience:
    """How often the time ran out lately: a memory that is too slow twice in a row is left alone for a while."""

    def __init__(self, settings: "Settings") -> None:
        from memoranda.domain.clock import SystemClock
        from memoranda.service.breaker import Breaker

        self._breaker = Breaker(
            settings.store_path().with_name("hooks"), seconds=settings.breaker_seconds, clock=SystemClock()
        )
        self._who = hashlib.blake2b(f"{settings.store}\0{settings.hook_url}".encode(), digest_size=8).hexdigest()

    def told(self) -> str:
        """Until when it is left alone; empty when it may be asked."""
        until = self._breaker.until(f"{self._who}-2")
        return f"left alone until {iso(until)}: it ran out of time twice" if until else ""

    def lost(self) -> None:
        """It ran out of time."""
        again = self._breaker.until(f"{self._who}-1")
        self._breaker.failed(f"{self._who}-{2 if again else 1}")

    def kept(self) -> None:
        """It answered."""
        for number in (1, 2):
            self._breaker.answered(f"{self._who}-{number}")


class Door(NamedTuple):
    """Where the memory is: a store here, or a server."""

    settings: "Settings"
    seconds: float

    def missing(self) -> "Path | None":
        """Where the store should be, when it is not there yet: who only reads does not make one."""
        settings = self.settings
        here = not settings.hook_url and settings.store_address() is None and not settings.shards
        path = settings.store_path()
        return path if here and not path.exists() else None

    def opened(self, given: Mapping[str, Any], *, reading: bool = False) -> "LongTermMemory":
        """In the configured scope, or in one inside it that the host names. Anything else is refused."""
        import memoranda
        from memoranda.domain.scope import Scope

        settings, wanted = self.settings, given.get("scope")
        if settings.hook_url:
            scope = settings.scope if wanted is None else Scope(wanted).path
            _refuse_outside(settings.scope, scope)
            half = self.seconds / 2
            return memoranda.connect(settings.hook_url, self._token(), scope=scope, timeout=half, patience=0)
        if wanted is None and not settings.scope:
            raise InvalidInput("a scope is needed", hint="Pass --scope me, set MEMORANDA_SCOPE, or give `scope`.")
        scope = Scope(settings.scope if wanted is None else wanted).path
        _refuse_outside(settings.scope, scope)
        chosen = settings.changed({"grace_days": _NOT_NOW}) if reading else settings
        return memoranda.open(scope=scope, settings=chosen)

    def _token(self) -> str | None:
        """From its file; None is what the environment has."""
        from pathlib import Path

        if not self.settings.hook_token_file:
            return None
        try:
            return Path(self.settings.hook_token_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise NotFound("the token cannot be read from its file", hint="Write the token alone into it.") from error


def _refuse_outside(configured: str, scope: str) -> None:
    from memoranda.domain.scope import Scope

    if configured and not Scope(configured).contains(scope):
        raise Refused(f"{scope} is not inside {configured}", hint="Give the whole path, or another --scope.")
