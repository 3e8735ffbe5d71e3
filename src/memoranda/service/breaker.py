"""`Breaker`: an embedder that failed is left alone for a while, by this process and by the ones that come after it.

A small file beside the store says who and until when: digests and moments, no text and no address. Where it cannot
be written, this process alone knows. After that time one of all who want to ask may try; the others wait for what it
finds. Not for the bundled embedder, which is never out of reach.
"""

import contextlib
import hashlib
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.clock import Clock, iso
from memoranda.service.beside import read_note, write_note

_BUNDLED = "use"
_waiting: "dict[object, tuple[Breaker, str]]" = {}


class BreakerState(NamedTuple):
    """Whether an embedder is left alone, and until when: a moment in milliseconds, 0 when it may be asked."""

    embedder: str
    until: int

    @property
    def open(self) -> bool:
        return self.until > 0

    def __str__(self) -> str:
        if not self.open:
            return f"closed: {self.embedder} may be asked"
        return f"{self.embedder} did not answer and is left alone until {iso(self.until)}"


class Breaker:
    """Who is left alone, of one store."""

    def __init__(self, store: Path, *, seconds: float, clock: Clock) -> None:
        self.path = store.with_name(store.name + "-breaker")
        self._pause = round(seconds * 1000)
        self._clock = clock
        self._lock = threading.Lock()
        self._unwritten: dict[str, int] | None = None

    def until(self, who: str) -> int:
        """Until when it is left alone; 0 when it may be asked."""
        if not self._pause:
            return 0
        with self._lock:
            return self._left(self._marks(), who)

    @contextlib.contextmanager
    def asking(self, who: str) -> Iterator[bool]:
        """Around a question. False: do not ask, because somebody else has just begun to try."""
        if not self._pause:
            yield True
            return
        if not self._begins(who):
            yield False
            return
        question = object()
        _waiting[question] = (self, who)
        try:
            yield True
        finally:
            del _waiting[question]

    def _begins(self, who: str) -> bool:
        with self._lock:
            marks = self._marks()
            if self._left(marks, who):
                return False
            if who in marks:
                # Moved on before it is asked: the others leave it alone, even if this process is killed.
                self._write({**marks, who: self._clock.now() + self._pause})
            return True

    def failed(self, who: str) -> None:
        """It did not answer."""
        if self._pause:
            with self._lock:
                self._write({**self._marks(), who: self._clock.now() + self._pause})

    def answered(self, who: str) -> bool:
        """It answers; whether it did not before."""
        if not self._pause:
            return False
        with self._lock:
            marks = self._marks()
            if who not in marks:
                return False
            self._write({each: until for each, until in marks.items() if each != who})
            return True

    def reset(self) -> None:
        """Everybody may be asked again."""
        with self._lock:
            if self._marks():
                self._write({})

    def _left(self, marks: Mapping[str, int], who: str) -> int:
        until, now = marks.get(who, 0), self._clock.now()
        # Further away than we ever set it: the clock was put back, or the file is not ours.
        return until if now < until <= now + self._pause else 0

    def _marks(self) -> dict[str, int]:
        if self._unwritten is not None:
            return self._unwritten
        return {who: until for who, until in read_note(self.path).items() if type(until) is int}

    def _write(self, marks: dict[str, int]) -> None:
        try:
            write_note(self.path, marks)
            self._unwritten = None
        except OSError:
            self._unwritten = marks


def is_breakable(embedder: str) -> bool:
    """Whether the embedder of this name can be out of reach."""
    return embedder.partition(":")[0] != _BUNDLED


def digest_of(embedder: str, fingerprint: str, url: str) -> str:
    """A name for an embedder behind an address, from which neither can be read."""
    return hashlib.blake2b(f"{embedder}\0{fingerprint}\0{url}".encode("utf-8", "replace"), digest_size=8).hexdigest()


def give_up() -> None:
    """The process ends now: whoever was asked and has not answered has failed."""
    for breaker, each in tuple(_waiting.values()):
        breaker.failed(each)
