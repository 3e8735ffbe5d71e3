"""JSON of any size, one record at a time: a list, an object that holds lists of records, or values one after another.

Records are found by counting brackets, so that one that is broken does not take the others with it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from memoranda.domain.importing import Unread
from memoranda.importers.files import HEAD

LONGEST_RECORD = 8 << 20
"""One that is longer is no memory, and to parse it would cost a machine its memory."""
_CHUNK = 1 << 20
_NAME_WITHIN = 512
_BOM = b"\xef\xbb\xbf"
_BETWEEN = b" \t\r\n,"
# Up to the next bracket, over whole strings; or up to a string whose end has not been read yet.
_PLAIN = rb'[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(rb'(?:%s)*+(["\[\]{}])' % _PLAIN, re.DOTALL)
# The same inside of a record, where what is opened and closed at once need not be looked at.
_TOKEN_WITHIN = re.compile(rb'(?:%s|[\[{](?:%s)*+[\]}])*+(["\[\]{}]?)' % (_PLAIN, _PLAIN), re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
_NAME = re.compile(rb'"(\w+)"\s*:\s*\Z')


class Readable(Protocol):
    """Bytes that come piece by piece."""

    def read(self, size: int, /) -> bytes: ...


class Record(NamedTuple):
    """One object, where it stands, and the name of the list it is in; empty for a list without a name."""

    value: Mapping[str, Any]
    place: str
    under: str


def records(stream: Readable, *, under: tuple[str, ...], within: str = "") -> Iterator[Record | Unread]:
    """Every object of a file, or of the lists in it that are called `under`. `within` names the file in places."""
    for piece in _pieces(stream, under):
        place = " ".join(filter(None, [within, piece.under or "record", str(piece.number)]))
        if piece.raw is None:
            yield Unread(place, f"longer than {LONGEST_RECORD >> 20} MB")
            continue
        value = parsed(piece.raw)
        if isinstance(value, Mapping):
            yield Record(value, place, piece.under)
        elif not piece.ended:
            yield Unread(place, "cut off")
        else:
            yield Unread(place, "not JSON" if value is None else "not an object")


def parsed(raw: bytes) -> Any:
    """The value of some bytes; None when there is none. Bytes that are no UTF-8 are replaced."""
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


class _Piece(NamedTuple):
    number: int
    under: str
    raw: bytes | None
    ended: bool


def _pieces(stream: Readable, under: tuple[str, ...]) -> Iterator[_Piece]:
    finder = _Finder(tuple(name.encode() for name in under))
    while chunk := stream.read(_CHUNK):
        yield from finder.feed(chunk)
    yield from finder.finish()


class _Finder:
    """Finds where records begin and end. Parses nothing."""

    def __init__(self, under: tuple[bytes, ...]) -> None:
        self._names = under
        self._buffer = b""
        self._first = True
        self._at = 0  # looked at up to here
        self._start = 0  # of the record, or of what stands between two
        self._depth = 0
        self._listed = 0  # how deep the records of a list stand; 0 outside of any list
        self._around = False  # whether the object that was opened is no record, but holds lists of them
        self._under = b""
        self._in_string = False
        self._too_long = False
        self._number = 0

    def feed(self, chunk: bytes) -> Iterator[_Piece]:
        if self._first:
            chunk, self._first = chunk.removeprefix(_BOM), False
        self._buffer = self._buffer[self._start :] + chunk
        self._at -= self._start
        self._start = 0
        while bracket := self._bracket():
            yield from self._open(bracket) if bracket in b"[{" else self._close()
            self._go_deep()
        self._let_go()

    def finish(self) -> Iterator[_Piece]:
        if self._in_record():
            yield self._piece(len(self._buffer), ended=False)
        elif self._depth:  # a list, or the object around it, that was never closed
            self._start = len(self._buffer)
            yield self._piece(self._start, ended=False)
        else:
            yield from self._between(len(self._buffer))

    def _bracket(self) -> bytes:
        """The next one, of any depth; empty when more has to be read first."""
        while self._leave_string() and (token := _TOKEN.match(self._buffer, self._at)):
            self._at = token.end()
            if token[1] != b'"':
                return token[1]
            self._in_string = True
        if not self._in_string:
            self._at = len(self._buffer)
        return b""

    def _go_deep(self) -> None:
        """Inside of a record a bracket is a level more or less: go on to the one that may end it, or to where more has
        to be read first."""
        floor = max(self._listed, 1) + 1
        depth, at, buffer = self._depth, self._at, self._buffer
        while depth >= floor and (token := _TOKEN_WITHIN.match(buffer, at)):
            at, bracket = token.end(1), token[1]
            if not bracket:
                break
            if bracket == b'"' or (depth == floor and bracket in b"]}"):
                at -= 1
                break
            depth += 1 if bracket in b"[{" else -1
        self._depth, self._at = depth, at

    def _leave_string(self) -> bool:
        """Go to the end of the string that was being read, if any; False when it is not there yet."""
        if self._in_string:
            rest = _REST_OF_STRING.match(self._buffer, self._at)
            assert rest is not None
            self._at, self._in_string = rest.end(), not rest[1]
        return not self._in_string

    def _in_record(self) -> bool:
        return self._depth > self._listed and not (self._around and not self._listed)

    def _open(self, bracket: bytes) -> Iterator[_Piece]:
        here = self._at - 1
        if self._depth == self._listed:
            yield from self._between(here)
            self._start = here
            if bracket == b"[" and not self._depth:
                self._listed, self._start = 1, self._at
        elif bracket == b"[" and self._depth == 1 and not self._listed and (name := self._name(here)):
            self._around, self._listed, self._under = True, 2, name
            self._start, self._too_long, self._number = self._at, False, 0
        self._depth += 1

    def _name(self, here: int) -> bytes:
        """What the list that begins here is called, if it is one of those that are looked for."""
        found = _NAME.search(self._buffer[max(self._start, here - _NAME_WITHIN) : here])
        return found[1] if found and found[1] in self._names else b""

    def _close(self) -> Iterator[_Piece]:
        if not self._depth:
            return  # a bracket too many: it is told as what stands between two records
        self._depth -= 1
        if self._listed and self._depth == self._listed - 1:
            yield from self._between(self._at - 1)
            self._listed, self._under, self._start = 0, b"", self._at
        elif self._depth == self._listed:
            if self._around and not self._listed:
                self._around = False
            else:
                yield self._piece(self._at, ended=True)
            self._start = self._at

    def _between(self, end: int) -> Iterator[_Piece]:
        """What stands between two records, when it is more than space and commas."""
        if text := self._buffer[self._start : end].strip(_BETWEEN):
            self._number += 1
            yield _Piece(self._number, self._under.decode(), text, ended=True)
            self._start = end

    def _piece(self, end: int, *, ended: bool) -> _Piece:
        long = self._too_long or end - self._start > LONGEST_RECORD
        self._number += 1
        self._too_long = False
        return _Piece(self._number, self._under.decode(), None if long else self._buffer[self._start : end], ended)

    def _let_go(self) -> None:
        """Forget what cannot become a record any more, so that memory is bounded. A name may still be needed."""
        if self._at - self._start > (LONGEST_RECORD if self._in_record() else HEAD):
            self._too_long = self._in_record()
            self._start = max(self._start, self._at - _NAME_WITHIN)
