"""The plugin for Claude Code: its files, as this installation starts what is in them.

Claude Code loads a plugin from a folder in `skills/` of its settings by itself, so that no file of anybody else's
has to be changed.
"""

import json
from importlib import resources
from typing import Any

from memoranda.hosts.launch import Launch
from memoranda.hosts.table import BY_NAME

_SECONDS = 10
_DESCRIPTION = (
    "Long-term memory: what matters of earlier conversations, before each answer; what should be kept, after it."
)


def files(launch: Launch, *, name: str = "memoranda", hooks: bool = True, tools: bool = True) -> dict[str, str]:
    """Every file by its path in the folder."""
    manifest = {
        "name": name,
        "version": launch.version,
        "description": _DESCRIPTION,
        "author": {"name": "Memoranda"},
        "license": "Apache-2.0",
        "keywords": ["memory"],
    }
    found = {".claude-plugin/plugin.json": _json(manifest)}
    if hooks:
        found["hooks/hooks.json"] = _json({"hooks": _hooks(launch)})
    if tools:
        command, arguments = launch.server()
        server = {"type": "stdio", "command": command, "args": list(arguments)}
        found[".mcp.json"] = _json({"mcpServers": {name: server}})
        found["skills/memory/SKILL.md"] = _text("SKILL.md")
    found["README.md"] = _text("README.md")
    return found


def _hooks(launch: Launch) -> dict[str, Any]:
    host = BY_NAME["claude-code"]
    return {
        event: [{"hooks": [{"type": "command", "command": launch.hook(ours, host.name), "timeout": _SECONDS}]}]
        for event, ours in host.hooks.items()
    }


def _text(name: str) -> str:
    return (resources.files("memoranda.hosts") / "claude_code" / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
