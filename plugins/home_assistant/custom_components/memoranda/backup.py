"""Before Home Assistant makes a backup: a whole copy of the store is laid beside it, for files in use may be torn."""

from __future__ import annotations

import logging

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from .tools import household_of

_LOGGER = logging.getLogger(__name__)


async def async_pre_backup(hass: HomeAssistant) -> None:
    try:
        household = household_of(hass)
    except HomeAssistantError:
        return
    if not household.embedded:
        return
    try:
        await household.copy()
    except HomeAssistantError as error:
        # The files themselves are still in it; the backup of everything else must not fail for this.
        _LOGGER.error("The memories were not copied before the backup: %s", error)


async def async_post_backup(hass: HomeAssistant) -> None:
    """Nothing: the newest copies are kept, older ones make room by themselves."""
