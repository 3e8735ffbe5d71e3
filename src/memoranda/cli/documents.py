"""The command `documents`: folders of Markdown that are searched and cited."""

import argparse
from collections.abc import Callable, Iterable

from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.document import Found, Source, Synced
from memoranda.domain.memory import TRUSTS
from memoranda.domain.text import so_many

_TOLD = 5


def _add_add(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", metavar="PATH", help="a folder, or one file")
    command.add_argument("--name", default="", help="what to call it (default: the name of the folder)")
    command.add_argument(
        "--pattern",
        metavar="GLOB",
        action="append",
        default=[],
        help="which files, relative to the folder, may be given more than once (default: MEMORY.md, USER.md and "
        "memory/**/*.md where they are, else **/*.md)",
    )
    command.add_argument(
        "--trust", choices=TRUSTS, default="untrusted", help="trusted: may go into packs unasked (default untrusted)"
    )


def _add_remove(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="as `documents list` shows it")


def _add_sync(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--full", action="store_true", help="make everything anew; what serves now serves until that is complete"
    )


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", metavar="QUERY", help="what is asked; - reads standard input")
    command.add_argument("--limit", type=int, help="at most so many (default 6)")
    command.add_argument(
        "--min-score",
        type=float,
        metavar="0..1",
        help="leave out what scores lower (default 0.35, or most of the words when nothing scores so high)",
    )
    command.add_argument("--source", default="", help="only this source")
    command.add_argument("--path", default="", help="only this file, or this folder with a slash at its end")


def _add_read(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", metavar="PATH", help="relative to its source, or a citation such as notes.md#L10-L15")
    command.add_argument("--from", type=int, dest="from_line", metavar="LINE", help="the first line, counted from 1")
    command.add_argument("--lines", type=int, help="how many lines")
    command.add_argument("--source", default="", help="of this source")


def _add_watch(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--interval", type=float, default=0.0, metavar="MINUTES", help="also look every so many minutes"
    )


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        sources = memory.documents.list()
    lines = [_line(source) for source in sources] or ["(no documents; `memoranda documents add PATH` takes some in)"]
    show(output, {"sources": [source.as_json() for source in sources]}, lines)


def _add(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments, create=True) as memory:
        source = memory.documents.add(
            arguments.path, name=arguments.name, pattern=arguments.pattern, trust=arguments.trust
        )
        with progress("reading, then embedding") as tell:
            synced = memory.documents.sync(progress=tell, embedding=tell)
    show(output, {"source": source.as_json(), "synced": synced.as_json()}, [_line(source), *_told(synced)])
    return _code(synced)


def _remove(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments) as memory:
        gone = memory.documents.remove(arguments.name)
    state = "purged" if gone.purged else "removed"
    held = f"{so_many(gone.files, 'file')}, {so_many(gone.chunks, 'chunk')}"
    lines = [f"{state} {gone.source.name}: {held}; the files themselves stay"]
    if gone.traces:
        lines.append(
            f"proof: {gone.scanned_bytes:,} bytes read, {so_many(gone.traces, 'trace')} looked for, {gone.found} found"
        )
    show(output, gone.as_json(), lines)
    if gone.pending and not output.as_json:
        output.note(f"not proven yet: {gone.pending}")
    return 0 if gone.purged else 6


def _sync(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments) as memory, progress("reading, then embedding") as tell:
        act = memory.documents.rebuild if arguments.full else memory.documents.sync
        synced = act(progress=tell, embedding=tell)
    show(output, synced.as_json(), _told(synced))
    return _code(synced)


def _search(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.documents.search(
            read_text(arguments.query),
            limit=arguments.limit,
            min_score=arguments.min_score,
            source=arguments.source,
            path=arguments.path,
        )
    show(output, found.as_json(), _hits(found))
    if not output.as_json:
        for trouble in found.receipt.degraded:
            output.note(trouble)
        if found.receipt.action:
            output.note(found.receipt.action)


def _read(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = memory.documents.read(
            arguments.path, from_line=arguments.from_line, lines=arguments.lines, source=arguments.source
        )
    show(output, found.as_json(), found.text.split("\n") if found.text else ["(nothing there)"])
    if found.next_from and not output.as_json:
        output.note(f"there is more: --from {found.next_from}")


def _status(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        status = memory.documents.status()
    show(output, status.as_json(), status.lines())


def _watch(arguments: argparse.Namespace, output: Output) -> None:
    def told(synced: Synced) -> None:
        if not synced.is_noop or synced.failures:
            show(output, synced.as_json(), [synced.why, *_told(synced)])

    with open_memory(arguments) as memory, memory.documents.watch(interval_minutes=arguments.interval, told=told) as at:
        output.note("watching; interrupt to end")
        while not at.wait(1.0):
            if at.trouble:
                output.note(at.trouble)


def _line(source: Source) -> str:
    return "\t".join((source.name, source.scope, source.trust, source.root, " ".join(source.patterns)))


def _told(synced: Synced) -> list[str]:
    counts = [
        f"{count} {name}"
        for name in ("added", "changed", "renamed", "removed", "unchanged")
        if (count := getattr(synced, name))
    ]
    lines = [
        f"files: {', '.join(counts) or 'none'}",
        f"chunks: {synced.chunks_added} added, {synced.chunks_removed} removed; {synced.embedded} embedded",
    ]
    troubles = (("could not be read", synced.failures), ("skipped", synced.skipped), ("taken in", synced.notes))
    for title, found in troubles:
        # A line that only says that there is one more could as well say which.
        told = found if len(found) <= _TOLD + 1 else found[:_TOLD]
        lines += [f"{title}: {each.source}: {each.path}: {each.reason}" for each in told]
        if len(told) < len(found):
            lines.append(f"{title}: {len(found) - len(told)} more; --json shows all")
    if synced.without_vector:
        lines.append(
            f"{so_many(synced.without_vector, 'chunk has', 'chunks have')} no vector yet and can be found by words"
        )
    return [*lines, synced.left] if synced.left else lines


def _code(synced: Synced) -> int:
    """As for every command that did its work but leaves something to be seen to."""
    return 6 if synced.failures or synced.left else 0


def _hits(found: Found) -> Iterable[str]:
    for hit in found:
        marked = hit.citation if hit.trust == "trusted" else f"{hit.citation} ({hit.trust})"
        yield f"{hit.score:.2f}\t{marked}\t{hit.source}"
        yield f"\t{hit.snippet}"
    if not found:
        yield f"(nothing: {found.receipt.abstained})"


_ACTIONS = {
    "list": Action("the folders that are searched", nothing_more, _list),
    "add": Action("take a folder or a file into account, and read it", _add_add, _add),
    "remove": Action("let go of a folder, with a proof; its files stay", _add_remove, _remove),
    "sync": Action("take in what has changed", _add_sync, _sync),
    "search": Action("passages that bear on a question, with citations", _add_search, _search),
    "read": Action("some lines of a document", _add_read, _read),
    "status": Action("what is indexed, counted now", nothing_more, _status),
    "watch": Action("sync whenever a file changes, until interrupted", _add_watch, _watch),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "documents": (
        "folders of Markdown, searched and cited: list, add, remove, sync, search, read, status, watch",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
