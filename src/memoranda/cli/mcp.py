"""The command `mcp`: the server for a client of the Model Context Protocol, and the settings of such clients."""

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memoranda
from memoranda import config
from memoranda.cli.actions import Action, add_actions, show
from memoranda.cli.output import Output
from memoranda.domain.errors import InvalidInput, NotFound, ProviderMissing
from memoranda.domain.scope import Scope

if TYPE_CHECKING:
    from memoranda.mcp.clients import Client, Launch
    from memoranda.mcp.installing import Installed

# Written out, so that nothing is loaded to show the help; a test compares them with the originals.
TOOLSETS = ("default", "openclaw", "langbot")
SOURCES = ("assistant", "user")
CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode")
_NAME = "memoranda"
_TOKEN = "MEMORANDA_TOKEN"  # noqa: S105 the name of a variable
_VOUCHING = (
    "What a model writes is not trusted: it is found when asked for, and never shown unasked. With --source user it is "
    "trusted like the user's own words. Use that only where the client asks before each call."
)


def _add_mcp(command: argparse.ArgumentParser) -> None:
    add_actions(
        command,
        {
            "serve": Action("answer a client on standard input and output", _add_serve, _serve, _VOUCHING),
            "install": Action("write the server into a client's settings", _add_install, _install),
            "config": Action("print what to write there", _add_config, _config),
        },
    )


def _add_serve(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--toolset", choices=TOOLSETS, default="default", help="under which names tools are offered (default default)")
    add("--source", choices=SOURCES, default="assistant", help="who vouches for what is written (default assistant)")
    add("--speaker", metavar="NAME", default="", help="who speaks to the model")
    add("--url", metavar="URL", default="", help="use the memory of this server instead of a file")
    add("--token-file", metavar="PATH", default="", help=f"the token for it (default: the variable {_TOKEN})")


def _add_install(command: argparse.ArgumentParser) -> None:
    _add_config(command)
    add = command.add_argument
    add("--file", metavar="PATH", default="", help="the client's settings, when they are elsewhere")
    add("--dry-run", action="store_true", help="show what would be written, and write nothing")
    add("--uninstall", action="store_true", help="take the server out again")


def _add_config(command: argparse.ArgumentParser) -> None:
    command.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    command.add_argument("--name", metavar="NAME", default=_NAME, help=f"the server's name there (default {_NAME})")
    command.add_argument("--project", action="store_true", help="for the project in this folder only")
    _add_serve(command)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "mcp": ("tools for Claude, Cursor, VS Code and other clients of the Model Context Protocol", _add_mcp),
}


# -- serving --


def _serve(arguments: argparse.Namespace, output: Output) -> None:
    opened, warm = (_remote, False) if arguments.url else (_embedded, True)
    open_memory = opened(arguments)
    gc.disable()  # loading makes very many objects, and none that could go: looking for them is a sixth of the time
    try:
        from memoranda.mcp.server import build
        from memoranda.mcp.stdio import LateMemory, serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        hint = "Install it: pip install 'memoranda[mcp]'."
        raise ProviderMissing("the package mcp is not installed", hint=hint) from error
    from memoranda.mcp.guest import Guest

    gc.freeze()
    gc.enable()
    if sys.stdin.isatty():
        output.note("waiting for a client on standard input; `memoranda mcp install CLIENT` lets one start this itself")
    memory = LateMemory(open_memory, warm=warm)
    try:
        serve(
            build(
                lambda _: Guest(memory.get(), source=arguments.source, speaker=arguments.speaker),
                toolset=arguments.toolset,
            )
        )
    finally:
        memory.close()


def _embedded(arguments: argparse.Namespace) -> "Callable[[], memoranda.LongTermMemory]":
    """How the store is opened. Mistakes in the settings are told now, to whoever started it."""
    settings = _settings(arguments)
    scope = _scope(settings)
    return lambda: memoranda.open(scope=scope, settings=settings)


def _remote(arguments: argparse.Namespace) -> "Callable[[], memoranda.LongTermMemory]":
    token = _token(arguments.token_file)
    return lambda: memoranda.connect(arguments.url, token, scope=arguments.scope or "")


def _settings(arguments: argparse.Namespace) -> config.Settings:
    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    given = {name: getattr(arguments, name) for name in ("store", "scope", "embedder")}
    # The process serves nothing else: its numeric library need not be held back.
    return config.load({**given, "limit_threads": False})


def _scope(settings: config.Settings) -> str:
    if not settings.scope:
        raise InvalidInput("a scope is needed", hint="Pass --scope me, or set MEMORANDA_SCOPE.")
    return Scope(settings.scope).path


def _token(path: str) -> str:
    if path:
        try:
            token = Path(path).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise NotFound(f"the token cannot be read from {path}", hint="Write the token alone into it.") from error
    else:
        token = (config.secret(_TOKEN) or "").strip()
    if not token:
        raise InvalidInput("a token is needed", hint=f"Pass --token-file, or set {_TOKEN}.")
    return token


# -- settings of clients --


def _config(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.mcp.clients import entry_of, place_of, section_of

    client: Client = arguments.client
    snippet = {section_of(client): {_name(arguments): entry_of(client, _launch(arguments))}}
    place = place_of(client, home=Path.home(), project=Path.cwd() if arguments.project else None)
    if not output.as_json:
        output.note(f"for {place.path}")
    output.line(json.dumps(snippet, ensure_ascii=False, indent=2))


def _install(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.domain.clock import SystemClock
    from memoranda.mcp.clients import entry_of, next_step, place_of
    from memoranda.mcp.installing import install, uninstall

    client: Client = arguments.client
    name, clock = _name(arguments), SystemClock()
    place = place_of(client, home=Path.home(), project=Path.cwd() if arguments.project else None)
    if arguments.file:
        place = place._replace(path=Path(arguments.file).expanduser().absolute())
    entry = {} if arguments.uninstall else entry_of(client, _launch(arguments))
    if arguments.uninstall:
        done = uninstall(place, name, clock=clock, dry_run=arguments.dry_run)
    else:
        done = install(place, name, entry, clock=clock, dry_run=arguments.dry_run)
    show(output, {**done._asdict(), "entry": entry}, _told(arguments, done, entry, next_step(client)))


def _told(arguments: argparse.Namespace, done: "Installed", entry: dict[str, Any], next_step: str) -> list[str]:
    """What was done. Of the file, only our own entry is shown: clients keep secrets in it."""
    if not done.changed:
        return [f"nothing to change in {done.path}"]
    if arguments.dry_run:
        would = "remove it from" if arguments.uninstall else "write it into"
        return [f"would {would} {done.path}", *json.dumps(entry, ensure_ascii=False, indent=2).split("\n")]
    backup = [f"what was there before is in {done.backup}"] if done.backup else []
    return [f"{'removed from' if arguments.uninstall else 'written into'} {done.path}", *backup, next_step]


def _name(arguments: argparse.Namespace) -> str:
    name: str = arguments.name.strip()
    if not name or len(name) > 64 or not all(char.isalnum() or char in "-_." for char in name):
        raise InvalidInput("--name is letters, digits, dashes, dots and underscores", hint=f"{_NAME} is usual.")
    return name


def _launch(arguments: argparse.Namespace) -> "Launch":
    """How a client starts what these options say, from any folder and with any environment."""
    from memoranda.mcp.clients import launch_of_this

    given = ["mcp"]
    if arguments.url:
        given += ["--url", arguments.url]
        if arguments.token_file:
            given += ["--token-file", str(Path(arguments.token_file).expanduser().absolute())]
        if arguments.scope:
            given += ["--scope", Scope(arguments.scope).path]
    else:
        settings = _settings(arguments)
        if settings.shards:
            raise InvalidInput("a store in shards is not given to a client", hint="Serve it, and give --url.")
        address = settings.store_address()
        # No password into somebody's file of settings: the driver finds it in .pgpass or in its environment.
        place = str(settings.store_path().absolute()) if address is None else address.shown
        given += ["--store", place, "--scope", _scope(settings)]
        if arguments.embedder:
            given += ["--embedder", arguments.embedder]
    for option, usual in (("toolset", "default"), ("source", "assistant"), ("speaker", "")):
        if getattr(arguments, option) != usual:
            given += [f"--{option}", getattr(arguments, option)]
    return launch_of_this(Path(sys.executable), tuple(given))
