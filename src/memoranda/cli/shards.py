"""The command `shards`: several stores that share the scopes among them, and which of them keeps one."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import Output
from memoranda.cli.store import settings_of
from memoranda.config import Settings
from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import ConfigError
from memoranda.domain.scope import Scope
from memoranda.domain.shards import ShardMap, ShardStatus, root_of
from memoranda.domain.text import so_many


def _add_where(command: argparse.ArgumentParser) -> None:
    command.add_argument("of", metavar="SCOPE", nargs="+", help="a scope, such as home/anna")


def _add_adopt(command: argparse.ArgumentParser) -> None:
    command.add_argument("--drop", action="store_true", help="the list is shorter on purpose: nothing is in the others")


def _add(command: argparse.ArgumentParser) -> None:
    add_actions(
        command,
        {
            "status": Action("each shard, what it keeps, and whether it belongs here", nothing_more, _status),
            "where": Action("which shard keeps a scope; nothing is opened", _add_where, _where),
            "adopt": Action(
                "let all stores belong to the list as it is set now",
                _add_adopt,
                _adopt,
                more="After the list of shards was changed on purpose, while nobody else uses them. Refused when a "
                "store keeps a root that the new list gives to another, or when the list has become shorter: stores "
                "that it leaves out are not looked at.",
            ),
        },
    )


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "shards": ("several stores that share the scopes: status, where, adopt", _add),
}


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = settings_of(arguments)
    if not settings.shards:
        raise ConfigError(
            "no shards are set", hint='Write shards = ["ADDRESS", "ADDRESS"] into config.toml, or MEMORANDA_SHARDS.'
        )
    return settings


def _status(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.service.sharding import statuses

    return _shown(statuses(_settings(arguments), SystemClock()), output)


def _where(arguments: argparse.Namespace, output: Output) -> None:
    kept = ShardMap.of(_settings(arguments).shards)
    found = [(Scope(each), kept.of_scope(Scope(each))) for each in arguments.of]
    show(
        output,
        [
            {"scope": scope.path, "root": root_of(scope.path), "place": shard.place, "address": shard.shown}
            for scope, shard in found
        ],
        (f"{scope}\tshard {shard.place}\t{shard.shown}" for scope, shard in found),
    )


def _adopt(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.service.sharding import adopt

    return _shown(adopt(_settings(arguments), SystemClock(), drop=arguments.drop), output)


def _shown(statuses: Sequence[ShardStatus], output: Output) -> int:
    show(output, [each.as_json() for each in statuses], _lines(statuses))
    return 0 if all((each.fits or each.unused) and not each.strays for each in statuses) else 6


def _lines(statuses: Sequence[ShardStatus]) -> Iterator[str]:
    for each in statuses:
        if each.trouble:
            yield f"shard {each.place}\t{each.address}\tdoes not answer: {each.trouble}"
            continue
        counted = f"{so_many(each.roots, 'root')}, {so_many(each.memories, 'memory')}, {each.live:,} live"
        told = "" if each.fits else f"\t{_unfit(each)}"
        strays = f"\tkeeps what is another's: {', '.join(each.strays)}" if each.strays else ""
        yield f"shard {each.place}\t{each.address}\t{counted}{told}{strays}"


def _unfit(each: ShardStatus) -> str:
    return "not used yet" if each.unused else "does not belong to this list; if it should: memoranda shards adopt"
