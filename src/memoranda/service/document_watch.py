"""Watching folders: a sync soon after a file has changed. In a thread of its own, until it is closed.

The watcher only says that something has changed; what it is, a sync finds out. A folder that goes and comes back, a
source that is added meanwhile, or a sync that fails does not end it. Where the system cannot tell of changes, the
folders are looked at every so often.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType, TracebackType
from typing import Any, Self

from memoranda.documents.ignore import MIRROR_MARK, RULE_FILES
from memoranda.documents.scan import is_allowed
from memoranda.domain.document import Source, Synced, SyncWhy
from memoranda.domain.errors import ConfigError, InvalidInput, MemorandaError
from memoranda.domain.scope import Scope
from memoranda.service.document_library import Library

_LOOK_MS = 200
_WITHOUT_EVENTS_SECONDS = 30.0
_LONGEST = 10
_CLOSING_SECONDS = 10.0

_State = tuple[tuple[str, int], ...]
"""The folders that are there, each with its number on the disk: another one may stand in its place."""


class Watch:
    """A watcher at work. Close it, or use it in a `with` block."""

    def __init__(
        self,
        library: Library,
        scope: Scope,
        *,
        interval_minutes: float = 0.0,
        told: Callable[[Synced], object] | None = None,
    ) -> None:
        if isinstance(interval_minutes, bool) or not isinstance(interval_minutes, int | float) or interval_minutes < 0:
            raise InvalidInput(
                f"interval_minutes: {interval_minutes!r} is not a number of minutes", hint="Give 0 for no interval."
            )
        self._library = library
        self._scope = scope
        self._interval = interval_minutes * 60
        self._told = told
        # Without the package, an interval will do when there is one.
        self._watchfiles = _watchfiles(needed=not interval_minutes)
        self._stop = threading.Event()
        self._synced_at = time.monotonic()
        self.trouble = ""
        """What is wrong just now; empty when all is well."""
        self.syncs = 0
        self.ready = threading.Event()
        """Set once changes will be noticed."""
        self._thread = threading.Thread(target=self._run, name="memoranda-documents", daemon=True)
        library.keep(self)
        self._thread.start()

    # -- the thread --

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch()
            except (MemorandaError, OSError, RuntimeError) as error:
                self.trouble = str(error)
                self._stop.wait(_LOOK_MS / 1000)

    def _watch(self) -> None:
        """Watch the folders that are there now, until there are others."""
        sources = self._library.sources.seen_from(self._scope)
        state = _state(sources)
        roots = [source.root for source in sources if source.root in dict(state)]
        if not roots or self._watchfiles is None:
            self._look_now_and_then(state)
            return
        try:
            events = self._watchfiles.watch(
                *dict.fromkeys(roots),
                watch_filter=None,
                stop_event=self._stop,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            self._heed(events, sources, state)
        except OSError as error:
            # The system's limit on watched folders, for one.
            self.trouble = f"changes are not told of ({error}); the folders are looked at every now and then"
            self._look_now_and_then(state)

    def _heed(self, events: Iterable[Any], sources: Sequence[Source], state: _State) -> None:
        debounce = self._library.settings.watch_debounce_ms / 1000
        # What changed before we began to look is taken in, too.
        first: float | None = time.monotonic() - _LONGEST * debounce
        last = first
        bases = {os.path.realpath(source.root) for source in sources}
        for changes in events:
            now = time.monotonic()
            if self._stop.is_set() or self._is_other(state):
                return
            if any(path in bases for _, path in changes):
                # The folder itself went, and whoever was told of changes in it is told no more; another one may have
                # its name and its number by now.
                return
            if changes and self._concerns(sources, (path for _, path in changes)):
                first, last = now if first is None else first, now
            # Quiet for so long; but what is written all the time is looked at now and then.
            if (
                first is not None
                and last is not None
                and (now - last >= debounce or now - first >= _LONGEST * debounce)
            ):
                first = last = None
                self._sync("watch")
                self.ready.set()
            elif self._is_due():
                self._sync("interval")

    def _look_now_and_then(self, state: _State) -> None:
        """Look at the folders every so often, until there are others."""
        self._sync("interval")
        self.ready.set()
        pause = self._interval or _WITHOUT_EVENTS_SECONDS
        while not self._stop.wait(_LOOK_MS / 1000):
            if time.monotonic() - self._synced_at >= pause:
                self._sync("interval")
            if self._is_other(state):
                return

    def _is_due(self) -> bool:
        return self._interval > 0 and time.monotonic() - self._synced_at >= self._interval

    def _is_other(self, state: _State) -> bool:
        return _state(self._library.sources.seen_from(self._scope)) != state

    def _concerns(self, sources: Sequence[Source], paths: Iterable[str]) -> bool:
        """Whether any of these paths may make a difference to the documents."""
        limits = self._library.how.limits
        catalogue = self._library.serving().catalogue
        known: dict[Source, list[str]] = {}
        for path in paths:
            for source in sources:
                base = os.path.realpath(source.root)
                if not path.startswith(base + os.sep) and path != base:
                    continue
                relative = os.path.relpath(path, base).replace(os.sep, "/")
                if os.path.basename(path) in (*RULE_FILES, MIRROR_MARK) or is_allowed(
                    source.root, relative, source.patterns, limits=limits
                ):
                    return True
                # A folder that came, went or was given another name says nothing of the files in it.
                if os.path.isdir(path):
                    return True
                if source not in known:
                    known[source] = list(catalogue.known(source.scope, source.name))
                if any(each.startswith(relative + "/") for each in known[source]):
                    return True
        return False

    def _sync(self, why: SyncWhy) -> None:
        self._synced_at = time.monotonic()
        try:
            synced = self._library.sync(self._library.sources.seen_from(self._scope), why=why)
        except (MemorandaError, OSError) as error:
            self._library.dirty = True
            self.trouble = str(error)
            return
        self.trouble = synced.left
        self.syncs += 1
        if self._told is not None:
            try:
                self._told(synced)
            except Exception as error:  # noqa: BLE001 - somebody else's code; watching goes on
                self.trouble = f"a sync was done, but whoever is told of it failed: {type(error).__name__}: {error}"

    # -- lifetime --

    @property
    def is_alive(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop watching. May be called twice."""
        self._stop.set()
        self._library.let_go_of(self)
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=_CLOSING_SECONDS)

    def wait(self, seconds: float | None = None) -> bool:
        """Until it is closed, or for so long; whether it is closed."""
        return self._stop.wait(seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _state(sources: Sequence[Source]) -> _State:
    found = []
    for source in sources:
        try:
            found.append((source.root, os.stat(source.root).st_ino))
        except OSError:
            continue
    return tuple(found)


def _watchfiles(*, needed: bool) -> ModuleType | None:
    try:
        import watchfiles
    except ImportError as error:
        if not needed:
            return None
        raise ConfigError(
            "watching folders needs a package that is not installed",
            hint='pip install "memoranda[watch]", or give an interval in minutes: interval_minutes, or --interval.',
        ) from error
    return watchfiles
