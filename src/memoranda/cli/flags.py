"""Errors in the words of the command line: what Python calls `time_after=` is `--after` here."""

import argparse
import re
from collections.abc import Mapping

# `name=` with or without a value; a whole name with an underscore; a name that a message begins with.
_GIVEN = re.compile(r"(?<![\w?&'\"`.-])([a-z][a-z_]*)=(?:'([^']*)'|\"([^\"]*)\"|([\w./-]*\w)?)")
_NAMED = re.compile(r"(?<![\w'\"`./-])([a-z]+(?:_[a-z]+)+)(?![\w'\"`/=-])|^([a-z]+)(?=: )")


def flags_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> dict[str, str]:
    """The option for each parameter, of the command that was chosen. One that has another name there says so in its
    defaults, as `spoken`."""
    found: dict[str, str] = {}
    level: argparse.ArgumentParser | None = parser
    while level is not None:
        deeper = None
        for action in level._actions:
            if isinstance(action, argparse._SubParsersAction):
                deeper = action.choices.get(getattr(arguments, action.dest, None))
            elif action.option_strings:
                found[action.dest] = action.option_strings[-1]
        level = deeper
    return {**found, **getattr(arguments, "spoken", {})}


def in_flags(text: str, flags: Mapping[str, str]) -> str:
    """A message or a hint, with options for the parameters that it names."""

    def given(match: re.Match[str]) -> str:
        flag = flags.get(match[1])
        value = match[2] or match[3] or match[4] or ""
        if flag is None:
            return match[0]
        return flag if value in ("", "True") else f"{flag} {value}"

    return _NAMED.sub(lambda match: flags.get(match[1] or match[2], match[0]), _GIVEN.sub(given, text))
