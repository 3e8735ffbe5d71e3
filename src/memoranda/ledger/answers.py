"""Answers: what was said to a request that came with a key, so that the same request is done once.

A key is claimed before the work and answered after it. Whoever comes with the same key meanwhile is told to wait,
also in another process; whoever comes later is given the same answer. Not a log: answers are kept for a day, and
none outlives an erasure, because it may hold the text that was erased. That something was done stays known.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn

from memoranda.domain.clock import DAY_MS, Clock
from memoranda.domain.errors import Conflict, MemorandaError
from memoranda.ledger.claims import Working, working_on
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.locking import Busy, held

KEPT_MS = DAY_MS
"""How long an answer can be asked for again."""
ClaimOutcome = Literal["new", "answered", "done", "busy", "differs", "lost"]
LEADER = "boot-leader"
"""The name that the leader of all servers holds, beside those who are at work."""
_DONE = 200
_AGAIN_SECONDS = 1.0
_LOOK_SECONDS = 5.0
_PROBE_SECONDS = 1.0
# Nothing was done then: without its answer such a request may be made again.
_ONLY_REFUSED = "wiped = 1 and status >= 400"
# Whose claim it is, and nobody has answered it.
_OURS = "principal = :principal and key = :key and boot = :boot and status is null"


class Claim(NamedTuple):
    """What to do with a request.

    `new` and `lost`: do it (of a `lost` one, somebody who has ended since may have done a part, or all of it, and it
    may be done again). `answered`: repeat what was said. `done`: it was done, and what was said is gone. `busy`: the
    same request is being worked on. `differs`: the key belongs to another request.
    """

    outcome: ClaimOutcome
    status: int = 0
    body: str = ""
    headers: Mapping[str, str] = MappingProxyType({})

    @property
    def goes_on(self) -> bool:
        return self.outcome in ("new", "lost")


class _Left(NamedTuple):
    """Whose claim it was, and until when: the same may have been claimed once more since."""

    boot: str
    before: int


class _Claimed(NamedTuple):
    """A key on which this process works, or has worked and could not let go of yet."""

    principal: str
    key: bytes

    def values(self, **more: Any) -> dict[str, Any]:
        return {**self._asdict(), **more}


class Answers:
    """The answers of one store. `key` makes what is kept of a caller's keys unreadable."""

    def __init__(self, database: Database, clock: Clock, *, key: bytes) -> None:
        self._database = database
        self._clock = clock
        self._key = key
        self._presence = _Presence(database)
        self._lock = Lock()
        self._working: dict[_Claimed, str] = {}
        self._left: dict[_Claimed, _Left] = {}
        self._closed = Event()

    def begin(self, principal: str, key: str, request_digest: bytes, boot: str) -> Claim:
        """Claim a key for a request. `boot` names this run of this process, and no other."""
        self._presence.show(boot)
        claimed = self._named(principal, key)
        with self._lock:
            first = claimed not in self._working
            if first:
                self._working[claimed] = boot
        try:
            # Keyed: a digest of what was said outlives its erasure, and nobody may try guesses on it.
            claim = self._claim(claimed, self._digest(request_digest), boot, first=first)
        except BaseException:
            if first:  # it may have come to be all the same
                self._let_go(claimed)
                self._drop_later(claimed, boot)
            raise
        if first and not claim.goes_on:
            self._let_go(claimed)
        return claim

    def _claim(self, claimed: _Claimed, request: bytes, boot: str, *, first: bool) -> Claim:
        gone = ""
        while True:
            claim, owner = self._tried(claimed, request, boot, gone=gone, first=first)
            if claim.outcome != "busy" or not first or owner == gone:
                return claim
            # Looked for outside of the transaction, during which nobody else could write. Of our own the first one
            # here has nothing at work: it is what could not be let go of.
            if owner != boot and self._presence.is_here(owner):
                return claim
            gone = owner

    def _tried(self, claimed: _Claimed, request: bytes, boot: str, *, gone: str, first: bool) -> tuple[Claim, str]:
        """Claim it, or take it over from who is `gone`; with who has it. Whoever is not the `first` here only looks."""
        values = claimed.values(request=request, boot=boot, at=self._clock.now())

        def job(connection: Connection) -> tuple[Claim, str]:
            row = connection.execute(
                "select request, boot, status, headers, body, wiped from answer "
                "where principal = :principal and key = :key",
                values,
            ).fetchone()
            if row is None and not first:
                return Claim("busy"), boot
            if row is None:
                connection.execute(
                    "insert into answer (principal, key, request, at, boot) "
                    "values (:principal, :key, :request, :at, :boot)",
                    values,
                )
                return Claim("new"), boot
            told, owner, status, headers, body, wiped = row
            if bytes(told) != request:
                return Claim("differs"), str(owner)
            if status is not None and wiped:
                return Claim("done", int(status)), str(owner)
            if status is not None:
                return Claim("answered", int(status), str(body), json.loads(headers)), str(owner)
            if owner != gone:
                return Claim("busy"), str(owner)
            if headers is not None:
                connection.execute(
                    "update answer set status = :status, wiped = 1 where principal = :principal and key = :key",
                    {**values, "status": _DONE},
                )
                return Claim("done", _DONE), boot
            connection.execute(
                "update answer set boot = :boot, at = :at, wiped = 0 where principal = :principal and key = :key",
                values,
            )
            return Claim("lost"), boot

        return self._database.write(job)

    @contextmanager
    def working(self, principal: str, key: str, boot: str) -> Iterator[Event]:
        """Around the work on a claim: what it writes is taken back when somebody else has the claim by then, and what
        must not be done twice says in the transaction that does it that it was. Gives what is set when the claim was
        found to be somebody else's, whatever the work made of that."""
        values = self._named(principal, key).values(boot=boot)
        taken_over = Event()

        def check(connection: Connection) -> None:
            if connection.execute(f"select 1 from answer where {_OURS}", values).fetchone() is None:  # noqa: S608
                refuse()

        def mark(connection: Connection) -> None:
            connection.execute(f"update answer set headers = '{{}}' where {_OURS}", values)  # noqa: S608
            if not connection.changes():
                refuse()

        def refuse() -> NoReturn:
            taken_over.set()
            raise Conflict(
                "another server has taken this request over, and nothing more of it is done here",
                hint="Ask again with the same key: whoever has taken it over answers.",
            )

        with working_on(Working(self._database, check, mark)):
            yield taken_over

    def finish(
        self, principal: str, key: str, status: int, body: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep the answer; only that there was one when something was erased meanwhile, which it may speak of. Nothing
        when somebody else has the claim by now: they answer."""
        claimed = self._named(principal, key)
        with self._lock:
            boot = self._working.get(claimed, "")
        values = claimed.values(boot=boot, status=status, body=body, headers=json.dumps(dict(headers or {})))

        def job(connection: Connection) -> None:
            connection.execute(
                f"""
                update answer set status = :status, headers = case when wiped = 0 then :headers end,
                       body = case when wiped = 0 then :body end
                where {_OURS}
                """,  # noqa: S608
                values,
            )
            connection.execute(
                f"delete from answer where principal = :principal and key = :key and {_ONLY_REFUSED}",  # noqa: S608
                values,
            )

        self._database.write(job)
        self._let_go(claimed)

    def drop(self, principal: str, key: str, *, later: bool = False) -> None:
        """Give a claim up: nothing came of it, and the request may be made again. An answer stays, and so does that
        it was done where that was marked.

        `later`: in the background, as soon as the store can be written to; so it is also done when it cannot be now.
        """
        claimed = self._named(principal, key)
        boot = self._let_go(claimed)
        if not boot:
            return
        try:
            if not later:
                self._delete(claimed, _Left(boot, self._clock.now()))
        except MemorandaError:
            later = True
        if later:
            self._drop_later(claimed, boot)

    def _let_go(self, claimed: _Claimed) -> str:
        """Nobody works on it here any more; the boot that did."""
        with self._lock:
            return self._working.pop(claimed, "")

    def _delete(self, claimed: _Claimed, left: _Left) -> None:
        values = claimed.values(**left._asdict())

        def job(connection: Connection) -> None:
            # Another may have taken it over meanwhile, or we ourselves.
            connection.execute(
                f"update answer set status = :status, wiped = 1 "  # noqa: S608
                f"where {_OURS} and at <= :before and headers is not null",
                {**values, "status": _DONE},
            )
            connection.execute(f"delete from answer where {_OURS} and at <= :before", values)  # noqa: S608

        self._database.write(job)

    def _drop_later(self, claimed: _Claimed, boot: str) -> None:
        with self._lock:
            alone = not self._left
            self._left[claimed] = _Left(boot, self._clock.now())
        if alone:
            Thread(target=self._drop_left, name="memoranda-claims", daemon=True).start()

    def _drop_left(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                claimed = next(iter(self._left), None)
                if claimed is None:
                    return
                left = self._left[claimed]
            try:
                self._delete(claimed, left)
            except MemorandaError:
                self._closed.wait(_AGAIN_SECONDS)
                continue
            with self._lock:
                if self._left[claimed] == left:
                    del self._left[claimed]

    def clear(self) -> None:
        """Forget what was answered, also what is about to be; not that it was done."""
        self._database.write(clear)

    def sweep(self, before: int | None = None) -> int:
        """Forget what was asked for before this moment (a day ago when it is not said); how many."""
        moment = self._clock.now() - KEPT_MS if before is None else before

        def job(connection: Connection) -> int:
            connection.execute("delete from answer where at < :before", {"before": moment})
            return connection.changes()

        self._presence.sweep(moment)
        return self._database.write(job)

    def close(self) -> None:
        """Whoever was at work here has ended. May be called twice."""
        self._closed.set()
        self._presence.leave()

    def _named(self, principal: str, key: str) -> _Claimed:
        return _Claimed(principal, self._digest(key.encode("utf-8", "surrogatepass")))

    def _digest(self, data: bytes) -> bytes:
        return hashlib.blake2b(data, key=self._key, digest_size=16).digest()


def clear(connection: Connection) -> None:
    """For a transaction that erases. That a request came stays, so that nothing is done twice; no word of it does."""
    connection.execute("update answer set wiped = 1, headers = null, body = null where status is not null")
    connection.execute("update answer set wiped = 1 where status is null")  # whether it was marked is no word of it
    connection.execute(f"delete from answer where {_ONLY_REFUSED}")  # noqa: S608


def presences(ledger: Path) -> list[Path]:
    """The files beside a ledger that tell who is at work on it."""
    return sorted(ledger.parent.glob(f"{escape(ledger.name)}-boot-*"))


class _Held(NamedTuple):
    stack: ExitStack
    looked: float


class _Trouble(NamedTuple):
    """Why a name could not be had, and when that was tried."""

    kind: type[Exception]
    told: str
    hint: str
    at: float

    @classmethod
    def of(cls, error: Exception) -> "_Trouble":
        return cls(type(error), str(error), getattr(error, "hint", ""), time.monotonic())

    def again(self) -> Exception:
        """A new one: what was raised holds on to the call that met it."""
        return self.kind(self.told, hint=self.hint) if issubclass(self.kind, MemorandaError) else self.kind(self.told)


class _Presence:
    """Who is at work now: each boot holds a name while its process lives, however that ends, on whatever machine.

    Of a store in a file that is a file beside it: empty, nothing of a request is in it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: dict[str, _Held] = {}
        self._trying: set[str] = set()
        self._troubles: dict[str, _Trouble] = {}
        self._left = False
        self._changed = Condition()

    def show(self, boot: str) -> None:
        """Be seen. A session of a database server may have been lost: now and then the name is tried for again.

        One tries, and those who come meanwhile wait for what becomes of it, not one after another.
        """
        with self._changed:
            while boot in self._trying:
                self._changed.wait()
            held_now, trouble, now = self._held.get(boot), self._troubles.get(boot), time.monotonic()
            if held_now is not None and now - held_now.looked < _LOOK_SECONDS:
                return
            if trouble is not None and now - trouble.at < _AGAIN_SECONDS:
                raise trouble.again()
            self._trying.add(boot)
        trouble = None
        try:
            held_now = _Held(self._tried(boot, held_now), now)
        except (MemorandaError, OSError, Busy) as error:
            trouble = _Trouble.of(error)
            raise
        finally:
            with self._changed:
                self._trying.discard(boot)
                self._troubles.pop(boot, None)
                if trouble is not None:
                    self._troubles[boot] = trouble
                elif held_now is not None and not self._left:
                    self._held[boot] = held_now
                elif held_now is not None:
                    self._let_go(boot, held_now)
                self._changed.notify_all()

    def _tried(self, boot: str, held_now: _Held | None) -> ExitStack:
        """What holds the name now."""
        stack = ExitStack()
        try:
            patience = 0.0 if held_now is not None else _PROBE_SECONDS
            stack.enter_context(self._database.hold(_name(boot), patience=patience))
        except Busy:
            if held_now is None:
                raise
            return held_now.stack  # as it should be
        if held_now is not None:
            held_now.stack.close()
        return stack

    def is_here(self, boot: str) -> bool:
        file = self._file(boot)
        # Shown before it claims anything: a boot without a file has ended. To look must not make one.
        if self._database.path.exists() and not file.exists():
            return False
        try:
            with self._database.hold(_name(boot)):
                pass
            file.unlink(missing_ok=True)
        except (Busy, PermissionError):  # where files that are open cannot be removed, that tells the same
            return True
        return False

    def sweep(self, before: int) -> None:
        """Remove what processes left behind that did not end in order. Fresh files may not be locked yet."""
        for file in presences(self._database.path):
            if file.name.endswith(LEADER):  # others try for it: removed while one does, two would hold it
                continue
            with suppress(FileNotFoundError, PermissionError, Busy):  # somebody else tidies, too, or is at work
                if file.stat().st_mtime * 1000 < before:
                    with held(file):
                        pass
                    file.unlink(missing_ok=True)

    def leave(self) -> None:
        with self._changed:
            self._left = True
            for boot, each in self._held.items():
                self._let_go(boot, each)
            self._held.clear()

    def _let_go(self, boot: str, held_now: _Held) -> None:
        held_now.stack.close()
        self._file(boot).unlink(missing_ok=True)

    def _file(self, boot: str) -> Path:
        return self._database.path.with_name(f"{self._database.path.name}-{_name(boot)}")


def _name(boot: str) -> str:
    return f"boot-{hashlib.blake2b(boot.encode(), digest_size=8).hexdigest()}"
