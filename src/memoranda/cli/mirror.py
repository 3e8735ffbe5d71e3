"""The command `mirror`: memories as Markdown files, and what was edited in them taken back."""

import argparse
from collections.abc import Callable, Iterable, Sequence

from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.mirror import MirrorAction, Mirrored, MirrorMode, Trouble
from memoranda.domain.text import so_many

_MOST_FILES = 5
_DONE: dict[MirrorAction, str] = {
    "supersede": "superseded",
    "forget": "forgotten",
    "remember": "remembered",
    "move": "moved",
    "conflict": "kept beside what the store has",
    "restore": "restored",
}


def _add_mirror(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="DIR", help="new, empty, or a mirror")
    command.add_argument("--below", action="store_true", help="also the scopes below; it stays so for this folder")
    command.add_argument("--confirm", action="store_true", help="forget even if most lines are gone")
    mode = command.add_mutually_exclusive_group()
    for option, value, about in (
        ("--dry-run", "preview", "show what would be taken; change nothing"),
        ("--export-only", "export", "write, take nothing; files with edits are left as they are, lost ones come back"),
        ("--detach", "detach", "the store forgets of the folder, which stays as it is"),
    ):
        mode.add_argument(option, action="store_const", dest="mode", const=value, default="sync", help=about)
    command.set_defaults(run=_mirror)


def _mirror(arguments: argparse.Namespace, output: Output) -> None:
    mode: MirrorMode = arguments.mode
    with open_memory(arguments) as memory, progress("mirroring") as tell:
        done = memory.mirror(
            arguments.folder, below=arguments.below, mode=mode, confirm=arguments.confirm, progress=tell
        )
    show(output, done.as_json(), _lines(done))
    if not output.as_json:
        for note in _notes((*done.receipt.refused, *done.receipt.unreadable)):
            output.note(note)


def _lines(done: Mirrored) -> list[str]:
    receipt = done.receipt
    if receipt.mode == "detach":
        return [f"{done.path} is no longer known to this store; it stays as it is"]
    lines = []
    for step in receipt.steps:
        what = f"would {step.action}" if receipt.mode == "preview" else _DONE[step.action]
        ids = " -> ".join(each[:SHORT_ID] for each in (step.id, step.now) if each)
        lines.append("\t".join(filter(None, (what, ids, f"{step.file}:{step.line}" if step.line else step.file))))
    if receipt.mode == "preview":
        asks = f"; {receipt.asks} would be forgotten, which needs --confirm" if receipt.asks else ""
        return [*lines, f"{so_many(len(receipt.steps), 'edit')} would be taken{asks}"]
    files = f"{so_many(len(receipt.written), 'file')} written, {receipt.unchanged} unchanged"
    gone = f", {len(receipt.removed)} removed" if receipt.removed else ""
    return [*lines, f"{so_many(receipt.memories, 'memory')} in {done.path}: {files}{gone}"]


def _notes(troubles: Iterable[Trouble]) -> list[str]:
    """A line for each line of a file; files with the same trouble are told together."""
    where: dict[tuple[str, str], list[str]] = {}
    for each in troubles:
        place = f"{each.file}:{each.line}" if each.line else each.file
        where.setdefault((each.why, place if each.line else ""), []).append(place)
    return [f"{_listed(places)}: {why}" for (why, _), places in where.items()]


def _listed(places: Sequence[str]) -> str:
    if len(places) <= _MOST_FILES + 1:
        return ", ".join(places)
    return f"{', '.join(places[:_MOST_FILES])} and {len(places) - _MOST_FILES} more (--json shows all)"


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "mirror": ("memories as Markdown files in a folder, and edits taken back", _add_mirror),
}
