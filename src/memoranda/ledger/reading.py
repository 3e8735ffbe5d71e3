"""Reading the files of an open store byte by byte, without letting go of its locks.

On POSIX, whoever closes any handle to a file gives up every lock of the process on it, SQLite's as well: another
process could then take an open store for an abandoned one and remove its log. SQLite's own layer knows of this and
keeps such a handle until the locks are gone. The shared memory beside a log is locked in another way, and is not read:
it holds numbers of pages, and never what is on them.
"""

import os
from collections.abc import Iterator

import apsw

_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
_SHARED_MEMORY = "-shm"


def is_readable(name: str) -> bool:
    """Whether the file may be read without harm."""
    return not name.endswith(_SHARED_MEMORY)


def chunks(name: str, size: int) -> Iterator[bytes]:
    """The bytes of a file, in pieces of so many. Raises FileNotFoundError when it is not there."""
    if os.name != "posix":
        with open(name, "rb") as stored:
            while chunk := stored.read(size):
                yield chunk
        return
    length = os.stat(name).st_size
    try:
        # SQLite's layer opens no links.
        file = apsw.VFSFile("unix", os.path.realpath(name), [_FLAGS, 0])
    except apsw.CantOpenError as error:
        raise FileNotFoundError(name) from error
    try:
        for offset in range(0, length, size):
            yield file.xRead(min(size, length - offset), offset)
    finally:
        file.xClose()
