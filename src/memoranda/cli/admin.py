"""Commands on the whole store: index, maintain, verify, doctor, completion, tour."""

import argparse
from typing import Any

from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory

# The index belongs to the whole store: no scope is looked at, but the facade is always bound to one.
_ANY_SCOPE = "memoranda.admin"


def add_commands(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Tell the parser about these commands."""
    command = commands.add_parser("index", parents=[everywhere], help="the index: status, rebuild, optimize")
    command.add_argument("action", choices=("status", "rebuild", "optimize"))
    command.set_defaults(run=_index)

    for name, text, run in (
        ("maintain", "upkeep: expire what was forgotten, make missing vectors, tidy the index", _maintain),
        ("verify", "check the store against itself", _verify),
        ("doctor", "is everything well here? each line with its fix", _doctor),
        ("tour", "a short guided tour on a store of its own", _tour),
    ):
        command = commands.add_parser(name, parents=[everywhere], help=text)
        command.set_defaults(run=run)

    command = commands.add_parser("completion", parents=[everywhere], help="print a completion script for your shell")
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    command.set_defaults(run=_completion)


def _index(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        if arguments.action == "status":
            output.index_status(memory.admin.index_status())
            return
        with progress("rebuilding" if arguments.action == "rebuild" else "optimizing") as tell:
            act = memory.admin.rebuild if arguments.action == "rebuild" else memory.admin.optimize
            status = act(tell)
        output.index_status(status)


def _maintain(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        with progress("maintaining") as tell:
            done = memory.admin.maintain(tell)
        output.maintenance(done)


def _verify(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        checks = memory.admin.verify()
    output.verification(checks)
    return 0 if checks.ok else 6


def _doctor(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        checks = memory.admin.doctor()
    output.verification(checks)
    return 0 if checks.ok else 6


def _completion(arguments: argparse.Namespace, output: Output) -> None:
    import shtab

    from memoranda.cli.app import build_parser

    output.line(shtab.complete(build_parser(), shell=arguments.shell))


def _tour(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.cli.tour import tour

    return tour(output)
