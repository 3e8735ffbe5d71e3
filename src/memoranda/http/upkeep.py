"""Upkeep of a served store: in the background, now and then, one at a time; and folders of documents are watched.

Of all servers of one store one is the leader and does the upkeep. When it ends, however that comes about, another
leads within seconds. Folders are watched by every server, on its own machine.
"""

import random
import threading
import time
from typing import TYPE_CHECKING

from memoranda.domain.errors import ConfigError, MemorandaError
from memoranda.domain.scope import Scope
from memoranda.http.logs import Logs
from memoranda.service.leading import Leadership
from memoranda.service.store import Store

if TYPE_CHECKING:
    from memoranda.service.document_watch import Watch

_HOUR = 3_600.0
_FIRST_HOURS = (0.2, 1.0)
_JITTER = 0.1
_AGAIN_HOURS = 0.25
_LOOK_SECONDS = 300.0
_LEAD_SECONDS = 3.0
_LAST_SECONDS = 5.0
_UNFINISHED_SECONDS = 30.0
_PAGE = 500
_MOST_WATCHED = 100


def pause(hours: float, failures: int) -> float:
    """Hours to the next one. After a failure it is soon, then less and less so; servers of a farm drift apart."""
    after = min(hours, _AGAIN_HOURS * 2 ** (failures - 1)) if failures else hours
    return after * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 no secret


class Unfinished:
    """Erasures that could not be finished at once: gone on with in minutes, not at the next upkeep."""

    def __init__(self, store: Store, logs: Logs) -> None:
        self._store = store
        self._logs = logs
        self._left = ""
        self._pause = 0.0
        self._due = 0.0

    def look(self, now: float | None = None) -> None:
        """What was there at the last look, too, is nobody's any more: finish it. Less often when that fails."""
        now = time.monotonic() if now is None else now
        if now < self._due:
            return
        try:
            left = self._store.owed()
            pending = self._store.finish_erasures() if left and left == self._left else ""
        except (MemorandaError, OSError) as error:
            self._logs.trouble("erasures are not finished", error)
            left, pending = self._left, "trouble"
        else:
            if left and left == self._left:
                self._logs.event("erasures are not finished" if pending else "erasures are finished")
                left = left if pending else ""
        self._left = left
        self._pause = min(self._pause * 2, _HOUR) if pending else _UNFINISHED_SECONDS
        self._due = now + self._pause


class Upkeep:
    """A thread of its own, from `start` to `close`."""

    def __init__(
        self,
        store: Store,
        logs: Logs,
        *,
        hours: float,
        watch: bool,
        look_seconds: float = _LOOK_SECONDS,
        lead_seconds: float = _LEAD_SECONDS,
    ) -> None:
        self._store = store
        self._logs = logs
        self._hours = hours
        self._watch = watch
        self._look_seconds = look_seconds
        self._lead_seconds = lead_seconds
        self.leadership = Leadership(store, told=self._told_who_leads)
        self._stop = threading.Event()
        self._working = threading.Lock()
        self._watches: dict[str, Watch] = {}
        self._unfinished = Unfinished(store, logs)
        self._thread = threading.Thread(target=self._run, name="memoranda-upkeep", daemon=True)

    def _told_who_leads(self, leads: bool) -> None:
        if self._store.pool() is not None:  # of a file there is seldom more than one server
            self._logs.event("leads" if leads else "leads no more")

    def start(self) -> None:
        if self._hours or self._watch:
            self._thread.start()

    def close(self) -> None:
        """Begin nothing more, and stop watching. What is under way has a moment to end; it can be done again."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=_LAST_SECONDS)
        self.leadership.close()
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
        look = time.monotonic()
        failures = 0
        while not self._stop.is_set():
            if self._watch and time.monotonic() >= look:
                self._look()
                look = time.monotonic() + self._look_seconds
            leads = bool(self._hours) and self.leadership.look()
            if leads and time.monotonic() >= due:
                failures = 0 if self._done_lately() or self.once() else failures + 1
                due = time.monotonic() + pause(self._hours, failures) * _HOUR
            if leads:
                self._unfinished.look()
            self._stop.wait(max(0.0, min(self._next(due, leads=leads), look - time.monotonic(), self._look_seconds)))

    def _next(self, due: float, *, leads: bool) -> float:
        """Seconds until there is something to do but to look at folders."""
        if not self._hours:
            return self._look_seconds
        return min(due - time.monotonic(), self._lead_seconds) if leads else self._lead_seconds

    def _done_lately(self) -> bool:
        """Whether somebody did it since this server would have last: another server, or a person."""
        try:
            last = next(iter(self._store.upkeep().admin.upkeep(limit=1)), None)
        except (MemorandaError, OSError) as error:
            self._logs.trouble("upkeep failed", error)
            return False
        since = self._store.clock.now() - self._hours * _HOUR * 1000 * (1 - 2 * _JITTER)
        return last is not None and last.ok and last.at > since

    def once(self) -> bool:
        """Do it now, unless it is being done, here or by another process; whether it was done. What it did goes into
        the log, in numbers."""
        if not self._working.acquire(blocking=False):
            return False
        began = time.monotonic()
        try:
            done = self._store.maintain()
        except (MemorandaError, OSError) as error:
            self._logs.trouble("upkeep failed", error)
            return False
        else:
            self._logs.event("upkeep", seconds=round(time.monotonic() - began, 3), **done.counts)
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
