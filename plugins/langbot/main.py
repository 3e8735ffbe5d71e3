"""The plugin: what its components share. No memory logic is here: LangBot on one side, Memoranda on the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langbot_plugin.api.definition.plugin import BasePlugin
from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy
from memoranda_langbot.options import Options
from memoranda_langbot.places import Place
from memoranda_langbot.stores import LOG, TAG, Room, Stores

T = TypeVar("T")
BASE_KEY = "memory_kb"
ONE_BASE = (
    "Only one memory knowledge base is supported per plugin instance. "
    "Delete the existing one before you create another."
)
_NOBODY = ("", "0", "None")


class Memoranda(BasePlugin):
    """Long-term memory for LangBot, kept by Memoranda."""

    def __init__(self) -> None:
        super().__init__()
        self._stores = Stores()
        self._bases: dict[str, dict[str, Any]] = {}

    async def initialize(self) -> None:
        """Open the store, so that the first message need not wait. What fails here is tried again when it is needed."""
        try:
            options = await self.options()
            await asyncio.to_thread(self._stores.root, options, installation=self._installation())
            LOG.info("%s plugin initialized: %r kb_id=%s", TAG, options, await self.base_id())
        except Exception as error:  # noqa: BLE001 the bot goes on without a memory, and says why
            LOG.error("%s plugin initialized without its store: %s", TAG, error)

    async def on_installation_revoked(self, binding: Any) -> None:
        """The store is closed; nothing in it is deleted."""
        self._bases.pop(str(getattr(binding, "installation_uuid", "")), None)
        await asyncio.to_thread(self._stores.close)

    def _installation(self) -> str:
        """Tells installations apart that share one process; empty where there is only one."""
        binding = self.get_installation_binding()
        return str(getattr(binding, "installation_uuid", "") or "")

    # -- what is set --

    async def options(self) -> Options:
        """The plugin's configuration, with what the memory knowledge base says."""
        return Options.of(self.get_config(), (await self._base()).get("settings"))

    async def base_id(self) -> str:
        """The memory knowledge base; empty when there is none."""
        return str((await self._base()).get("kb_id", ""))

    async def set_base(self, kb_id: str, settings: Mapping[str, Any]) -> None:
        """Note the memory knowledge base; refused when there is another."""
        known = await self.base_id()
        if known and known != kb_id and known in {each["uuid"] for each in await self.list_knowledge_bases()}:
            raise ValueError(ONE_BASE)
        Options.of(self.get_config(), settings)  # or it says what is wrong with them
        note = {"kb_id": kb_id, "settings": dict(settings)}
        await self.set_plugin_storage(BASE_KEY, json.dumps(note).encode())
        self._bases[self._installation()] = note

    async def unset_base(self, kb_id: str) -> None:
        """The memories stay; only the switch is gone."""
        if await self.base_id() == kb_id:
            await self.delete_plugin_storage(BASE_KEY)
            self._bases[self._installation()] = {}

    async def _base(self) -> dict[str, Any]:
        installation = self._installation()
        if installation not in self._bases:
            found = {}
            if BASE_KEY in await self.get_plugin_storage_keys():
                found = json.loads(await self.get_plugin_storage(BASE_KEY))
            self._bases[installation] = found
        return self._bases[installation]

    # -- where it is said --

    async def place_of(self, query_id: int, query_uuid: str | None, session_name: str, bot_uuid: str | None) -> Place:
        """Where a query comes from. The session only knows who spoke first in it: the query knows who speaks now."""
        query = QueryBasedAPIProxy(
            query_id=query_id, query_uuid=query_uuid, plugin_runtime_handler=self.plugin_runtime_handler
        )
        return place_in(await query.get_query_vars(), session_name, bot_uuid or await query.get_bot_uuid())

    async def within(self, place: Place, work: Callable[[Room], T]) -> T:
        """Do something with the memory of a place, off the event loop."""
        options, installation = await self.options(), self._installation()

        def done() -> T:
            return work(Room(self._stores.root(options, installation=installation), options, place))

        return await asyncio.to_thread(done)

    async def with_root(self, work: Callable[[Any, Options], T]) -> T:
        """Do something with the memory of all places, for an operator."""
        options, installation = await self.options(), self._installation()
        return await asyncio.to_thread(lambda: work(self._stores.root(options, installation=installation), options))


def place_in(variables: Mapping[str, Any], session_name: str, bot_uuid: str | None) -> Place:
    """The place that the variables of a query tell."""
    sender = str(variables.get("sender_id", "") or "")
    return Place(
        str(bot_uuid or ""),
        session_name,
        "" if sender in _NOBODY else sender,
        str(variables.get("sender_name", "") or ""),
    )
