"""The command `consolidate`: what says the same or contradicts, shown; done only for what is accepted."""

import argparse
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.consolidation import ConsolidationReceipt, Proposal, Proposals, Skipped
from memoranda.domain.errors import InvalidInput
from memoranda.domain.ports import Progress
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda import LongTermMemory

_LEFT_TO_SEE_TO = 6
_SHOWN_MEMBERS = 8
_WORDS = {"duplicates": "say the same", "contradiction": "contradict"}


def _add_consolidate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--below", action="store_true", help="also the scopes below, each by itself")
    command.add_argument("--limit", type=int, default=20, help="show at most so many (default 20)")
    command.add_argument("--after", type=int, default=0, metavar="NUMBER", help="go on where the last one stopped")
    command.add_argument("--dry-run", action="store_true", help="say what accepting would do, and do nothing")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--accept", nargs="+", metavar="ID", default=[], help="do what these proposals say")
    what.add_argument("--accept-all", action="store_true", help="do what all proposals say")
    what.add_argument("--dismiss", nargs="+", metavar="ID", default=[], help="do not propose these again")
    command.set_defaults(run=_consolidate)


def _consolidate(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.dry_run and not (arguments.accept or arguments.accept_all):
        raise InvalidInput(
            "--dry-run is for --accept and --accept-all", hint="Without options, nothing is changed either."
        )
    with open_memory(arguments) as memory, progress("looking") as tell:
        if arguments.dismiss:
            dismissed = memory.consolidation.dismiss(arguments.dismiss)
            show(output, dismissed.as_json(), [f"dismissed {len(dismissed.dismissed)}", *_skipped(dismissed.skipped)])
            return _LEFT_TO_SEE_TO if dismissed.skipped else 0
        if arguments.accept or arguments.accept_all:
            wanted = arguments.accept or _everything(memory, arguments.below, tell)
            if not wanted:
                show(output, {"accepted": []}, ["(nothing to consolidate)"])
                return 0
            done = memory.consolidation.accept(wanted, mode="preview" if arguments.dry_run else "now")
            show(output, done.as_json(), _done(done))
            return _LEFT_TO_SEE_TO if done.skipped else 0
        found = memory.consolidation.proposals(
            below=arguments.below, limit=arguments.limit, after=arguments.after, progress=tell
        )
    show(output, found.as_json(), _lines(found))
    return 0


def _everything(memory: "LongTermMemory", below: bool, tell: Progress) -> list[str]:
    """The ids of all that is proposed now, of a part of the store after the other."""
    ids: list[str] = []
    after: int | None = 0
    while after is not None:
        found = memory.consolidation.proposals(below=below, limit=500, after=after, progress=tell)
        ids += [each.id for each in found]
        after = found.next
    return ids


def _lines(found: Proposals) -> list[str]:
    lines = [line for each in found for line in _proposal(each)]
    receipt = found.receipt
    lines.append(f"{so_many(len(found), 'proposal')} in {so_many(receipt.looked_at, 'memory')}; nothing was changed")
    if found:
        lines.append("accept with: memoranda consolidate --accept ID; say no with --dismiss ID")
    if found.next is not None:
        lines.append(f"{so_many(receipt.left, 'memory')} not looked at yet: --after {found.next} goes on there")
    return [*lines, *receipt.degraded]


def _proposal(each: Proposal) -> list[str]:
    shown = [
        f"  {'keep     ' if memory.id == each.keep else 'supersede'} {memory.id[:SHORT_ID]} "
        f"({memory.trust}, {memory.confidence:.2f}) {memory.text}"
        for memory in islice(each.members, _SHOWN_MEMBERS)
    ]
    more = len(each.members) - len(shown)
    rest = [f"  ... and {more} more"] if more else []
    return [f"{each.id}  {len(each.members)} {_WORDS[each.kind]} ({each.why}) in {each.scope}", *shown, *rest]


def _done(done: ConsolidationReceipt) -> list[str]:
    would = "would supersede" if done.mode == "preview" else "superseded"
    proposals = so_many(len(done.accepted), "proposal")
    lines = [f"{would} {so_many(len(done.superseded), 'memory')} by {len(done.kept)}, of {proposals}"]
    if done.tag:
        lines.append(f"`memoranda undo` takes it back; the tag before it is {done.tag}")
    return [*lines, *_skipped(done.skipped)]


def _skipped(skipped: tuple[Skipped, ...]) -> list[str]:
    return [f"not taken: {each.id}: {each.why}" for each in skipped]


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "consolidate": ("what says the same or contradicts: shown, and put in order when you accept it", _add_consolidate),
}
