"""The command `token`: whom a server lets in. For the person at the machine, who may let in anybody."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from memoranda import config
from memoranda.cli.actions import Action, add_actions, show
from memoranda.cli.output import Output
from memoranda.domain.access import ROLES, Token
from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.scope import Scope

if TYPE_CHECKING:
    from memoranda.service.store import Store


def _add_create(command: argparse.ArgumentParser) -> None:
    command.add_argument("--role", choices=ROLES, default="writer", help="what it may do (default writer)")
    command.add_argument("--everywhere", action="store_true", help="for every scope of the store, in place of --scope")
    command.add_argument("--above", action="store_true", help="also show it what is kept above its scope")
    command.add_argument("--name", default="", help="whom it is for; written beside what is done with it")
    command.add_argument("--days", type=int, metavar="N", help="for so many days (default: until it is revoked)")
    command.add_argument("--quiet", action="store_true", help="print the token and nothing else")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--good", action="store_true", help="without those that were revoked or have expired")


def _add_revoke(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID", help="the eight characters behind mem_")


def _create(arguments: argparse.Namespace, output: Output) -> None:
    scope = _scope(arguments)
    with _open_store(arguments, create=True) as store:
        made = store.tokens.create(
            name=arguments.name, role=arguments.role, scope=scope, above=arguments.above, days=arguments.days
        )
    if arguments.quiet and not output.as_json:
        output.line(made.secret)
        return
    show(output, made.as_json(), [_told(made.token), made.secret])
    if not output.as_json:
        output.note("keep it now: it is not shown again, and the store has only its hash")


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with _open_store(arguments) as store:
        now = store.clock.now()
        # What the environment says is where to read and write; here, everybody who is let in is to be seen.
        listed = store.tokens.list(below="" if arguments.scope is None else Scope(arguments.scope).path)
    found = [token for token in listed if token.is_good_at(now) or not arguments.good]
    lines = [_line(token, now) for token in found]
    show(output, {"tokens": [token.as_json() for token in found]}, lines or ["(none)"])


def _revoke(arguments: argparse.Namespace, output: Output) -> None:
    with _open_store(arguments) as store:
        revoked = store.tokens.revoke(arguments.id)
    token, others = revoked
    told = [f"revoked {token.id} ({_reach(token)}); servers see it with the next request"]
    if others:
        told.append(f"and {len(others)} that were made with it: {', '.join(others)}")
    show(output, revoked.as_json(), told)


def _scope(arguments: argparse.Namespace) -> str:
    """The scope of the token: never every scope because none was given."""
    if arguments.everywhere:
        if arguments.scope is not None:
            raise InvalidInput("--everywhere and --scope exclude one another", hint="Give the one that you mean.")
        return ""
    chosen = arguments.scope if arguments.scope is not None else config.load().scope
    if not chosen:
        raise InvalidInput(
            "a scope is needed: what the token reaches",
            hint="Pass --scope bot-1, or --everywhere for every scope of the store.",
        )
    return chosen


def _open_store(arguments: argparse.Namespace, *, create: bool = False) -> "Store":
    from memoranda.service.store import Store

    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    settings = config.load({"store": arguments.store, "follow": False, "limit_threads": False})
    path = settings.store_path()
    here = settings.store_address() is None and not settings.shards
    if here and not create and not path.exists():
        raise NotFound(f"there is no store at {path}", hint="`memoranda token create` makes one; or check --store.")
    return Store.open(settings=settings)


def _reach(token: Token) -> str:
    above = ", and sees what is above" if token.above else ""
    return f"{token.role} of {f'{token.scope} and below' if token.scope else 'every scope'}{above}"


def _told(token: Token) -> str:
    until = "until it is revoked" if token.expires_at is None else f"until {iso(token.expires_at)[:16]}Z"
    called = f" {token.name}" if token.name else ""
    return f"token {token.id}{called}: {_reach(token)}; {until}"


def _line(token: Token, now: int) -> str:
    state = "good" if token.is_good_at(now) else "expired" if token.revoked_at is None else "revoked"
    used = "never used" if token.last_used_at is None else f"used {iso(token.last_used_at)[:16]}Z"
    ends = "" if token.expires_at is None else f"until {iso(token.expires_at)[:16]}Z"
    return "\t".join((token.id, state, _reach(token), token.name, used, ends)).rstrip()


_ACTIONS = {
    "list": Action("who is let in, and who was", _add_list, _list),
    "create": Action(
        "let somebody in",
        _add_create,
        _create,
        "Makes a token for --scope and the scopes below it. It is shown once: the store keeps only its hash.",
    ),
    "revoke": Action("let somebody in no longer", _add_revoke, _revoke),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "token": (
        "whom a server lets in: list, create, revoke",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
