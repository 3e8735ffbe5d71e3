"""`Household`: the home's memory in this process. What touches it runs in the executor, never in the event loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady, HomeAssistantError
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from .const import (
    CONF_HOME,
    CONF_MODE,
    CONF_RECALL,
    CONF_TOKEN,
    CONF_URL,
    DEFAULT_OPTIONS,
    DOMAIN,
    MODE_EMBEDDED,
    STORE_FILE,
    STORE_FOLDER,
)
from .people import Seat, seat_for_service, seat_of

if TYPE_CHECKING:
    from memoranda import LongTermMemory

    from .coordinator import Counts
    from .tools import Described

R = TypeVar("R")
MAINTAIN_EVERY = timedelta(hours=24)
# A turn waits for nothing longer than this; a server that is away must not hold up the house.
_SECONDS = 8.0
_PATIENCE = 1.0
_MOST_SCOPES = 200


@dataclass
class Household:
    """A store that is open, with who may sit where."""

    hass: HomeAssistant
    entry: MemorandaEntry
    memory: LongTermMemory
    definitions: tuple[Described, ...] = ()
    counts: Counts = field(init=False)
    profiles: dict[str, str] = field(default_factory=dict)
    """What is always told to a model, by scope, as it was read last: some prompts are built without waiting."""

    @property
    def options(self) -> dict[str, Any]:
        return {**DEFAULT_OPTIONS, **self.entry.options}

    @property
    def home(self) -> str:
        return self.memory.scope

    @property
    def embedded(self) -> bool:
        return self.entry.data[CONF_MODE] == MODE_EMBEDDED

    @callback
    def seat(self, user_id: str | None, device_id: str | None = None) -> Seat:
        return seat_of(self.hass, self.options, self.home, user_id=user_id, device_id=device_id)

    @callback
    def seat_for_service(self, user_id: str | None, person: str | None, *, shared: bool) -> Seat:
        return seat_for_service(self.hass, self.options, self.home, user_id=user_id, person=person, shared=shared)

    async def run(self, seat: Seat, work: Callable[[LongTermMemory], R]) -> R:
        """Do something with the memory of a seat, in the executor. What is refused is told with the next step."""
        return await self.hass.async_add_executor_job(_told, lambda: work(self.memory.within(seat.scope)))

    @callback
    def prompt_of(self, seat: Seat) -> str:
        """The profile for a prompt, framed as data; empty where memories are not told."""
        if not self.options[CONF_RECALL] or not seat.may_recall:
            return ""
        return self.profiles.get(seat.scope) or self.profiles.get(self.home, "")

    async def changed(self, seat: Seat) -> None:
        """After something was written: sensors and what prompts have of it are read again."""
        await (self.read_profiles() if seat.scope == self.home else self.read_profile(seat.scope))
        await self.counts.async_request_refresh()

    async def read_profiles(self) -> None:
        """Of the home and everybody in it."""
        scopes = await self.hass.async_add_executor_job(_told, lambda: self.memory.scopes(limit=_MOST_SCOPES))
        for scope in {self.home, *(each.scope for each in scopes)}:
            await self.read_profile(scope)

    async def read_profile(self, scope: str) -> None:
        # Small talk asks for nothing: what is packed for it is the profile alone.
        pack = await self.hass.async_add_executor_job(_told, lambda: self.memory.within(scope).pack("hi"))
        self.profiles[scope] = pack.text

    async def warm_up(self) -> None:
        """Load what a first turn would wait for: the model, and the phrases of the languages."""
        await self.hass.async_add_executor_job(_told, lambda: _warmed(self.memory))

    async def maintain(self, _now: datetime | None = None) -> None:
        """The daily upkeep of an embedded store; a server does its own."""
        await self.hass.async_add_executor_job(_told, self.memory.admin.maintain)

    async def copy(self) -> None:
        """A whole copy of the store, beside it."""
        await self.hass.async_add_executor_job(_told, self.memory.admin.backup)

    async def maintenance_is_due(self) -> bool:
        last = await self.hass.async_add_executor_job(_told, lambda: self.memory.admin.upkeep(limit=1))
        return not last or dt_util.utcnow() - dt_util.utc_from_timestamp(last[0].at / 1000) > MAINTAIN_EVERY

    async def close(self) -> None:
        """Nothing is read after this."""
        await self.counts.async_shutdown()
        await self.hass.async_add_executor_job(self.memory.close)


MemorandaEntry = ConfigEntry[Household]


def _warmed(memory: LongTermMemory) -> None:
    import memoranda

    memory.recall("Where is the key to the cellar?", limit=1)
    # Of a session without people nothing is kept: it is only read.
    memory.capture([memoranda.user("The door is open.")], mode="explicit")


def _told(work: Callable[[], R]) -> R:
    from memoranda import MemorandaError

    try:
        return work()
    except MemorandaError as error:
        raise HomeAssistantError(f"{error}. {error.hint}") from error


def store_path(hass: HomeAssistant) -> Path:
    """Where the embedded store is."""
    return Path(hass.config.path(STORE_FOLDER, STORE_FILE))


def opened(data: dict[str, Any], path: Path, time_zone: str) -> LongTermMemory:
    """Open or connect. Blocks: for the executor only."""
    import memoranda

    if data[CONF_MODE] != MODE_EMBEDDED:
        return memoranda.connect(
            data[CONF_URL], data[CONF_TOKEN], scope=data[CONF_HOME], timeout=_SECONDS, patience=_PATIENCE
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The settings of this home are its options; those of a person who uses the command line are theirs.
    settings = memoranda.Settings(store=str(path), actor="home_assistant", time_zone=time_zone)
    return memoranda.open(scope=data[CONF_HOME], settings=settings)


class NotOpened(Exception):
    """Why a store was not opened: `refused` (by the server), `unusable` (until somebody does something) or `away`."""

    def __init__(self, why: str, message: str, hint: str) -> None:
        super().__init__(f"{message}. {hint}".strip())
        self.why = why
        self.message = message
        self.hint = hint


def opened_or_why(data: dict[str, Any], path: Path, time_zone: str) -> LongTermMemory:
    """Open or connect, or `NotOpened`. Blocks, also by importing: for the executor only."""
    from memoranda import ConfigError, InvalidInput, LedgerDamaged, LedgerNewer, MemorandaError, Refused

    try:
        return opened(data, path, time_zone)
    except Refused as error:
        raise NotOpened("refused", str(error), error.hint) from error
    except (LedgerDamaged, LedgerNewer, InvalidInput, ConfigError) as error:
        raise NotOpened("unusable", str(error), error.hint) from error
    except MemorandaError as error:
        raise NotOpened("away", str(error), error.hint) from error
    except OSError as error:
        raise NotOpened("away", str(error), "Check the disk and its permissions.") from error


async def open_household(hass: HomeAssistant, entry: MemorandaEntry) -> Household:
    """The memory of an entry, or the reason why not: as a repair, a new login, or another try later."""
    issue = f"store_{entry.entry_id}"
    try:
        memory = await hass.async_add_executor_job(
            opened_or_why, dict(entry.data), store_path(hass), str(hass.config.time_zone)
        )
    except NotOpened as error:
        if error.why == "refused":
            raise ConfigEntryAuthFailed(str(error)) from error
        if error.why == "unusable":
            ir.async_create_issue(
                hass,
                DOMAIN,
                issue,
                is_fixable=False,
                severity=ir.IssueSeverity.ERROR,
                translation_key="store_unusable",
                translation_placeholders={"reason": error.message, "hint": error.hint},
            )
        raise ConfigEntryNotReady(str(error)) from error
    ir.async_delete_issue(hass, DOMAIN, issue)
    from .tools import read_definitions

    return Household(hass, entry, memory, await hass.async_add_executor_job(read_definitions))
