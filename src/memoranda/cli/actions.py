"""Commands with actions of their own, such as `memoranda profile set`: how they are declared, what they show."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memoranda.cli.output import SHORT_ID, Output, clean
from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.results import Changed


class Action(NamedTuple):
    """One action: a word about it, its options, and what it does. `more` is for its own help."""

    about: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], int | None]
    more: str = ""


def add_actions(command: argparse.ArgumentParser, actions: dict[str, Action]) -> None:
    """Declare the actions of a command. The first is what the command does without one, with the same options."""
    from memoranda.cli.app import shared_options

    name, first = next(iter(actions.items()))
    bare = argparse.ArgumentParser(add_help=False)
    first.add(bare)
    usual = vars(bare.parse_args([]))
    own = command.add_argument_group(f"without an action, as for {name}")
    for option in _options_of(bare):
        own._add_action(option)
        option.default = argparse.SUPPRESS  # an action has defaults of its own

    def run(arguments: argparse.Namespace, output: Output) -> int | None:
        for each, value in usual.items():
            setattr(arguments, each, getattr(arguments, each, value))
        return first.run(arguments, output)

    chosen = command.add_subparsers(
        dest="action", metavar="ACTION", prog=command.prog, action=_behind(frozenset(usual), command.prog)
    )
    for word, action in actions.items():
        parser = chosen.add_parser(
            word, parents=[shared_options(argparse.SUPPRESS)], help=action.about, description=action.more or None
        )
        action.add(parser)
        parser.set_defaults(run=action.run)
    command.set_defaults(run=run)


def _options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def _behind(own: frozenset[str], prog: str) -> type[argparse.Action]:
    """Actions whose options stand behind them: before them they would mean the first one, and be lost."""

    class Behind(argparse._SubParsersAction):  # type: ignore[type-arg]  # it is generic in the stubs alone
        def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
            early = sorted(own & set(vars(namespace)))
            if early:
                option = f"--{early[0].replace('_', '-')}"
                raise InvalidInput(
                    f"{option} stands before the action {values[0]!r}",
                    hint=f"Write it behind: {prog} {values[0]} ... {option} ...",
                )
            super().__call__(parser, namespace, values, option_string)

    return Behind


def nothing_more(command: argparse.ArgumentParser) -> None:
    """For an action without options of its own."""


def show(output: Output, value: Any, lines: Iterable[str]) -> None:
    """JSON for programs; for people, these lines."""
    if output.as_json:
        output.line(output.as_text(value))
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
