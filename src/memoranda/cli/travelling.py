"""Commands that go back in time: tag, tags, untag, rollback, undo, operations, diff, contents."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.clock import iso
from memoranda.domain.errors import NotFound
from memoranda.domain.text import so_many
from memoranda.domain.travel import Difference, Differing, Operation, RolledBack, Tag

if TYPE_CHECKING:
    from memoranda.service.memory import LongTermMemory

_SHOWN = 5
_WORDS = 80
_SIGNS = {"added": "+", "gone": "-", "changed": "~", "erased": "x"}


def _add_below(command: argparse.ArgumentParser) -> None:
    command.add_argument("--below", action="store_true", help="also the scopes below this one")


def _add_dry_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")


def _add_tag(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", help="1 to 64 letters, digits and . _ -")
    command.add_argument("--note", default="", help="what it is for")
    command.set_defaults(run=_tag)


def _add_tags(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=100)
    command.add_argument("--offset", type=int, default=0)
    command.set_defaults(run=_tags)


def _add_untag(command: argparse.ArgumentParser) -> None:
    command.add_argument("name")
    command.set_defaults(run=_untag)


def _add_rollback(command: argparse.ArgumentParser) -> None:
    command.add_argument("to", metavar="TAG", help="a tag, or a sequence")
    _add_below(command)
    _add_dry_run(command)
    command.set_defaults(run=_rollback)


def _add_undo(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "operation", nargs="?", type=int, metavar="SEQUENCE", help="one of its events; default: the last operation"
    )
    _add_below(command)
    _add_dry_run(command)
    command.set_defaults(run=_undo)


def _add_operations(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=50)
    command.add_argument("--before", type=int, metavar="SEQUENCE", help="only what was done before this one")
    _add_below(command)
    command.set_defaults(run=_operations)


def _add_diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("older", metavar="TAG", help="a tag, or a sequence")
    command.add_argument("newer", nargs="?", metavar="TAG", help="a later one; default: now")
    command.add_argument("--limit", type=int, default=200)
    command.add_argument("--offset", type=int, default=0)
    _add_below(command)
    command.set_defaults(run=_diff)


def _add_contents(command: argparse.ArgumentParser) -> None:
    _add_below(command)
    command.set_defaults(run=_contents)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "tag": ("name what is there now, to come back to it", _add_tag),
    "tags": ("the tags, newest first", _add_tags),
    "untag": ("take a tag away; what it named stays", _add_untag),
    "rollback": ("every memory as it was at a tag or a sequence", _add_rollback),
    "undo": ("take back the last operation, or one by its number", _add_undo),
    "operations": ("what was done and can be undone, newest first", _add_operations),
    "diff": ("what differs between two tags or sequences", _add_diff),
    "contents": ("a digest of everything that is kept here", _add_contents),
}


def _tag(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        made = memory.tag(arguments.name, note=arguments.note)
    show(output, made.as_json(), [f"tagged {made.name} at sequence {made.sequence} in {made.scope}"])


def _tags(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        page = memory.tags(limit=arguments.limit, offset=arguments.offset)
    show(output, page.as_json(), [_tag_line(each) for each in page])
    if not output.as_json:
        output.note(f"{len(page)} of {page.total} tags")


def _tag_line(tag: Tag) -> str:
    who = f"\tby {tag.actor}" if tag.actor else ""
    note = f"\t{tag.note}" if tag.note else ""
    return f"{tag.sequence}\t{iso(tag.at)[:19]}Z\t{tag.name}\t{tag.scope}{who}{note}"


def _untag(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        gone = memory.untag(arguments.name)
    show(output, gone.as_json(), [f"{gone.name} no longer names sequence {gone.sequence}"])


def _rollback(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory, progress("rolling back") as tell:
        done = memory.rollback(
            arguments.to, below=arguments.below, mode="preview" if arguments.dry_run else "now", progress=tell
        )
        touched = [] if output.as_json else _seen(memory, done.receipt.ids)
    show(output, done.as_json(), [*_rolled_back(done), *(f"  {line}" for line in touched)])


def _undo(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory, progress("undoing") as tell:
        done = memory.undo(
            arguments.operation, below=arguments.below, mode="preview" if arguments.dry_run else "now", progress=tell
        )
        touched = [] if output.as_json else _seen(memory, done.receipt.ids)
    show(output, done.as_json(), [*_rolled_back(done), *(f"  {line}" for line in touched)])


def _rolled_back(done: RolledBack) -> Iterator[str]:
    receipt = done.receipt
    if receipt.action == "undo":
        what = f"{'would undo' if done.preview else 'undid'} {receipt.target} ({receipt.name})"
    else:
        where = f"{receipt.name} (sequence {receipt.target})" if receipt.name else f"sequence {receipt.target}"
        what = f"{'would roll back' if done.preview else 'rolled back'} to {where}"
    counts = (
        (receipt.brought_back, "brought back"),
        (receipt.taken_away, "forgotten"),
        (receipt.revised, "changed back"),
        (receipt.erased, "stay erased"),
        (receipt.left, "left, changed meanwhile"),
    )
    told = ", ".join(f"{count} {name}" for count, name in counts if count)
    # So that nobody takes back something older for it.
    nothing = "nothing to change" + ("" if done.preview else ", so there is nothing of it to undo")
    yield f"{what}: {told or nothing}"
    if done.before is not None:
        yield f"what was there before: {done.before.name}"


def _seen(memory: "LongTermMemory", ids: Sequence[str]) -> list[str]:
    """The first of them, as they are now: who has undone too much must see what went."""
    lines = []
    for each in ids[:_SHOWN]:
        with suppress(NotFound):  # of a scope below
            found = memory.get(each)
            words = found.text if len(found.text) <= _WORDS else f"{found.text[:_WORDS]}…"
            lines.append(f"{each[:SHORT_ID]}\t{found.state}\t{words}")
    return lines


def _operations(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        page = memory.operations(limit=arguments.limit, before=arguments.before, below=arguments.below)
        shown = [] if output.as_json else [_operation_line(memory, each) for each in page]
    show(output, page.as_json(), shown)
    if page.next is not None and not output.as_json:
        output.note(f"there is more: --before {page.next}")


def _operation_line(memory: "LongTermMemory", operation: Operation) -> str:
    state = "\tundone" if operation.undone else ""
    target = f" of {operation.undoes}" if operation.undoes is not None else ""
    who = f"\tby {operation.actor}" if operation.actor else ""
    count = so_many(operation.memories, "memory")
    name = f"{operation.name}{target}"
    said = "".join(f"\t{line}" for line in _seen(memory, operation.ids[:1]))
    return f"{operation.first}\t{iso(operation.at)[:19]}Z\t{name:12}\t{count}\t{operation.scope}{who}{state}{said}"


def _diff(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.diff(
            arguments.older,
            arguments.newer,
            below=arguments.below,
            limit=arguments.limit,
            offset=arguments.offset,
        )
    show(output, found.as_json(), _differences(found))
    if not output.as_json:
        shown = f"; {len(found)} of {found.total} are shown" if len(found) < found.total else ""
        output.note(", ".join(f"{count} {name}" for name, count in found.counts.items()) + shown)


def _differences(found: Difference) -> Iterator[str]:
    for each in found:
        said = "" if each.memory is None else f"\t{each.memory.text}"
        yield f"{_SIGNS[each.kind]} {each.id[:SHORT_ID]}\t{each.kind}{said}"
        yield from _fields(each)


def _fields(differing: Differing) -> Iterator[str]:
    for field in differing.fields:
        shown = field.as_json()
        before, after = (json.dumps(shown[side], ensure_ascii=False) for side in ("before", "after"))
        yield f"    {field.name}: {before} -> {after}"


def _contents(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        held = memory.contents(below=arguments.below)
    line = f"{held.digest}\t{so_many(held.memories, 'memory')}\t{held.scope}\tsequence {held.sequence}"
    show(output, held.as_json(), [line])
