"""Commands with actions of their own, such as `memoranda profile set`: how they are declared, what they show."""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memoranda.cli.output import SHORT_ID, Output, clean
from memoranda.domain.clock import iso
from memoranda.domain.results import Changed


class Action(NamedTuple):
    """One action: a word about it, its options, and what it does."""

    about: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], int | None]


def add_actions(command: argparse.ArgumentParser, actions: dict[str, Action]) -> None:
    """Declare the actions of a command. The first is what the command does without one."""
    from memoranda.cli.app import shared_options

    first = next(iter(actions.values()))
    chosen = command.add_subparsers(dest="action", metavar="ACTION", prog=command.prog)
    for name, action in actions.items():
        parser = chosen.add_parser(name, parents=[shared_options(argparse.SUPPRESS)], help=action.about)
        action.add(parser)
        parser.set_defaults(run=action.run)
    bare = argparse.ArgumentParser(add_help=False)
    first.add(bare)
    command.set_defaults(run=first.run, **vars(bare.parse_args([])))


def nothing_more(command: argparse.ArgumentParser) -> None:
    """For an action without options of its own."""


def show(output: Output, value: Any, lines: Iterable[str]) -> None:
    """JSON for programs; for people, these lines."""
    if output.as_json:
        output.line(json.dumps(value, ensure_ascii=False, indent=2 if output.looked_at else None))
        return
    for line in lines:
        output.line(clean(line))


def show_gone(output: Output, gone: Sequence[Changed]) -> None:
    """What was forgotten, each with how long it can be brought back."""
    show(
        output,
        [{"memory": each.memory.as_json(), "receipt": each.receipt.as_json()} for each in gone],
        [
            f"forgotten {each.id[:SHORT_ID]}; can be restored until {iso(each.receipt.erased_after or 0)[:10]}"
            for each in gone
        ],
    )
