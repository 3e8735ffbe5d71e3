"""Writing files of other programs: with a copy of what was there beside it, whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.clock import Clock, iso
from memoranda.domain.errors import Conflict, InvalidInput, Refused

_MARK = "\ufeff"
_MOST_BYTES = 64 << 20
_NEW_FILE = 0o600
_BACKUP = ".bak-"


class Installed(NamedTuple):
    """What was done to a file, or would be. `backup` is empty when nothing was there, or nothing changed."""

    path: str
    changed: bool
    backup: str = ""
    removed: bool = False


def rewritten(
    path: Path, change: Callable[[str, Sequence[str]], str | None], *, hint: str, clock: Clock, dry_run: bool = False
) -> Installed:
    """The file as `change` makes it of its text and of the texts of its backups, newest first; None takes it away."""
    path = Path(os.path.realpath(path))  # what is a link stays one
    before = _read(path)
    try:
        text = (before or b"").decode()
        mark = _MARK if text.startswith(_MARK) else ""
        after = change(text.removeprefix(_MARK), _earlier(path))
    except UnicodeDecodeError as error:
        raise Refused(f"{path} was not changed: it is not text in UTF-8", hint=hint) from error
    except InvalidInput as error:
        raise Refused(f"{path} was not changed: {error}", hint=hint) from error
    data = None if after is None else (mark + after).encode()
    if (data or b"") == (before or b""):
        return Installed(str(path), False)
    if dry_run:
        return Installed(str(path), True, removed=data is None)
    try:
        if data is None:
            path.unlink()
            return Installed(str(path), True, removed=True)
        return Installed(str(path), True, _written(path, before, data, clock))
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}", hint="Let this user write there.") from error


def set_aside(path: Path, clock: Clock) -> str:
    """Give a file the name of a backup of it; which."""
    backup = _backup_name(path, clock)
    path.rename(backup)
    return str(backup)


def _earlier(path: Path) -> list[str]:
    """What was there before, as far as copies of it are there: the newest first."""
    found = sorted(path.parent.glob(f"{path.name}{_BACKUP}*"), reverse=True) if path.parent.is_dir() else []
    texts = []
    for each in found:
        try:
            texts.append((_read(each) or b"").decode().removeprefix(_MARK))
        except (Refused, UnicodeDecodeError):
            continue
    return texts


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(f"{path} is not a file", hint="Move it away, or give --folder.")
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}", hint="Let this user read it.") from error
    if len(data) > _MOST_BYTES:
        raise Refused(f"{path} is larger than any file of settings", hint="Give the right folder with --folder.")
    return data


def _written(path: Path, before: bytes | None, after: bytes, clock: Clock) -> str:
    """Write it beside and put it in place at once; the name of the copy of what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _NEW_FILE if before is None else stat.S_IMODE(path.stat().st_mode)
    backup = "" if before is None else _backed_up(path, before, mode, clock)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        _fill(handle, after, mode, beside)
        if _read(path) != before:
            raise Conflict(f"{path} was changed meanwhile", hint="Close the host, then call again.")
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    return backup


def _backed_up(path: Path, data: bytes, mode: int, clock: Clock) -> str:
    backup = _backup_name(path, clock)
    handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE)
    _fill(handle, data, mode, str(backup))
    return str(backup)


def _backup_name(path: Path, clock: Clock) -> Path:
    stamp = iso(clock.now()).replace("-", "").replace(":", "")
    backup = path.with_name(f"{path.name}{_BACKUP}{stamp}")
    number = 1
    while backup.exists():  # twice within a millisecond
        number += 1
        backup = path.with_name(f"{path.name}{_BACKUP}{stamp}-{number}")
    return backup


def _fill(handle: int, data: bytes, mode: int, path: str) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(path, mode)
