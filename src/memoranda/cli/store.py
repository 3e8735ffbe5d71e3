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
    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    settings = config.load(
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
    chosen = scope or settings.scope
    if not chosen:
        raise InvalidInput(
            "a scope is needed",
            hint='Pass --scope me, set MEMORANDA_SCOPE, or write scope = "me" into config.toml.',
        )
    path = settings.store_path()
    if not create and not path.exists():
        raise NotFound(f"there is no store at {path}", hint="`memoranda remember` makes one; or check --store.")
    return memoranda.open(scope=chosen, settings=settings)


def read_text(given: str) -> str:
    """The argument, or standard input for `-`."""
    if given != "-":
        return given
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        hint = "Convert it first, for example with iconv -t utf-8."
        raise InvalidInput(f"standard input is not text: {error}", hint=hint) from error
