"""Errors in the words of the command line: what Python calls `time_after=` is `--after` here."""

import argparse
import re
from collections.abc import Mapping

# `name=` with or without a value; a whole name with an underscore; a name that a message begins with.
_GIVEN = re.compile(r"(?<![\w?&'\"`.-])([a-z][a-z_]*)=(?:'([^']*)'|\"([^\"]*)\"|([\w./-]*\w)?)")
_NAMED = re.compile(r"(?<![\w'\"`./-])([a-z]+(?:_[a-z]+)+)(?![\w'\"`/=-])|^([a-z]+)(?=: )")


def chosen(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[argparse.ArgumentParser]:
    """The parser of the whole, that of the command which was chosen, and that of its action."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            word = getattr(arguments, action.dest, None)
            return [parser] if word is None else [parser, *chosen(action.choices[word], arguments)]
    return [parser]


def flags_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> dict[str, str]:
    """The option for each parameter, of the command that was chosen. One that has another name there says so in its
    defaults, as `spoken`."""
    options = (action for level in chosen(parser, arguments) for action in level._actions if action.option_strings)
    return {**{option.dest: option.option_strings[-1] for option in options}, **getattr(arguments, "spoken", {})}


def in_flags(text: str, flags: Mapping[str, str]) -> str:
    """A message or a hint, with options for the parameters that it names."""

    def given(match: re.Match[str]) -> str:
        flag = flags.get(match[1])
        value = match[2] or match[3] or match[4] or ""
        if flag is None:
            return match[0]
        return flag if value in ("", "True") else f"{flag} {value}"

    return _NAMED.sub(lambda match: flags.get(match[1] or match[2], match[0]), _GIVEN.sub(given, text))
