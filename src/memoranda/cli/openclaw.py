"""The command `openclaw`: what is written back into OpenClaw's own memory."""

import argparse
import json
from collections.abc import Callable, Iterator

from memoranda.cli.actions import show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.writeback import FIELDS, FORCED, UnknownField, WriteBack

_USUAL = "~/.openclaw/memory/lancedb"
_UNKNOWN_FIELD = 1
_LEFT_TO_SEE_TO = 6
_MOST_SHOWN = 5
_ABOUT = "importance, scope and category into the LanceDB table that memories were imported from"
_MORE = (
    "Fills what is empty in the rows that memories of this scope came from; with --force it also overwrites. "
    "trust_tier is written only when --force-fields names it. Texts and vectors are never touched."
)


def _add(command: argparse.ArgumentParser) -> None:
    from memoranda.cli.app import shared_options

    # It writes into somebody else's table: never without the word for it.
    actions = command.add_subparsers(dest="action", metavar="ACTION", prog=command.prog, required=True)
    _add_writeback(
        actions.add_parser("writeback", parents=[shared_options(argparse.SUPPRESS)], help=_ABOUT, description=_MORE)
    )


def _add_writeback(command: argparse.ArgumentParser) -> None:
    command.add_argument("--lancedb", metavar="PATH", default=_USUAL, help=f"the database's folder; default {_USUAL}")
    command.add_argument("--table", metavar="NAME", default="memories")
    command.add_argument("--limit", type=int, default=50, help="memories to look at, last changed first; default 50")
    command.add_argument("--batch", type=int, default=25, help="rows in one commit of the table; default 25")
    command.add_argument("--dry-run", action="store_true", help="say what would be written; change nothing")
    command.add_argument(
        "--force", "--overwrite", action="store_true", help="also write where something else stands already"
    )
    command.add_argument(
        "--force-fields",
        metavar="A,B",
        default="",
        help=f"which fields --force may overwrite, of {', '.join(FIELDS)}; default {','.join(FORCED)}. "
        "trust_tier is written only when it is named here",
    )
    command.set_defaults(run=_writeback)


def _writeback(arguments: argparse.Namespace, output: Output) -> int | None:
    named = [name.strip() for name in arguments.force_fields.split(",") if name.strip()]
    try:
        with open_memory(arguments) as memory, progress("writing back") as tell:
            done = memory.governance.write_back(
                arguments.lancedb,
                table=arguments.table,
                limit=arguments.limit,
                batch=arguments.batch,
                mode="preview" if arguments.dry_run else "now",
                force=arguments.force,
                force_fields=named,
                progress=tell,
            )
    except UnknownField as error:
        if not output.as_json:
            output.error(type(error).__name__, str(error), error.hint)
        else:
            output.line(json.dumps({"ok": False, "error": str(error), "allowedFields": list(error.allowed)}))
        return _UNKNOWN_FIELD
    show(output, done.as_json(), _lines(done))
    if output.as_json:
        return None if done.ok else _LEFT_TO_SEE_TO
    if named and not done.force:
        output.note("--force-fields says what --force may overwrite: without it only what was empty was filled")
    if done.candidates > done.checked:
        output.note(f"{done.checked} of {done.candidates} memories were looked at: --limit {done.candidates} takes all")
    return None if done.ok else _LEFT_TO_SEE_TO


def _lines(done: WriteBack) -> Iterator[str]:
    would = "would be " if done.dry_run else ""
    yield f"{done.updated} rows of {done.table} {would}written, {done.skipped} had nothing to write"
    if done.overwritten:
        fields = ", ".join(f"{field} {count}" for field, count in done.overwritten_fields.items())
        yield f"{done.overwritten} of them {would}overwritten: {fields}"
    if done.missing_ids:
        yield f"{len(done.missing_ids)} are no longer in the table: {_listed(done.missing_ids)}"
    if done.error_ids:
        yield f"{len(done.error_ids)} could not be written, since others write, too: {_listed(done.error_ids)}"


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _MOST_SHOWN} more (--json shows all)" if len(ids) > _MOST_SHOWN else ""
    return ", ".join(ids[:_MOST_SHOWN]) + more


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "openclaw": ("OpenClaw's LanceDB memory: write back what is known here", _add),
}
