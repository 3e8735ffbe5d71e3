"""What is written for a host: files of its own that are edited, and a folder that is ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock
from memoranda.hosts import claude_plugin
from memoranda.hosts.edits import Edit, Item, Member, Table, is_bare, put_all, undone
from memoranda.hosts.files import Installed, rewritten
from memoranda.hosts.folder import Folder
from memoranda.hosts.launch import Launch
from memoranda.hosts.table import Host

HOOK_SECONDS = 10
"""After so long a host goes on without us, should the limit of our own ever fail."""
_START_SECONDS = 30
_NOTHING: Mapping[str, Any] = {}


class Edited(NamedTuple):
    """A file of the host's in which something of ours stands. `shell` is what it needs to be valid."""

    path: Path
    edits: tuple[Edit, ...]
    shell: Mapping[str, Any] = _NOTHING

    def install(self, *, clock: Clock, dry_run: bool = False) -> tuple[Installed, ...]:
        """Put it there, whatever stood in its place before."""
        hint = f"Correct the file, or add this by hand: {' '.join(self.shown().split())}"

        def put(text: str, _: Any) -> str:
            needed = [] if text.strip() else self._needed()
            return put_all(text, [*needed, *self.edits])

        return (rewritten(self.path, put, hint=hint, clock=clock, dry_run=dry_run),)

    def uninstall(self, *, clock: Clock, dry_run: bool = False) -> tuple[Installed, ...]:
        """Take it out; everything else stays. A file in which only we stood goes."""

        def take(text: str, befores: Any) -> str | None:
            left = undone(text, self.edits, befores)
            return None if left != text and not befores and is_bare(left, self.shell) else left

        hint = "Correct the file, or take what is ours out of it by hand."
        return (rewritten(self.path, take, hint=hint, clock=clock, dry_run=dry_run),)

    def shown(self) -> str:
        """For people, to be pasted: of a JSON file, one object with all of it."""
        if not any(isinstance(edit, Table) for edit in self.edits):
            return put_all("", [*self._needed(), *self.edits]).rstrip("\n")
        return "\n".join(edit.shown() for edit in self.edits)

    def _needed(self) -> list[Member]:
        return [Member((key,), value) for key, value in self.shell.items()]


Plan = Edited | Folder


def plans_of(host: Host, place: Path, launch: Launch, *, name: str, hooks: bool, tools: bool) -> list[Plan]:
    """All that is written into the folder of a host's settings."""
    if host.name == "claude-code":
        files = claude_plugin.files(launch, name=name, hooks=hooks, tools=tools)
        return [Folder(place / "skills" / name, files)]
    found: list[Plan] = []
    if tools:
        found.append(_served(host, place, launch, name))
    if hooks and host.hooks:
        found.append(_hooked(host, place, launch))
    return _joined(found)


def _served(host: Host, place: Path, launch: Launch, name: str) -> Edited:
    command, arguments = launch.server()
    entry: dict[str, Any] = {"command": command, "args": list(arguments)}
    match host.name:
        case "codex":
            table = Table(("mcp_servers", name), {**entry, "startup_timeout_sec": _START_SECONDS})
            return Edited(place / "config.toml", (table,))
        case "opencode":
            whole = {"type": "local", "command": [command, *arguments], "enabled": True}
            schema = {"$schema": "https://opencode.ai/config.json"}
            return Edited(place / "opencode.json", (Member(("mcp", name), whole),), schema)
        case "vscode":
            return Edited(place / "mcp.json", (Member(("servers", name), {"type": "stdio", **entry}),))
    file = {
        "cursor": "mcp.json",
        "gemini": "settings.json",
        "claude-desktop": "claude_desktop_config.json",
        "windsurf": "mcp_config.json",
    }[host.name]
    return Edited(place / file, (Member(("mcpServers", name), entry),))


def _hooked(host: Host, place: Path, launch: Launch) -> Edited:
    items = []
    for event, ours in host.hooks.items():
        line = launch.hook(ours, host.name)
        limit = HOOK_SECONDS * host.unit
        value: dict[str, Any] = {"command": line, "timeout": limit}
        if host.name != "cursor":
            value = {"hooks": [{"type": "command", **value}]}
        items.append(Item(("hooks", event), value, f"hook {ours} --host {host.name}"))
    file = "settings.json" if host.name == "gemini" else "hooks.json"
    return Edited(place / file, tuple(items), {"version": 1} if host.name == "cursor" else _NOTHING)


def _joined(plans: list[Plan]) -> list[Plan]:
    """One plan for each file."""
    joined: dict[Path, Plan] = {}
    for plan in plans:
        there = joined.get(plan.path)
        if isinstance(plan, Edited) and isinstance(there, Edited):
            plan = there._replace(edits=(*there.edits, *plan.edits), shell={**there.shell, **plan.shell})
        joined[plan.path] = plan
    return list(joined.values())
