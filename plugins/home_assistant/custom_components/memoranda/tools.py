"""Tools for conversation agents. What they do is done by the package's own tools; trust comes from who speaks here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import voluptuous as vol
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm as ha_llm  # not `llm`: a module of this package has that name

from . import happened, speech
from .asking import what_is_known
from .const import DOMAIN
from .places import entities_in, thing_meant, things_called

if TYPE_CHECKING:
    from memoranda import LongTermMemory

    from .household import Household
    from .people import Seat

# Newer cores collect tools from integrations and want their name in front; still newer ones have a class for results.
TAKES_TOOLS = find_spec("homeassistant.components.llm") is not None
_HAS_RESULTS = hasattr(ha_llm, "ToolResult")
_PREFIX = f"{DOMAIN}__" if TAKES_TOOLS else ""
_OFFERED = ("memory_store", "memory_recall", "memory_forget", "remember_fact")
_NOT_FOR_MODELS = ("scope", "memoryId")
_NOT_KEPT = "Nothing is kept of who speaks here, by the home's settings. Say so; do not try again."
_NOT_TOLD = "Memories are not told to who speaks here, by the home's settings. Say so; do not try again."


class Described(NamedTuple):
    """A tool of the package, read once when the store is opened."""

    name: str
    description: str
    schema: dict[str, Any]
    reads: bool
    hides: bool


def read_definitions() -> tuple[Described, ...]:
    """The package's own descriptions. Imports: for the executor only."""
    from memoranda.tools.toolbox import definitions

    found = {each["name"]: each for each in definitions("mcp")}
    return tuple(
        Described(
            name,
            found[name]["description"],
            found[name]["inputSchema"],
            found[name]["annotations"]["readOnlyHint"],
            found[name]["annotations"]["destructiveHint"],
        )
        for name in _OFFERED
    )


@callback
def tools_of(household: Household) -> list[ha_llm.Tool]:
    """Everything that a model is offered."""
    return [*(PackageTool(each) for each in household.definitions), AboutTool(), HappenedTool()]


class _Tool(ha_llm.Tool):
    """A tool of this home, called on behalf of who speaks."""

    reads = True
    hides = False

    def __init__(self, name: str, description: str, parameters: vol.Schema) -> None:
        self.name = _PREFIX + name
        self.title = name.replace("_", " ").capitalize()
        self.description = description
        self.parameters = parameters
        self.integration = DOMAIN
        if _HAS_RESULTS:
            self.annotations = ha_llm.ToolAnnotations(read_only=self.reads, destructive=self.hides, open_world=False)

    async def async_call(
        self, hass: HomeAssistant, tool_input: ha_llm.ToolInput, llm_context: ha_llm.LLMContext
    ) -> Any:
        user = llm_context.context.user_id if llm_context.context else None
        try:
            household = household_of(hass)
            seat = household.seat(user, llm_context.device_id)
            if not (seat.may_recall if self.reads else seat.may_keep):
                told = {"error": _NOT_TOLD if self.reads else _NOT_KEPT}
            else:
                told = await self.called(household, seat, self.parameters(dict(tool_input.tool_args)))
        except (HomeAssistantError, vol.Invalid) as error:
            told = {"error": str(error)}
        return ha_llm.ToolResult(data=told, error="error" in told) if _HAS_RESULTS else told

    async def called(self, household: Household, seat: Seat, given: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


class PackageTool(_Tool):
    """One of the package's tools. What a model writes is the model's word, and not trusted."""

    def __init__(self, described: Described) -> None:
        self.reads = described.reads
        self.hides = described.hides
        self._name = described.name
        super().__init__(described.name, described.description, _schema(described.schema))

    async def called(self, household: Household, seat: Seat, given: dict[str, Any]) -> dict[str, Any]:
        told = await household.run(seat, lambda memory: called(memory, self._name, given, seat.speaker))
        if not self.reads:
            await household.changed(seat)
        return told


class AboutTool(_Tool):
    """What is known about a thing of the house."""

    def __init__(self) -> None:
        super().__init__(
            "what_do_you_know_about",
            "What long-term memory knows about a device, a room or anything else, by its name, alias or id: nicknames, "
            "purposes, habits. Not for its present state and not for what happened.",
            vol.Schema({vol.Required("subject", description="The name, alias or id."): str}),
        )

    async def called(self, household: Household, seat: Seat, given: dict[str, Any]) -> dict[str, Any]:
        things = things_called(household.hass, given["subject"])
        return await household.run(
            seat, lambda memory: what_is_known(memory, given["subject"], [each.subject for each in things])
        )


class HappenedTool(_Tool):
    """What happened in the house: from its history, not from memory."""

    def __init__(self) -> None:
        super().__init__(
            "what_happened",
            "What happened in the house in a span of time, from Home Assistant's history: which devices changed, and "
            "when. Use it for every question about past events in the house; memory does not keep them.",
            vol.Schema(
                {
                    vol.Required("period", description="Such as: last night, yesterday, the last two hours."): str,
                    vol.Optional("subject", description="Only this device or room, by its name."): str,
                }
            ),
        )

    async def called(self, household: Household, seat: Seat, given: dict[str, Any]) -> dict[str, Any]:
        hass = household.hass
        start, end = await happened.async_times(hass, given["period"])
        entities = [
            entity_id
            for thing in (thing_meant(hass, given["subject"]) if given.get("subject") else [])
            for entity_id in entities_in(hass, thing.subject)
        ]
        if given.get("subject") and not entities:
            return {"error": f"There is no device or room called {given['subject']!r}."}
        found = await happened.async_happened(hass, start, end, entities)
        return {"from": start.isoformat(), "until": end.isoformat(), "happened": speech.lines("en", found)}


def called(memory: LongTermMemory, name: str, given: dict[str, Any], speaker: str) -> dict[str, Any]:
    """Do it, and give what programs read; without receipts, which are long."""
    from memoranda.tools import Tools

    result = Tools(memory, source="assistant", speaker=speaker).call(name, given)
    if result.failed:
        return {"error": result.text}
    return {"result": result.text} if "memories" not in result.data else {"memories": result.data["memories"]}


@callback
def household_of(hass: HomeAssistant) -> Household:
    """The home's memory, if it is set up and open."""
    for entry in hass.config_entries.async_loaded_entries(DOMAIN):
        household: Household = entry.runtime_data
        return household
    raise HomeAssistantError(translation_domain=DOMAIN, translation_key="not_set_up")


def _schema(given: dict[str, Any]) -> vol.Schema:
    """JSON schema as Home Assistant wants it."""
    fields: dict[Any, Any] = {}
    for name, each in given["properties"].items():
        if name in _NOT_FOR_MODELS:
            continue
        marker = vol.Required if name in given["required"] else vol.Optional
        fields[marker(name, description=each.get("description"))] = _value(each)
    return vol.Schema(fields)


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return vol.In(list(schema["enum"]))
    if schema["type"] == "array":
        return [_value(schema["items"])]
    if schema["type"] == "boolean":
        return bool
    if schema["type"] == "string":
        return str
    kind = int if schema["type"] == "integer" else float
    return vol.All(vol.Coerce(kind), vol.Range(min=schema.get("minimum"), max=schema.get("maximum")))
