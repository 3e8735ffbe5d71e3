"""Messages in the form of OpenAI's, which many hosts write: a list, one to a line, or whole conversations."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import islice
from typing import IO, Any

from memoranda.conversations.transcripts.items import Bad, Item, LeftOut, Place, Source, short, spoken
from memoranda.conversations.transcripts.pieces import HEAD, Piece, entries, lines, parsed, records, without_mark
from memoranda.domain.message import message_in

_NAMES = ("id", "conversation_id", "conversation", "session_id")


def read_openai(source: Source, *, name: str) -> Iterator[Item]:
    """A conversation without a name of its own has that of the transcript; the second of them is `name#2`."""
    said = alone = 0
    with source() as head:
        by_lines = _is_by_lines(head.read(HEAD))
    with source() as stream:
        for found in records(_pieces(stream, by_lines=by_lines)):
            if isinstance(found, Bad):
                yield found
                continue
            value, place = found
            several = value.get("messages") if isinstance(value, Mapping) else value
            if isinstance(several, list):
                alone += 1
                given = value if isinstance(value, Mapping) else {}
                here = _named(given) or (name if alone == 1 else f"{name}#{alone}")
                yield from _conversation(several, conversation=here, title=short(given.get("title")), place=place)
            else:
                said += 1
                yield from _message(value, conversation=name, title="", nth=said, place=place, what="no message")


def _conversation(several: list[Any], *, conversation: str, title: str, place: Place) -> Iterator[Item]:
    for nth, each in enumerate(several, start=1):
        what = f"no message at place {nth}"
        yield from _message(each, conversation=conversation, title=title, nth=nth, place=place, what=what)


def _message(given: Any, *, conversation: str, title: str, nth: int, place: Place, what: str) -> Iterator[Item]:
    message = message_in(given)
    if message is not None:
        yield from spoken(message, conversation=conversation, title=title, nth=nth, place=place)
    elif isinstance(given, Mapping) and ("role" in given or "type" in given):
        yield LeftOut("empty" if "role" in given else "record", 1, *place)
    else:
        yield Bad(place.number, what, place.offset)


def _named(value: Mapping[str, Any]) -> str:
    return next((found for key in _NAMES if (found := short(value.get(key)))), "")


def _pieces(stream: IO[bytes], *, by_lines: bool) -> Iterator[Piece]:
    return lines(stream) if by_lines else entries(stream)


def _is_by_lines(head: bytes) -> bool:
    """Whether values stand one to a line, judged by the first two: of one JSON over many lines, neither is a value."""
    first = [parsed(piece.raw) for piece in islice(lines(BytesIO(head)), 2)]
    if without_mark(head).lstrip().startswith(b"["):
        return len(first) == 2 and all(isinstance(each, list) for each in first)
    return len(first) < 2 or any(isinstance(each, dict) for each in first)
