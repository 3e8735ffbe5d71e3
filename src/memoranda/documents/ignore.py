"""What is left out of a folder: rules as in `.gitignore`, and folders that never hold anybody's notes.

The rules of the root and of the folders below it count. Those above it, the user's own and those of `.git/info` do
not: whoever names a folder wants what is in it.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from memoranda.documents.globs import expression_of

RULE_FILES = (".gitignore", ".memorandaignore")
"""Later ones count more."""
MIRROR_MARK = ".memoranda-mirror.json"
"""Stands in the folder of a mirror. What is in there are memories: they are not found a second time as documents, where
no erasure would reach them and no trust of theirs would count."""
NEVER = frozenset({".git", ".tox", ".venv", ".pnpm-store", "__pycache__", "node_modules", "venv"})
_OWN = ("-index", "-documents", "-transcripts")
_MOST_BYTES = 1 << 18
_RESTED_NS = 2_000_000_000
_NO_RULES = frozenset(
    {errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.ENXIO, errno.EMLINK, errno.ENAMETOOLONG}
)


class Rule(NamedTuple):
    """One line of a file of rules."""

    matches: re.Pattern[str]
    takes_back: bool = False
    folders_only: bool = False
    by_name: bool = False
    """Looks at the last part of a path only."""


class Rules(NamedTuple):
    """The rules of one folder. They count for what is in it and below."""

    folder: str
    """Relative to the root, with a slash at its end; empty for the root."""
    rules: tuple[Rule, ...]


def is_ignored(path: str, rules: Sequence[Rules], *, is_folder: bool) -> bool:
    """Whether the rules, outermost folder first, leave this out. The folders above it are asked about on their own."""
    seen = _as_bytes(path)
    name = seen[seen.rfind("/") + 1 :]
    for each in reversed(rules):
        within = seen[len(_as_bytes(each.folder)) :]
        for rule in reversed(each.rules):
            if (is_folder or not rule.folders_only) and rule.matches.fullmatch(name if rule.by_name else within):
                return not rule.takes_back
    return False


def is_never_entered(name: str, *, is_beside: Callable[[str], bool]) -> bool:
    """Whether a folder of this name never holds notes. `is_beside` tells whether its own folder has such a name."""
    if name in NEVER:
        return True
    own = next((name.removesuffix(ending) for ending in _OWN if name.endswith(ending)), "")
    # `home.db-index` is ours when `home.db` stands beside it.
    return own != "" and is_beside(own)


def rules_in(folder: str, *, relative: str) -> Rules | None:
    """The rules that a folder holds, or None. A file of rules that is a link is not followed, as git does."""
    rules = tuple(rule for name in RULE_FILES for rule in _rules_of(os.path.join(folder, name)))
    return Rules(relative, rules) if rules else None


def _rules_of(path: str) -> tuple[Rule, ...]:
    try:
        found = os.lstat(path)
    except OSError as error:
        if error.errno in _NO_RULES:
            return ()
        raise
    # One that was written just now may be written again in the same moment.
    if time.time_ns() - found.st_mtime_ns < _RESTED_NS:
        return parsed(_read(path))
    return _parsed_once(path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(maxsize=256)
def _parsed_once(path: str, _identity: tuple[int, ...]) -> tuple[Rule, ...]:
    """Of a file that the disk tells the same of. Every document that is read asks for the rules above it."""
    return parsed(_read(path))


def parsed(text: str) -> tuple[Rule, ...]:
    """The rules of a text, in order. What can match nothing is left out."""
    lines = text.removeprefix("\ufeff").split("\n")
    return tuple(rule for line in lines if (rule := _rule_of(line.removesuffix("\r"))) is not None)


def _rule_of(line: str) -> Rule | None:
    if line.startswith("#"):
        return None
    pattern = _without_trailing_spaces(line)
    takes_back = pattern.startswith("!")
    pattern = pattern[takes_back:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    by_name = "/" not in pattern
    expression = expression_of(_as_bytes(pattern.removeprefix("/")))
    if expression is None:
        return None
    return Rule(re.compile(expression, re.DOTALL), takes_back, folders_only, by_name)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and bare != line else bare


def _as_bytes(text: str) -> str:
    """A character for each byte of UTF-8: git compares bytes, so `?` is one of them."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode("latin-1")


def _read(path: str) -> str:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno in _NO_RULES:
            return ""
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return os.read(handle, _MOST_BYTES).decode(errors="surrogateescape")
    finally:
        os.close(handle)
