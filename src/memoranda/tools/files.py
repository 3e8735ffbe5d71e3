"""`Files`: where a tool finds a file of the caller's and leaves one. A model names a path, and nothing more."""

import os
from pathlib import Path
from typing import Protocol

from memoranda.domain.errors import InvalidInput, NotFound, Refused

MOST_BYTES = 64 * 1024 * 1024
_NAMES = "Give a name in it, such as memories.jsonl."


class Files(Protocol):
    """What a host binds."""

    def read(self, path: str) -> bytes:
        """The file at this path."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """A new file at this path."""
        ...


class Folder:
    """The files of one folder, links followed. Nothing outside of it is read or written, nothing in it overwritten."""

    def __init__(self, path: str | Path) -> None:
        self._root = Path(path).expanduser().resolve()

    def read(self, path: str) -> bytes:
        found = self._inside(path)
        try:
            if not found.is_file():
                raise NotFound("there is no such file in the folder for exports", hint=_NAMES)
            if found.stat().st_size > MOST_BYTES:
                raise InvalidInput(f"the file is larger than {MOST_BYTES >> 20} MB", hint="Run: memoranda import.")
            return found.read_bytes()
        except OSError as error:
            raise InvalidInput(f"it cannot be read ({error.strerror})", hint="Check its permissions.") from error

    def write(self, path: str, content: bytes) -> None:
        target = self._inside(path)
        try:
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        except FileExistsError:
            raise Refused("a file of this name is there already", hint="Give another name.") from None
        except OSError as error:
            raise InvalidInput(f"it cannot be written ({error.strerror})", hint="Give another path.") from error

    def _inside(self, path: str) -> Path:
        if "\0" in path:
            raise InvalidInput("there is a NUL byte in the path", hint=_NAMES)
        real = (self._root / path).resolve()
        if self._root not in real.parents:
            raise Refused("this path is outside of the folder for exports", hint=_NAMES)
        return real


class Sent:
    """A file that came with a request, and one that goes back with its answer: the caller has the disk."""

    def __init__(self, content: bytes | None = None) -> None:
        self._content = content
        self.written: bytes | None = None

    def read(self, path: str) -> bytes:
        if self._content is None:
            raise InvalidInput("the file was not sent along", hint="Send what is in it as `file`.")
        return self._content

    def write(self, path: str, content: bytes) -> None:
        self.written = content
