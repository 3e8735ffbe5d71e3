"""Bytes to JSON values, one line or one entry of a list at a time, in bounded memory."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from memoranda.conversations.transcripts.items import Bad, Place

LONGEST_LINE = 16 << 20
LONGEST_ENTRY = 64 << 20
HEAD = 1 << 16
"""So much of the beginning of a transcript tells how to read it."""
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_REPLACED = "bytes that are not UTF-8 were replaced (said once)"
_CUT_OFF = "cut off"
_NO_JSON = "not JSON"
# Up to the next bracket, over whole strings; or up to a string whose end has not been read yet.
_TOKEN = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+(["\[\]{}])', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
_BETWEEN = b" \t\r\n,"


def without_mark(head: bytes) -> bytes:
    """The beginning of a file without the mark of its encoding."""
    return head.removeprefix(_BOM)


class Piece(NamedTuple):
    """The bytes of one value; None when they are too many."""

    number: int
    offset: int
    raw: bytes | None
    ended: bool
    """Whether more could not have belonged to it."""


class Record(NamedTuple):
    """One value that was read."""

    value: Any
    place: Place


def lines(stream: IO[bytes], *, stop: int | None = None) -> Iterator[Piece]:
    """The lines of a file that are not blank. With `stop`, as if the file had only so many bytes."""
    offset = number = 0
    while raw := stream.readline(_room(LONGEST_LINE + 1, offset, stop)):
        offset, number, ended = offset + len(raw), number + 1, raw.endswith(b"\n")
        too_long = len(raw) > LONGEST_LINE and not ended
        while too_long and not ended and (more := stream.readline(_room(_CHUNK, offset, stop))):
            offset, ended = offset + len(more), more.endswith(b"\n")
        text = (without_mark(raw) if number == 1 else raw).strip()
        if text:
            yield Piece(number, offset, None if too_long else text, ended)


def _room(most: int, offset: int, stop: int | None) -> int:
    return most if stop is None else min(most, stop - offset)


def entries(stream: IO[bytes]) -> Iterator[Piece]:
    """The entries of a JSON list, or JSON values that stand one after another, over any number of lines."""
    scanner = _Scanner()
    while chunk := stream.read(_CHUNK):
        yield from scanner.feed(chunk)
    yield from scanner.finish()


class _Scanner:
    """Finds where objects begin and end by counting brackets. Parses nothing."""

    def __init__(self) -> None:
        self._buffer = b""
        self._read = 0
        self._at = 0  # looked at up to here
        self._start = 0  # of the entry, or of what stands between two
        self._outside = 0  # how deep the entries stand: 1 in a list
        self._depth = 0
        self._in_string = False
        self._too_long = False
        self._number = 0

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        if self._read == 0:
            self._buffer = without_mark(chunk)
        else:
            self._buffer = self._buffer[self._start :] + chunk
            self._at -= self._start
            self._start = 0
        self._read += len(chunk)
        while token := self._edge():
            yield from self._open(token) if token in b"[{" else self._close(token)
        yield from self._let_go()

    def finish(self) -> Iterator[Piece]:
        if self._depth > self._outside:
            yield self._piece(len(self._buffer), ended=False)
        elif self._outside:
            self._depth = -1  # whatever stands there is the one thing that was cut off
            self._number += 1
            yield Piece(self._number, self._read, b"", ended=False)
        yield from self._between(len(self._buffer))

    def _edge(self) -> bytes:
        """The next bracket at which an entry, or the list, may begin or end; empty when more has to be read first."""
        while self._leave_string() and (token := _TOKEN.match(self._buffer, self._at)):
            self._at = token.end()
            if token[1] == b'"':
                self._in_string = True
            elif token[1] in b"[{":
                if self._depth == self._outside:
                    return token[1]
                self._depth += 1
            elif self._depth > self._outside + 1:
                self._depth -= 1
            else:
                return token[1]
        if not self._in_string:
            self._at = len(self._buffer)
        return b""

    def _leave_string(self) -> bool:
        """Go to the end of the string that was being read, if any; False when it is not there yet."""
        if self._in_string:
            rest = _REST_OF_STRING.match(self._buffer, self._at)
            assert rest is not None
            self._at, self._in_string = rest.end(), not rest[1]
        return not self._in_string

    def _open(self, token: bytes) -> Iterator[Piece]:
        yield from self._between(self._at - 1)
        if token == b"[" and not self._outside:
            self._outside = 1
            self._start = self._at
        else:
            self._start = self._at - 1
        self._depth += 1

    def _close(self, token: bytes) -> Iterator[Piece]:
        if self._depth > self._outside:
            self._depth -= 1
            yield self._piece(self._at, ended=True)
            self._start = self._at
        elif self._outside and token == b"]":
            yield from self._between(self._at - 1)
            self._outside = self._depth = 0
            self._start = self._at

    def _between(self, end: int) -> Iterator[Piece]:
        """What stands between two entries, when it is more than space and commas."""
        if self._depth == self._outside and (text := self._buffer[self._start : end].strip(_BETWEEN)):
            self._number += 1
            yield Piece(self._number, self._offset(end), text, ended=True)
            self._start = end

    def _piece(self, end: int, *, ended: bool) -> Piece:
        raw = None if self._too_long or end - self._start > LONGEST_ENTRY else self._buffer[self._start : end]
        self._number += 1
        self._too_long = False
        return Piece(self._number, self._offset(end), raw, ended)

    def _offset(self, end: int) -> int:
        return self._read - len(self._buffer) + end

    def _let_go(self) -> Iterator[Piece]:
        """Forget what cannot become an entry any more, so that memory is bounded; its end is still looked for."""
        if self._depth == self._outside:
            if self._at - self._start > HEAD:
                yield from self._between(self._at)
                self._start = self._at
        elif self._at - self._start > LONGEST_ENTRY:
            self._too_long = True
            self._start = self._at


def records(pieces: Iterable[Piece]) -> Iterator[Record | Bad]:
    """The values of pieces. That bytes had to be replaced is said once."""
    said = False
    for piece in pieces:
        if piece.raw is None:
            yield Bad(piece.number, "too long", piece.offset)
            continue
        text, replaced = _decoded(piece.raw)
        try:
            value = json.loads(text)
        except RecursionError:
            yield Bad(piece.number, "nested too deep", piece.offset)
        except ValueError:
            yield Bad(piece.number, _NO_JSON if piece.ended else _CUT_OFF, piece.offset)
        else:
            if replaced and not said:
                said = True
                yield Bad(piece.number, _REPLACED, piece.offset)
            yield Record(value, Place(piece.number, piece.offset))


def parsed(raw: bytes | None) -> Any:
    """The value of some bytes; None when there is none."""
    try:
        return json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None


def _decoded(raw: bytes) -> tuple[str, bool]:
    try:
        return raw.decode(), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True
