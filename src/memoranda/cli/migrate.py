"""The command `migrate`: a whole store to another file, or to PostgreSQL, or back, while it is in use."""

import argparse
from collections.abc import Callable, Iterator

from memoranda.cli.actions import show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import settings_of
from memoranda.domain.errors import InvalidInput
from memoranda.domain.migrating import Migrated, MigrationPlan

_DIGITS = 16


def _add_migrate(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Copy everything to a new place, compare both sides, and mark the old one as moved. Others go on reading and "
        "writing meanwhile. When it is interrupted, the same command goes on where it was."
    )
    command.add_argument(
        "--from",
        dest="source",
        metavar="ADDRESS",
        help="a file, or postgresql://USER@HOST/DATABASE?schema=NAME (default: the store of the settings)",
    )
    command.add_argument(
        "--to", dest="target", metavar="ADDRESS", help="the same, of a store that is not there or empty"
    )
    command.add_argument("--leave-open", action="store_true", help="do not mark the old one: it stays in use")
    chosen = command.add_mutually_exclusive_group()
    chosen.add_argument("--dry-run", action="store_true", help="count, estimate, and change nothing")
    chosen.add_argument(
        "--reopen",
        action="store_true",
        help="let --from be written to again after it was moved, or after a migration was given up",
    )
    command.set_defaults(run=_migrate)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "migrate": ("the whole store to another file, or to PostgreSQL, or back, while it is in use", _add_migrate),
}


def _migrate(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.migrating import migrate, plan_migration, reopen

    settings = settings_of(arguments)
    source = arguments.source or settings.store or str(settings.store_path())
    if arguments.reopen:
        if arguments.target or arguments.leave_open:
            raise InvalidInput("--reopen stands alone with --from", hint="Leave --to and --leave-open out.")
        went = reopen(source, settings=settings)
        said = f"it can be written to again; {went} is left as it is" if went else "it is an ordinary store"
        show(output, {"reopened": True, "moved_to": went}, [said])
        return
    if not arguments.target:
        raise InvalidInput("--to is needed", hint="Name a new file, or postgresql://USER@HOST/DATABASE.")
    if arguments.dry_run:
        plan = plan_migration(source, arguments.target, settings=settings)
        show(output, plan.as_json(), _planned(plan))
        return
    with progress("migrating") as tell:
        done = migrate(source, arguments.target, leave_open=arguments.leave_open, settings=settings, progress=tell)
    show(output, done.as_json(), _told(done))


def _planned(plan: MigrationPlan) -> Iterator[str]:
    yield f"{plan.source} -> {plan.target}"
    for table in plan.tables:
        if table.rows:
            yield f"{table.name:20} {table.rows:>12,} rows"
    yield f"{'all':20} {plan.rows:>12,} rows, {plan.bytes:,} bytes, about {plan.seconds:.0f} s"
    if plan.resumes:
        yield "a migration was begun: the same command with its target goes on where it was"


def _told(done: Migrated) -> Iterator[str]:
    receipt = done.receipt
    for table in receipt.tables:
        if table.rows:
            yield f"equal  {table.name:20} {table.rows:>12,} rows  {table.digest[:_DIGITS]}"
    yield f"equal  contents {receipt.contents[:_DIGITS]}; sequence {receipt.sequence:,}"
    rate = receipt.rows / receipt.seconds if receipt.seconds else 0.0
    yield (
        f"{receipt.rows:,} rows, {receipt.bytes:,} bytes in {receipt.seconds:.1f} s ({rate:,.0f} rows/s); "
        f"{receipt.followed:,} were changed meanwhile; nobody could write for {receipt.held_seconds:.2f} s"
    )
    if receipt.left_open:
        yield f"{receipt.source} was left open: what is written there from now on is not in {receipt.target}"
    else:
        yield f"{receipt.source} was moved to {receipt.target}: it refuses writes from now on"
    yield from (f"note: {note}" for note in receipt.notes)
