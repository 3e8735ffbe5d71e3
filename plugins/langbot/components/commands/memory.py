"""`!memory`: looking at the memory of a session, and letting go of parts of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from langbot_plugin.api.definition.components.command.command import Command
from langbot_plugin.api.entities.builtin.command.context import CommandReturn, ExecuteContext
from memoranda_langbot.commands import SUBCOMMANDS, answer
from memoranda_langbot.desk import Desk
from memoranda_langbot.stores import LOG, TAG

_ADMIN = 2


class Memory(Command):
    """All words behind `!memory` go the same way; LangBot only has to know that they exist."""

    def __init__(self) -> None:
        super().__init__()

        async def run(self: Memory, context: ExecuteContext) -> AsyncGenerator[CommandReturn, None]:
            yield CommandReturn(text=await self._answered(context))

        for each in SUBCOMMANDS:
            # The SDK does not look at aliases: each is registered as a name of its own.
            for name in (each.name, *each.aliases):
                self.subcommand(name=name, help=each.help, usage=each.usage, aliases=list(each.aliases))(run)
        self.subcommand(name="*", help="overview of the memory", usage="!memory")(run)

    async def _answered(self, context: ExecuteContext) -> str:
        _, _, text = context.command_text.strip().partition(" ")
        LOG.info("%s command called: query_id=%s words=%d", TAG, context.query_id, len(text.split()))
        session = context.session
        try:
            place = await self.plugin.place_of(
                context.query_id,
                context.query_uuid,
                f"{session.launcher_type.value}_{session.launcher_id}",
                session.bot_uuid,
            )
            base = await self.plugin.base_id()
            return await self.plugin.within(
                place, lambda room: answer(Desk(room, context.privilege >= _ADMIN, base), text)
            )
        except Exception as error:  # noqa: BLE001 the person is told, whatever it is
            LOG.warning("%s command failed: %s: %s", TAG, type(error).__name__, error)
            return f"[Memory] Not available: {error}"
