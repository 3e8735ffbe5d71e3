"""Answers: what was said to a request that came with a key, so that the same request is done once.

A key is claimed before the work and answered after it. Whoever comes with the same key meanwhile is told to wait,
also in another process; whoever comes later is given the same answer. Not a log: answers are kept for a day, and
none outlives an erasure, because it may hold the text that was erased. That something was done stays known.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from glob import escape
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Literal, NamedTuple

import apsw

from memoranda.domain.clock import DAY_MS, Clock
from memoranda.ledger.database import Database
from memoranda.ledger.locking import Busy, held

KEPT_MS = DAY_MS
"""How long an answer can be asked for again."""
ClaimOutcome = Literal["new", "answered", "done", "busy", "differs", "lost"]
# Nothing was done then: without its answer such a request may be made again.
_ONLY_REFUSED = "wiped = 1 and status >= 400"


class Claim(NamedTuple):
    """What to do with a request.

    `new` and `lost`: do it (of a `lost` one, somebody who has ended since may have done a part). `answered`: repeat
    what was said. `done`: it was done, and what was said is gone. `busy`: the same request is being worked on.
    `differs`: the key belongs to another request.
    """

    outcome: ClaimOutcome
    status: int = 0
    body: str = ""
    headers: Mapping[str, str] = MappingProxyType({})

    @property
    def goes_on(self) -> bool:
        return self.outcome in ("new", "lost")


class Answers:
    """The answers of one store. `key` makes what is kept of a caller's keys unreadable."""

    def __init__(self, database: Database, clock: Clock, *, key: bytes) -> None:
        self._database = database
        self._clock = clock
        self._key = key
        self._presence = _Presence(database.path)

    def begin(self, principal: str, key: str, request_digest: bytes, boot: str) -> Claim:
        """Claim a key for a request. `boot` names this run of this process, and no other."""
        self._presence.show(boot)
        # Keyed: a digest of what was said outlives its erasure, and nobody may try guesses on it.
        request = self._digest(request_digest)
        values = {**self._names(principal, key), "request": request, "boot": boot, "at": self._clock.now()}

        def job(connection: apsw.Connection) -> Claim:
            row = connection.execute(
                "select request, boot, status, headers, body, wiped from answer "
                "where principal = :principal and key = :key",
                values,
            ).fetchone()
            if row is None:
                connection.execute(
                    "insert into answer (principal, key, request, at, boot) "
                    "values (:principal, :key, :request, :at, :boot)",
                    values,
                )
                return Claim("new")
            claimed, owner, status, headers, body, wiped = row
            if bytes(claimed) != request:
                return Claim("differs")
            if status is not None and wiped:
                return Claim("done", int(status))
            if status is not None:
                return Claim("answered", int(status), str(body), json.loads(headers))
            if owner == boot or self._presence.is_here(str(owner)):
                return Claim("busy")
            connection.execute(
                "update answer set boot = :boot, at = :at, wiped = 0 where principal = :principal and key = :key",
                values,
            )
            return Claim("lost")

        return self._database.write(job)

    def finish(
        self, principal: str, key: str, status: int, body: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep the answer; only that there was one when something was erased meanwhile, which it may speak of."""
        values = {
            **self._names(principal, key), "status": status, "body": body, "headers": json.dumps(dict(headers or {})),
        }  # fmt: skip

        def job(connection: apsw.Connection) -> None:
            connection.execute(
                """
                update answer set status = :status, headers = case when wiped = 0 then :headers end,
                       body = case when wiped = 0 then :body end
                where principal = :principal and key = :key and status is null
                """,
                values,
            )
            connection.execute(
                f"delete from answer where principal = :principal and key = :key and {_ONLY_REFUSED}",  # noqa: S608
                values,
            )

        self._database.write(job)

    def drop(self, principal: str, key: str) -> None:
        """Give a claim up: nothing came of it, and the request may be made again. An answer stays."""
        values = self._names(principal, key)

        def job(connection: apsw.Connection) -> None:
            connection.execute(
                "delete from answer where principal = :principal and key = :key and status is null", values
            )

        self._database.write(job)

    def clear(self) -> None:
        """Forget what was answered, also what is about to be; not that it was done."""
        self._database.write(clear)

    def sweep(self, before: int | None = None) -> int:
        """Forget what was asked for before this moment (a day ago when it is not said); how many."""
        moment = self._clock.now() - KEPT_MS if before is None else before

        def job(connection: apsw.Connection) -> int:
            connection.execute("delete from answer where at < :before", {"before": moment})
            return connection.changes()

        self._presence.sweep(moment)
        return self._database.write(job)

    def close(self) -> None:
        """Whoever was at work here has ended. May be called twice."""
        self._presence.leave()

    def _names(self, principal: str, key: str) -> dict[str, str | bytes]:
        return {"principal": principal, "key": self._digest(key.encode("utf-8", "surrogatepass"))}

    def _digest(self, data: bytes) -> bytes:
        return hashlib.blake2b(data, key=self._key, digest_size=16).digest()


def clear(connection: apsw.Connection) -> None:
    """For a transaction that erases. That a request came stays, so that nothing is done twice; no word of it does."""
    connection.execute("update answer set wiped = 1, headers = null, body = null")
    connection.execute(f"delete from answer where {_ONLY_REFUSED}")  # noqa: S608


def presences(ledger: Path) -> list[Path]:
    """The files beside a ledger that tell who is at work on it."""
    return sorted(ledger.parent.glob(f"{escape(ledger.name)}-boot-*"))


class _Presence:
    """Who is at work now: a file for each boot, locked while its process lives, however that ends.

    Empty files: nothing of a request is in them.
    """

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._held: dict[str, ExitStack] = {}
        self._lock = Lock()

    def show(self, boot: str) -> None:
        with self._lock:
            if boot in self._held:
                return
            stack = ExitStack()
            stack.enter_context(held(self._file(boot)))
            self._held[boot] = stack

    def is_here(self, boot: str) -> bool:
        # Shown before it claims anything: a boot without a file has ended.
        file = self._file(boot)
        return file.exists() and not _removed(file)

    def sweep(self, before: int) -> None:
        """Remove what processes left behind that did not end in order. Fresh files may not be locked yet."""
        for file in presences(self._ledger):
            with suppress(FileNotFoundError):  # somebody else tidies, too
                if file.stat().st_mtime * 1000 < before:
                    _removed(file)

    def leave(self) -> None:
        with self._lock:
            for boot, stack in self._held.items():
                stack.close()
                self._file(boot).unlink(missing_ok=True)
            self._held.clear()

    def _file(self, boot: str) -> Path:
        digest = hashlib.blake2b(boot.encode(), digest_size=8).hexdigest()
        return self._ledger.with_name(f"{self._ledger.name}-boot-{digest}")


def _removed(file: Path) -> bool:
    """Remove the file unless somebody holds it."""
    try:
        with held(file):
            pass
        file.unlink(missing_ok=True)
    except (Busy, PermissionError):  # where files that are open cannot be removed, that tells the same
        return False
    return True
