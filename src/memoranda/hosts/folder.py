"""A folder that is ours in a host's own: written file by file, and taken away without what others wrote there."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.clock import Clock
from memoranda.domain.errors import Refused
from memoranda.hosts.files import Installed, rewritten, set_aside

RECORD = ".installed-by-memoranda.json"


class Folder(NamedTuple):
    """Files by their paths in it. A record beside them says what was written, so that an edit is noticed."""

    path: Path
    files: Mapping[str, str]

    def install(self, *, clock: Clock, dry_run: bool = False) -> tuple[Installed, ...]:
        """Write them. A folder that is not ours is refused; a file that somebody edited has a copy."""
        recorded = self._recorded()
        inside = self.path.resolve()
        if not all((inside / name).resolve().is_relative_to(inside) for name in (*self.files, RECORD)):
            raise Refused(f"a link in {self.path} leads out of it", hint="Move the folder away.")
        if recorded is None and self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise Refused(f"{self.path} is not ours", hint="Move it away, or give another --name.")
        stale = [each for each in recorded or {} if each not in self.files]
        done = [self._removed(each, (recorded or {})[each], clock, dry_run) for each in stale]
        record = json.dumps({each: _digest(text) for each, text in sorted(self.files.items())}, indent=2) + "\n"
        for name, text in {**self.files, RECORD: record}.items():
            done.append(self._set(name, text, (recorded or {}).get(name), clock, dry_run))
        return tuple(each for each in done if each is not None)

    def uninstall(self, *, clock: Clock, dry_run: bool = False) -> tuple[Installed, ...]:
        """Take away what was written. What somebody edited keeps its words, under the name of a backup."""
        recorded = self._recorded()
        if recorded is None:
            return (Installed(str(self.path), False),)
        found = [self._removed(name, digest, clock, dry_run) for name, digest in recorded.items()]
        done = [each for each in found if each is not None]
        if not dry_run:
            (self.path / RECORD).unlink()
            for folder in sorted((each for each in self.path.rglob("*") if each.is_dir()), reverse=True):
                _remove_if_empty(folder)
            _remove_if_empty(self.path)
        return (*done, Installed(str(self.path / RECORD), True, removed=True))

    def shown(self) -> str:
        """For people."""
        return "\n".join(f"{name}:\n{text.rstrip()}" for name, text in self.files.items())

    def _recorded(self) -> dict[str, str] | None:
        try:
            found = json.loads((self.path / RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise Refused(f"{self.path / RECORD} cannot be read", hint="Move the folder away.") from error
        inside = self.path.resolve()
        if not isinstance(found, dict) or not all(
            isinstance(digest, str) and (inside / name).resolve().is_relative_to(inside)
            for name, digest in found.items()
        ):
            raise Refused(f"{self.path / RECORD} is damaged", hint="Move the folder away.")
        return found

    def _set(self, name: str, text: str, recorded: str | None, clock: Clock, dry_run: bool) -> Installed:
        path = self.path / name
        if recorded is not None and not dry_run and path.is_file() and _digest_of(path) == recorded != _digest(text):
            path.unlink()  # what we wrote ourselves needs no copy
        if name == RECORD and path.is_file() and path.read_text(encoding="utf-8") != text and not dry_run:
            path.unlink()
        return rewritten(path, lambda _old, _befores: text, hint="Move the folder away.", clock=clock, dry_run=dry_run)

    def _removed(self, name: str, digest: str, clock: Clock, dry_run: bool) -> Installed | None:
        path = self.path / name
        if not path.is_file():
            return None
        edited = _digest_of(path) != digest
        if dry_run:
            return Installed(str(path), True, removed=True)
        if edited:
            return Installed(str(path), True, set_aside(path, clock), removed=True)
        path.unlink()
        return Installed(str(path), True, removed=True)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
