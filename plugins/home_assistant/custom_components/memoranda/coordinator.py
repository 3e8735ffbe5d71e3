"""`Counts`: the numbers that sensors show. Never what a memory says."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from homeassistant.core import HomeAssistant
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed
from homeassistant.util import dt as dt_util

if TYPE_CHECKING:
    from memoranda import LongTermMemory

    from .household import Household, MemorandaEntry

_LOGGER = logging.getLogger(__name__)
_EVERY = timedelta(minutes=5)
_PAGE = 1_000
_MOST_PAGES = 10


@dataclass(frozen=True)
class Numbers:
    """Of the home and everybody in it. None: the server does not tell."""

    memories: int
    captured_today: int
    last_maintenance: datetime | None


class Counts(DataUpdateCoordinator[Numbers]):
    """Reads the numbers every few minutes, and after each change that went through here."""

    def __init__(self, hass: HomeAssistant, entry: MemorandaEntry, household: Household) -> None:
        super().__init__(hass, _LOGGER, config_entry=entry, name="memoranda", update_interval=_EVERY)
        self._household = household

    async def _async_update_data(self) -> Numbers:
        midnight = dt_util.as_utc(dt_util.start_of_local_day())
        try:
            return await self.hass.async_add_executor_job(_numbers, self._household.memory, midnight)
        except Exception as error:  # whatever it is: the sensors are unavailable, and the log says why
            raise UpdateFailed(str(error)) from error


def _numbers(memory: LongTermMemory, midnight: datetime) -> Numbers:
    from memoranda import Refused

    today, before = 0, None
    for _ in range(_MOST_PAGES):
        page = memory.timeline(action="remembered", after=midnight.isoformat(), below=True, limit=_PAGE, before=before)
        today, before = today + len(page), page.next
        if before is None:
            break
    try:
        last = memory.admin.upkeep(limit=1)
    except Refused:
        last = ()  # the token is no operator's
    return Numbers(
        memories=sum(each.live for each in memory.scopes(limit=_PAGE)),
        captured_today=today,
        last_maintenance=dt_util.utc_from_timestamp(last[0].at / 1000) if last else None,
    )
