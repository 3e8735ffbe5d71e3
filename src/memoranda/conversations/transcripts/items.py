"""What a reader of transcripts gives: messages, what was left out and why, and what could not be read."""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import IO, Any, Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput
from memoranda.domain.message import Message, spread

Format = Literal["openai", "openclaw", "claude_code", "chatgpt"]
FORMATS: tuple[Format, ...] = get_args(Format)
Why = Literal["branch", "sidechain", "meta", "summary", "repeated", "empty", "record"]
"""`branch`: said, then taken back or tried again · `sidechain`: of another agent · `meta`: of the host in somebody's
name · `summary`: of the host's own compaction · `empty`: thinking only, or nothing · `record`: no message at all."""
Source = Callable[[], IO[bytes]]
"""Opens the transcript from its beginning; may be called twice. The reader closes what it opened."""
_LONGEST_NAME = 512


class Spoken(NamedTuple):
    """One message of a conversation. Its id is always set, and the same whenever the transcript is read."""

    conversation: str
    title: str
    message: Message
    number: int
    """The line that it stands in, from 1; in one JSON list the entry of it."""
    offset: int
    """How many bytes were read when it was found."""


class LeftOut(NamedTuple):
    """Something that was read and is no part of what was said."""

    why: Why
    messages: int
    """How many; lines of the host that are no messages are counted, too."""
    number: int
    offset: int


class Bad(NamedTuple):
    """A line, or an entry of a list, that could not be read as it stands."""

    number: int
    reason: str
    offset: int


Item = Spoken | LeftOut | Bad


class Place(NamedTuple):
    """Where in a transcript something stands."""

    number: int
    offset: int


def spoken(given: Mapping[str, Any], *, conversation: str, title: str, nth: int, place: Place) -> Iterator[Item]:
    """The messages in what a host has as one, the `nth` of its conversation."""
    try:
        found = _spread(given)
    except InvalidInput as error:
        yield Bad(place.number, str(error).removeprefix("message 0: "), place.offset)
        return
    for part, message in enumerate(found):
        name = message.id or _made_id(conversation, nth, part, message)
        yield Spoken(short(conversation), short(title), message._replace(id=name), *place)
    if not found:
        yield LeftOut("empty", 1, *place)


def _spread(given: Mapping[str, Any]) -> tuple[Message, ...]:
    """A time that cannot be read is no reason to lose what was said."""
    try:
        return spread([given])
    except InvalidInput:
        return spread([{name: value for name, value in given.items() if name not in ("at", "timestamp")}])


def short(text: Any) -> str:
    """A name that can be kept and shown; empty for what is no text."""
    if not isinstance(text, str):
        return ""
    return " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode().split())[:_LONGEST_NAME]


def _made_id(conversation: str, nth: int, part: int, message: Message) -> str:
    """The host gave it no name: where it stands and what it says are its name."""
    said = [conversation, nth, part, message.role, message.text, message.tool_calls, message.tool_call_id]
    return "made-" + blake2b(json.dumps(said).encode(), digest_size=12).hexdigest()
