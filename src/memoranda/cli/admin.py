"""Commands on the whole store: index, maintain, verify, doctor, completion, tour."""

import argparse
from collections.abc import Callable

from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory

# The index belongs to the whole store: no scope is looked at, but the facade is always bound to one.
_ANY_SCOPE = "memoranda.admin"


def _add_index(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=("status", "rebuild", "optimize"))
    command.set_defaults(run=_index)


def _add_maintain(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")
    command.set_defaults(run=_maintain)


def _add_completion(command: argparse.ArgumentParser) -> None:
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
    # Opening sweeps, too: a dry run must not, and otherwise it should stand in the receipt.
    with open_memory(arguments, scope=_ANY_SCOPE, sweep=False) as memory:
        with progress("maintaining") as tell:
            done = memory.admin.maintain(tell, dry_run=arguments.dry_run)
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


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "index": ("the index: status, rebuild, optimize", _add_index),
    "maintain": ("upkeep: end what is over, sum up old conversations, make missing vectors, tidy up", _add_maintain),
    "verify": ("check the store against itself", lambda command: command.set_defaults(run=_verify)),
    "doctor": ("is everything well here? each line with its fix", lambda command: command.set_defaults(run=_doctor)),
    "tour": ("a short guided tour on a store of its own", lambda command: command.set_defaults(run=_tour)),
    "completion": ("print a completion script for your shell", _add_completion),
}
