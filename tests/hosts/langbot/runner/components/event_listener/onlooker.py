import json
import os

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities import events


class Onlooker(EventListener):
    """Another plugin, which knows of the memory only what every plugin is told: the variables of the query."""

    async def initialize(self):
        await super().initialize()

        # When the answer is there, every plugin has said what it has to say.
        @self.handler(events.NormalMessageResponded)
        async def look(ctx):
            variables = await ctx.get_query_vars()
            seen = {
                name: variables.get(name) for name in ("_ltm_context", "_knowledge_base_uuids", "user_message_text")
            }
            with open(os.environ["ONLOOKER_LOG"], "a", encoding="utf-8") as file:
                file.write(json.dumps(seen, ensure_ascii=False) + "\n")
