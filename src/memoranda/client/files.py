"""Files of this machine that a server's answer is written into: new, of their owner alone, whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from memoranda.domain.errors import InvalidInput, Refused


def checked_target(path: str | Path, *, overwrite: bool) -> Path:
    """Where it goes, looked at before anything is asked for."""
    if not isinstance(path, str | Path) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput("path: the path of a file is expected", hint="Pass path='memories.jsonl'.")
    target = Path(os.path.abspath(Path(path).expanduser()))
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder", hint="Give the path of a file, such as memories.jsonl.")
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent}", hint="Make it first.")
    if not overwrite:
        _refuse_existing(target)
    return target


def save(target: Path, content: str, *, overwrite: bool) -> None:
    """All of it, or what was there before."""
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
            if not overwrite:
                _refuse_existing(target)
            os.replace(beside, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside)
    except OSError as error:
        raise InvalidInput(
            f"{target} cannot be written: {error.strerror}", hint="Check that there is space and that you may write."
        ) from error


def _refuse_existing(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise Refused(f"{target} is there already", hint="Give another path, or pass overwrite=True.")
