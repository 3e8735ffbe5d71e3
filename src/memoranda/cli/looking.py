"""Commands that look at what is kept: timeline, growth, scopes. Ids and counts, never what a memory says."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from memoranda.cli.actions import show
from memoranda.cli.output import SHORT_ID, Output
from memoranda.cli.store import open_memory
from memoranda.domain.clock import iso
from memoranda.domain.looking import ACTIONS, MOST_DAYS, Day, ScopePage, Timeline
from memoranda.domain.text import so_many

_WIDEST = 30
_EIGHTHS = " ▏▎▍▌▋▊▉"


def _add_below(command: argparse.ArgumentParser) -> None:
    command.add_argument("--below", action="store_true", help="also what lies below this scope")


def _add_timeline(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=50)
    command.add_argument("--before", type=int, metavar="SEQUENCE", help="only what happened before this one")
    command.add_argument("--action", choices=ACTIONS, default="")
    command.add_argument("--id", metavar="ID", dest="reference", help="only what happened to this memory")
    command.add_argument("--actor", default="", help="only what they did")
    command.add_argument("--after", metavar="DATE")
    command.add_argument("--until", metavar="DATE", help="a bare day is taken in whole")
    _add_below(command)
    command.set_defaults(run=_timeline)


def _add_growth(command: argparse.ArgumentParser) -> None:
    command.add_argument("--days", type=int, default=30, help=f"how many, to {MOST_DAYS:,}; default 30")
    _add_below(command)
    command.set_defaults(run=_growth)


def _add_scopes(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=500)
    command.add_argument("--offset", type=int, default=0)
    command.set_defaults(run=_scopes)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "timeline": ("what happened, newest first", _add_timeline),
    "growth": ("what was kept and let go, day by day", _add_growth),
    "scopes": ("this scope and those below it, and what each holds", _add_scopes),
}


def _timeline(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        page = memory.timeline(
            limit=arguments.limit,
            before=arguments.before,
            action=arguments.action,
            reference=arguments.reference,
            actor=arguments.actor,
            after=arguments.after,
            until=arguments.until,
            below=arguments.below,
        )
    show(output, page.as_json(), _events(page))
    if page.next is not None and not output.as_json:
        output.note(f"there is more: --before {page.next}")


def _events(page: Timeline) -> Iterator[str]:
    for event in page:
        who = f"\tby {event.actor}" if event.actor else ""
        why = f"\t{event.reason}" if event.reason else ""
        what = f"{event.action:10}\t{event.memory_id[:SHORT_ID]}\t{event.scope}"
        yield f"{event.sequence}\t{iso(event.at)[:19]}Z\t{what}{who}{why}"


def _growth(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        days = memory.growth(days=arguments.days, below=arguments.below)
    show(output, [day.as_json() for day in days], _chart(days))


def _chart(days: Sequence[Day]) -> Iterator[str]:
    """A bar for what was created on each day, and the other numbers beside it."""
    most = max(day.created for day in days)
    for day in days:
        counts = [f"{getattr(day, name)} {name}" for name in ("created", "reinforced", "superseded", "forgotten")]
        counts += [f"{day.erased} erased", f"{day.live} live"]
        told = ", ".join(count for count in counts if not count.startswith("0 ")) or "nothing"
        share = "" if day.unknown_share is None else f" ({day.unknown_share:.0%} of unknown importance)"
        yield f"{day.day}  {bar(day.created, most):{_WIDEST}}  {told}{share}"


def bar(number: int, most: int) -> str:
    """A number as a bar, beside the longest; what is not nothing can be seen."""
    if not number:
        return ""
    whole, rest = divmod(max(1, number * _WIDEST * 8 // most), 8)
    return "█" * whole + _EIGHTHS[rest].strip()


def _scopes(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        page = memory.scopes(limit=arguments.limit, offset=arguments.offset)
    show(output, page.as_json(), _held(page))
    if not output.as_json:
        output.note(f"{len(page)} of {page.total} scopes")


def _held(page: ScopePage) -> Iterator[str]:
    for each in page:
        beside = (
            (each.conversations, "conversation", ""),
            (each.sources, "source of documents", "sources of documents"),
        )
        held = [so_many(each.memories, "memory"), f"{each.live:,} live"]
        held += (so_many(count, one, many) for count, one, many in beside if count)
        newest = "" if each.newest is None else f"\tnewest {iso(each.newest)[:10]}"
        yield f"{each.scope}\t{', '.join(held)}{newest}"
