"""The command `tools`: what an agent is offered, and a call as an agent would make it."""

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memoranda.cli.actions import Action, add_actions, show
from memoranda.cli.output import Output, clean
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.memory import SOURCES

if TYPE_CHECKING:
    from memoranda.tools.schema import Style

_STYLES = ("openai", "mcp")
_TOOLSETS = ("default", "openclaw", "langbot")
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
    command.add_argument("--toolset", choices=_TOOLSETS, help="one family only")


def _add_call(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="which tool")
    command.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="its arguments; - reads stdin")
    command.add_argument("--source", choices=SOURCES, default="assistant", help="who vouches (default assistant)")
    command.add_argument("--speaker", metavar="NAME", default="", help="who speaks to the agent")
    command.add_argument("--conversation", metavar="NAME", default="")
    command.add_argument("--folder", metavar="DIR", default=".", help="where files are read and written (default here)")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "tools": ("tools for agents: their definitions, and calls", _add_tools),
}


def _definitions(arguments: argparse.Namespace, style: "Style") -> list[dict[str, Any]]:
    from memoranda.tools.toolbox import definitions

    return definitions(style, toolset=getattr(arguments, "toolset", None), files=True)


def _list(arguments: argparse.Namespace, output: Output) -> None:
    if arguments.style or output.as_json:
        output.line(json.dumps(_definitions(arguments, arguments.style or "openai"), ensure_ascii=False, indent=2))
        return
    for tool in _definitions(arguments, "mcp"):
        needed = set(tool["inputSchema"]["required"])
        parameters = [name + ("*" if name in needed else "") for name in tool["inputSchema"]["properties"]]
        output.line(f"{tool['name']:28}{', '.join(parameters)}")


def _call(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.tools.definitions import DEFINITIONS
    from memoranda.tools.files import Folder
    from memoranda.tools.toolbox import Tools

    only_reads = any(tool.name == arguments.name and tool.reads for tool in DEFINITIONS)
    with open_memory(arguments, create=not only_reads) as memory:
        tools = Tools(
            memory,
            source=arguments.source,
            speaker=arguments.speaker,
            conversation=arguments.conversation,
            files=Folder(arguments.folder),
        )
        result = tools.call(arguments.name, read_text(arguments.arguments))
    if output.as_json:
        show(output, {"text": result.text, "data": result.data, "failed": result.failed}, ())
    else:
        output.line(clean(result.text))
    return _REFUSED if result.failed else 0
