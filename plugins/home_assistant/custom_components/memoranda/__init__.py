"""Memoranda: long-term memory for the people of a home. No memory logic here: the package `memoranda` has it."""

from __future__ import annotations

from homeassistant.const import EVENT_HOMEASSISTANT_STOP, Platform
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.helpers.typing import ConfigType

from .api import async_register_apis
from .const import CONF_MODE, DOMAIN, MODE_EMBEDDED
from .coordinator import Counts
from .household import MAINTAIN_EVERY, Household, MemorandaEntry, open_household, store_path
from .services import async_register_services

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS = (Platform.CONVERSATION, Platform.SENSOR)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Services and tools are there as long as the integration is; without an entry they say so."""
    async_register_services(hass)
    async_register_apis(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: MemorandaEntry) -> bool:
    household = await open_household(hass, entry)
    household.counts = Counts(hass, entry, household)
    entry.runtime_data = household
    ir.async_delete_issue(hass, DOMAIN, _left(entry))

    async def stop(_event: Event) -> None:
        await household.close()

    entry.async_on_unload(hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, stop))
    await household.counts.async_config_entry_first_refresh()
    await household.read_profiles()
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    if household.embedded:
        entry.async_on_unload(async_track_time_interval(hass, household.maintain, MAINTAIN_EVERY))
        entry.async_create_background_task(hass, _after_start(household), "memoranda warm-up and maintenance")
    return True


async def async_unload_entry(hass: HomeAssistant, entry: MemorandaEntry) -> bool:
    if not await hass.config_entries.async_unload_platforms(entry, PLATFORMS):
        return False
    await entry.runtime_data.close()
    return True


async def async_remove_entry(hass: HomeAssistant, entry: MemorandaEntry) -> None:
    """What people said is not deleted by the way: somebody is asked, in a repair. Until then it stays."""
    if entry.data[CONF_MODE] != MODE_EMBEDDED:
        return
    folder = store_path(hass).parent
    if not await hass.async_add_executor_job(folder.exists):
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        _left(entry),
        is_fixable=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key="data_left",
        translation_placeholders={"folder": str(folder)},
        data={"folder": str(folder)},
    )


async def _after_start(household: Household) -> None:
    await household.warm_up()
    if await household.maintenance_is_due():
        await household.maintain()


def _left(entry: MemorandaEntry) -> str:
    return f"data_left_{entry.entry_id}"
