"""The folder of a mirror on disk: what is in it, and how a file is replaced without losing what somebody writes into
it meanwhile. Links inside the folder are never followed."""

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from memoranda.documents.mirror import Place, place_at
from memoranda.documents.mirror_plan import Base
from memoranda.domain.errors import Conflict, InvalidInput, Refused
from memoranda.ledger.database import make_folder
from memoranda.ledger.locking import Busy, held

STATE = ".memoranda-mirror.json"
_VERSION = 1
_TEMPORARY = ".memoranda-"
_OF_GIT = frozenset({".git", ".gitignore", ".gitattributes"})
_MARKDOWN = (".md", ".markdown")
_WELCOME = "readme"
_BEHIND = "it stands behind a link"
_LARGEST = 64 << 20
_PATIENCE_SECONDS = 5.0


class State(NamedTuple):
    """What a mirror knows of its last writing: whose it is, and what was in each file. No text."""

    store: str = ""
    scope: str = ""
    below: bool = False
    files: Mapping[Place, Base] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        files = {
            place.path: {"mark": base.mark, "memories": dict(sorted(base.digests.items()))}
            | ({"unread": sorted(base.unread)} if base.unread else {})
            for place, base in sorted(self.files.items())
        }
        return {"version": _VERSION, "store": self.store, "scope": self.scope, "below": self.below, "files": files}


class Found(NamedTuple):
    """A file of the mirror as it lies there; without content when it cannot be taken, and why."""

    content: bytes = b""
    trouble: str = ""


class Folder:
    """The folder of one mirror."""

    def __init__(self, path: str | Path) -> None:
        try:
            self.root = Path(path).expanduser().resolve()
            self._known = (self.root / STATE).is_file() and not (self.root / STATE).is_symlink()
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidInput(f"this cannot be the folder of a mirror: {error}", hint="Give another path.") from error

    def refuse_foreign(self) -> None:
        """A mirror goes into a folder that is new, empty or its own: nobody's notes are taken for memories."""
        if self._known or not self.root.exists():
            return
        if not self.root.is_dir():
            raise Refused(f"{self.root} is not a folder", hint="Give a folder that is new, empty, or a mirror.")
        try:
            foreign = any(each.name not in _OF_GIT for each in self.root.iterdir())
        except OSError as error:
            _tell(error)
        if foreign:
            raise Refused(
                f"{self.root} has other things in it and is not a mirror",
                hint="Give a folder that is new, empty, or a mirror; one inside this one will do.",
            )

    def make(self) -> None:
        """The folder is there, and a new mirror can be written into it."""
        with _writing(self.root):
            make_folder(self.root)
        if not self._known:
            self._refuse_unwritable(self.root)

    def refuse_unwritable(self, places: Iterable[Place]) -> None:
        """Before anything is taken from files: they can be replaced afterwards."""
        for place in sorted(places):
            folder = (self.root / place.path).parent
            while not folder.exists() and folder != self.root:
                folder = folder.parent
            self._refuse_unwritable(folder)

    def _refuse_unwritable(self, folder: Path) -> None:
        with _writing(folder):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # -- what was written last --

    def state(self) -> State:
        """What was written last; nothing when that is not known, so that nothing is taken for removed."""
        try:
            told = json.loads((self.root / STATE).read_bytes()) if self._known else {}
            files = {place_at(path): _base(base) for path, base in told.get("files", {}).items()}
            return State(
                str(told.get("store", "")),
                str(told.get("scope", "")),
                told.get("below") is True,
                {place: base for place, base in files.items() if place is not None},
            )
        except (OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
            return State()

    def save(self, state: State) -> None:
        content = json.dumps(state.as_json(), indent=1, ensure_ascii=False).encode() + b"\n"
        path = self.root / STATE
        with _writing(path):
            if not self._known or path.read_bytes() != content:
                self._write(path, content, mode=None)
        self._known = True

    # -- files --

    def files(self, known: Iterable[Place]) -> dict[Place, Found]:
        """Every file of the mirror that is there, by its place. A folder that cannot be read is an error, and what
        stands behind a link is not taken for removed."""
        found: dict[Place, Found] = {}
        for folder, folders, names in os.walk(self.root, onerror=_tell if self.root.exists() else None):
            inside = Path(folder).relative_to(self.root)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                place = place_at((inside / name).as_posix())
                if place is not None:
                    found[place] = self._found(Path(folder, name))
        behind = {place: Found(trouble=_BEHIND) for place in known if place not in found and self.is_linked(place)}
        return {**found, **behind}

    def strangers(self) -> list[str]:
        """Markdown files with a path that no file of a mirror has, such as one with a wrong name."""
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = Path(folder, name).relative_to(self.root)
                own = name.startswith(".") or path.stem.casefold() == _WELCOME
                if path.suffix.casefold() in _MARKDOWN and not own and place_at(path.as_posix()) is None:
                    found.append(path.as_posix())
        return sorted(found)

    def is_linked(self, place: Place) -> bool:
        """Whether a file is, or would be, somewhere else than it seems."""
        path = self.root / place.path
        return any(each.is_symlink() for each in (path, *path.parents) if self.root in each.parents)

    def file(self, place: Place) -> Found:
        """One file as it lies there now."""
        return Found(trouble=_BEHIND) if self.is_linked(place) else self._found(self.root / place.path)

    def _found(self, path: Path) -> Found:
        try:
            about = path.lstat()
            if not stat.S_ISREG(about.st_mode):
                return Found(trouble="it is a link, or no plain file")
            if about.st_size > _LARGEST:
                return Found(trouble="it is too large")
            return Found(path.read_bytes())
        except OSError as error:
            return Found(trouble=f"it cannot be read ({error.strerror})")

    def replace(self, place: Place, content: bytes | None, *, expected: bytes | None) -> bool:
        """Put new content into a file, or remove it; False, and nothing is done, when it is no longer as expected."""
        path = self.root / place.path
        mode = None
        if expected is not None:
            with contextlib.suppress(OSError):
                mode = stat.S_IMODE(path.stat().st_mode)
        with _writing(path):
            if content is not None:
                return self._write(path, content, mode=mode, still=lambda: self._is(path, expected))
            if self._is(path, expected):
                path.unlink()
                self._remove_empty(path.parent)
                return True
            return False

    def _is(self, path: Path, expected: bytes | None) -> bool:
        try:
            return not path.is_symlink() and path.read_bytes() == expected
        except FileNotFoundError:
            return expected is None
        except OSError:
            return False

    def _write(self, path: Path, content: bytes, *, mode: int | None, still: Callable[[], bool] | None = None) -> bool:
        """All of it or nothing, whenever the machine stops."""
        make_folder(path.parent)
        beside = path.with_name(f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}.tmp")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                beside.chmod(mode)
            if still is not None and not still():
                return False
            os.replace(beside, path)
            return True
        finally:
            beside.unlink(missing_ok=True)

    def _remove_empty(self, folder: Path) -> None:
        with contextlib.suppress(OSError):
            while folder != self.root:
                folder.rmdir()
                folder = folder.parent

    def tidy(self) -> None:
        """Take away what a process that was killed has left behind."""
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                if name.startswith(_TEMPORARY) and name.endswith(".tmp"):
                    with _writing(Path(folder, name)):
                        Path(folder, name).unlink(missing_ok=True)

    @property
    def in_git(self) -> bool:
        """Whether versions of the files may be kept that nobody here can erase."""
        return any((folder / ".git").exists() for folder in (self.root, *self.root.parents))


def _base(told: Any) -> Base:
    digests = {str(each): str(digest) for each, digest in told["memories"].items()}
    return Base(str(told["mark"]), digests, frozenset(map(str, told.get("unread", ()))))


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What the system says when it does not let us write is an answer for people."""
    try:
        yield
    except OSError as error:
        raise Refused(
            f"{path} cannot be opened for writing ({error.strerror})",
            hint="Check that the folder exists, that you may write to it, and that there is room; then run it again.",
        ) from error


def _tell(error: OSError) -> NoReturn:
    raise Refused(
        f"a folder of the mirror cannot be read: {error.strerror}",
        hint="Give yourself the right to read it; nothing was changed.",
    ) from error


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else mirrors this store meanwhile. Let go by the system when the process ends, however it ends."""
    try:
        with held(path, patience=_PATIENCE_SECONDS):
            yield
    except Busy as error:
        raise Conflict("another process is at a mirror of this store", hint="Try again when it has ended.") from error
