"""Commands that govern: grade, regrade, trust, drift, audit. Ids and numbers, never what a memory says."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

import memoranda
from memoranda.cli.actions import show
from memoranda.cli.looking import bar
from memoranda.cli.output import SHORT_ID, Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.clock import iso
from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.governance import AUDITED, Audit, AuditEntry, Drift, Regraded
from memoranda.domain.memory import GRADES, TRUSTS
from memoranda.domain.text import so_many

_PAGE = 1_000


def _add_grade(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="an id, or its first characters")
    command.add_argument("importance", metavar="IMPORTANCE", help="0..1, a percentage, or high, medium, low")
    command.add_argument("--rationale", default="", help="why; kept with the grade")
    command.set_defaults(run=_grade)


def _add_regrade(command: argparse.ArgumentParser) -> None:
    command.add_argument("--force", action="store_true", help="also what has an importance; not what a person graded")
    command.add_argument("--below", action="store_true", help="also in the scopes below this one")
    command.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")
    command.add_argument("--limit", type=int, help="grade at most so many; the next run goes on")
    command.set_defaults(run=_regrade)


def _add_trust(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="an id, or its first characters")
    command.add_argument("trust", choices=TRUSTS)
    command.add_argument("--reason", default="", help="kept in the history")
    command.add_argument("--confirm", action="store_true", help="you have read it, and it may speak all the same")
    command.set_defaults(run=_trust)


def _add_drift(command: argparse.ArgumentParser) -> None:
    command.add_argument("--days", type=int, default=30, help="the period; default 30")
    command.add_argument("--below", action="store_true", help="also the scopes below this one")
    command.set_defaults(run=_drift)


def _add_audit(command: argparse.ArgumentParser) -> None:
    command.add_argument("--actor", default="", help="only what they did")
    command.add_argument("--action", choices=AUDITED, default="")
    command.add_argument("--id", metavar="ID", dest="reference", help="only what was done to this memory")
    command.add_argument("--operation", metavar="NAME", default="", help="only as a part of such, as regrade or import")
    command.add_argument("--after", metavar="DATE")
    command.add_argument("--until", metavar="DATE", help="a bare day is taken in whole")
    command.add_argument("--below", action="store_true", help="also in the scopes below this one")
    command.add_argument("--limit", type=int, help="default 50; with --export, everything")
    command.add_argument("--before", type=int, metavar="SEQUENCE", help="only what was done before this one")
    command.add_argument("--export", metavar="FILE", help="write it as JSONL, newest first; - for standard output")
    command.set_defaults(run=_audit)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "grade": ("say how important a memory is", _add_grade),
    "regrade": ("grade what has no importance yet, by rules", _add_regrade),
    "trust": ("say whether a memory may speak", _add_trust),
    "drift": ("whether what is kept is still useful, and what to do", _add_drift),
    "audit": ("who did what, newest first", _add_audit),
}


def _grade(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        graded = memory.grade(arguments.id, arguments.importance, rationale=arguments.rationale)
    before = "unknown" if graded.receipt.before is None else f"{graded.receipt.before:.2f}"
    told = f"graded {graded.id[:SHORT_ID]}: {before} -> {graded.receipt.after:.2f} ({graded.receipt.label})"
    show(output, graded.as_json(), [told])


def _regrade(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory, progress("grading") as tell:
        done = memory.governance.regrade(
            force=arguments.force,
            below=arguments.below,
            mode="preview" if arguments.dry_run else "now",
            limit=arguments.limit,
            progress=tell,
        )
    show(output, done.as_json(), _regraded(done))


def _regraded(done: Regraded) -> Iterator[str]:
    yield f"{'would grade' if done.mode == 'preview' else 'graded'} {done.graded:,} by {done.method}"
    yield from _compared(done.before, done.after, ("before", "after"))
    for number, what in (
        (done.unchanged, "stay as they were"),
        (done.by_hand, "graded by a person, and left alone"),
        (done.left, "left for the next run"),
    ):
        if number:
            yield f"{number:,} {what}"
    if done.tag:
        yield f"tag {done.tag}: memoranda undo takes it back"


def _trust(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        changed = memory.trust(arguments.id, arguments.trust, reason=arguments.reason, confirm=arguments.confirm)
    receipt = changed.receipt
    lines = [f"{changed.id[:SHORT_ID]}: {receipt.before} -> {receipt.after}"]
    lines += [f"{each[:SHORT_ID]}: derived from it, {receipt.after} now" for each in receipt.demoted]
    if receipt.left:
        lines.append(f"{receipt.left:,} more were derived from it: run it again")
    show(output, changed.as_json(), lines)


# -- drift --


def _drift(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        drift = memory.governance.drift(below=arguments.below, days=arguments.days)
    show(output, drift.as_json(), _drifting(drift))


def _drifting(drift: Drift) -> Iterator[str]:
    where = f"{drift.scope} and below" if drift.below else drift.scope
    yield f"{drift.live:,} live memories in {where}; {drift.live_before:,} on {iso(drift.since)[:10]}"
    yield ""
    yield from _compared(drift.grades_before, drift.grades, (iso(drift.since)[:10], iso(drift.at)[:10]))
    yield ""
    numbers: tuple[tuple[str, int, str], ...] = (
        ("stale", drift.stale, f"unchanged for {drift.stale_days:g} days"),
        ("duplicates", drift.duplicates, f"word for word, in {drift.duplicate_groups:,} groups"),
        ("misses", drift.misses, f"{len(drift.repeated_misses):,} asked twice or more"),
        ("waiting", drift.waiting, "for a decision in review"),
        ("lapsed", drift.lapsed, "live, though their time is over"),
        ("expired", drift.expired, "ended"),
    )
    for name, number, what in numbers:
        yield f"{name:14} {number:>8,}  {what if number else ''}".rstrip()
    for miss in drift.repeated_misses:
        asked = f": {miss.text}" if miss.text else ""
        yield f"  {miss.times:,} times {miss.digest}, {miss.reason}{asked}"
    if drift.capture:
        yield ""
        most = max(drift.capture.values())
        for name, number in sorted(drift.capture.items(), key=lambda each: (-each[1], each[0])):
            yield f"capture {name:22} {number:>8,}  {bar(number, most)}".rstrip()
    yield ""
    for finding in drift.findings:
        yield f"{finding.severity:8} {finding.name}: {finding.detail}"
        yield f"         {finding.next}"
    if not drift.findings:
        yield "nothing stands out"
    yield from (f"not counted: {each}" for each in drift.untracked)


def _compared(before: Mapping[str, int], after: Mapping[str, int], names: tuple[str, str]) -> Iterator[str]:
    """The grades at two moments, with a bar for the later one."""
    most = max(*before.values(), *after.values(), 1)
    total = sum(after.values())
    yield f"{'grade':14} {names[0]:>10} {names[1]:>10}"
    for grade in GRADES:
        number = after.get(grade, 0)
        part = f"{number / total:>5.0%}" if total else "    -"
        yield f"{grade:14} {before.get(grade, 0):>10,} {number:>10,} {part}  {bar(number, most)}".rstrip()


# -- audit --


def _audit(arguments: argparse.Namespace, output: Output) -> None:
    if arguments.limit is not None and arguments.limit < 1:
        raise InvalidInput("--limit is a whole number from 1", hint="Leave it out for the usual.")
    if arguments.export is None:
        with open_memory(arguments) as memory:
            limit = 50 if arguments.limit is None else arguments.limit
            page = _page(memory, arguments, limit=limit, before=arguments.before)
        show(output, page.as_json(), map(_line, page))
        if page.next is not None and not output.as_json:
            output.note(f"there is more: --before {page.next}")
        elif not page and not output.as_json:
            output.note("nothing of that was done here; --below looks below this scope, too")
        return
    with open_memory(arguments) as memory:
        _page(memory, arguments, limit=1, before=arguments.before)  # a wrong question leaves no file behind
        with _written(arguments.export) as file:
            number = _exported(memory, arguments, file)
    if arguments.export != "-":
        show(
            output,
            {"exported": number, "file": arguments.export},
            [f"wrote {so_many(number, 'entry')} into {arguments.export}"],
        )


def _page(memory: memoranda.LongTermMemory, arguments: argparse.Namespace, *, limit: int, before: int | None) -> Audit:
    return memory.governance.audit(
        actor=arguments.actor,
        action=arguments.action,
        reference=arguments.reference,
        operation=arguments.operation,
        after=arguments.after,
        until=arguments.until,
        below=arguments.below,
        limit=limit,
        before=before,
    )


def _exported(memory: memoranda.LongTermMemory, arguments: argparse.Namespace, file: TextIO) -> int:
    # A reason may hold signs that steer a terminal; programs and files get it as it is.
    escaped = file.isatty()
    wanted, number, before = arguments.limit, 0, arguments.before
    with progress("exporting") as tell:
        while wanted is None or number < wanted:
            page = _page(
                memory, arguments, limit=_PAGE if wanted is None else min(_PAGE, wanted - number), before=before
            )
            for entry in page:
                file.write(json.dumps(entry.as_json(), ensure_ascii=escaped) + "\n")
            number += len(page)
            # How many there are is not known; the newest sequence is the most that there can be.
            tell(number, number + (page.next or 0))
            if page.next is None:
                break
            before = page.next
    return number


def _written(path: str) -> AbstractContextManager[TextIO]:
    """The file to write into: a new one that only its owner reads, or standard output."""
    if path == "-":
        return nullcontext(sys.stdout)
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except FileExistsError as error:
        raise Conflict(f"{path} is there already", hint="Give another name, or remove it first.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}", hint="Check the folder.") from error


def _line(entry: AuditEntry) -> str:
    number = "-" if entry.sequence is None else str(entry.sequence)
    which = (entry.memory_id or entry.token_id or entry.conversation_id)[:SHORT_ID]
    what = f"{entry.action:13}\t{which:{SHORT_ID}}\t{entry.scope}"
    more = [f"by {entry.actor}"] if entry.actor else []
    if entry.operation:
        part = entry.operation + (f" {entry.batch[:SHORT_ID]}" if entry.batch else "")
        more.append(part if entry.undoes is None else f"{part}, undoes {entry.undoes}")
    if entry.reason:
        more.append(entry.reason)
    return "\t".join((number, f"{iso(entry.at)[:19]}Z", what, *more))
