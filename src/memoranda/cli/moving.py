"""Commands that move house: export, import, imports. They show counts and places, never what a memory says."""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from memoranda import LongTermMemory
from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import KINDS
from memoranda.domain.moving import (
    DEDUPES,
    EXPORT_FORMATS,
    FOREIGN,
    Audit,
    Exported,
    ImportRun,
    Imports,
)
from memoranda.domain.text import so_many
from memoranda.importers.registry import names
from memoranda.service.exporting import EXPORTED
from memoranda.service.workroom import Workroom

_LEFT_TO_SEE_TO = 6
_TOLD = 10
_REASONS = {
    "unread": "could not be read",
    "too long": "longer than a memory may be",
    "foreign": "somebody else's: say where they go with --owner or --foreign",
    "secret": "hold a secret, and are refused",
    "injection": "look written to steer a model, and are refused",
    "junk": "nothing to keep: --keep-junk takes them all the same",
    "repeated": "stand in the file more than once",
    "known": "are here already",
    "same": "say what is here already",
    "forgotten": "were forgotten, and are not taken back",
    "erased": "were erased, and are not taken back",
}


_SIGNED = {
    "": "not signed",
    "here": "signed by this store",
    "elsewhere": "signed by another store",
    "broken": "changed after it was signed",
}


def _add_export(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", metavar="FILE", required=True, help="where to; - writes to standard output")
    command.add_argument("--format", choices=EXPORT_FORMATS, default="jsonl", help="default jsonl")
    command.add_argument("--no-redact", action="store_true", help="with the secrets: whole, and to be kept safe")
    command.add_argument("--below", action="store_true", help="also what lies below this scope")
    command.add_argument("--kind", choices=KINDS, default="", help="only of this kind")
    command.add_argument(
        "--state", choices=EXPORTED, action="append", default=[], help="only in this state; may be given more than once"
    )
    command.add_argument("--limit", type=int, metavar="N", help="no more than the oldest N")
    command.add_argument("--overwrite", action="store_true", help="in the place of a file that is there")
    command.set_defaults(run=_export)


def _add_import(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", metavar="PATH", help="a file, or the folder that a format needs")
    command.add_argument(
        "--from",
        dest="format",
        metavar="FORMAT",
        default="",
        help=f"what it is (default: found out): {', '.join(names())}",
    )
    command.add_argument(
        "--dedupe", choices=DEDUPES, default="id_text", help="what counts as here already (default id_text)"
    )
    mode = command.add_mutually_exclusive_group()
    for option, value, about in (
        ("--dry-run", "preview", "show the audit; change nothing"),
        ("--validate-only", "validate", "only see whether all of it can be read"),
    ):
        mode.add_argument(option, action="store_const", dest="mode", const=value, default="now", help=about)
    command.add_argument(
        "--trust",
        choices=("kept", "untrusted", "trusted"),
        default="",
        help="trusted: you vouch for all of it; kept: take the word of an export of ours "
        "(default: kept when this store has signed it, else untrusted)",
    )
    command.add_argument(
        "--owner", metavar="THEIRS=SCOPE", action="append", default=[], help="where somebody's memories go"
    )
    command.add_argument(
        "--foreign", choices=FOREIGN, default="refuse", help="what to do with somebody else's (default refuse)"
    )
    command.add_argument("--keep-junk", action="store_true", help="also small talk, output of tools and the like")
    command.add_argument(
        "--map", metavar="OURS=THEIRS", action="append", default=[], help="which of their fields is ours: text=content"
    )
    command.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help="for the format's reader")
    command.add_argument("--limit", type=int, metavar="N", help="only the first N records")
    command.set_defaults(run=_import)


def _add_imports(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=50)
    command.set_defaults(run=_imports)


def _export(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        to_stdout = arguments.out == "-"
        # In the store's own workroom: what is in it does not lie where others may read, or where nobody clears it.
        with Workroom(memory.path).desk() if to_stdout else nullcontext(Path()) as folder:
            target = folder / "export" if to_stdout else Path(arguments.out)
            with progress("exporting") as tell:
                done = memory.export(
                    target,
                    format=arguments.format,
                    redact=not arguments.no_redact,
                    below=arguments.below,
                    states=arguments.state,
                    kind=arguments.kind,
                    limit=arguments.limit,
                    overwrite=arguments.overwrite,
                    progress=tell,
                )
            if to_stdout:
                sys.stdout.flush()
                with target.open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
    if not to_stdout:
        show(output, done.as_json(), _exported(done))
        return
    done = done._replace(path="-")
    if output.as_json:
        print(json.dumps(done.as_json(), ensure_ascii=False), file=sys.stderr)
    else:
        for line in _exported(done):
            output.note(line)


def _exported(done: Exported) -> list[str]:
    receipt = done.receipt
    where = "" if done.path == "-" else f" in {done.path}"
    lines = [
        f"{so_many(done.memories, 'memory')}{where}, {receipt.bytes:,} bytes",
        f"contents {done.digest}",
    ]
    if receipt.redacted_memories:
        ids = ", ".join(each.id[:SHORT_ID] for each in receipt.redactions[:_TOLD])
        more = receipt.redacted_memories - min(_TOLD, len(receipt.redactions))
        also = f" and {more} more (--json shows them)" if more > 0 else ""
        lines.append(f"secrets blacked out in {receipt.redacted_memories}: {ids}{also}")
    elif not receipt.manifest.redacted:
        lines.append("not redacted: whoever has this file has everything in it")
    return lines


def _import(arguments: argparse.Namespace, output: Output) -> int:
    options = _pairs(arguments.map, "--map") | _pairs(arguments.option, "--option")
    with _looked_at(arguments) as memory, progress("importing") as tell:
        done = memory.import_memories(
            arguments.path,
            format=arguments.format,
            dedupe=arguments.dedupe,
            mode=arguments.mode,
            trust=arguments.trust,
            owners=_pairs(arguments.owner, "--owner"),
            foreign=arguments.foreign,
            junk="keep" if arguments.keep_junk else "leave",
            options=options,
            limit=arguments.limit,
            progress=tell,
        )
    show(output, done.as_json(), _imported(done))
    return _LEFT_TO_SEE_TO if done.audit.unread else 0


@contextmanager
def _looked_at(arguments: argparse.Namespace) -> Iterator[LongTermMemory]:
    """The store; for a look at a file, an empty one for the time being where there is none yet."""
    if arguments.mode == "now":
        with open_memory(arguments, create=True) as memory:
            yield memory
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-") as folder:
        try:
            memory = open_memory(arguments)
        except NotFound:
            arguments.store = str(Path(folder) / "empty.db")
            memory = open_memory(arguments, create=True)
        with memory:
            yield memory


def _imported(done: Imports) -> list[str]:
    audit = done.audit
    if done.mode == "validate":
        return [f"{done.format}: {audit.readable:,} of {so_many(audit.total, 'record')} can be read", *_unread(audit)]
    lines = [f"{done.format}: {so_many(audit.total, 'record')}", *_audited(audit), *_believed(done)]
    if done.mode == "preview":
        return [*lines, f"{audit.take:,} would be kept in {_places(audit.scopes)}; nothing was changed"]
    if done.run is None:
        return [*lines, "nothing new: nothing was changed"]
    again = " (gone on with, after an interruption)" if done.resumed else ""
    before = f"; tagged {done.tag} before" if done.tag else ""
    below = " --below" if set(audit.scopes) - {done.scope} else ""
    kept = f"{done.taken:,} kept in {_places(audit.scopes)}{again}{before}"
    return [*lines, f"{kept}; `memoranda undo{below}` takes it back"]


def _believed(done: Imports) -> Iterable[str]:
    """Why an export of ours is taken as if anybody had written it."""
    if done.format == "own" and done.trust == "untrusted":
        yield f"  {_SIGNED[done.signed]}: taken as untrusted; --trust kept takes its word for what each memory is"


def _audited(audit: Audit) -> Iterable[str]:
    for reason, count in audit.left_out.items():
        yield f"  {count:,} {_REASONS[reason]}"
    if audit.junk:
        yield f"  junk: {_counted(audit.junk)}"
    if audit.quarantined:
        yield f"  {audit.quarantined:,} look written to steer a model: kept quarantined, see `memoranda review`"
    for name in ("owners", "kinds", "states"):
        counts: Mapping[str, int] = getattr(audit, name)
        if counts:
            yield f"  {name}: {_counted(counts)}"
    if audit.oldest is not None and audit.newest is not None:
        yield f"  from {iso(audit.oldest)[:10]} to {iso(audit.newest)[:10]}"
    yield from _unread(audit)
    for trouble in audit.troubles[:_TOLD]:
        yield f"  {trouble.place}: {trouble.reason}{f' ({trouble.detail})' if trouble.detail else ''}"
    if len(audit.troubles) > _TOLD:
        yield "  ... (--json shows more)"


def _unread(audit: Audit) -> Iterable[str]:
    for each in audit.unread[:_TOLD]:
        yield f"  {each.place}: {each.reason}"
    if len(audit.unread) > _TOLD:
        yield "  ... (--json shows more)"


def _counted(counts: Mapping[str, int]) -> str:
    told = [f"{name} {count:,}" for name, count in list(counts.items())[:_TOLD]]
    return ", ".join(told) + (", ..." if len(counts) > _TOLD else "")


def _places(scopes: Mapping[str, int]) -> str:
    if len(scopes) == 1:
        return next(iter(scopes))
    return f"{len(scopes)} scopes"


def _imports(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        runs = memory.imports(limit=arguments.limit)
    show(output, {"imports": [run.as_json() for run in runs]}, _runs(runs))


def _runs(runs: Sequence[ImportRun]) -> list[str]:
    lines = []
    for run in runs:
        ended = "finished" if run.finished_at is not None else f"interrupted after {so_many(run.place, 'record')}"
        ended += ", then undone" if run.undone else ""
        others = {name: count for name, count in run.counts.items() if name != "taken"}
        also = f", {_counted(others)}" if others else ""
        lines.append(
            f"{iso(run.started_at)[:16]}\t{run.id[:SHORT_ID]}\t{run.format}\t{run.taken:,} kept{also}\t{ended}"
        )
    return lines or ["(nothing was imported into this scope)"]


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{option} {each[:80]!r} has no '='", hint=f"Write it as {option} NAME=VALUE.")
        pairs[name] = value
    return pairs


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "export": ("write what is kept in this scope into a file", _add_export),
    "import": ("take in an export, or the memories of another system", _add_import),
    "imports": ("what was imported into this scope", _add_imports),
}
