"""Commands after a turn: capture what should be kept of it, and review what waits for a yes."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import SHORT_ID, Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.candidate import CAPTURE_MODES
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.message import message_in
from memoranda.domain.results import Captured, Changed

if TYPE_CHECKING:
    from memoranda import LongTermMemory
    from memoranda.service.review import Review, Waiting

_PAGE = 1_000
_SHAPES = 'Messages are [{"role": "user", "content": "..."}], one such object, or one to a line.'
_WAITING = "waiting: it is not shown until somebody says yes; `memoranda review` lists it and says why"
_NEXT = {
    "secret": 'keep it in a password manager and remember where; to keep it here, set secrets = "allow"',
    "injection": 'it looks written to steer a model; set injection = "quarantine" to decide in `memoranda review`',
    "private": "it was marked so; take out <private> or [NOMEM] to have it kept",
    "too long": "say it in fewer words, or `memoranda remember` it as it is",
    "not looked at": "only the newest part of so much is looked at; hand the rest over in smaller parts",
    "erased": "it was erased before; to have it again, say `memoranda remember ... --even-if-erased`",
}


def _add_capture(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="messages as JSON, one to a line or all together, or plain text; - reads stdin",
    )
    command.add_argument("--user", metavar="TEXT", help="what the user said, instead of a file")
    command.add_argument(
        "--conversation", metavar="NAME", default="", help="what was seen of it before is not seen again"
    )
    command.add_argument("--speaker", metavar="NAME", default="", help="who the user is")
    command.add_argument("--mode", choices=CAPTURE_MODES, help="what is kept unasked (default: capture_mode)")
    command.add_argument("--kind", default="", help="what sort of session; of cron or heartbeat nothing is kept")
    command.set_defaults(run=_capture)


def _add_review(command: argparse.ArgumentParser) -> None:
    add_actions(
        command,
        {
            "list": Action("what waits, and why", nothing_more, _list),
            "accept": Action("it may speak; what it corrects is superseded", _add_chosen, _accept),
            "reject": Action("it is forgotten, and not taken again unasked", _add_chosen, _reject),
            "clear": Action("reject everything that waits", nothing_more, _clear),
        },
    )


def _add_chosen(command: argparse.ArgumentParser) -> None:
    command.add_argument("ids", metavar="ID", nargs="*", help="an id, or its first characters")
    command.add_argument("--all", action="store_true", help="everything that waits")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "capture": ("keep what a turn shows should be kept", _add_capture),
    "review": ("what was captured and waits for a yes", _add_review),
}


# -- capture --


def _capture(arguments: argparse.Namespace, output: Output) -> None:
    messages = _messages(arguments)
    with open_memory(arguments, create=True) as memory:
        captured = memory.capture(
            messages,
            conversation=arguments.conversation,
            speaker=arguments.speaker,
            mode=arguments.mode,
            kind=arguments.kind,
        )
    show(output, captured.as_json(), _captured(captured))
    for each in () if output.as_json else (*_next_steps(captured), *captured.receipt.degraded):
        output.note(each)


def _messages(arguments: argparse.Namespace) -> Sequence[Any]:
    if arguments.user is not None:
        if arguments.file is not None:
            raise InvalidInput("both a file and --user were given", hint="Give one of them.")
        return [{"role": "user", "content": _said(arguments.user, "--user")}]
    return messages_in(_said(_read(arguments.file or "-"), arguments.file or "standard input"))


def _said(text: str, where: str) -> str:
    if not text.strip():
        what = "standard input" if where == "-" else where
        raise InvalidInput(f"{what} is empty", hint="Give what was said: memoranda capture --user 'I prefer tea.'")
    return text


def _read(file: str) -> str:
    hint = "Give a file with messages or text, or - and the same on standard input."
    if file == "-":
        return read_text("-")
    try:
        return Path(file).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file}", hint=hint) from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", hint=hint) from error


def messages_in(text: str) -> Sequence[Any]:
    """A list of messages, an object that has one, one message, or one to a line; anything else is what a user said."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        found = _by_lines(text)
        if found is None and text.lstrip().startswith(('{"', '[{"')):
            raise InvalidInput("this begins like JSON, but is none", hint=_SHAPES) from error
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    elif isinstance(found, dict) and (message := message_in(found)) is not None:
        found = [message]
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    return [{"role": "user", "content": text}]


def _by_lines(text: str) -> list[dict[str, Any]] | None:
    """The messages of lines that are JSON objects, each; None when one is not, or none has a message."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(line, dict) for line in lines):
        return None
    return [message for message in map(message_in, lines) if message is not None] or None


def _captured(captured: Captured) -> Iterator[str]:
    receipt = captured.receipt
    for each in captured.remembered:
        if each.id in receipt.waiting:
            what = "waits"
        elif each.receipt.outcome == "reinforced":
            what = "known"
        else:
            what = "kept"
        also = f", supersedes {each.receipt.superseded[:SHORT_ID]}" if each.receipt.superseded else ""
        yield f"{what} {each.id[:SHORT_ID]} [{each.memory.kind}] {each.memory.text}{also}"
    if not captured.remembered:
        yield f"(nothing to keep in {receipt.new} of {receipt.messages} messages)"
    if receipt.refused:
        yield "not kept: " + ", ".join(f"{reason} {number}" for reason, number in receipt.refused.items())


def _next_steps(captured: Captured) -> Iterator[str]:
    """What a person can do about what was not kept."""
    receipt = captured.receipt
    for reason, step in _NEXT.items():
        if reason in receipt.refused:
            yield f"{reason}: {step}"
    if receipt.waiting:
        yield _WAITING


# -- review --


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        found = list(_waiting(memory))
    shown = [{"why": each.why, "supersedes": each.supersedes, "memory": each.memory.as_json()} for each in found]
    show(output, {"total": len(found), "waiting": shown}, _lines(found))


def _lines(found: "Sequence[Waiting]") -> Iterator[str]:
    for each in found:
        also = f", would supersede {each.supersedes[:SHORT_ID]}" if each.supersedes else ""
        yield f"{each.id[:SHORT_ID]} [{each.memory.kind}] {each.memory.text} ({each.why}{also})"
    if not found:
        yield "(nothing waits)"


def _accept(arguments: argparse.Namespace, output: Output) -> None:
    _decide(arguments, output, lambda review, identity: review.accept(identity))


def _reject(arguments: argparse.Namespace, output: Output) -> None:
    _decide(arguments, output, lambda review, identity: review.reject(identity))


def _clear(arguments: argparse.Namespace, output: Output) -> None:
    arguments.ids, arguments.all = [], True
    _reject(arguments, output)


def _decide(arguments: argparse.Namespace, output: Output, decide: "Callable[[Review, str], Changed]") -> None:
    if bool(arguments.ids) == arguments.all:
        raise InvalidInput("say which: ids, or --all", hint="`memoranda review` lists what waits.")
    with open_memory(arguments) as memory:
        chosen = [each.id for each in _waiting(memory)] if arguments.all else arguments.ids
        changed = [decide(memory.review, identity) for identity in chosen]
    show(
        output,
        [{"memory": each.memory.as_json(), "receipt": each.receipt.as_json()} for each in changed],
        [f"{each.receipt.action} {each.id[:SHORT_ID]} ({each.memory.trust}, {each.memory.state})" for each in changed],
    )


def _waiting(memory: "LongTermMemory") -> "Iterator[Waiting]":
    """Everything that waits, newest first; read before anything is decided."""
    from memoranda.service.review import waiting

    at = 0
    while page := memory.review.list(limit=_PAGE, offset=at):
        yield from map(waiting, page)
        at += len(page)
