import json

from langbot_plugin.api.definition.components.runner.runner import Runner
from langbot_plugin.api.entities.builtin.provider.message import Message
from langbot_plugin.api.entities.builtin.resource.tool import LLMTool
from langbot_plugin.api.entities.builtin.runner import RunnerResult


async def _never(**given):
    raise AssertionError("tools are called by the runner")


def _offered(tool):
    words = tool.get("description") or tool["name"]
    return LLMTool(
        name=tool["name"], human_desc=words, description=words, parameters=tool.get("parameters") or {}, func=_never
    )


class OneTool(Runner):
    """The effective prompt to the model; at most one round of tools."""

    async def run(self, ctx):
        tools = [_offered(tool) for tool in await ctx.api.list_tools()]
        said = [Message.model_validate(each) for each in await ctx.api.get_prompt()]
        said.append(Message(role="user", content=ctx.input.to_text()))
        model = ctx.config["model"]["primary"]
        answer = await ctx.api.invoke_llm(model, said, tools)
        if answer.tool_calls:
            said.append(answer)
            for call in answer.tool_calls:
                result = await ctx.api.call_tool(call.function.name, json.loads(call.function.arguments))
                said.append(Message(role="tool", tool_call_id=call.id, content=json.dumps(result, ensure_ascii=False)))
            answer = await ctx.api.invoke_llm(model, said, tools)
        yield RunnerResult.run_completed(
            run_id=ctx.run_id, message=Message(role="assistant", content=str(answer.content)), finish_reason="stop"
        )
