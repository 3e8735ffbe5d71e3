"""How many memories there are, how many are new today, and when the store was last looked after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import Counts, Numbers
from .household import MemorandaEntry


@dataclass(frozen=True, kw_only=True)
class NumberDescription(SensorEntityDescription):
    value: Callable[[Numbers], int | datetime | None]


SENSORS = (
    NumberDescription(
        key="memories",
        translation_key="memories",
        state_class=SensorStateClass.MEASUREMENT,
        value=lambda numbers: numbers.memories,
    ),
    NumberDescription(
        key="captured_today",
        translation_key="captured_today",
        state_class=SensorStateClass.TOTAL_INCREASING,
        value=lambda numbers: numbers.captured_today,
    ),
    NumberDescription(
        key="last_maintenance",
        translation_key="last_maintenance",
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_category=EntityCategory.DIAGNOSTIC,
        value=lambda numbers: numbers.last_maintenance,
    ),
)


async def async_setup_entry(hass: HomeAssistant, entry: MemorandaEntry, async_add_entities: Callable) -> None:
    counts = entry.runtime_data.counts
    async_add_entities(NumberSensor(counts, entry, each) for each in SENSORS)


class NumberSensor(CoordinatorEntity[Counts], SensorEntity):
    """One number."""

    entity_description: NumberDescription
    _attr_has_entity_name = True

    def __init__(self, counts: Counts, entry: MemorandaEntry, description: NumberDescription) -> None:
        super().__init__(counts)
        self.entity_description = description
        self._attr_unique_id = f"{entry.entry_id}_{description.key}"
        self._attr_device_info = device_of(entry)

    @property
    def native_value(self) -> int | datetime | None:
        return self.entity_description.value(self.coordinator.data)


def device_of(entry: MemorandaEntry) -> DeviceInfo:
    return DeviceInfo(identifiers={(DOMAIN, entry.entry_id)}, name=entry.title, entry_type=DeviceEntryType.SERVICE)
