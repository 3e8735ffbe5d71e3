"""The files that are given to a reader: one file, a folder, or the ZIP archive in which a service sends an export."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.importers.told import name_of

HEAD = 1 << 16
"""So much of the beginning of a file tells what it is."""
_DEEPEST = 3
_MOST_UNPACKED = 1 << 30
_LARGEST_RATIO = 200
"""Text is packed to a tenth; what unpacks to more than this many times its size is no export."""
_NEVER_TOO_MUCH = 8 << 20
# Of the other ways to pack, zipfile unpacks a whole block at once, however large it becomes.
_BOUNDED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class Part(NamedTuple):
    """One file of an export, what it is called to people, and how to open it."""

    name: str
    open: Callable[[], IO[bytes]]


def stream_of(path: Path) -> IO[bytes]:
    """The bytes of a file, or an error with a hint."""
    try:
        return path.open("rb")
    except OSError as error:
        why = error.strerror or error
        raise InvalidInput(
            f"{path} is no file that can be read ({why})", hint="Give the path of a file that you may read."
        ) from error


def refuse_closed(path: Path) -> None:
    """Raise InvalidInput for a file or folder that we may not read."""
    try:
        if path.is_dir():
            next(path.iterdir(), None)
        else:
            path.open("rb").close()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({error.strerror or error})", hint="Ask whoever owns it to let you read it."
        ) from error


def refuse_empty(path: Path) -> None:
    """Raise InvalidInput for a file or folder with nothing in it: it is in no format, and in each."""
    if path.is_dir() and next(path.iterdir(), None) is None:
        raise InvalidInput(f"the folder {path} is empty", hint="Give the file or folder that is to be taken in.")
    if path.is_file() and not path.stat().st_size:
        raise InvalidInput(f"{path} is empty", hint="Write it anew; it may have been cut.")


def head_of(path: Path) -> bytes:
    """The beginning of a file; empty when there is none. Never raises, and waits for no pipe."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError:
        return b""


@contextmanager
def parts(path: Path, wanted: re.Pattern[str], *, whole: bool = True) -> Iterator[list[Part]]:
    """The files of an export whose names are wanted, by name. A single file is what it is, whatever its name.

    An archive that unpacks to more than any export does is refused, unless only the beginnings are read (`whole`).
    """
    if path.is_dir():
        below = sorted(file for depth in ("*", "*/*") for file in path.glob(depth) if file.is_file())
        named = [(file.relative_to(path).as_posix(), file) for file in below]
        yield [Part(name_of(name), partial(stream_of, file)) for name, file in named if wanted.search(name)]
        return
    with stream_of(path) as stream:
        zipped = zipfile.is_zipfile(stream)
    if not zipped:
        yield [Part(name_of(path.name), partial(stream_of, path))]
        return
    try:
        with zipfile.ZipFile(path) as archive:
            listed = sorted(archive.infolist(), key=lambda info: info.filename)
            files = [info for info in listed if not info.is_dir() and info.filename.count("/") < _DEEPEST]
            chosen = [info for info in files if wanted.search(info.filename)]
            _refuse_bombs(path, chosen, whole=whole)
            yield [Part(name_of(info.filename), partial(archive.open, info)) for info in chosen]
    except _BROKEN as error:
        raise InvalidInput(f"{path.name}: the archive is damaged or locked", hint="Download it again.") from error


def _refuse_bombs(path: Path, chosen: Sequence[zipfile.ZipInfo], *, whole: bool) -> None:
    """What an entry says of its size holds: no more than that is ever read of it."""
    if any(info.compress_type not in _BOUNDED for info in chosen):
        raise InvalidInput(
            f"{path.name} is packed in a way that is not read here", hint="Unpack it, and give the folder."
        )
    most = min(_MOST_UNPACKED, max(_NEVER_TOO_MUCH, path.stat().st_size * _LARGEST_RATIO))
    unpacked = sum(info.file_size for info in chosen)
    if whole and unpacked > most:
        raise InvalidInput(
            f"{path.name} would unpack to {unpacked >> 20:,} MB; the limit for this archive is {most >> 20:,} MB",
            hint="If it is what you think it is, unpack it and give the folder.",
        )


def heads(path: Path, wanted: re.Pattern[str]) -> dict[str, bytes]:
    """The beginnings of the files that are wanted, by name. Never raises."""
    try:
        with parts(path, wanted, whole=False) as found:
            return {part.name: _head(part) for part in found[:8]}
    except (InvalidInput, OSError):
        return {}


def _head(part: Part) -> bytes:
    with part.open() as stream:
        return stream.read(HEAD)
