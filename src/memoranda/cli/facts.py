"""The command `facts`: what is known about things."""

import argparse
from collections.abc import Callable, Iterable

from memoranda.cli.actions import Action, add_actions, show, show_gone
from memoranda.cli.output import SHORT_ID, Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.errors import NotFound
from memoranda.domain.fact import Fact
from memoranda.domain.memory import BASES, SOURCES


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--about", default="", help="only about this thing")
    command.add_argument("--attribute", default="")
    command.add_argument("--as-of", metavar="DATE", help="what was known then")
    command.add_argument("--limit", type=int, default=50)
    command.add_argument("--offset", type=int, default=0)


def _add_add(command: argparse.ArgumentParser) -> None:
    command.add_argument("about", metavar="ABOUT", help="the thing, such as light.office")
    command.add_argument("attribute", metavar="ATTRIBUTE", help="location, purpose, nickname, schedule or any other")
    command.add_argument("value", metavar="VALUE", nargs="?", help="what it is; or say it with --text")
    command.add_argument("--text", default="", help="the fact in words")
    command.add_argument("--basis", choices=BASES, default="stated", help="default stated")
    command.add_argument("--confidence", type=float, default=1.0, metavar="0..1")
    command.add_argument("--until", metavar="DATE", help="when it ends")
    several = command.add_mutually_exclusive_group()
    several.add_argument("--many", action="store_true", default=None, help="keep it beside what is there")
    several.add_argument("--one", action="store_false", dest="many", help="instead of what is there")
    command.add_argument("--source", choices=SOURCES, default="user")
    command.add_argument("--source-ref", default="")
    command.add_argument("--speaker", default="")
    command.add_argument("--even-if-erased", action="store_true", help="keep it although it was erased before")


def _add_about(command: argparse.ArgumentParser) -> None:
    command.add_argument("subject", metavar="SUBJECT", help="an id or a nickname")
    command.add_argument("--attribute", default="")
    command.add_argument("--as-of", metavar="DATE", help="what was known then")


def _add_ask(command: argparse.ArgumentParser) -> None:
    command.add_argument("question", metavar="QUESTION", help="what is asked; - reads standard input")
    command.add_argument("--limit", type=int, default=10, help="at most so many (default 10)")


def _add_lookup(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="such as 'the reading lamp'")


def _add_forget(command: argparse.ArgumentParser) -> None:
    command.add_argument("about", metavar="ABOUT")
    command.add_argument("attribute", metavar="ATTRIBUTE", nargs="?", default="", help="only this")
    command.add_argument("value", metavar="VALUE", nargs="?", help="only this value of it")


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.facts.list(
            about=arguments.about,
            attribute=arguments.attribute,
            as_of=arguments.as_of,
            limit=arguments.limit,
            offset=arguments.offset,
        )
    _show(output, found)


def _add(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, create=True) as memory:
        kept = memory.facts.add(
            arguments.about,
            arguments.attribute,
            arguments.value,
            text=arguments.text,
            basis=arguments.basis,
            confidence=arguments.confidence,
            until=arguments.until,
            many=arguments.many,
            source=arguments.source,
            source_ref=arguments.source_ref,
            speaker=arguments.speaker,
            after_erase="allow" if arguments.even_if_erased else "refuse",
        )
        output.remembered([kept])


def _about(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.facts.about(arguments.subject, attribute=arguments.attribute, as_of=arguments.as_of)
    _show(output, found)


def _ask(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.facts.ask(read_text(arguments.question), limit=arguments.limit)
    show(output, found.as_json(), _lines(found))
    if not output.as_json:
        for trouble in found.receipt.recall.degraded:
            output.note(trouble)


def _lookup(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.facts.lookup(arguments.name)
    if found is None:
        raise NotFound(
            f"nothing is called {arguments.name[:80]!r} here",
            hint="Give it the name with `memoranda facts add ID nickname NAME`.",
        )
    show(output, {"name": arguments.name, "about": found}, [found])


def _forget(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        show_gone(output, memory.facts.forget(arguments.about, arguments.attribute, arguments.value))


def _show(output: Output, facts: tuple[Fact, ...]) -> None:
    show(output, {"facts": [fact.as_json() for fact in facts]}, _lines(facts))


def _lines(facts: Iterable[Fact]) -> list[str]:
    lines = []
    for fact in facts:
        source = fact.source if fact.memory.trust == "trusted" else f"{fact.source} ({fact.memory.trust})"
        lines.append("\t".join((fact.id[:SHORT_ID], f"{fact.confidence:.2f}", source, fact.about, fact.text)))
    return lines or ["(nothing is known)"]


_ACTIONS = {
    "list": Action("all facts, the surest first", _add_list, _list),
    "add": Action("keep a fact about a thing", _add_add, _add),
    "about": Action("what is known about a thing, by id or nickname", _add_about, _about),
    "ask": Action("what is known of what is asked about", _add_ask, _ask),
    "lookup": Action("the id of the thing that is called so", _add_lookup, _lookup),
    "forget": Action("forget what is known about a thing", _add_forget, _forget),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "facts": (
        "what is known about things: list, add, about, ask, lookup, forget",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
