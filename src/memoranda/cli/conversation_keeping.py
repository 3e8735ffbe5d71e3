"""Keeping what was said: `conversation append` and `conversation import`."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from memoranda.cli.actions import show
from memoranda.cli.conversation_lines import compaction_line
from memoranda.cli.output import Output
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.errors import InvalidInput, MemorandaError, NotFound, Refused
from memoranda.domain.message import ROLES, message_in
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda.service.transcript_import import Imported

_FORMATS = ("auto", "openai", "openclaw", "claude_code", "chatgpt")
_SHAPES = 'Messages are [{"role": "user", "content": "..."}], or one such object to a line.'
_ELSEWHERE = "For the transcript of another host, `memoranda conversation import FILE` knows more."
_NOTHING_READ = 2


def add_append(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="of a conversation; a new one is made")
    command.add_argument("--text", help="what was said; - reads standard input. Without it, messages are read as JSON")
    command.add_argument("--role", choices=ROLES, help="who said it (default user)")
    command.add_argument("--speaker", default="", help="their name")
    command.add_argument("--id", default="", help="the host's own id: the same one is kept once")
    command.add_argument("--at", metavar="DATE", help="when (default now)")
    command.add_argument("--no-compact", action="store_true", help="sum nothing up, though it may be due")


def add_import(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", metavar="FILE", nargs="+", help="transcripts of other hosts")
    command.add_argument("--format", choices=_FORMATS, default="auto", help="default: told from the file")
    command.add_argument("--name", default="", help="put all of it into this conversation")


# -- append --


def append(arguments: argparse.Namespace, output: Output) -> None:
    messages = _messages(arguments)
    with open_memory(arguments, create=True) as memory:
        appended = memory.conversations.append(messages, conversation=arguments.name, compact=not arguments.no_compact)
    receipt = appended.receipt
    if not receipt.stored:
        lines = [f"{receipt.conversation} is private: nothing was kept"]
    else:
        known = f", {receipt.known} known already" if receipt.known else ""
        kept = f"kept {so_many(receipt.added, 'message')} in {receipt.conversation}{known}"
        lines = [f"{kept}; {receipt.tokens:,} tokens active"]
        lines += [] if receipt.compaction is None else [compaction_line(receipt.compaction)]
    show(output, appended.as_json(), lines)
    if receipt.redacted and not output.as_json:
        output.note(f"secrets or private words were left out of {so_many(receipt.redacted, 'message')}")


def _messages(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    own = {"role": arguments.role, "speaker": arguments.speaker, "id": arguments.id, "at": arguments.at}
    if arguments.text is not None:
        text = read_text(arguments.text)
        if not text.strip():
            raise InvalidInput("there is no text", hint="Say what was said: --text 'The lamp is on.'")
        return [
            {**{key: value for key, value in own.items() if value}, "role": arguments.role or "user", "content": text}
        ]
    given = sorted(f"--{name}" for name, value in own.items() if value)
    if given:
        raise InvalidInput(f"{given[0]} belongs to --text", hint="Give --text too, or leave it out and pass JSON.")
    return messages_in(read_text("-"))


def messages_in(text: str) -> list[dict[str, Any]]:
    """A list of messages, an object that has one, or one to a line. All of them, or an error: nothing is guessed."""
    if not text.strip():
        raise InvalidInput("standard input is empty", hint=f"{_SHAPES} Or say it with --text.")
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise InvalidInput("this JSON is nested too deep", hint=_SHAPES) from error
    except ValueError:
        return [_message(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    several = found if isinstance(found, list) else [found]
    return [_checked(each, f"message {place}") for place, each in enumerate(several)]


def _message(number: int, line: str) -> dict[str, Any]:
    try:
        return _checked(json.loads(line), f"line {number}")
    except (ValueError, RecursionError) as error:
        if isinstance(error, MemorandaError):
            raise
        raise InvalidInput(f"line {number} is not JSON; nothing was kept", hint=_SHAPES) from error


def _checked(found: Any, where: str) -> dict[str, Any]:
    message = message_in(found)
    if message is None:
        raise InvalidInput(f"{where} is no message; nothing was kept", hint=f"{_SHAPES} {_ELSEWHERE}")
    return message


# -- import --


def import_files(arguments: argparse.Namespace, output: Output) -> int:
    """Bad lines do not fail an import: they are told by number. A file of which nothing could be read does."""
    from memoranda.cli.app import exit_code
    from memoranda.cli.output import progress

    code = 0
    files: list[dict[str, Any]] = []
    with open_memory(arguments, create=True) as memory:
        for nth, file in enumerate(arguments.files, start=1):
            try:
                # No name of a file: a terminal would obey what is in it.
                with progress(f"reading {nth} of {len(arguments.files)}") as tell:
                    done = memory.conversations.import_transcript(
                        file, format=arguments.format, conversation=arguments.name, progress=tell
                    )
            except (InvalidInput, NotFound, Refused) as error:
                code = code or exit_code(error)
                told = {"name": type(error).__name__, "message": str(error), "hint": error.hint}
                files.append({"file": file, "error": told})
                if not output.as_json:
                    output.error(type(error).__name__, str(error), error.hint)
                continue
            if done.bad_total and not (done.added or done.known or done.private or done.left_out):
                code = code or _NOTHING_READ
            files.append({"file": file, **done.as_json()})
            _tell(output, file, done)
    show(output, {"files": files}, ())
    return code


def _tell(output: Output, file: str, done: "Imported") -> None:
    if output.as_json:
        return
    known = f", {done.known} known already" if done.known else ""
    private = f", {done.private} private and not kept" if done.private else ""
    show(
        output,
        None,
        [f"{file} ({done.format}): kept {so_many(done.added, 'message')}{known}{private} in {_named(done)}"],
    )
    if done.left_out:
        output.note(f"{file}: left out " + ", ".join(f"{why} {count}" for why, count in done.left_out.items()))
    for number, reason in done.bad:
        output.note(f"{file}:{number}: {reason}")
    if done.bad_total:
        also = f"; the first {len(done.bad)} are shown" if done.bad_total > len(done.bad) else ""
        output.note(f"{file}: {so_many(done.bad_total, 'line')} skipped that could not be read{also}")


def _named(done: "Imported") -> str:
    count = len(done.conversations)
    return done.conversations[0] if count == 1 else f"{count} conversations"
