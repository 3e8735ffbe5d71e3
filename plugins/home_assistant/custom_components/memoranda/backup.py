"""Before Home Assistant makes a backup: a whole copy of the store is laid beside it, for files in use may be torn."""

from __future__ import annotations

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from .tools import household_of


async def async_pre_backup(hass: HomeAssistant) -> None:
    try:
        household = household_of(hass)
    except HomeAssistantError:
        return
    if household.embedded:
        await hass.async_add_executor_job(household.memory.admin.backup)


async def async_post_backup(hass: HomeAssistant) -> None:
    """Nothing: the newest copies are kept, older ones make room by themselves."""
