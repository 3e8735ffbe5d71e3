"""Reading a document as it is now. Only what is one is read, and nothing that took its place meanwhile.

Every folder on the way is opened without following links, and the file is looked at again once it is open: what was
swapped for a link, a pipe or a device after it was looked at is refused, and nothing waits for it.
"""

import codecs
import errno
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from memoranda.documents.lines import lines_of
from memoranda.documents.scan import Limits, Located, located, unfit
from memoranda.documents.wanted import DEFAULT_PATTERNS
from memoranda.domain.document import Excerpt, FileSeen
from memoranda.domain.errors import InvalidInput, NotFound, Refused

MOST_LINES = 200
MOST_CHARACTERS = 20_000
CUT = " […]"
"""Stands where the rest of a line is left out that is longer than an excerpt may be."""
_CITATION = re.compile(r"(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?")
_PROBED = 4_096
_UNREADABLE_SHARE = 1 / 3
_HAS_FOLDER_HANDLES = os.open in os.supports_dir_fd
_SAFELY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_SWAPPED = "Something else took its place; look at the folder, then call again."


class Document(NamedTuple):
    """The whole of a document, and the file that it was read from."""

    text: str
    file: FileSeen
    is_exact: bool = True
    """Whether every byte of it is text; what is not stands as a replacement sign."""


def read_excerpt(
    root: str,
    path: str,
    *,
    patterns: tuple[str, ...] = DEFAULT_PATTERNS,
    limits: Limits | None = None,
    from_line: int | None = None,
    lines: int | None = None,
    most_characters: int = MOST_CHARACTERS,
    screen: Callable[[str], str] = lambda text: text,
) -> Excerpt:
    """Some lines of a document; empty when there is no such file, or no such line.

    `path` is relative to the root, or a citation such as `memory/a.md#L10-L15`, which says which lines. `screen` gives
    the document as it may be shown, and does not change how many lines it has.
    """
    path, from_line, lines = _asked(path, from_line, lines)
    if from_line < 1 or lines < 1 or most_characters < 1:
        raise InvalidInput("lines are counted from 1, and at least one is read", hint="Give from 1 or more.")
    place = located(root, path, patterns, limits=limits)
    try:
        found = _contents(place, limits or Limits())
    except NotFound:
        return Excerpt("", place.path, from_line)
    every = lines_of(screen(_decoded(found[0])[0]))
    shown: list[str] = []
    left = most_characters
    for line in every[from_line - 1 : from_line - 1 + min(lines, MOST_LINES)]:
        if len(line) > left and shown:
            break
        shown.append(line if len(line) <= left else line[:left] + CUT)
        left -= len(line) + 1
    after = from_line + len(shown)
    return Excerpt("\n".join(shown), place.path, from_line, after if shown and after <= len(every) else None)


def read_document(
    root: str, path: str, *, patterns: tuple[str, ...] = DEFAULT_PATTERNS, limits: Limits | None = None
) -> Document:
    """A whole document. NotFound when it is gone, Refused when it is none or is not text."""
    place = located(root, path, patterns, limits=limits)
    data, found = _contents(place, limits or Limits())
    text, is_exact = _decoded(data)
    probe = text[:_PROBED]
    if probe.count("\ufffd") > len(probe) * _UNREADABLE_SHARE:
        raise Refused("this is not text in UTF-8 or UTF-16", hint="Save it as UTF-8.")
    return Document(text, FileSeen(place.path, found.st_size, found.st_mtime_ns, found.st_ino), is_exact)


def _decoded(data: bytes) -> tuple[str, bool]:
    """Bytes as text, and whether all of them are: UTF-8, or UTF-16 when they begin with its mark."""
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_utf16 else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode(encoding, errors="replace").replace("\0", "\ufffd"), False
    return text.replace("\0", "\ufffd"), "\0" not in text


def _asked(path: str, from_line: int | None, lines: int | None) -> tuple[str, int, int]:
    cited = _CITATION.fullmatch(path)
    if cited is None:
        return path, 1 if from_line is None else from_line, MOST_LINES if lines is None else lines
    first = int(cited[2])
    last = int(cited[3] or first)
    if from_line is None:
        return cited[1], first, max(last - first + 1, 1) if lines is None else lines
    return cited[1], from_line, MOST_LINES if lines is None else lines


def _contents(place: Located, limits: Limits) -> tuple[bytes, os.stat_result]:
    if place.found is None:
        raise NotFound("this document is not there", hint="Run a sync; it was moved or deleted.")
    handle = _opened(place)
    try:
        found = os.fstat(handle)
        reason = unfit(found, limits)
        if not reason:
            data = _all_of(handle, limits.file_bytes)
            reason = unfit(os.fstat(handle), limits) if len(data) <= limits.file_bytes else "grows while it is read"
    finally:
        os.close(handle)
    if reason:
        raise Refused(f"this {reason}", hint=_SWAPPED)
    return data, found


def _all_of(handle: int, most: int) -> bytes:
    """The bytes of a file, and no more than one beyond the limit."""
    parts: list[bytes] = []
    left = most + 1
    while left > 0 and (part := os.read(handle, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _opened(place: Located) -> int:
    """A handle of the file itself, reached from the root through folders that are no links."""
    *folders, name = place.real.split("/")
    try:
        if not _HAS_FOLDER_HANDLES:
            return _opened_by_path(place)
        folder = os.open(place.base, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in folders:
                inner = os.open(part, _SAFELY | os.O_DIRECTORY, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(name, _SAFELY, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise NotFound("this document is not there", hint="Run a sync; it was moved or deleted.") from error
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EMLINK):
            raise Refused("this is not a file any more", hint=_SWAPPED) from error
        raise Refused(f"this cannot be read: {error.strerror}", hint="Let this user read it.") from error


def _opened_by_path(place: Located) -> int:
    """Where folders have no handles, the way is looked at again once the file is open."""
    full = os.path.join(place.base, *place.real.split("/"))
    handle = os.open(full, _SAFELY | getattr(os, "O_BINARY", 0))
    if os.path.realpath(full) != full:
        os.close(handle)
        raise Refused("this is not a file any more", hint=_SWAPPED)
    return handle
