"""The command `preferences`: what is preferred, and when."""

import argparse
import json
from collections.abc import Callable, Iterable
from typing import Any

from memoranda.cli.actions import Action, add_actions, show, show_gone
from memoranda.cli.output import SHORT_ID, Output
from memoranda.cli.store import open_memory
from memoranda.domain.contexts import perhaps_meant
from memoranda.domain.errors import NotFound
from memoranda.domain.fact import shown
from memoranda.domain.memory import BASES, SOURCES
from memoranda.domain.preference import Preference


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--category", default="", help="only of this, such as lighting")
    command.add_argument("--key", default="")
    command.add_argument("--as-of", metavar="DATE", help="as it was then, or at tag:NAME")
    command.add_argument("--limit", type=int, default=50)
    command.add_argument("--offset", type=int, default=0)


def _add_slot(command: argparse.ArgumentParser) -> None:
    command.add_argument("category", metavar="CATEGORY", help="such as lighting")
    command.add_argument("key", metavar="KEY", help="such as evening_brightness")


def _add_set(command: argparse.ArgumentParser) -> None:
    _add_slot(command)
    command.add_argument("value", metavar="VALUE", help="JSON; what is not JSON is text")
    command.add_argument(
        "--context",
        default="",
        help="when it applies: words for times and places, such as after_sunset or weekday+morning, "
        "and flags of your own",
    )
    command.add_argument("--text", default="", help="the preference in words")
    command.add_argument("--learned-from", default="", help="what taught us this")
    command.add_argument("--confidence", type=float, default=1.0, metavar="0..1")
    command.add_argument("--basis", choices=BASES, default="stated", help="default stated")
    command.add_argument("--source", choices=SOURCES, default="user")
    command.add_argument("--speaker", default="")
    command.add_argument("--even-if-erased", action="store_true", help="keep it although it was erased before")


def _add_get(command: argparse.ArgumentParser) -> None:
    _add_slot(command)
    command.add_argument("--context", default="", help="exactly this one")
    command.add_argument("--as-of", metavar="DATE", help="as it was then, or at tag:NAME")


def _add_resolve(command: argparse.ArgumentParser) -> None:
    command.add_argument("category", metavar="CATEGORY", nargs="?", default="", help="only of this")
    command.add_argument("key", metavar="KEY", nargs="?", default="", help="only this one")
    command.add_argument("--now", metavar="DATE", help="at another moment than now")
    command.add_argument("--place", default="", help="where, such as home or office")
    command.add_argument("--flag", action="append", dest="flags", default=[], help="what else is so; may be repeated")


def _add_forget(command: argparse.ArgumentParser) -> None:
    _add_slot(command)
    command.add_argument("--context", help="only in this one (default: in all)")


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.preferences.list(
            arguments.category,
            key=arguments.key,
            as_of=arguments.as_of,
            limit=arguments.limit,
            offset=arguments.offset,
        )
    _show(output, found)


def _set(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, create=True) as memory:
        kept = memory.preferences.set(
            arguments.category,
            arguments.key,
            _value(arguments.value),
            context=arguments.context,
            text=arguments.text,
            learned_from=arguments.learned_from,
            confidence=arguments.confidence,
            basis=arguments.basis,
            source=arguments.source,
            speaker=arguments.speaker,
            after_erase="allow" if arguments.even_if_erased else "refuse",
        )
    output.remembered([kept])
    for flag, word in perhaps_meant(arguments.context):
        output.note(f"{flag} is kept as a flag, which holds when --flag says so; did you mean {word}?")


def _get(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.preferences.get(
            arguments.category, arguments.key, context=arguments.context, as_of=arguments.as_of
        )
    _show_one(output, found, "Without --context, only the preference that applies always is looked at.")


def _resolve(arguments: argparse.Namespace, output: Output) -> None:
    how: dict[str, Any] = {"now": arguments.now, "place": arguments.place, "flags": arguments.flags}
    with open_memory(arguments) as memory:
        if not arguments.key:
            _show(output, memory.preferences.resolve_all(arguments.category, **how))
            return
        found = memory.preferences.resolve(arguments.category, arguments.key, **how)
    _show_one(output, found, "`memoranda preferences list` shows when each applies.")


def _forget(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        show_gone(output, memory.preferences.forget(arguments.category, arguments.key, context=arguments.context))


def _value(given: str) -> Any:
    try:
        return json.loads(given)
    except ValueError:
        return given


def _show(output: Output, preferences: tuple[Preference, ...]) -> None:
    show(output, {"preferences": [each.as_json() for each in preferences]}, _lines(preferences) or ["(none)"])


def _show_one(output: Output, preference: Preference | None, hint: str) -> None:
    if preference is None:
        raise NotFound("there is no such preference", hint=hint)
    show(output, preference.as_json(), [shown(preference.value)])


def _lines(preferences: Iterable[Preference]) -> list[str]:
    return [
        "\t".join(
            (
                each.id[:SHORT_ID],
                f"{each.confidence:.2f}",
                f"{each.category}.{each.key}",
                shown(each.value),
                each.context or "always",
                each.learned_from,
            )
        )
        for each in preferences
    ]


_ACTIONS = {
    "list": Action("all preferences, the surest first", _add_list, _list),
    "set": Action("keep a preference", _add_set, _set),
    "get": Action("one preference, with exactly this context", _add_get, _get),
    "resolve": Action("what applies now", _add_resolve, _resolve),
    "forget": Action("forget a preference", _add_forget, _forget),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "preferences": (
        "what is preferred, and when: list, set, get, resolve, forget",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
