"""The command `mcp`: the server for a client of the Model Context Protocol, on standard input and output."""

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path

import memoranda
from memoranda import config
from memoranda.cli.output import Output
from memoranda.domain.errors import InvalidInput, NotFound, ProviderMissing
from memoranda.domain.scope import Scope

# Written out, so that nothing is loaded to show the help; a test compares them with the originals.
TOOLSETS = ("default", "openclaw", "langbot")
SOURCES = ("assistant", "user")
_TOKEN = "MEMORANDA_TOKEN"  # noqa: S105 the name of a variable
_VOUCHING = (
    "What a model writes is not trusted: it is found when asked for, and never shown unasked. With --source user it is "
    "trusted like the user's own words. Use that only where the client asks before each call."
)


def _add_mcp(command: argparse.ArgumentParser) -> None:
    command.description = _VOUCHING
    add_server_options(command)
    command.set_defaults(run=_serve)


def add_server_options(command: argparse.ArgumentParser) -> None:
    """What the server of tools is started with."""
    add = command.add_argument
    add("--toolset", choices=TOOLSETS, default="default", help="under which names tools are offered (default default)")
    add("--source", choices=SOURCES, default="assistant", help="who vouches for what is written (default assistant)")
    add("--speaker", metavar="NAME", default="", help="who speaks to the model")
    add("--url", metavar="URL", default="", help="use the memory of this server instead of a file")
    add("--token-file", metavar="PATH", default="", help=f"the token for it (default: the variable {_TOKEN})")


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
        output.note("waiting for a client on standard input; `memoranda install HOST` lets one start this itself")
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
