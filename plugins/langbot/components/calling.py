"""What the four tools share: they are those of Memoranda, called on behalf of the one who speaks."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.tool.tool import Tool
from langbot_plugin.api.entities.builtin.provider import session as provider_session
from memoranda_langbot.stores import LOG, TAG, Room

from memoranda.tools import ToolResult, Tools

_AWAY = "Error: the memory cannot be used at the moment. Go on without it, and tell the user so."


class MemoryTool(Tool):
    """One tool of the family `langbot`."""

    name = ""

    async def call(
        self,
        params: dict[str, Any],
        session: provider_session.Session,
        query_id: int,
        query_uuid: str | None = None,
    ) -> dict[str, str]:
        """Do what the model asks for; what went wrong is told in words that it can do something with."""
        LOG.info("%s %s called: query_id=%s params_keys=%s", TAG, self.name, query_id, sorted(params))
        session_name = f"{session.launcher_type.value}_{session.launcher_id}"
        try:
            place = await self.plugin.place_of(query_id, query_uuid, session_name, session.bot_uuid)
            result = await self.plugin.within(place, lambda room: self._called(room, params))
        except Exception as error:  # noqa: BLE001 a tool that raises ends the turn
            LOG.warning("%s %s failed: %s: %s", TAG, self.name, type(error).__name__, error)
            return {"result": _AWAY}
        LOG.info("%s %s completed: query_id=%s failed=%s", TAG, self.name, query_id, result.failed)
        # Runners of LangBot 4.11 take nothing but an object.
        return {"result": result.text}

    def _called(self, room: Room, params: dict[str, Any]) -> ToolResult:
        place = room.place
        # Profiles are always those of the session, memories where the isolation says.
        memory = room.session if self.name == "update_profile" else room.memories
        tools = Tools(
            memory,
            source="user" if room.options.trust_agent else "assistant",
            speaker=place.sender_id,
            conversation=place.session_key,
            toolset="langbot",
        )
        return tools.call(self.name, params)
