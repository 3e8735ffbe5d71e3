"""Upkeep of a served store: in the background, now and then, one at a time; and folders of documents are watched."""

import random
import threading
import time
from typing import TYPE_CHECKING, Any

from memoranda.domain.errors import ConfigError, MemorandaError
from memoranda.domain.scope import Scope
from memoranda.http.logs import Logs
from memoranda.service.store import Store

if TYPE_CHECKING:
    from memoranda.service.document_watch import Watch
    from memoranda.service.maintaining import Maintenance

_HOUR = 3_600.0
_FIRST_HOURS = (0.2, 1.0)
_JITTER = 0.1
_LOOK_SECONDS = 300.0
_LAST_SECONDS = 5.0
_PAGE = 500
_MOST_WATCHED = 100


class Upkeep:
    """A thread of its own, from `start` to `close`."""

    def __init__(
        self, store: Store, logs: Logs, *, hours: float, watch: bool, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._store = store
        self._logs = logs
        self._hours = hours
        self._watch = watch
        self._look_seconds = look_seconds
        self._stop = threading.Event()
        self._working = threading.Lock()
        self._watches: dict[str, Watch] = {}
        self._thread = threading.Thread(target=self._run, name="memoranda-upkeep", daemon=True)

    def start(self) -> None:
        if self._hours or self._watch:
            self._thread.start()

    def close(self) -> None:
        """Begin nothing more, and stop watching. What is under way has a moment to end; it can be done again."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=_LAST_SECONDS)
        for each in tuple(self._watches.values()):
            each.close()
        self._watches.clear()

    @property
    def watched(self) -> tuple[str, ...]:
        """The scopes whose documents are watched."""
        return tuple(sorted(self._watches))

    def _run(self) -> None:
        # Not when everything starts, nor when all servers of a farm do; but also where none runs for a whole day.
        due = time.monotonic() + min(self._hours, random.uniform(*_FIRST_HOURS)) * _HOUR  # noqa: S311 no secret
        while not self._stop.is_set():
            if self._watch:
                self._look()
            if self._hours and time.monotonic() >= due:
                self.once()
                due = time.monotonic() + self._hours * _HOUR * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            until = due - time.monotonic() if self._hours else self._look_seconds
            self._stop.wait(max(0.0, min(until, self._look_seconds)))

    def once(self) -> bool:
        """Do it now, unless it is being done; whether it was done. What it did goes into the log, in numbers."""
        if not self._working.acquire(blocking=False):
            return False
        began = time.monotonic()
        try:
            done = self._store.maintain()
        except (MemorandaError, OSError) as error:
            self._logs.trouble("upkeep failed", error)
            return False
        else:
            self._logs.event("upkeep", seconds=round(time.monotonic() - began, 3), **_counts(done))
            return True
        finally:
            self._working.release()

    # -- documents --

    def _look(self) -> None:
        """Watch the folders of scopes that have some, and no others."""
        try:
            wanted = self._with_sources()
            for scope in set(self._watches) - wanted:
                self._watches.pop(scope).close()
            for scope in sorted(wanted - set(self._watches))[: _MOST_WATCHED - len(self._watches)]:
                if not self._stop.is_set():
                    self._watches[scope] = self._store.memory(Scope(scope)).documents.watch()
            self._logs_watched(len(wanted))
        except ConfigError:
            self._watch = False
            self._logs.event("documents are not watched", install='pip install "memoranda[watch]"')
        except (MemorandaError, OSError) as error:
            self._logs.trouble("documents are not watched", error)

    def _logs_watched(self, wanted: int) -> None:
        if wanted > _MOST_WATCHED:
            self._logs.event("some documents are not watched", scopes=wanted, watched=len(self._watches))

    def _with_sources(self) -> set[str]:
        found: set[str] = set()
        offset = 0
        while page := list(self._store.scopes(limit=_PAGE, offset=offset)):
            found.update(each.scope for each in page if each.sources)
            offset += len(page)
        return found


def _counts(done: "Maintenance") -> dict[str, Any]:
    """What was done, in numbers alone."""
    told: dict[str, Any] = {
        "erased": len(done.erased.ids),
        "expired": done.expired,
        "compacted": len(done.compacted),
        "vectors_made": done.vectors_made,
        "vectors_missing": done.vectors_missing,
    }
    if done.documents is not None:
        told |= {"documents_added": done.documents.added, "documents_changed": done.documents.changed}
    return told
