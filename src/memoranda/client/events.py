"""Server-sent events: what a long piece of work tells while it goes on. Only the part that our server uses."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class TooLarge(Exception):
    """An event has more bytes than are taken."""


class Event(NamedTuple):
    """One event: what it is, and its text."""

    name: str
    data: str


def events(lines: Iterable[bytes], *, most: int) -> Iterator[Event]:
    """The events in these lines, each complete. Comments are skipped; an event that has not ended is none.

    `most` bounds the bytes of one event.
    """
    name, data, size = "", list[str](), 0
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield Event(name or "message", "\n".join(data))
            name, data, size = "", [], 0
            continue
        size += len(raw)
        if size > most:
            raise TooLarge
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
