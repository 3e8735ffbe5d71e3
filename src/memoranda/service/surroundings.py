"""What is around a store and can be looked at without opening it: the machine, the disk, the files and their modes."""

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config import Settings
from memoranda.domain.results import Check
from memoranda.ledger.replacing import shred
from memoranda.ledger.sqlite import version
from memoranda.service.workroom import SUFFIX as WORKROOM
from memoranda.service.workroom import Workroom

if TYPE_CHECKING:
    from memoranda.service.doctor import Finding

_LEAST_FREE = 64 << 20
_LISTED = 3
_OLD_SECONDS = 3_600.0
# The names that a store gives: what goes on otherwise is somebody else's.
_FILES = r"-(?:wal|shm|journal|reserve|shown|breaker|upkeep|boot-.*|backing-up.*|restoring.*|sealing.*)"
_FOLDERS = ("-index", "-transcripts", "-documents", WORKROOM)
_BACKUPS = "-backups"
_BACKUP = re.compile(r"\.?.+\.memoranda(?:\.json|\.part.*|\.rewriting.*)?")
_EXTRAS = {
    "server": "uvicorn", "mcp": "mcp", "watch": "watchfiles", "lancedb": "lancedb", "fastembed": "fastembed",
    "postgres": "psycopg_pool",
}  # fmt: skip


def examined(settings: Settings) -> "Iterator[Finding]":
    """Line by line, each with what can be done about it."""
    from memoranda.service.doctor import Finding

    path = settings.store_path()
    yield Finding(_environment())
    yield Finding(_extras(settings))
    backups = settings.backups_folder()
    # Looked for again: SQLite gives a log that it makes meanwhile the mode of its file.
    yield Finding(_permissions(exposed(path, backups)), lambda: _closed_to_others(exposed(path, backups)))
    yield Finding(_disk(path))
    left, room = _left_behind(settings), Workroom(path)
    yield Finding(_leftovers([*left, *room.left()]), lambda: _removed(left, room))
    if settings.key_file:
        yield Finding(_key_file(Path(settings.key_file).expanduser()))


def _environment() -> Check:
    return Check("environment", True, f"Python {sys.version.split()[0]} on {sys.platform}, {version()}")


def _extras(settings: Settings) -> Check:
    from importlib.util import find_spec

    there = [name for name, module in _EXTRAS.items() if find_spec(module) is not None]
    detail = f"installed: {', '.join(there) or 'none'}"
    if settings.embedder.partition(":")[0] == "fastembed" and "fastembed" not in there:
        return Check("extras", False, f"{detail}; the embedder needs fastembed", 'pip install "memoranda[fastembed]"')
    return Check("extras", True, detail)


# -- files --


def files(path: Path, backups: Path) -> Iterator[Path]:
    """Every file and folder that this store has made, the store itself first; nothing that lies beside it by chance."""
    name = re.escape(path.name)
    ours = re.compile(rf"{name}(?:{_FILES})?")
    beside = [each for each in path.parent.iterdir() if ours.fullmatch(each.name)] if path.parent.is_dir() else []
    for each in sorted(beside):
        if each.is_file():
            yield each
    for suffix in _FOLDERS:
        folder = path.with_name(path.name + suffix)
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from sorted(folder.rglob("*"))
    if backups.is_dir():
        if backups.name == f"{path.name}{_BACKUPS}" and not backups.is_symlink():
            yield backups
        yield from sorted(each for each in backups.iterdir() if _BACKUP.fullmatch(each.name) and each.is_file())


def exposed(path: Path, backups: Path) -> list[Path]:
    """What others on this machine may read or write."""
    if os.name == "nt":
        return []
    found = []
    for each in files(path, backups):
        try:
            if each.lstat().st_mode & 0o077 and not each.is_symlink():
                found.append(each)
        except OSError:
            continue  # gone meanwhile
    return found


def _permissions(found: list[Path]) -> Check:
    if not found:
        return Check("permissions", True, "nobody else may read or write it")
    named = ", ".join(f"{each.name} has mode {each.stat().st_mode & 0o777:o}" for each in found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    first = found[0]
    fix = f"chmod {'700' if first.is_dir() else '600'} {first}, or run: memoranda doctor --fix"
    return Check("permissions", False, named + more, fix)


def _closed_to_others(found: list[Path]) -> str:
    for each in found:
        each.chmod(0o700 if each.is_dir() else 0o600)
    return f"{len(found)} files and folders are closed to others"


def _left_behind(settings: Settings) -> list[Path]:
    """Unfinished files of ours that nobody has touched for an hour: whoever wrote them was killed."""
    from memoranda.service.backing_up import leftovers

    before = time.time() - _OLD_SECONDS  # noqa: TID251 the file system's clock, not the store's
    found = []
    for each in leftovers(settings):
        try:
            if each.is_file() and each.stat().st_mtime < before:
                found.append(each)
        except OSError:
            continue
    return found


def _leftovers(found: list[Path]) -> Check:
    if not found:
        return Check("leftovers", True, "no unfinished files")
    named = ", ".join(each.name for each in found[:_LISTED])
    return Check(
        "leftovers", False, f"{len(found)} unfinished files: {named}", "Run: memoranda doctor --fix (removes them)"
    )


def _removed(found: list[Path], room: Workroom) -> str:
    for each in found:
        shred(each)  # it may hold what was erased since
    return f"{len(found) + room.clear()} unfinished files are removed"


def size_of(path: Path) -> int:
    """What the files of a store take up, backups apart."""
    total = 0
    for each in files(path, path.with_name(path.name + _BACKUPS)):
        try:
            total += each.stat().st_size if each.is_file() and not _BACKUP.fullmatch(each.name) else 0
        except OSError:
            continue
    return total


def _disk(path: Path) -> Check:
    import shutil

    folder = path.parent if path.parent.exists() else Path.home()
    free = shutil.disk_usage(folder).free
    enough = free > _LEAST_FREE
    fix = "" if enough else f"Free some space where {folder} lies: letting go of something needs some, too."
    return Check("disk", enough, f"{free >> 20:,} MiB free, the store takes {size_of(path) >> 20:,}", fix)


def _key_file(path: Path) -> Check:
    if not path.is_file():
        return Check("key", False, f"key_file names {path}, which is not there", "Bring the key file back.")
    mode = path.stat().st_mode & 0o777
    private = os.name == "nt" or not mode & 0o077
    return Check("key", private, f"{path} has mode {mode:o}", "" if private else f"chmod 600 {path}")
