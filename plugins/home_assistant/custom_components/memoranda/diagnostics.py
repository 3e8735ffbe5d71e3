"""Diagnostics for a bug report: settings, counts and checks. No memory, no name, no address, no token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.core import HomeAssistant

from .const import CONF_CHILDREN, CONF_GUESTS, CONF_HOME, CONF_TOKEN, CONF_URL
from .household import MemorandaEntry

if TYPE_CHECKING:
    from memoranda import LongTermMemory

_REDACTED = {CONF_TOKEN, CONF_URL, CONF_HOME, CONF_CHILDREN, CONF_GUESTS}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: MemorandaEntry) -> dict[str, Any]:
    household = entry.runtime_data
    return {
        "entry": async_redact_data({"data": dict(entry.data), "options": household.options}, _REDACTED),
        "store": await hass.async_add_executor_job(_store, household.memory),
    }


def _store(memory: LongTermMemory) -> dict[str, Any]:
    import memoranda

    told: dict[str, Any] = {"version": memoranda.__version__}
    try:
        scopes = memory.scopes(limit=1_000)
        told["scopes"] = len(scopes)
        told["live"] = sum(each.live for each in scopes)
        stats = memory.stats()
        told["by_state"], told["by_trust"], told["capture"] = stats.by_state, stats.by_trust, stats.capture
        told["index"] = memory.admin.index_status().as_json()
        # Names and verdicts alone: details may name files.
        told["checks"] = {check.name: check.ok for check in memory.admin.verify().checks}
    except memoranda.MemorandaError as error:
        told["error"] = type(error).__name__
    return told
