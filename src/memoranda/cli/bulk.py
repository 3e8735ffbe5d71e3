"""Commands that let go of many memories together: forget-many, archive-many. Shown first; done when you say so."""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output, progress, said_yes
from memoranda.cli.store import open_memory
from memoranda.domain.bulk import MAY_GO, BulkChange
from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import GRADES, KINDS, SOURCES, TRUSTS
from memoranda.domain.text import so_many

_TEXTS = ("about", "attribute", "speaker", "conversation", "source_ref")
_NOT_CONFIRMED = 4
_LEFT_TO_SEE_TO = 6
_SHOWN = 20
_WORDS = {"forgotten": "forget", "archived": "archive"}


def _add_many(command: argparse.ArgumentParser) -> None:
    command.add_argument("ids", metavar="ID", nargs="*", help="these memories; or say below what they are like")
    like = command.add_argument_group("what they are like, in this very scope; several narrow one another")
    like.add_argument("--kind", choices=KINDS, action="append", default=[], help="may be given several times")
    for name in _TEXTS:
        like.add_argument("--" + name.replace("_", "-"), default="")
    like.add_argument("--source", choices=SOURCES, action="append", default=[])
    like.add_argument("--tag", action="append", default=[], dest="tags", help="all of them, when given several times")
    like.add_argument("--grade", choices=GRADES, action="append", default=[])
    like.add_argument("--trust", choices=TRUSTS, action="append", default=[])
    like.add_argument("--text", default="", help="what the text has in it, letter by letter, whatever the case")
    like.add_argument("--after", metavar="DATE", dest="time_after", help="what happened from then on")
    like.add_argument("--before", metavar="DATE", dest="time_before", help="what happened before then")
    states = MAY_GO["forgotten"]
    like.add_argument("--state", choices=(*states, "any"), action="append", default=[], help="default live")
    like.add_argument("--below", action="store_true", help="also in the scopes below this one")
    command.add_argument("--reason", default="", help="kept in the history")
    command.add_argument("--dry-run", action="store_true", help="show what would go, and do nothing")
    command.add_argument("--yes", action="store_true", help="do not ask")
    command.add_argument("--confirm", metavar="CODE", default="", help="exactly what the preview with this code showed")
    command.set_defaults(run=_many)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "forget-many": ("hide all that fit, shown first; one undo takes it back", _add_many),
    "archive-many": ("put away all that fit, shown first; one undo takes it back", _add_many),
}


def _many(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.dry_run and (arguments.yes or arguments.confirm):
        raise InvalidInput("--dry-run does nothing", hint="Give it alone, or one of --yes and --confirm.")
    asked = _asked(arguments)
    with open_memory(arguments) as memory:
        verb = memory.forget_many if arguments.command == "forget-many" else memory.archive_many
        if not arguments.yes and not arguments.confirm:
            preview = verb(arguments.ids, **asked)
            show(output, preview.as_json(), _previewed(preview))
            if not preview.ids or arguments.dry_run:
                return 0
            word = _WORDS[preview.receipt.action]
            if not said_yes(f"{word.capitalize()} {so_many(len(preview.ids), 'memory')}?"):
                output.note(f"nothing was done; run it again with --confirm {preview.confirm}, or with --yes")
                return _NOT_CONFIRMED
            arguments.confirm = preview.confirm
        with progress("letting go") as tell:
            done = verb(arguments.ids, **asked, mode="now", confirm=arguments.confirm, progress=tell)
    show(output, done.as_json(), _done(done))
    return _LEFT_TO_SEE_TO if done.receipt.left else 0


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    names = (*_TEXTS, "kind", "source", "tags", "grade", "trust", "text", "time_after", "time_before", "below")
    asked = {name: getattr(arguments, name) for name in (*names, "reason")}
    states = arguments.state or ["live"]
    return {**asked, "states": () if "any" in states else tuple(states)}


def _previewed(preview: BulkChange) -> Iterator[str]:
    if not preview.ids:
        yield "(nothing fits)"
        return
    yield f"This would {_WORDS[preview.receipt.action]} {so_many(len(preview.ids), 'memory')}:"
    for memory in preview.memories[:_SHOWN]:
        yield f"{memory.id[:SHORT_ID]}\t{iso(memory.created_at)[:10]}\t{memory.kind}\t{memory.scope}\t{memory.text}"
    more = len(preview.ids) - min(_SHOWN, len(preview.memories))
    if more:
        yield f"... and {more:,} more"


def _done(done: BulkChange) -> Iterator[str]:
    receipt = done.receipt
    yield f"{receipt.action} {so_many(receipt.changed, 'memory')}" if receipt.matched else "(nothing fits)"
    if receipt.left:
        yield f"{receipt.left:,} were changed by somebody else meanwhile, and left"
    if receipt.erased_after is not None:
        yield f"can be restored until {iso(receipt.erased_after)[:10]}"
    if receipt.tag:
        yield f"`memoranda undo` takes it back; the tag before it is {receipt.tag}"
