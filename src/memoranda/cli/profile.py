"""The command `profile`: the small stable record of a scope and of those who speak in it."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import SOURCES
from memoranda.domain.profile import FIELDS, LISTS, Profile, ProfileChanged


def _add_speaker(command: argparse.ArgumentParser) -> None:
    command.add_argument("--speaker", metavar="NAME", default="", help="the profile of one who speaks here")


def _add_show(command: argparse.ArgumentParser) -> None:
    _add_speaker(command)
    command.add_argument("--as-of", metavar="DATE", help="as it was then, or at tag:NAME")


def _add_set(command: argparse.ArgumentParser) -> None:
    command.add_argument("field", choices=FIELDS)
    command.add_argument(
        "values",
        metavar="VALUE",
        nargs="*",
        help="of traits and preferences several, which replace all that are there unless there is a --key; "
        "none clears the field",
    )
    _add_writing(command)


def _add_add(command: argparse.ArgumentParser) -> None:
    command.add_argument("field", choices=FIELDS)
    command.add_argument("values", metavar="VALUE", nargs=1, help="- reads standard input")
    _add_writing(command)


def _add_writing(command: argparse.ArgumentParser) -> None:
    command.add_argument("--key", default="", help="of traits and preferences: one entry under this key")
    command.add_argument("--previous", metavar="TEXT", default="", help="the entry that this one replaces")
    command.add_argument("--source", choices=SOURCES, default="user")
    command.add_argument("--even-if-erased", action="store_true", help="keep it although it was erased before")
    _add_speaker(command)


def _add_remove(command: argparse.ArgumentParser) -> None:
    command.add_argument("field", choices=FIELDS)
    command.add_argument("value", metavar="VALUE", nargs="?", default="", help="of a list, or one of the notes")
    command.add_argument("--key", default="", help="the entry under this key")
    _add_speaker(command)


def _add_context(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", metavar="QUERY", nargs="?", default="", help="what is asked; - reads standard input")
    command.add_argument("--name", default="", help="what the speaker is called")
    command.add_argument("--limit", type=int, default=3, help="at most so many episodes (default 3)")
    _add_speaker(command)


def _show(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        profile = memory.profile.get(speaker=arguments.speaker, as_of=arguments.as_of)
    show(output, {**profile.as_json(), "recent": list(profile.recent)}, _lines(profile))


def _set(arguments: argparse.Namespace, output: Output) -> None:
    values: Sequence[str] | str = [read_text(each) for each in arguments.values]
    if arguments.field not in LISTS or arguments.key or arguments.previous:
        if len(values) > 1:
            raise InvalidInput("one value is expected here", hint="Put it in quotes if it is several words.")
        values = "".join(values)
    with open_memory(arguments, create=True) as memory:
        _changed(output, memory.profile.set(arguments.field, values, **_writing(arguments)))


def _add(arguments: argparse.Namespace, output: Output) -> None:
    entry = read_text(arguments.values[0])
    with open_memory(arguments, create=True) as memory:
        _changed(output, memory.profile.add(arguments.field, entry, **_writing(arguments)))


def _remove(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        _changed(
            output,
            memory.profile.remove(arguments.field, arguments.value, key=arguments.key, speaker=arguments.speaker),
        )


def _export(arguments: argparse.Namespace, output: Output) -> None:
    """JSON for people, too: it is there to be kept."""
    with open_memory(arguments) as memory:
        exported = memory.profile.export()
    output.as_json = True
    show(output, exported, ())


def _context(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        context = memory.profile.context(
            read_text(arguments.query), speaker=arguments.speaker, name=arguments.name, limit=arguments.limit
        )
        lines = memory.profile.lines(speaker=arguments.speaker) if not output.as_json else ()
    show(output, context, (*lines, *(f"- {episode['content']}" for episode in context["episodes"])))


def _writing(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "key": arguments.key,
        "previous": arguments.previous,
        "speaker": arguments.speaker,
        "source": arguments.source,
        "after_erase": "allow" if arguments.even_if_erased else "refuse",
    }


def _changed(output: Output, changed: ProfileChanged) -> None:
    show(output, {**changed.as_json(), "recent": list(changed.profile.recent)}, _lines(changed.profile))
    if not output.as_json:
        if changed.receipt.trust != "trusted":
            output.note(f"kept, but {changed.receipt.trust}: it is not shown in the profile")
        if changed.receipt.archived:
            output.note(f"{len(changed.receipt.archived)} of the oldest entries were archived to make room")


def _lines(profile: Profile) -> list[str]:
    if profile.empty:
        return ["(empty)"]
    lists = {"traits": profile.traits, "preferences": profile.preferences}
    shown = [f"name         {profile.name}"] if profile.name else []
    shown += [f"{name:12} {entry}" for name, entries in lists.items() for entry in entries]
    shown += [f"notes        {profile.notes}"] if profile.notes else []
    return [*shown, f"updated      {profile.updated_at}", *profile.recent]


_ACTIONS = {
    "show": Action("what is in it", _add_show, _show),
    "set": Action(
        "set a whole field, or the entry under a key",
        _add_set,
        _set,
        more="Set a field. Without --key, traits and preferences become exactly the values that are given: all others "
        "are forgotten. `memoranda profile add` adds one.",
    ),
    "add": Action("add an entry or a note", _add_add, _add),
    "remove": Action("forget an entry", _add_remove, _remove),
    "export": Action("all profiles of this very scope, as JSON", nothing_more, _export),
    "context": Action("profiles and what bears on a query, as hosts hand it on", _add_context, _context),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "profile": (
        "the small stable record of who is here: show, set, add, remove, export, context",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
