"""Commands on memories: remember, show, list, history, forget, restore, archive, stats."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from memoranda.cli.output import Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput
from memoranda.domain.looking import ORDERS
from memoranda.domain.memory import BASES, GRADES, KINDS, SOURCES, STATES, TRUSTS

_TEXT_OPTIONS = ("about", "attribute", "context", "source_ref", "speaker", "conversation", "lang")
_DATE_OPTIONS = ("occurred_at", "valid_from", "valid_until")


def _add_show(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="an id, or its first characters")
    command.add_argument("--as-of", metavar="DATE", help="as it was then, or at tag:NAME")
    command.add_argument("--gradings", action="store_true", help="also every grade it was given: by whom, how, and why")
    command.set_defaults(run=_show)


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--kind", choices=KINDS)
    command.add_argument("--state", choices=(*STATES, "any"), action="append", help="default live")
    command.add_argument("--about", default="", help="only about this subject")
    command.add_argument("--attribute", default="")
    command.add_argument("--speaker", default="")
    command.add_argument("--conversation", default="", help="only from this conversation")
    command.add_argument("--trust", choices=TRUSTS, action="append", default=[])
    command.add_argument("--grade", choices=GRADES, action="append", default=[])
    command.add_argument("--source", choices=SOURCES, action="append", default=[])
    command.add_argument("--tag", action="append", default=[], dest="tags", help="all that are given")
    command.add_argument("--text", default="", help="with these letters in it, whatever the case")
    command.add_argument("--here", action="store_true", help="without what is kept in the scopes above")
    command.add_argument("--order", choices=ORDERS, default="newest", help="default newest")
    command.add_argument("--as-of", metavar="DATE", help="as it was then, or at tag:NAME")
    command.add_argument("--limit", type=int, default=50)
    command.add_argument("--offset", type=int, default=0)
    command.set_defaults(run=_list)


def _add_history(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="an id, or its first characters")
    command.set_defaults(run=_history)


def _add_restore(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="an id, or its first characters")
    command.set_defaults(run=_change)


def _add_change(command: argparse.ArgumentParser) -> None:
    _add_restore(command)
    command.add_argument("--reason", default="", help="kept in the history")


def _add_stats(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_stats)


def _add_remember(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", metavar="TEXT", help="what to keep; - reads standard input")
    command.add_argument("--lines", action="store_true", help="each line of the text is a memory of its own")
    command.add_argument("--kind", choices=KINDS)
    for name in _TEXT_OPTIONS:
        command.add_argument("--" + name.replace("_", "-"), default="")
    command.add_argument("--value", metavar="JSON", help="the value of a structured memory")
    command.add_argument("--importance", type=float, metavar="0..1")
    command.add_argument("--confidence", type=float, default=1.0, metavar="0..1")
    command.add_argument("--source", choices=SOURCES, default="user")
    command.add_argument("--basis", choices=BASES, default="stated")
    command.add_argument("--tag", action="append", default=[], dest="tags")
    command.add_argument("--metadata", metavar="JSON", help="an object with more")
    for name in _DATE_OPTIONS:
        command.add_argument("--" + name.replace("_", "-"), metavar="DATE")
    command.add_argument("--supersedes", metavar="ID", help="the memory that this one corrects")
    command.add_argument(
        "--derived-from",
        metavar="ID",
        action="append",
        default=[],
        help="a memory that it was made of: it is trusted no more than that one; may be given several times",
    )
    command.add_argument("--even-if-erased", action="store_true", help="keep it although it was erased before")
    command.set_defaults(run=_remember)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "remember": ("keep one thing", _add_remember),
    "show": ("one memory with all its fields", _add_show),
    "list": ("what this scope can see, newest first", _add_list),
    "history": ("what happened to one memory", _add_history),
    "forget": ("hide now; erased after the grace period", _add_change),
    "archive": ("put away; not recalled, kept", _add_change),
    "restore": ("bring back what was forgotten or archived", _add_restore),
    "stats": ("counts of what this scope can see", _add_stats),
}


def _remember(arguments: argparse.Namespace, output: Output) -> None:
    given = read_text(arguments.text)
    texts = [line for line in given.splitlines() if line.strip()] if arguments.lines else [given.strip("\n")]
    fields: dict[str, Any] = {name: getattr(arguments, name) for name in (*_TEXT_OPTIONS, *_DATE_OPTIONS)}
    for name in ("kind", "importance", "confidence", "source", "basis", "tags", "supersedes", "derived_from"):
        fields[name] = getattr(arguments, name)
    fields["value"] = _json_option(arguments.value, "--value")
    fields["metadata"] = _json_option(arguments.metadata, "--metadata")
    fields["after_erase"] = "allow" if arguments.even_if_erased else "refuse"
    with open_memory(arguments, create=True) as memory:
        output.remembered(memory.remember_many(Draft(text, **fields) for text in texts))


def _json_option(text: str | None, name: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        hint = "Write it as JSON; text as a value needs quotes of its own: '\"40%\"'."
        raise InvalidInput(f"{name} is not JSON: {error}", hint=hint) from error


def _show(arguments: argparse.Namespace, output: Output) -> None:
    if arguments.gradings and arguments.as_of:
        raise InvalidInput("--gradings tells of all times", hint="Leave --as-of out.")
    with open_memory(arguments) as memory:
        found = memory.get(arguments.id, as_of=arguments.as_of)
        gradings = memory.governance.gradings(found.id) if arguments.gradings else None
    if gradings is None:
        output.memory(found)
    else:
        output.graded_memory(found, gradings)


def _list(arguments: argparse.Namespace, output: Output) -> None:
    states = arguments.state or ["live"]
    with open_memory(arguments) as memory:
        output.listing(
            memory.list(
                kind=arguments.kind,
                states=() if "any" in states else tuple(states),
                about=arguments.about,
                attribute=arguments.attribute,
                speaker=arguments.speaker,
                trust=arguments.trust,
                grade=arguments.grade,
                source=arguments.source,
                tags=arguments.tags,
                conversation=arguments.conversation,
                here=arguments.here,
                text=arguments.text,
                order=arguments.order,
                as_of=arguments.as_of,
                limit=arguments.limit,
                offset=arguments.offset,
            )
        )


def _history(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        output.history(memory.history(arguments.id))


def _change(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        if arguments.command == "restore":
            output.changed(memory.restore(arguments.id))
        elif arguments.command == "forget":
            output.changed(memory.forget(arguments.id, reason=arguments.reason))
        else:
            output.changed(memory.archive(arguments.id, reason=arguments.reason))


def _stats(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        output.stats(memory.stats())
