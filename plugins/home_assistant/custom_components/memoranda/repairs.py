"""After the integration was removed: whether the memories that it kept are to be deleted, too."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResult

from .const import DOMAIN
from .household import store_path


class DataLeftFlow(RepairsFlow):
    """Delete, or keep. Nothing happens unless one is chosen."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> FlowResult:
        folder = str(store_path(self.hass).parent)
        return self.async_show_menu(
            step_id="init", menu_options=["keep", "delete"], description_placeholders={"folder": folder}
        )

    async def async_step_keep(self, user_input: dict[str, Any] | None = None) -> FlowResult:
        return self.async_create_entry(data={})

    async def async_step_delete(self, user_input: dict[str, Any] | None = None) -> FlowResult:
        # Always the folder of this home, never one that an issue names.
        if self.hass.config_entries.async_entries(DOMAIN):
            return self.async_abort(reason="in_use")
        await self.hass.async_add_executor_job(_delete, store_path(self.hass).parent)
        return self.async_create_entry(data={})


def _delete(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        return
    shutil.rmtree(folder)


async def async_create_fix_flow(hass: HomeAssistant, issue_id: str, data: dict[str, Any] | None) -> RepairsFlow:
    return DataLeftFlow() if issue_id.startswith("data_left_") else ConfirmRepairFlow()
