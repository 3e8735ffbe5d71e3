"""Which files of a folder are documents. Tells of them what the disk tells; none of them is opened.

A link counts for what it leads to, once, and only within the root. What is left out for a reason that its owner may
not know of is listed; what the owner's rules leave out is not.
"""

import os
import re
import stat
from functools import partial
from itertools import islice
from typing import NamedTuple

from memoranda.documents.ignore import MIRROR_MARK, RULE_FILES, Rules, is_ignored, is_never_entered, rules_in
from memoranda.documents.wanted import DEFAULT_PATTERNS, Wanted, wanted
from memoranda.domain.document import FileSeen
from memoranda.domain.errors import NotFound, Refused

_NO_DOCUMENT = "Only files that a pattern of the source names, and no rule leaves out, can be read."
_A_MIRROR = "is a mirror of memories, which are no documents"
_LONGEST_PATH = 1_024
_UNCITABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff\u2028\u2029]")


class Limits(NamedTuple):
    """How much is taken from one folder."""

    file_bytes: int = 1 << 20
    files: int = 20_000
    entries: int = 1_000_000
    """Names that are looked at, whatever they name."""


class Skipped(NamedTuple):
    """Something that would have been a document, or could hold some, and why it is not taken."""

    path: str
    reason: str
    unread: bool = False
    """Whether nobody could look: what is below may still be there."""


class Scan(NamedTuple):
    """What a folder holds, sorted by path."""

    files: tuple[FileSeen, ...]
    skipped: tuple[Skipped, ...] = ()
    truncated: str = ""
    """Why there is more than this; empty when there is not."""

    def tells_of(self, path: str) -> bool:
        """Whether a path that is not among the files is known to be no document (any more)."""
        unread = [each.path for each in self.skipped if each.unread]
        return not self.truncated and not any(each in (".", path) or path.startswith(each + "/") for each in unread)


class Located(NamedTuple):
    """A path that may be read, and what is there now: nothing, or a file."""

    path: str
    base: str
    """The root, without links."""
    real: str
    """The path without links, relative to `base`."""
    found: os.stat_result | None


def scan(root: str, patterns: tuple[str, ...] = DEFAULT_PATTERNS, *, limits: Limits | None = None) -> Scan:
    """Every document below a folder. The order in which it looks is fixed, so that limits cut the same each time."""
    walk = _Walk(_base_of(root), wanted(patterns), limits or Limits())
    if _is_in_mirror(walk.base):
        return Scan((), (Skipped(".", _A_MIRROR),))
    walk.run()
    return Scan(
        tuple(sorted(walk.files, key=lambda file: file.path)),
        tuple(sorted(walk.skipped)),
        walk.truncated,
    )


def is_allowed(
    root: str, path: str, patterns: tuple[str, ...] = DEFAULT_PATTERNS, *, limits: Limits | None = None
) -> bool:
    """Whether a scan would take this path, or would if it were there. A second name of a file is allowed, too."""
    try:
        located(root, path, patterns, limits=limits)
    except Refused:
        return False
    return True


def located(
    root: str, path: str, patterns: tuple[str, ...] = DEFAULT_PATTERNS, *, limits: Limits | None = None
) -> Located:
    """Where a document really is. Refused, without a word on what is there, when it is not one."""
    base = _base_of(root)
    asked = _relative(path, roots=(base, os.path.abspath(root)))
    if wanted(patterns).files.fullmatch(asked) is None:
        raise Refused("this is not one of the documents", hint=_NO_DOCUMENT)
    real = _within(base, os.path.realpath(_joined(base, asked)))
    if real is None:
        raise Refused("this leads out of the folder", hint=_NO_DOCUMENT)
    straight = real == asked
    try:
        if _is_in_mirror(os.path.dirname(_joined(base, real))):
            raise Refused("this is a file of a mirror of memories", hint=_NO_DOCUMENT)
        if _is_shut(base, real, hidden_too=not straight) or not (straight or _link_is_open(base, asked)):
            raise Refused("this is not one of the documents", hint=_NO_DOCUMENT)
        found = os.lstat(_joined(base, real))
    except (FileNotFoundError, NotADirectoryError):
        return Located(asked, base, real, None)
    except OSError as error:
        raise Refused(f"this cannot be read: {error.strerror}", hint=_NO_DOCUMENT) from error
    reason = unfit(found, limits or Limits())
    if reason:
        raise Refused(f"this {reason}", hint=_NO_DOCUMENT)
    return Located(asked, base, real, found)


def unfit(found: os.stat_result, limits: Limits) -> str:
    """Why something on the disk cannot be a document; empty when it can."""
    if not stat.S_ISREG(found.st_mode):
        return "is not a file"
    return f"is larger than {limits.file_bytes:,} bytes" if found.st_size > limits.file_bytes else ""


class _Walk:
    """One scan. Folders are entered by their own name first; links are looked at when all of those are known."""

    def __init__(self, base: str, wanted: Wanted, limits: Limits) -> None:
        self.files: list[FileSeen] = []
        self.skipped: list[Skipped] = []
        self.truncated = ""
        self.base, self._wanted, self._limits = base, wanted, limits
        self._entries = 0
        self._entered: set[str] = set()
        self._taken: set[tuple[int, int]] = set()
        self._links: list[tuple[str, str]] = []
        self._folders: list[tuple[str, str, tuple[Rules, ...]]] = [("", "", ())]

    def run(self) -> None:
        while not self.truncated and (self._folders or self._links):
            if self._folders:
                self._enter(*self._folders.pop())
            else:
                links, self._links = sorted(self._links), []
                for path, real in links:
                    try:
                        self._follow(path, real)
                    except OSError as error:
                        self._skip(path, f"cannot be read: {error.strerror}", unread=True)
                self._folders.reverse()

    def _enter(self, folder: str, real_folder: str, above: tuple[Rules, ...]) -> None:
        """`folder` is the name by which it was reached, `real_folder` its own; each with a slash at its end."""
        if real_folder in self._entered:
            return
        self._entered.add(real_folder)
        full = _joined(self.base, real_folder)
        try:
            with os.scandir(full) as listing:
                left = self._limits.entries - self._entries
                entries = sorted(islice(listing, left + 1), key=lambda entry: entry.name)
            names = {entry.name for entry in entries}
            own = None if names.isdisjoint(RULE_FILES) else rules_in(full, relative=real_folder)
        except OSError as error:
            self._skip(folder.rstrip("/") or ".", f"cannot be read: {error.strerror}", unread=True)
            return
        if MIRROR_MARK in names:
            self._skip(folder.rstrip("/") or ".", _A_MIRROR)
            return
        self._entries += len(entries)
        if self._entries > self._limits.entries:
            self.truncated = f"it holds more than {self._limits.entries:,} names"
            return
        rules = above if own is None else (*above, own)
        below = []
        for entry in entries:
            path, real = folder + entry.name, real_folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            never = is_folder and is_never_entered(entry.name, is_beside=names.__contains__)
            if never or not self._is_wanted(path, entry):
                continue
            if is_ignored(real, rules, is_folder=is_folder):
                continue
            if not _is_citable(path):
                self._skip(path, "has a name that cannot be cited")
            elif is_folder:
                below.append((path + "/", real + "/", rules))
            elif entry.is_symlink():
                self._links.append((path, real))
            else:
                self._take(path, entry)
            if self.truncated:
                return
        self._folders += reversed(below)

    def _is_wanted(self, path: str, entry: "os.DirEntry[str]") -> bool:
        """Whether a pattern names it, or may name what is below it."""
        if entry.is_dir(follow_symlinks=False):
            return self._wanted.folders.fullmatch(path) is not None
        if self._wanted.files.fullmatch(path):
            return True
        return entry.is_symlink() and self._wanted.folders.fullmatch(path) is not None

    def _follow(self, path: str, real: str) -> None:
        target = os.path.realpath(_joined(self.base, real))
        if target == self.base:
            return
        own = _within(self.base, target)
        if own is None:
            self._skip(path, "is a link that leads out of the folder")
        elif _is_in_mirror(target) or _is_shut(self.base, own, hidden_too=True):
            self._skip(path, "is a link to what is left out")
        elif os.path.isdir(target):
            if self._wanted.folders.fullmatch(path):
                self._folders.append((path + "/", own + "/", _rules_down_to(self.base, own)))
        elif self._wanted.files.fullmatch(path):
            self._take(path, target)

    def _take(self, path: str, entry: "os.DirEntry[str] | str") -> None:
        try:
            found = os.lstat(entry) if isinstance(entry, str) else entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror}", unread=True)
            return
        reason = unfit(found, self._limits)
        if reason:
            self._skip(path, reason)
            return
        identity = (found.st_dev, found.st_ino)
        # Where the disk gives no number, each name is a file.
        if found.st_ino and identity in self._taken:
            return
        if len(self.files) >= self._limits.files:
            self.truncated = f"it holds more than {self._limits.files:,} documents"
            return
        self._taken.add(identity)
        self.files.append(FileSeen(path, found.st_size, found.st_mtime_ns, found.st_ino))

    def _skip(self, path: str, reason: str, *, unread: bool = False) -> None:
        shown = path.encode(errors="surrogateescape").decode(errors="replace")
        self.skipped.append(Skipped(shown, reason, unread))


def _base_of(root: str) -> str:
    base = os.path.realpath(root)
    if not os.path.isdir(base):
        there = os.path.exists(base)
        raise NotFound(
            "the root is not a folder" if there else "the folder of these documents is not there",
            hint="Name the folder, and the file as a pattern."
            if there
            else "Mount or create it, or remove the source.",
        )
    return base


def _relative(path: str, *, roots: tuple[str, ...]) -> str:
    for root in roots:
        if path.startswith(root + os.sep):
            path = path[len(root) + 1 :]
            break
    if os.sep != "/":
        path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:]
    parts = path.split("/")
    if not _is_citable(path) or os.path.isabs(path) or any(part in ("", ".", "..") for part in parts):
        raise Refused("this is not a path within the folder", hint="Give it relative to the folder, without `..`.")
    return path


def _is_citable(path: str) -> bool:
    return len(path) <= _LONGEST_PATH and not _UNCITABLE.search(path)


def _joined(base: str, relative: str) -> str:
    return os.path.join(base, *relative.split("/"))


def _within(base: str, real: str) -> str | None:
    """A path without links relative to the base; None when it is not below it."""
    if real == base:
        return None
    inside = real.startswith(base if base.endswith(os.sep) else base + os.sep)
    return os.path.relpath(real, base).replace(os.sep, "/") if inside else None


def _is_shut(base: str, real: str, *, hidden_too: bool) -> bool:
    """Whether a rule, or its kind, leaves out this path or a folder above it. There are no links in it."""
    rules: tuple[Rules, ...] = ()
    folder = ""
    *folders, name = real.split("/")
    if hidden_too and any(part.startswith(".") for part in (*folders, name)):
        return True
    for part in folders:
        rules = _with_rules_of(base, folder, rules)
        if is_never_entered(part, is_beside=partial(_is_in, _joined(base, folder))):
            return True
        if is_ignored(folder + part, rules, is_folder=True):
            return True
        folder += part + "/"
    rules = _with_rules_of(base, folder, rules)
    return is_ignored(real, rules, is_folder=os.path.isdir(_joined(base, real)))


def _is_in_mirror(place: str) -> bool:
    """Whether a place without links is a mirror, or lies within one, be it above the root."""
    return _is_in(place, MIRROR_MARK) or (place != (upper := os.path.dirname(place)) and _is_in_mirror(upper))


def _is_in(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))


def _link_is_open(base: str, path: str) -> bool:
    """Whether the first link on a path may be used."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        upper = "/".join(parts[:depth])
        if os.path.islink(_joined(base, upper)):
            return not _is_shut(base, upper, hidden_too=False)
    return True


def _rules_down_to(base: str, folder: str) -> tuple[Rules, ...]:
    """The rules of the folders above this one."""
    rules: tuple[Rules, ...] = ()
    upper = ""
    for part in folder.split("/"):
        rules = _with_rules_of(base, upper, rules)
        upper += part + "/"
    return rules


def _with_rules_of(base: str, folder: str, above: tuple[Rules, ...]) -> tuple[Rules, ...]:
    own = rules_in(_joined(base, folder), relative=folder)
    return above if own is None else (*above, own)
