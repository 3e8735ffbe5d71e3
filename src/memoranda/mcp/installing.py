"""Writing the settings of a client: merged, with a copy of what was there beside it, whole or not at all."""

import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock, iso
from memoranda.domain.errors import Conflict, InvalidInput, Refused
from memoranda.mcp.clients import Place
from memoranda.mcp.splicing import with_member, without_member

_MARK = "\ufeff"
_MOST_BYTES = 64 << 20
_NEW_FILE = 0o600


class Installed(NamedTuple):
    """What was done to a file, or would be. `backup` is empty when nothing was there, or nothing changed."""

    path: str
    changed: bool
    backup: str = ""


def install(place: Place, name: str, entry: dict[str, Any], *, clock: Clock, dry_run: bool = False) -> Installed:
    """Set the server's entry, whatever stood under its name before."""
    snippet = json.dumps({place.section: {name: entry}}, ensure_ascii=False)
    hint = f"Correct the file, or add this by hand: {snippet}"
    return _changed(place, lambda text: with_member(text, place.section, name, entry), hint, clock, dry_run)


def uninstall(place: Place, name: str, *, clock: Clock, dry_run: bool = False) -> Installed:
    """Take the server's entry away; everything else stays."""
    hint = f"Correct the file, or take {name!r} out of {place.section!r} by hand."
    return _changed(place, lambda text: without_member(text, place.section, name), hint, clock, dry_run)


def _changed(place: Place, change: Callable[[str], str], hint: str, clock: Clock, dry_run: bool) -> Installed:
    path = Path(os.path.realpath(place.path))  # what is a link stays one
    before = _read(path)
    try:
        text = (before or b"").decode()
        mark = _MARK if text.startswith(_MARK) else ""
        after = mark + change(text.removeprefix(_MARK))
    except UnicodeDecodeError as error:
        raise Refused(f"{path} was not changed: it is not text in UTF-8", hint=hint) from error
    except InvalidInput as error:
        raise Refused(f"{path} was not changed: {error}", hint=hint) from error
    if after.encode() == (before or b""):
        return Installed(str(path), False)
    if dry_run:
        return Installed(str(path), True)
    try:
        return Installed(str(path), True, _written(path, before, after.encode(), clock))
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}", hint="Let this user write there.") from error


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(f"{path} is not a file", hint="Move it away, or give --file.")
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}", hint="Let this user read it.") from error
    if len(data) > _MOST_BYTES:
        raise Refused(f"{path} is larger than any file of settings", hint="Give the right one with --file.")
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
            raise Conflict(f"{path} was changed meanwhile", hint="Close the client, then call again.")
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    return backup


def _backed_up(path: Path, data: bytes, mode: int, clock: Clock) -> str:
    stamp = iso(clock.now()).replace("-", "").replace(":", "")
    backup = path.with_name(f"{path.name}.bak-{stamp}")
    handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE)
    _fill(handle, data, mode, str(backup))
    return str(backup)


def _fill(handle: int, data: bytes, mode: int, path: str) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(path, mode)
