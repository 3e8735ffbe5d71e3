"""The command `memoranda`: its options, its commands, and which exit code an error gives.

Hosts start this for every turn, so that nothing is imported before it is needed.
"""

import argparse
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

from memoranda import config
from memoranda.cli.output import Output
from memoranda.domain import errors

# The most special class decides. 1 is our fault, 2 is usage.
EXIT_CODES: dict[type[errors.MemorandaError], int] = {
    errors.MemorandaError: 1,
    errors.InvalidInput: 2,
    errors.Ambiguous: 2,
    errors.ConfigError: 2,
    errors.NotFound: 3,
    errors.Refused: 4,
    errors.Conflict: 4,
    errors.ProviderError: 5,
    errors.LedgerError: 6,
}

# In the order of the help: what is needed first stands first. Each is loaded when it is asked for.
_ORDER = (
    ("memory", "remember"),
    ("recall", "recall pack why-not replay"),
    ("memory", "show list history forget archive restore"),
    ("bulk", "forget-many archive-many"),
    ("erase", "erase"),
    ("memory", "stats"),
    ("looking", "timeline growth scopes"),
    ("governance", "grade regrade trust drift audit"),
    ("travelling", "tag tags untag rollback undo operations diff contents"),
    ("consolidation", "consolidate"),
    ("retention", "retention subject"),
    ("capture", "capture review"),
    ("profile", "profile"),
    ("facts", "facts"),
    ("preferences", "preferences"),
    ("conversation", "conversation"),
    ("documents", "documents"),
    ("mirror", "mirror"),
    ("moving", "export import imports"),
    ("openclaw", "openclaw"),
    ("hook", "hook"),
    ("tools", "tools"),
    ("mcp", "mcp"),
    ("install", "install uninstall"),
    ("token", "token"),
    ("serve", "serve sample"),
    ("backup", "backup encrypt decrypt rekey"),
    ("migrate", "migrate"),
    ("shards", "shards"),
    ("admin", "index optimize maintain verify doctor tour completion"),
    ("evaluation", "eval bench"),
)
MODULES = {command: module for module, commands in _ORDER for command in commands.split()}
"""Which module of this room has a command."""


def exit_code(error: errors.MemorandaError) -> int:
    """The code of the nearest class in the table."""
    return next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in the words like every other error, after the usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise errors.InvalidInput(message, hint=f"`{self.prog} --help` shows what there is.")


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Every command and option; or, faster, one command alone."""
    everywhere = shared_options(argparse.SUPPRESS)
    parser = _Parser(
        prog="memoranda",
        description="Long-term memory for AI agents and assistants.",
        parents=[shared_options(None)],
        epilog="Exit codes: 0 done, 1 our fault, 2 usage, 3 not found, 4 refused, 5 provider unavailable, "
        "6 store locked, full, newer or damaged, or something left to be seen to, "
        "7 a measurement is worse or a replay differs.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    # With `prog` it need not format the usage now, which would load the modules for that.
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", prog="memoranda")
    for name in MODULES if only is None else (only,):
        help_text, add = import_module(f"memoranda.cli.{MODULES[name]}").COMMANDS[name]
        add(commands.add_parser(name, parents=[everywhere], help=help_text))
    return parser


def _asked_for(argv: list[str]) -> str | None:
    """The command, when it can be told at a glance; None means: build everything."""
    words = iter(argv)
    for word in words:
        if word in ("--store", "--scope", "--embedder"):
            next(words, None)
        elif not word.startswith("-"):
            return word if word in MODULES else None
    return None


def _wants_json(argv: list[str]) -> bool:
    """Whether --json is among the options, however wrong the others are; it may be shortened as any other."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return any(len(word) > len("--") and "--json".startswith(word) for word in options)


def shared_options(default: Any) -> _Parser:
    """Options that may stand before or after the command."""
    options = _Parser(add_help=False)
    group = options.add_argument_group("store")
    group.add_argument("--store", metavar="PATH", default=default, help="the ledger file (default: your data folder)")
    group.add_argument("--scope", metavar="PATH", default=default, help="where to read and write, such as home/anna")
    group.add_argument("--embedder", metavar="NAME", default=default, help="auto, none, or provider:model")
    group.add_argument(
        "--json",
        action="store_true",
        default=False if default is None else default,
        help="results as JSON, for programs",
    )
    return options


def main(argv: list[str] | None = None) -> NoReturn:
    """Run one command and exit."""
    config.use_one_thread()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = run(sys.argv[1:] if argv is None else argv)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # whoever read our output has enough
    # Everything is closed and flushed: taking the interpreter apart piece by piece would only cost time.
    os._exit(code)


def run(argv: list[str]) -> int:
    """Run one command; its exit code."""
    output = Output(as_json=_wants_json(argv))
    try:
        return _run(argv, output)
    except errors.MemorandaError as error:
        output.error(type(error).__name__, str(error), error.hint)
        return exit_code(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001 the one broad catch: our fault is told in the same form
        output.error(type(error).__name__, f"this is our fault: {error}", "Please report it, with what you did.")
        return 1


def _run(argv: list[str], output: Output) -> int:
    parser = build_parser(_asked_for(argv))
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        from memoranda.cli.flags import chosen

        chosen(parser, arguments)[-1].error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.version:
        from memoranda import __version__

        output.line(f"memoranda {__version__}")
        return 0
    if arguments.command is None:
        if arguments.json:
            parser.error("a command is needed")
        parser.print_help()
        return 2
    try:
        return arguments.run(arguments, output) or 0
    except errors.MemorandaError as error:
        from memoranda.cli.flags import flags_of, in_flags

        flags = flags_of(parser, arguments)
        output.error(type(error).__name__, in_flags(str(error), flags), in_flags(error.hint, flags))
        return exit_code(error)
