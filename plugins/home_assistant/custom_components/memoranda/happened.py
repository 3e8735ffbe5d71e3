"""What happened in the house, from Home Assistant's own history. Memory does not keep events, and is not asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util import dt as dt_util

from .const import DOMAIN

_USUAL = timedelta(hours=24)
_MOST = 60
_NOTHING = ("unknown", "unavailable")


@dataclass(frozen=True)
class Happening:
    """One change of a state."""

    when: datetime
    entity_id: str
    name: str
    state: str


async def async_times(hass: HomeAssistant, text: str) -> tuple[datetime, datetime]:
    """From when to when a text asks; the last day when it does not say."""
    now = dt_util.now()
    spans = await hass.async_add_executor_job(_spans, text, now)
    if not spans:
        return now - _USUAL, now
    start, until = spans[-1]
    zone = now.tzinfo
    return (
        datetime.fromtimestamp(start / 1000, UTC).replace(tzinfo=zone),
        min(datetime.fromtimestamp(until / 1000, UTC).replace(tzinfo=zone), now),
    )


def _spans(text: str, now: datetime) -> tuple[tuple[int, int], ...]:
    from memoranda.service.words import times_in

    # Days and nights are those of the house: its wall clock is handed over, and handed back.
    return times_in(text, now=int(now.replace(tzinfo=UTC).timestamp() * 1000))


async def async_happened(
    hass: HomeAssistant, start: datetime, end: datetime, entity_ids: Sequence[str] = ()
) -> list[Happening]:
    """Changes of what is exposed to voice assistants, oldest first."""
    if "recorder" not in hass.config.components:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key="no_history")
    wanted = [each for each in entity_ids or _exposed(hass) if async_should_expose(hass, "conversation", each)]
    if not wanted or start >= end:
        return []
    from homeassistant.components.recorder import get_instance, history

    states = await get_instance(hass).async_add_executor_job(
        lambda: history.get_significant_states(
            hass,
            dt_util.as_utc(start),
            dt_util.as_utc(end),
            entity_ids=wanted,
            include_start_time_state=False,
            significant_changes_only=True,
            no_attributes=True,
        )
    )
    found = [
        Happening(dt_util.as_local(state.last_changed), entity_id, _name(hass, entity_id), state.state)
        for entity_id, changes in states.items()
        for state in changes
        if state.state not in _NOTHING
    ]
    return sorted(found, key=lambda each: (each.when, each.entity_id))[-_MOST:]


@callback
def _exposed(hass: HomeAssistant) -> list[str]:
    return [each.entity_id for each in hass.states.async_all()]


def _name(hass: HomeAssistant, entity_id: str) -> str:
    state = hass.states.get(entity_id)
    return entity_id if state is None else state.name
