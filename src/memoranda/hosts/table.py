"""Hosts: where each keeps its settings, which of its events we listen to, and what a person does next."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput

HostName = Literal[
    "claude-code", "codex", "cursor", "gemini", "opencode", "vscode", "claude-desktop", "windsurf"
]  # fmt: skip
HOSTS: tuple[HostName, ...] = get_args(HostName)
HookEvent = Literal["session-start", "before-turn", "after-turn", "before-compaction"]
_NO_HOOKS: Mapping[str, HookEvent] = MappingProxyType({})


class Host(NamedTuple):
    """What is particular to a host. `project` is its folder in a project, or None when it knows none."""

    name: HostName
    title: str
    folder: str
    """Relative to the home folder; `@` stands for the platform's folder for settings."""
    project: str | None
    next_step: str
    hooks: Mapping[str, HookEvent] = _NO_HOOKS
    """Its events, and what we do at each."""
    unit: int = 1
    """How many of its units of time make a second."""

    def place(self, home: Path, *, project: Path | None = None, platform: str = sys.platform) -> Path:
        """The folder with its settings: the person's own, or those of a project."""
        if project is None:
            return home / self.folder.replace("@", _settings_folder(platform))
        if self.project is None:
            raise InvalidInput(f"{self.title} knows no settings of a project", hint="Leave --project out.")
        return project / self.project


_CLAUDE = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "before-turn",
    "Stop": "after-turn",
    "PreCompact": "before-compaction",
    "SessionEnd": "after-turn",
}
_CODEX = {event: ours for event, ours in _CLAUDE.items() if event != "SessionEnd"}
_GEMINI = {"SessionStart": "session-start", "BeforeAgent": "before-turn", "AfterAgent": "after-turn"}
_CURSOR = {"sessionStart": "session-start", "beforeSubmitPrompt": "after-turn"}

_ALL: tuple[Host, ...] = (
    Host("claude-code", "Claude Code", ".claude", ".claude", "Start a new session; /plugin and /mcp there show it.",
         _CLAUDE),  # type: ignore[arg-type]
    Host("codex", "Codex", ".codex", ".codex", "Start codex, look at /hooks and trust ours; /mcp shows the server.",
         _CODEX),  # type: ignore[arg-type]
    Host("cursor", "Cursor", ".cursor", ".cursor", "Open Cursor's settings, MCP, and switch the server on.",
         _CURSOR),  # type: ignore[arg-type]
    Host("gemini", "Gemini CLI", ".gemini", ".gemini", "Start gemini; /mcp and /hooks there show it.",
         _GEMINI, 1_000),  # type: ignore[arg-type]
    Host("opencode", "opencode", ".config/opencode", ".", "Start opencode; `opencode mcp list` shows the server."),
    Host("vscode", "VS Code", "@/Code/User", ".vscode", 'Run "MCP: List Servers" from the command palette.'),
    Host("claude-desktop", "Claude Desktop", "@/Claude", None, "Quit Claude Desktop and start it again."),
    Host("windsurf", "Windsurf", ".codeium/windsurf", None, "Refresh the servers in Windsurf's settings, Cascade."),
)  # fmt: skip
BY_NAME: Mapping[str, Host] = MappingProxyType({host.name: host for host in _ALL})


def _settings_folder(platform: str) -> str:
    if platform == "darwin":
        return "Library/Application Support"
    return "AppData/Roaming" if platform == "win32" else ".config"
