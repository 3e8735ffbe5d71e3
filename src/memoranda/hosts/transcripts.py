"""Transcripts: messages one to a line, as JSON. Hosts such as Claude Code keep them and pass their path.

The path comes from a host, so that it is confined: a regular file whose name ends in `.jsonl`, inside the home folder
or the folder for temporary files once links are followed. Of a long one the newest part is read.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput, NotFound, Refused
from memoranda.domain.message import message_in

MOST_BYTES = 16 << 20
MOST_MESSAGES = 2_048
_SUFFIX = ".jsonl"
_SAID = ("user", "assistant")
_IRREGULAR = "`transcript_path` is not a regular file"
_HINT = "docs/guides/around-a-turn.md says which transcripts are read."
# What Codex notes beside what it sends to its model: who said what, without what the host itself put in.
_CODEX_ITEMS = {"UserMessage": "user", "AgentMessage": "assistant"}
_CODEX_OLDER = {"user_message": "user", "agent_message": "assistant"}


def messages_at(path: Any) -> list[dict[str, Any]]:
    """The newest messages of a transcript, in their order. Lines that are none are left out."""
    return newest(_tail(_confined(path)).splitlines())


def newest(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages of these lines, those of tools too, as much as anybody looks at."""
    found: list[dict[str, Any]] = []
    for line in reversed(list(lines)):
        parsed = _parsed(line)
        message = message_in(parsed) or _codex_message(parsed)
        if message is not None and isinstance(message.get("content"), str | list | None):
            found.append(message)
            if len(found) == MOST_MESSAGES:
                break
    return found[::-1]


def said(messages: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of these, what users and assistants said."""
    return [each for each in messages if each["role"] in _SAID and each.get("content") is not None]


def _codex_message(line: Any) -> dict[str, Any] | None:
    payload = line.get("payload") if isinstance(line, Mapping) and line.get("type") == "event_msg" else None
    if not isinstance(payload, Mapping):
        return None
    item = payload.get("item")
    if payload.get("type") == "item_completed" and isinstance(item, Mapping):
        role, said, name = _CODEX_ITEMS.get(str(item.get("type"))), _codex_words(item.get("content")), item.get("id")
    else:
        role, said, name = _CODEX_OLDER.get(str(payload.get("type"))), payload.get("message"), ""
    if role is None or not isinstance(said, str):
        return None
    named = name if isinstance(name, str) else ""
    return {"role": role, "content": said, "timestamp": line.get("timestamp"), "id": named}


def _codex_words(content: Any) -> str | None:
    if not isinstance(content, list):
        return None
    texts = [each.get("text") for each in content if isinstance(each, Mapping)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None  # half written, or cut


# -- the file --


def _confined(given: Any) -> Path:
    import tempfile

    if not isinstance(given, str) or not given.strip() or "\0" in given:
        raise InvalidInput("`transcript_path` is not a path", hint=_HINT)
    try:
        asked = Path(given).expanduser()
        path = asked.resolve(strict=True)
        homes = [Path.home().resolve(), Path(tempfile.gettempdir()).resolve()]
    except FileNotFoundError as error:
        raise NotFound("there is no transcript at `transcript_path`", hint=_HINT) from error
    except (OSError, RuntimeError) as error:
        raise InvalidInput("`transcript_path` cannot be followed", hint=_HINT) from error
    # A home that is the root of everything confines nothing.
    inside = any(path.is_relative_to(home) for home in homes if home != Path(home.anchor))
    if not asked.is_absolute() or not inside or path.suffix != _SUFFIX:
        what = f"`transcript_path` is no {_SUFFIX} file inside the home folder or the folder for temporary files"
        raise Refused(what, hint=_HINT)
    if not path.is_file():
        raise Refused(_IRREGULAR, hint=_HINT)
    return path


def _tail(path: Path) -> bytes:
    """The newest part of a regular file, from the beginning of a line."""
    import os
    import stat

    try:
        # Neither a link nor a pipe that was put there since can be followed or hang.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refused(_IRREGULAR, hint=_HINT)
            start = max(0, status.st_size - MOST_BYTES)
            file.seek(start)
            raw = file.read(MOST_BYTES)
    except OSError as error:
        raise InvalidInput("the transcript cannot be read", hint=_HINT) from error
    return raw if start == 0 else raw.partition(b"\n")[2]
