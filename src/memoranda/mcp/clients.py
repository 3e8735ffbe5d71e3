"""Programs that can use this server: where each keeps its settings, and what has to stand there."""

import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput

Client = Literal["claude-desktop", "claude-code", "cursor", "vscode"]
CLIENTS: tuple[Client, ...] = get_args(Client)


class Place(NamedTuple):
    """A file of settings, and the object in it that holds servers."""

    path: Path
    section: str


class Launch(NamedTuple):
    """How a client starts the server."""

    command: str
    arguments: tuple[str, ...]


class _About(NamedTuple):
    """What is particular to a client."""

    section: str
    project: str
    """The file of a project, relative to its folder; empty when it has none."""
    typed: bool
    """Whether an entry says of which type it is."""
    next_step: str


_ABOUT: dict[Client, _About] = {
    "claude-desktop": _About("mcpServers", "", False, "Quit Claude Desktop and start it again."),
    "claude-code": _About("mcpServers", ".mcp.json", True, "Start a new session; /mcp there shows the server."),
    "cursor": _About("mcpServers", ".cursor/mcp.json", False, "Open Cursor's settings, MCP, and switch the server on."),
    "vscode": _About("servers", ".vscode/mcp.json", True, 'Run "MCP: List Servers" from the command palette.'),
}


def place_of(client: Client, *, home: Path, project: Path | None = None, platform: str = sys.platform) -> Place:
    """Where a client looks: in the person's own settings, or in those of a project folder."""
    about = _ABOUT[client]
    if project is not None:
        if not about.project:
            raise InvalidInput(f"{client} knows no settings of a project", hint="Leave --project out.")
        return Place(project / about.project, about.section)
    own = {
        "claude-desktop": _settings_folder(home, platform) / "Claude" / "claude_desktop_config.json",
        "claude-code": home / ".claude.json",
        "cursor": home / ".cursor" / "mcp.json",
        "vscode": _settings_folder(home, platform) / "Code" / "User" / "mcp.json",
    }
    return Place(own[client], about.section)


def entry_of(client: Client, launch: Launch) -> dict[str, Any]:
    """What stands under the server's name."""
    entry: dict[str, Any] = {"command": launch.command, "args": list(launch.arguments)}
    return {"type": "stdio", **entry} if _ABOUT[client].typed else entry


def section_of(client: Client) -> str:
    """The object that holds servers."""
    return _ABOUT[client].section


def next_step(client: Client) -> str:
    """What a person does after the file was written."""
    return _ABOUT[client].next_step


def launch_of_this(executable: Path, arguments: tuple[str, ...]) -> Launch:
    """This very installation: its command beside the interpreter, or the interpreter itself."""
    for name in ("memoranda", "memoranda.exe"):
        command = executable.parent / name
        if command.is_file():
            return Launch(str(command), arguments)
    return Launch(str(executable), ("-m", "memoranda", *arguments))


def _settings_folder(home: Path, platform: str) -> Path:
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return home / "AppData" / "Roaming" if platform == "win32" else home / ".config"
