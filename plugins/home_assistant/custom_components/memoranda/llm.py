"""Tools and a prompt for every agent that may control the house (Home Assistant 2026.8 and newer; older ones never
read this file)."""

from __future__ import annotations

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.llm import LLMContext

from .tools import household_of, tools_of


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Nothing is read here, for this must not wait: the profile was read when it last changed."""
    try:
        household = household_of(hass)
    except HomeAssistantError:
        return None
    user = llm_context.context.user_id if llm_context.context else None
    profile = household.prompt_of(household.seat(user, llm_context.device_id))
    return LLMTools(tools=tools_of(household), prompt=profile or None)
