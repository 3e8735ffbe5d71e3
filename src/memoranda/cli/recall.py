"""Commands that ask: recall, pack, why-not, replay."""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.cli.output import Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import KINDS, SOURCES, STATES, TRUSTS
from memoranda.domain.pack import PACK_FORMATS
from memoranda.domain.request import LANES, MODES, POLICIES, Mode

if TYPE_CHECKING:
    from memoranda import LongTermMemory, Recall

DIFFERENT = 7
"""The exit code when a replay gives another result than the receipt's."""


def _add_recall(command: argparse.ArgumentParser) -> None:
    _add_asking(command, mode="asked")
    command.add_argument("--why", action="store_true", help="why these, and why not others")
    command.set_defaults(run=_recall)


def _add_pack(command: argparse.ArgumentParser) -> None:
    _add_asking(command, mode="automatic")
    command.add_argument("--budget", type=int, default=800, metavar="TOKENS", help="at most so many (default 800)")
    command.add_argument("--format", choices=PACK_FORMATS, default="xml", help="default xml")
    command.add_argument("--no-profile", action="store_true", help="leave the profile out: it is shown elsewhere")
    standing = "also the newest N trusted memories that must be remembered"
    command.add_argument("--standing", type=int, default=0, metavar="N", help=standing)
    command.set_defaults(run=_pack)


def _add_why_not(command: argparse.ArgumentParser) -> None:
    _add_asking(command, mode="asked")
    command.add_argument("id", metavar="ID", help="the memory that did not come: an id, or its first characters")
    command.set_defaults(run=_why_not)


def _add_replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("receipt", metavar="RECEIPT", help="a file with what `recall --json` printed; - reads stdin")
    command.set_defaults(run=_replay)


def _add_asking(command: argparse.ArgumentParser, *, mode: Mode) -> None:
    """The query and everything that a recall can be told. One list, so that why-not explains any recall."""
    add = command.add_argument
    add("query", metavar="QUERY", help="what to look for; - reads standard input")
    add("--limit", type=int, default=5, help="at most so many (default 5)")
    add("--policy", choices=POLICIES, default="balanced", help="how sure it must be (default balanced)")
    add("--mode", choices=MODES, default=mode, help=f"whether somebody asked for it (default {mode})")
    add(
        "--conversation", metavar="NAME", default="", help="where it is shown; one process does not repeat itself there"
    )
    add("--prefer-speaker", metavar="NAME", default="", help="of equals, what this speaker said comes first")
    add("--fallback", metavar="SCOPE", action="append", default=[], help="a scope below, asked when nothing is here")
    add("--lane", choices=LANES, action="append", dest="lanes", help="search by these only")
    only = command.add_argument_group("filters", "what is looked at; each that can be given twice takes any of them")
    add = only.add_argument
    add("--kind", choices=KINDS, action="append", dest="kinds", default=[])
    add("--source", choices=SOURCES, action="append", dest="sources", default=[])
    add("--speaker", metavar="NAME", default="", help="who said it")
    add("--about", default="", help="its subject")
    add("--tag", metavar="TAG", action="append", dest="tags", default=[], help="given twice: with all of them")
    add("--after", metavar="DATE", help="happened at this moment or later")
    add("--before", metavar="DATE", help="happened before this moment")
    add("--importance-min", type=float, metavar="0..1")
    add("--state", choices=STATES, action="append", dest="states", help="default live")
    add("--trust", choices=TRUSTS, action="append", default=[], help="exactly these, also what is quarantined")
    add("--as-of", metavar="DATE", help="what was believed then, or at tag:NAME")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "recall": ("bring back what bears on a query", _add_recall),
    "pack": ("the same as a bounded block for a model, before it answers", _add_pack),
    "why-not": ("why a memory did not come back for a query", _add_why_not),
    "replay": ("do a recall again from its receipt, and compare", _add_replay),
}


def _asked(memory: "LongTermMemory", arguments: argparse.Namespace) -> "Recall":
    return memory.recall(
        read_text(arguments.query),
        limit=arguments.limit,
        policy=arguments.policy,
        mode=arguments.mode,
        speaker=arguments.speaker,
        kind=arguments.kinds,
        about=arguments.about,
        tags=arguments.tags,
        source=arguments.sources,
        time_after=arguments.after,
        time_before=arguments.before,
        importance_min=arguments.importance_min,
        states=arguments.states or ("live",),
        trust=arguments.trust,
        as_of=arguments.as_of,
        prefer_speaker=arguments.prefer_speaker,
        conversation=arguments.conversation,
        fallback=arguments.fallback,
        lanes=arguments.lanes or LANES,
    )


def _recall(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = _asked(memory, arguments)
        if found.receipt.scopes[0] != memory.scope:
            output.note(f"nothing in {memory.scope}; this is from {found.receipt.scopes[0]}")
    output.recall(found, why=arguments.why)


def _pack(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = _asked(memory, arguments)
        pack = memory.pack(
            found,
            budget=arguments.budget,
            format=arguments.format,
            profile=not arguments.no_profile,
            standing=arguments.standing,
        )
        output.pack(pack, found)


def _why_not(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        output.why_not(memory.why_not(_asked(memory, arguments), arguments.id))


def _replay(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.cli.explanation import differences, hits_in, receipt_in

    given = _read_json(arguments.receipt)
    with open_memory(arguments) as memory:
        replay = memory.replay(receipt_in(given))
    output.replay(replay, [] if replay.same else differences(hits_in(given), replay.recall))
    return 0 if replay.same else DIFFERENT


def _read_json(given: str) -> Mapping[str, Any]:
    """The object in a file, or on standard input."""
    hint = "Give a file with what `recall --json` printed, or - and the same on standard input."
    try:
        text = read_text("-") if given == "-" else Path(given).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {given}", hint=hint) from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{given} cannot be read: {error}", hint=hint) from error
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is not JSON: {error}", hint=hint) from error
    if not isinstance(found, dict):
        raise InvalidInput("this is no receipt of a recall", hint=hint)
    return found
