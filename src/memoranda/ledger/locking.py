"""A lock between processes and threads: a file that somebody holds. Let go by the system, however the holder ends.

On a system without such locks nobody is kept out: there, two at once are the operator's to avoid.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOOK_AGAIN_SECONDS = 0.02


class Busy(Exception):
    """Somebody else holds the lock."""


@contextmanager
def held(path: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Nobody else holds this file meanwhile; Busy when somebody does for longer than `patience` seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not _locked(descriptor):
            if time.monotonic() >= deadline:
                raise Busy
            time.sleep(_LOOK_AGAIN_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
