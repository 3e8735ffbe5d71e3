"""How a command opens its store: settings from the file, the environment and the options."""

import argparse
import sys

import memoranda
from memoranda import config
from memoranda.domain.errors import InvalidInput, NotFound


def open_memory(
    arguments: argparse.Namespace, *, scope: str | None = None, create: bool = False, sweep: bool | None = None
) -> memoranda.LongTermMemory:
    """The store that the options name. A scope must be given or configured: there is no default.

    Only a command that keeps something makes a store: a mistyped path is told, not created.
    """
    settings = settings_of(arguments, sweep=sweep)
    chosen = scope or settings.scope
    if not chosen:
        raise InvalidInput(
            "a scope is needed",
            hint='Pass --scope me, set MEMORANDA_SCOPE, or write scope = "me" into config.toml.',
        )
    if not create and not settings.shards:
        refuse_missing(settings)
    return memoranda.open(scope=chosen, settings=settings)


def settings_of(arguments: argparse.Namespace, *, sweep: bool | None = None) -> config.Settings:
    """What the file, the environment and the options of a command say together."""
    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    return config.load(
        {
            "store": arguments.store,
            "scope": arguments.scope,
            "embedder": arguments.embedder,
            "sweep": sweep,
            # The process ends before a background thread could help, and is alone with its numeric library.
            "follow": False,
            "limit_threads": False,
        }
    )


def refuse_missing(settings: config.Settings) -> None:
    """A store that is only to be read is not made. For commands on one store: of several, one has to be named."""
    if settings.shards and not settings.store:
        raise InvalidInput(f"one of {len(settings.shards)} shards has to be named", hint="Pass --store ADDRESS.")
    if settings.store_address() is not None:
        return  # its server tells
    path = settings.store_path()
    if not path.exists():
        raise NotFound(f"there is no store at {path}", hint="`memoranda remember` makes one; or check --store.")


def read_text(given: str) -> str:
    """The argument, or standard input for `-`."""
    if given != "-":
        return given
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        hint = "Convert it first, for example with iconv -t utf-8."
        raise InvalidInput(f"standard input is not text: {error}", hint=hint) from error
