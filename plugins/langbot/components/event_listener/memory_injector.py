"""Before a turn: profiles and memories into the prompt. After it: what the user asked to be kept."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities import context, events
from langbot_plugin.api.entities.builtin.provider.message import Message
from main import place_in
from memoranda_langbot.places import Place
from memoranda_langbot.prompts import Prompt, before_turn, empty_context
from memoranda_langbot.stores import LOG, TAG, Room

import memoranda

CONTEXT = "_ltm_context"
BASES = "_knowledge_base_uuids"
_COMMAND = re.compile(r"\s*[!！]\s*\w")


class MemoryInjector(EventListener):
    """Listens to what is asked of the model, and to what it answered."""

    async def initialize(self) -> None:
        await super().initialize()

        @self.handler(events.PromptPreProcessing)
        async def before(ctx: context.EventContext) -> None:
            await self._before(ctx)

        @self.handler(events.NormalMessageResponded)
        async def after(ctx: context.EventContext) -> None:
            await self._after(ctx)

    async def _before(self, ctx: context.EventContext) -> None:
        variables = await ctx.get_query_vars()
        text = str(variables.get("user_message_text", "") or "")
        if _COMMAND.match(text) or not await self._is_active(ctx, variables):
            return
        place = place_in(variables, ctx.event.session_name, await ctx.get_bot_uuid())
        prompt = await self._prompt(place, text)
        if prompt is None:
            await ctx.set_query_var(CONTEXT, empty_context(place.sender_id, place.sender_name))
            return
        await ctx.set_query_var(CONTEXT, prompt.context)
        for block in prompt.blocks:
            ctx.event.default_prompt.append(Message(role="system", content=block))
        LOG.info(
            "%s memory injection ready: query_id=%s kb_id=%s scope_key=%s sender_id=%s block_count=%d prompt_chars=%d",
            TAG,
            ctx.query_id,
            await self.plugin.base_id(),
            place.user_key((await self.plugin.options()).isolation),
            place.sender_id,
            len(prompt.blocks),
            sum(map(len, prompt.blocks)),
        )

    async def _is_active(self, ctx: context.EventContext, variables: dict[str, Any]) -> bool:
        """Whether this pipeline wants memories: the memory knowledge base is attached, or there is none at all.

        The knowledge base is then taken out of what the runner searches: what it would find is in the prompt already.
        """
        base = await self.plugin.base_id()
        if not base:
            return True
        attached = variables.get(BASES)
        if attached is None:
            LOG.warning(
                "%s query variable %s is missing: memories may come twice, once from the knowledge base", TAG, BASES
            )
            return True
        if base not in attached:
            LOG.info("%s memory injection skipped: query_id=%s kb_id=%s is not attached", TAG, ctx.query_id, base)
            return False
        await ctx.set_query_var(BASES, [each for each in attached if each != base])
        return True

    async def _prompt(self, place: Place, text: str) -> Prompt | None:
        """None when the memory does not answer in time: the bot answers without it."""
        try:
            return await asyncio.wait_for(
                self.plugin.within(place, lambda room: before_turn(room, text, room.options)),
                (await self.plugin.options()).timeout,
            )
        except Exception as error:  # noqa: BLE001 whatever it is, the bot has to answer
            LOG.warning("%s memory injection failed: %s: %s", TAG, type(error).__name__, error)
            return None

    async def _after(self, ctx: context.EventContext) -> None:
        variables = await ctx.get_query_vars()
        text = str(variables.get("user_message_text", "") or "")
        if not text.strip() or not variables.get(CONTEXT):
            return
        event = ctx.event
        place = place_in(variables, f"{event.launcher_type}_{event.launcher_id}", await ctx.get_bot_uuid())
        try:
            receipt = await asyncio.wait_for(
                self._captured(place, text, event.response_text or ""), (await self.plugin.options()).timeout
            )
        except Exception as error:  # noqa: BLE001 the answer is on its way, whatever becomes of the memory
            LOG.warning("%s candidates failed: %s: %s", TAG, type(error).__name__, error)
            return
        LOG.info(
            "%s candidates noted: query_id=%s mode=%s found=%d kept=%d waiting=%d refused=%s",
            TAG,
            ctx.query_id,
            receipt.mode,
            receipt.candidates,
            len(receipt.kept),
            len(receipt.waiting),
            dict(receipt.refused),
        )

    async def _captured(self, place: Place, text: str, answer: str) -> memoranda.CaptureReceipt:
        said = [memoranda.user(text), memoranda.assistant(answer)]

        def captured(room: Room) -> memoranda.Captured:
            return room.memories.capture(
                said, conversation=place.session_key, speaker=place.sender_id, mode=room.options.capture
            )

        return (await self.plugin.within(place, captured)).receipt
