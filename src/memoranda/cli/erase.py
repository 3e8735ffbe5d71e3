"""The command `erase`: destroy for good, with a signed statement about it; and look again whether it is still gone."""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memoranda.cli.output import Output, progress, said_yes
from memoranda.cli.store import open_memory, settings_of
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import KINDS, SOURCES
from memoranda.domain.text import so_many

_FILTERS = ("about", "speaker", "conversation", "source", "source_ref", "kind", "time_after", "time_before")
_NOT_CLEAN = 6
_NOT_CONFIRMED = 4


def _add_erase(command: argparse.ArgumentParser) -> None:
    alone = command.add_argument_group("what to erase, in one way")
    alone.add_argument("id", metavar="ID", nargs="?", help="one memory")
    alone.add_argument("--in-scope", metavar="PATH", default="", help="this scope and all below it")
    alone.add_argument("--query", metavar="WORDS", default="", help="what a recall finds, after showing it")
    like = command.add_argument_group("or by what it is like, in this very scope; several narrow one another")
    like.add_argument("--below", action="store_true", help="also in the scopes below this one")
    like.add_argument("--about", metavar="THING", default="", help="everything about this")
    like.add_argument("--speaker", metavar="NAME", default="", help="everything that this speaker said")
    like.add_argument("--conversation", metavar="NAME", default="", help="what came from it, and its transcript")
    like.add_argument("--source", choices=SOURCES, default="", help="through which channel it came")
    like.add_argument("--source-ref", metavar="REF", default="", help="what exactly it came from")
    like.add_argument("--after", metavar="DATE", dest="time_after", help="what happened from then on")
    like.add_argument("--before", metavar="DATE", dest="time_before", help="what happened before then")
    like.add_argument("--kind", choices=KINDS, default="", help="only of this kind, beside one of these")
    command.add_argument("--confirm", metavar="CODE", default="", help="the code that the preview of a query gave")
    command.add_argument("--yes", action="store_true", help="do not ask")
    proof = command.add_argument_group("the statement")
    proof.add_argument("--proof", metavar="FILE", help="write a signed statement of what was done to a new file")
    proof.add_argument("--name-subject", action="store_true", help="let it name what was asked for, not a digest")
    proof.add_argument("--verify", metavar="FILE", help="check such a statement, and look again; erases nothing")
    proof.add_argument("--public-key", metavar="HEX", default="", help="the key that it must be signed with")
    command.set_defaults(run=_run, spoken={"scope": "--in-scope"})


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "erase": ("destroy for good, and prove it", _add_erase),
}


def _run(arguments: argparse.Namespace, output: Output) -> int:
    ways = _ways(arguments)
    if arguments.verify is None:
        return _erase(arguments, ways, output)
    if ways or arguments.id or arguments.proof or arguments.confirm or arguments.yes:
        raise InvalidInput("--verify erases nothing", hint="Give --verify FILE alone, or with --public-key.")
    return _verify(arguments, output)


def _ways(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(arguments, name) for name in (*_FILTERS, "query", "below")}
    return {name: value for name, value in {**given, "scope": arguments.in_scope}.items() if value}


def _erase(arguments: argparse.Namespace, ways: Mapping[str, Any], output: Output) -> int:
    with open_memory(arguments) as memory, _statement_file(arguments.proof) as write:
        if not (arguments.yes and not arguments.query) and not arguments.confirm:
            preview = memory.erase(arguments.id, **ways, mode="preview")
            output.erasure_preview(preview)
            empty = not preview.ids and not preview.receipt.messages and not preview.receipt.conversations
            if empty and arguments.proof is None:
                return 0
            # Without anything to be stated, it is refused below: no statement is no success.
            if not empty and not said_yes("Erase for good?"):
                again = f"--confirm {preview.confirm}" if arguments.query else "--yes"
                output.note(f"nothing was erased; to erase without being asked, run it again with {again}")
                return _NOT_CONFIRMED
            arguments.confirm = preview.confirm
        with progress("erasing") as tell:
            erased = memory.erase(
                arguments.id,
                **ways,
                confirm=arguments.confirm,
                proof=arguments.proof is not None,
                name_subject=arguments.name_subject,
                progress=tell,
            )
        if erased.receipt.statement is not None:
            write(erased.receipt.statement)
        output.erasure(erased)
        _tell_more(arguments, erased.receipt, output)
        return 0 if erased.purged else _NOT_CLEAN


def _tell_more(arguments: argparse.Namespace, receipt: Any, output: Output) -> None:
    if output.as_json:
        return
    if receipt.backups:
        output.line(f"{so_many(receipt.backups, 'backup')} written anew without it")
    if receipt.tokens:
        output.line(f"{so_many(receipt.tokens, 'token')} of the scope revoked; servers notice with the next request")
    if receipt.statement is not None:
        output.line(f"statement {receipt.statement['id']} in {arguments.proof}")
        output.line(f"signed with the key {receipt.statement['public_key']}")


@contextmanager
def _statement_file(path: str | None) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A new file, made before anything is erased, so that no erasure is left without its statement; gone again when
    nothing was written to it."""
    if path is None:
        yield lambda _: None
        return
    target = Path(path).expanduser()
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise InvalidInput(f"{target} is there already", hint="Give a new file: nothing is overwritten.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"the statement cannot be written to {target} ({why})", hint="Give another file. Nothing was erased."
        ) from error
    written = False

    def write(statement: Mapping[str, Any]) -> None:
        nonlocal written
        file.write(json.dumps(statement, ensure_ascii=False, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
        written = True

    try:
        with os.fdopen(descriptor, "wb") as file:
            yield write
    finally:
        if not written:
            target.unlink(missing_ok=True)


def _verify(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.domain.statement import read_statement
    from memoranda.service.statement import check_alone

    try:
        statement = read_statement(Path(arguments.verify).expanduser().read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{arguments.verify} cannot be read ({why})", hint="Give a statement's file.") from error
    settings = settings_of(arguments)
    store = settings.store_path()
    if store.exists() or settings.store_address() is not None or (settings.shards and not settings.store):
        with open_memory(arguments, scope=statement["scope"], sweep=False) as memory:
            found = memory.verify_erasure(statement, public_key=arguments.public_key)
    else:
        found = check_alone(statement, why=f"there is no store at {store}", known=arguments.public_key)
    output.verification(found)
    return 0 if found.ok else _NOT_CLEAN
