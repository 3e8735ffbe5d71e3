"""The command `tools`: what an agent is offered, and a call as an agent would make it."""

import argparse
import json
from collections.abc import Callable

from memoranda.cli.actions import Action, add_actions, show
from memoranda.cli.output import Output, clean
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.memory import SOURCES

_STYLES = ("openai", "mcp")
_REFUSED = 4


def _add_tools(command: argparse.ArgumentParser) -> None:
    add_actions(
        command,
        {
            "list": Action("the definitions, for a model", _add_list, _list),
            "call": Action("do what a model would ask for", _add_call, _call),
        },
    )


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--style", choices=_STYLES, help="as JSON, as this kind of caller wants it")


def _add_call(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="which tool")
    command.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="its arguments; - reads stdin")
    command.add_argument("--source", choices=SOURCES, default="assistant", help="who vouches (default assistant)")
    command.add_argument("--speaker", metavar="NAME", default="", help="who speaks to the agent")
    command.add_argument("--conversation", metavar="NAME", default="")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "tools": ("tools for agents: their definitions, and calls", _add_tools),
}


def _list(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.tools.toolbox import definitions

    if arguments.style or output.as_json:
        output.line(json.dumps(definitions(arguments.style or "openai"), ensure_ascii=False, indent=2))
        return
    for tool in definitions("mcp"):
        needed = set(tool["inputSchema"]["required"])
        parameters = [name + ("*" if name in needed else "") for name in tool["inputSchema"]["properties"]]
        output.line(f"{tool['name']:28}{', '.join(parameters)}")


def _call(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.tools.definitions import DEFINITIONS
    from memoranda.tools.toolbox import Tools

    only_reads = any(tool.name == arguments.name and tool.reads for tool in DEFINITIONS)
    with open_memory(arguments, create=not only_reads) as memory:
        tools = Tools(memory, source=arguments.source, speaker=arguments.speaker, conversation=arguments.conversation)
        result = tools.call(arguments.name, read_text(arguments.arguments))
    if output.as_json:
        show(output, {"text": result.text, "data": result.data, "failed": result.failed}, ())
    else:
        output.line(clean(result.text))
    return _REFUSED if result.failed else 0
