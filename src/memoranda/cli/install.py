"""The commands `install` and `uninstall`: our tools and hooks in the settings of a host, and out of them again."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memoranda
from memoranda import config
from memoranda.cli.actions import show
from memoranda.cli.mcp import add_server_options
from memoranda.cli.output import Output
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.scope import Scope

if TYPE_CHECKING:
    from memoranda.hosts.files import Installed
    from memoranda.hosts.launch import Launch
    from memoranda.hosts.plans import Plan

# Written out, so that nothing is loaded to show the help; a test compares them with the originals.
HOSTS = ("claude-code", "codex", "cursor", "gemini", "opencode", "vscode", "claude-desktop", "windsurf")
_NAME = "memoranda"


def _add_place(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--name", metavar="NAME", default=_NAME, help=f"our name there (default {_NAME})")
    add("--project", action="store_true", help="for the project in this folder only")
    add("--folder", metavar="PATH", default="", help="the folder with the host's settings, when it is elsewhere")
    add("--dry-run", action="store_true", help="show what would be done, and do nothing")


def _add_install(command: argparse.ArgumentParser) -> None:
    command.add_argument("host", nargs="?", choices=HOSTS, metavar="HOST", help=f"{', '.join(HOSTS)}; none: a list")
    _add_place(command)
    command.add_argument("--no-hooks", action="store_true", help="tools only: nothing is recalled or captured unasked")
    command.add_argument("--no-tools", action="store_true", help="hooks only")
    add_server_options(command)
    command.set_defaults(run=_install)


def _add_uninstall(command: argparse.ArgumentParser) -> None:
    command.add_argument("host", choices=HOSTS, metavar="HOST", help=", ".join(HOSTS))
    _add_place(command)
    command.set_defaults(run=_uninstall)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "install": ("into Claude Code, Codex, Cursor and other hosts: tools, and hooks where they have them", _add_install),
    "uninstall": ("out of a host again", _add_uninstall),
}


def _install(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.domain.clock import SystemClock
    from memoranda.hosts.table import BY_NAME

    if arguments.host is None:
        _list(output)
        return
    if arguments.no_hooks and arguments.no_tools:
        raise InvalidInput("neither hooks nor tools are left", hint="Leave one of the options out.")
    hooks, tools = not arguments.no_hooks, not arguments.no_tools
    plans = _plans(arguments, _launch(arguments), hooks=hooks, tools=tools)
    if not plans:
        title = BY_NAME[arguments.host].title
        raise InvalidInput(f"{title} has no hooks that can be used here", hint="Leave --no-tools out.")
    clock = SystemClock()
    # All of it is tried before any of it is done: half of an installation helps nobody.
    would = [each for plan in plans for each in plan.install(clock=clock, dry_run=True)]
    done = would if arguments.dry_run else [each for plan in plans for each in plan.install(clock=clock)]
    lines = _told(done, plans, arguments.dry_run, "write")
    if arguments.dry_run:
        lines += [line for plan in plans for line in (f"# {plan.path}", *plan.shown().split("\n"))]
    elif any(each.changed for each in done):
        lines.append(BY_NAME[arguments.host].next_step)
    value = {"host": arguments.host, "files": [each._asdict() for each in done]}
    shown = {"entries": {str(plan.path): plan.shown() for plan in plans}} if arguments.dry_run else {}
    show(output, {**value, **shown}, lines)


def _uninstall(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.domain.clock import SystemClock
    from memoranda.hosts.launch import Launch

    plans = _plans(arguments, Launch((_NAME,)), hooks=True, tools=True)
    clock = SystemClock()
    would = [each for plan in plans for each in plan.uninstall(clock=clock, dry_run=True)]
    done = would if arguments.dry_run else [each for plan in plans for each in plan.uninstall(clock=clock)]
    value = {"host": arguments.host, "files": [each._asdict() for each in done]}
    show(output, value, _told(done, plans, arguments.dry_run, "take it out of"))


def _list(output: Output) -> None:
    from memoranda.hosts.table import BY_NAME

    hosts = [
        {"host": host.name, "title": host.title, "folder": str(host.place(Path.home())), "hooks": sorted(host.hooks)}
        for host in BY_NAME.values()
    ]
    lines = [f"{each['host']:<15} tools{', hooks' if each['hooks'] else ''}; {each['folder']}" for each in hosts]
    show(output, {"hosts": hosts}, lines)


def _plans(arguments: argparse.Namespace, launch: "Launch", *, hooks: bool, tools: bool) -> "list[Plan]":
    from memoranda.hosts.plans import plans_of
    from memoranda.hosts.table import BY_NAME

    host = BY_NAME[arguments.host]
    place = host.place(Path.home(), project=Path.cwd() if arguments.project else None)
    if arguments.folder:
        place = Path(arguments.folder).expanduser().absolute()
    return plans_of(host, place, launch, name=_name(arguments), hooks=hooks, tools=tools)


def _told(done: "list[Installed]", plans: "list[Plan]", dry_run: bool, verb: str) -> list[str]:
    """What was done. Of a file, only what is ours is ever shown: hosts keep secrets in theirs."""
    lines = []
    for each in done:
        if not each.changed:
            continue
        if dry_run:
            lines.append(f"would {'remove' if each.removed else verb} {each.path}")
            continue
        lines.append(f"{'removed' if each.removed else 'written'} {each.path}")
        if each.backup:
            lines.append(f"  what was there before is in {each.backup}")
    return lines or [f"nothing to change in {plan.path}" for plan in plans]


def _name(arguments: argparse.Namespace) -> str:
    name: str = arguments.name.strip()
    if not name or len(name) > 64 or not name.isascii() or not all(char.isalnum() or char in "-_" for char in name):
        raise InvalidInput("--name is letters, digits, dashes and underscores", hint=f"{_NAME} is usual.")
    return name


def _launch(arguments: argparse.Namespace) -> "Launch":
    """How a host starts what these options say, from any folder and with any environment."""
    from memoranda.hosts.launch import Launch, command_of

    if arguments.url:
        from memoranda.client.address import addresses_of

        addresses_of(arguments.url)  # a mistake is told now, not by a host that cannot start us
        where = ["--url", arguments.url]
        if arguments.token_file:
            if not Path(arguments.token_file).expanduser().is_file():
                raise NotFound(f"there is no token at {arguments.token_file}", hint="Write the token alone into it.")
            where += ["--token-file", str(Path(arguments.token_file).expanduser().absolute())]
        if arguments.scope:
            where += ["--scope", Scope(arguments.scope).path]
    else:
        where = _store(arguments)
    usual = (("toolset", "default"), ("source", "assistant"), ("speaker", ""))
    more = [word for option, value in usual for word in _given(arguments, option, value)]
    return Launch(command_of(Path(sys.executable)), (*where, *more), tuple(where), memoranda.__version__)


def _store(arguments: argparse.Namespace) -> list[str]:
    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    settings = config.load({name: getattr(arguments, name) for name in ("store", "scope", "embedder")})
    if settings.shards:
        raise InvalidInput("a store in shards is not given to a host", hint="Serve it, and give --url.")
    if not settings.scope:
        raise InvalidInput("a scope is needed", hint="Pass --scope me, or set MEMORANDA_SCOPE.")
    address = settings.store_address()
    # No password into somebody's file of settings: the driver finds it in .pgpass or in its environment.
    place = str(settings.store_path().absolute()) if address is None else address.shown
    embedder = ["--embedder", arguments.embedder] if arguments.embedder else []
    return ["--store", place, "--scope", Scope(settings.scope).path, *embedder]


def _given(arguments: argparse.Namespace, option: str, usual: Any) -> list[str]:
    value = getattr(arguments, option)
    return [] if value == usual else [f"--{option}", value]
