"""Commands on the whole store: index, optimize, maintain, verify, doctor, completion, tour."""

import argparse
from collections.abc import Callable, Iterator

from memoranda.cli.actions import show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import open_memory, refuse_missing, settings_of
from memoranda.domain.clock import iso
from memoranda.domain.health import Optimized, UpkeepReceipt

# The index belongs to the whole store: no scope is looked at, but the facade is always bound to one.
_ANY_SCOPE = "memoranda.admin"


def _add_index(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=("status", "rebuild"))
    command.set_defaults(run=_index)


def _add_maintain(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")
    command.add_argument("--history", action="store_true", help="what the last ones did, and do nothing")
    command.set_defaults(run=_maintain)


def _add_doctor(command: argparse.ArgumentParser) -> None:
    command.add_argument("--fix", action="store_true", help="mend what can be mended without losing anything")
    command.set_defaults(run=_doctor)


def _add_completion(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    command.set_defaults(run=_completion)


def _index(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        if arguments.action == "status":
            output.index_status(memory.admin.index_status())
            return
        with progress("rebuilding") as tell:
            status = memory.admin.rebuild(tell)
        output.index_status(status)


def _optimize(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory, progress("optimizing") as tell:
        done = memory.admin.optimize(tell)
    show(output, done.as_json(), _gained(done))


def _gained(done: Optimized) -> Iterator[str]:
    for name in ("segments", "lexical_rows", "semantic_rows", "bytes"):
        yield f"index {name:14} {getattr(done.before, name):>12,} before {getattr(done.after, name):>12,} after"
    yield f"all files, bytes     {done.bytes_before:>12,} before {done.bytes_after:>12,} after"
    if done.bytes_after > done.bytes_before:
        yield "nothing was gained: what is searched is laid out anew, and there was little to tidy"
    yield f"the ledger was {'written anew' if done.rewritten else 'left as it is: little of it is free'}"
    yield f"self-test {done.after.self_test}; {done.seconds:.1f} s"


def _maintain(arguments: argparse.Namespace, output: Output) -> int:
    # Opening sweeps, too: a dry run must not, and otherwise it should stand in the receipt.
    with open_memory(arguments, scope=_ANY_SCOPE, sweep=False) as memory:
        if arguments.history:
            past = memory.admin.upkeep(limit=100)
            show(output, [each.as_json() for each in past], map(_past, past))
            return 0
        with progress("maintaining") as tell:
            done = memory.admin.maintain(tell, dry_run=arguments.dry_run)
        output.maintenance(done)
    if done.erased.pending and not output.as_json:
        output.note(f"not proven yet: {done.erased.pending}")
    return 6 if done.erased.state == "deleted" else 0


def _verify(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments, scope=_ANY_SCOPE) as memory:
        checks = memory.admin.verify()
    output.verification(checks)
    return 0 if checks.ok else 6


def _past(each: UpkeepReceipt) -> str:
    did = ", ".join(f"{name} {number:,}" for name, number in each.counts.items() if number) or "nothing to do"
    return f"{iso(each.at)}\t{each.seconds:.1f} s\t{each.trouble or did}"


def _doctor(arguments: argparse.Namespace, output: Output) -> int:
    """Not by opening the store first: it may be what is ill."""
    from memoranda.domain.clock import SystemClock
    from memoranda.service.doctor import examine

    settings = settings_of(arguments)
    if settings.shards and not settings.store:
        from memoranda.service.sharding import examine_all

        checks = examine_all(settings, SystemClock(), fix=arguments.fix)
    else:
        refuse_missing(settings)
        checks = examine(settings, SystemClock(), fix=arguments.fix)
    output.verification(checks)
    return 0 if checks.ok else 6


def _completion(arguments: argparse.Namespace, output: Output) -> None:
    import shtab

    from memoranda.cli.app import build_parser

    output.line(shtab.complete(build_parser(), shell=arguments.shell))


def _tour(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.cli.tour import tour

    return tour(output)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "index": ("the index: status, rebuild", _add_index),
    "maintain": ("upkeep: end what is over, sum up old conversations, make missing vectors, tidy up", _add_maintain),
    "verify": ("check the store against itself", lambda command: command.set_defaults(run=_verify)),
    "optimize": ("merge and tidy what is searched; before and after", lambda each: each.set_defaults(run=_optimize)),
    "doctor": ("is everything well here? each line with its fix", _add_doctor),
    "tour": ("a short guided tour on a store of its own", lambda command: command.set_defaults(run=_tour)),
    "completion": ("print a completion script for your shell", _add_completion),
}
