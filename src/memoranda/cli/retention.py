"""The commands `retention` and `subject`: how long things stay, and everything that is known of a person."""

import argparse
from collections.abc import Callable

from memoranda.cli.actions import show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory
from memoranda.domain.clock import DAY_MS, iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.retention import SUBJECT_FORMATS, KindHeld, RetentionReceipt, RetentionReport, SubjectReport

_COLUMNS = ("scope", "kind", "rule", "live", "with end", "in 7 days", "in 30 days", "lapsed", "oldest", "forgotten")


def _add_retention(command: argparse.ArgumentParser) -> None:
    command.add_argument("--below", action="store_true", help="also the scopes below")
    command.add_argument("--apply", action="store_true", help="end what is over, forget what is too much")
    command.add_argument("--dry-run", action="store_true", help="with --apply: say what it would do, and do nothing")
    command.set_defaults(run=_retention)


def _retention(arguments: argparse.Namespace, output: Output) -> None:
    if arguments.dry_run and not arguments.apply:
        raise InvalidInput("--dry-run is for --apply", hint="Without options, nothing is changed either.")
    with open_memory(arguments) as memory:
        if not arguments.apply:
            report = memory.retention.report(below=arguments.below)
            show(output, report.as_json(), _report(report))
            return
        with progress("keeping order") as tell:
            done = memory.retention.apply(
                below=arguments.below, mode="preview" if arguments.dry_run else "now", progress=tell
            )
        show(output, done.as_json(), _done(done))


def _report(report: RetentionReport) -> list[str]:
    rules = ", ".join(f"{kind} {_days(length)}" for kind, length in report.rules.items())
    lines = [
        f"rules: {rules or 'none (setting ttl_days)'}; cap: {report.cap or 'none (setting scope_cap)'}; "
        f"what is forgotten is erased after {_days(report.grace_ms)}"
    ]
    if report.kinds:
        lines.append("\t".join(_COLUMNS))
        lines += ["\t".join(_row(each, report)) for each in report.kinds]
    for scope in report.scopes:
        if scope.over:
            lines.append(
                f"{scope.scope}: {scope.live} live memories, {scope.over} over the cap; {scope.lasting} stay whatever "
                "the rules say"
            )
    return lines


def _row(each: KindHeld, report: RetentionReport) -> tuple[str, ...]:
    waiting = "-"
    if each.erased_first is not None:
        waiting = f"{each.forgotten}, erased from {iso(each.erased_first)[:10]}"
    return (
        each.scope,
        each.kind,
        _days(report.rules[each.kind]) if each.kind in report.rules else "-",
        str(each.live),
        str(each.with_end),
        str(each.ends_in_7),
        str(each.ends_in_30),
        str(each.lapsed),
        "-" if each.oldest is None else iso(each.oldest)[:10],
        waiting,
    )


def _days(length: int) -> str:
    return f"{length / DAY_MS:g} d"


def _done(done: RetentionReceipt) -> list[str]:
    would = "would be " if done.mode == "preview" else ""
    lines = [
        f"{done.expired} {would}ended, {done.given} {would}given an end, {done.lifted} {would}freed of one, "
        f"{done.evicted} {would}forgotten for the cap"
    ]
    if done.erased_after is not None:
        lines.append(f"what is forgotten can be restored until {iso(done.erased_after)[:10]}")
    if done.over:
        lines.append(f"{done.over} are still over the cap: what is left must be remembered, or is part of a profile")
    if done.tag:
        lines.append(f"`memoranda undo` takes it back; the tag before it is {done.tag}")
    return lines


def _add_subject(command: argparse.ArgumentParser) -> None:
    command.add_argument("person", metavar="PERSON", help="a name, such as anna or person:anna, or a speaker")
    command.add_argument("--out", metavar="FILE", help="a new file, readable by you alone (with --json: not needed)")
    command.add_argument("--format", choices=SUBJECT_FORMATS, default="json", help="of the file (default json)")
    command.add_argument("--below", action="store_true", help="also the scopes below")
    command.add_argument("--above", action="store_true", help="also what is kept above and shared with others")
    command.add_argument("--with-secrets", action="store_true", help="do not take secrets out")
    command.set_defaults(run=_subject)


def _subject(arguments: argparse.Namespace, output: Output) -> None:
    if not arguments.out and not output.as_json:
        raise InvalidInput("say where to write the report", hint="Add --out anna.json, or --json to have it printed.")
    with open_memory(arguments) as memory, progress("gathering"):
        report = memory.retention.subject(
            arguments.person,
            below=arguments.below,
            include_above=arguments.above,
            redact=not arguments.with_secrets,
            path=arguments.out,
            format=arguments.format,
        )
    if output.as_json and arguments.out:
        show(output, {"path": report.path, "counts": report.counts, "notes": list(report.notes)}, [])
        return
    show(output, report.as_json(), _subject_lines(report))


def _subject_lines(report: SubjectReport) -> list[str]:
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items() if count)
    return [f"{counts or 'nothing'}: {report.path}", *report.notes]


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "retention": ("how long things stay, what goes next; with --apply, let it go", _add_retention),
    "subject": ("everything that is known of a person, as one file", _add_subject),
}
