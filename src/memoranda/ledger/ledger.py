"""`Ledger`: the tables gathered behind one transaction. Rows answer, events explain.

Every change is a row, an event and a revision in the same commit; the event's sequence is what an index follows.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from memoranda.domain.address import Address
from memoranda.domain.clock import Clock
from memoranda.domain.errors import Conflict, InvalidInput, LedgerDamaged, LedgerFull, Refused
from memoranda.domain.keys import Key
from memoranda.domain.memory import GRADES, KINDS, STATES, TRUSTS, Memory, State, Trust
from memoranda.domain.receipt import ChangeReceipt
from memoranda.domain.results import Changed, Check, Listing, Remembered, Revision, Stats
from memoranda.domain.scope import Scope
from memoranda.domain.text import normal_form
from memoranda.ledger import answers, memories, turns
from memoranda.ledger.checks import checked
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders
from memoranda.ledger.feed import MemoryFeed, newest
from memoranda.ledger.keeping import Keep, accept, counted, keep_one, refuse_from_below
from memoranda.ledger.looking import grade_of, own_words
from memoranda.ledger.memories import Filter
from memoranda.ledger.moved import refuse_arriving
from memoranda.ledger.opening import opened_file, opened_server
from memoranda.ledger.operations import journal
from memoranda.ledger.reserve import Reserve
from memoranda.ledger.settling import Choose, Decide, Settled, let_go
from memoranda.ledger.turns import Turn

T = TypeVar("T")
_MOST_SETTLED = 2_000
_EVERYTHING = 1 << 31
_EXPIRED_AT_ONCE = 500


class Ledger:
    """One ledger file."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        busy_seconds: float = 30.0,
        key: Key | None = None,
        address: Address | None = None,
        pool_size: int = 8,
        read_only: bool = False,
    ) -> None:
        """A file; or with an address a schema in PostgreSQL, and `path` is for what is kept beside it here."""
        self.path = path
        self.clock = clock
        self.database: Database
        if address is None:
            self._refuse_emptied(path)
            self.database = opened_file(path, clock, busy_seconds=busy_seconds, key=key, read_only=read_only)
        else:
            self.database = opened_server(
                address, path, clock, busy_seconds=busy_seconds, pool_size=pool_size, read_only=read_only
            )
        try:
            with self.database.read() as connection:
                refuse_arriving(connection)
                known = _store_key(connection)
            self._key = known or self.database.write(_make_store_key)
        except BaseException:
            self.database.close()
            raise
        self.feed = MemoryFeed(self.database)
        self._reserve = Reserve(path)
        if address is None and not read_only:
            self._reserve.take()

    @staticmethod
    def _refuse_emptied(path: Path) -> None:
        """A ledger cut to nothing beside its index is damage, not a new store."""
        wal = path.with_name(path.name + "-wal")
        try:
            path.exists()
        except (OSError, ValueError) as error:
            raise InvalidInput(f"this cannot be the path of a store: {error}", hint="Give another path.") from error
        if path.exists() and path.stat().st_size == 0 and not (wal.exists() and wal.stat().st_size):
            index = path.with_name(path.name + "-index")
            if index.is_dir() and any(index.iterdir()):
                raise LedgerDamaged(
                    f"{path.name} is empty, but it has an index: its content was lost",
                    hint=f"Restore a backup of {path.name}; to start anew on purpose, remove {index.name} first.",
                )

    def close(self) -> None:
        self.database.close()

    # -- keeping --

    def remember(self, keeps: Sequence[Keep], *, scope: Scope, actor: str) -> list[Remembered]:
        """Keep all of them or none."""

        def job(connection: Connection) -> list[Remembered]:
            if len(keeps) == 1 and not keeps[0].slot and keeps[0].supersedes is None:  # one event: nothing to note
                return [self._keep(connection, keeps[0], scope, actor)]
            with self._journal(connection, "remember", scope, actor):
                return [self._keep(connection, keep, scope, actor) for keep in keeps]

        return self.database.write(job)

    def capture(
        self, keeps: Sequence[Keep], *, turn: Turn, scope: Scope, actor: str
    ) -> list[Remembered | Refused | Conflict]:
        """Keep what can be kept of a turn, move its cursor and count it, in one commit.

        Raises Moved, and does nothing, when somebody else has captured this conversation meanwhile.
        """

        def job(connection: Connection) -> list[Remembered | Refused | Conflict]:
            turns.move(connection, turn, scope, at=self.clock.now())
            outcomes: list[Remembered | Refused | Conflict] = []
            with self._journal(connection, "capture", scope, actor):
                for keep in keeps:
                    try:
                        outcomes.append(self._keep(connection, keep, scope, actor))
                    except (Refused, Conflict) as error:
                        outcomes.append(error)
            counts = counted(turn.counts, outcomes)
            turns.add(connection, counts, scope=scope.path, day=turns.day_of(self.clock.now()))
            return outcomes

        return self.database.write(job)

    def settle(
        self, wanted: Filter, decide: Decide, *, trim: Choose | None = None, scope: Scope, actor: str, grace_ms: int
    ) -> Settled:
        """Decide on what is there, keep and let go, then trim what there is too much of, in one commit."""

        def job(connection: Connection) -> Settled:
            def found() -> tuple[Memory, ...]:
                return tuple(memories.browse(connection, scope, wanted, limit=_MOST_SETTLED, offset=0)[0])

            at = self.clock.now()
            chosen = decide(found())
            with self._journal(connection, "settle", scope, actor):
                gone = let_go(connection, chosen.let_go, scope=scope, actor=actor, at=at, grace_ms=grace_ms)
                kept = [self._keep(connection, keep, scope, actor) for keep in chosen.keeps]
                if trim is not None:
                    gone += let_go(connection, trim(found()), scope=scope, actor=actor, at=at, grace_ms=grace_ms)
            return Settled(tuple(kept), tuple(gone))

        return self.database.write(job)

    def let_go(self, wanted: Filter, choose: Choose, *, scope: Scope, actor: str, grace_ms: int) -> tuple[Changed, ...]:
        """Choose among what is there, and let go of all that is chosen or of nothing."""

        def job(connection: Connection) -> tuple[Changed, ...]:
            found = memories.browse(connection, scope, wanted, limit=_EVERYTHING, offset=0)[0]
            going = choose(tuple(found))
            at = self.clock.now()
            with self._journal(connection, "forget", scope, actor):
                return tuple(let_go(connection, going, scope=scope, actor=actor, at=at, grace_ms=grace_ms))

        return self.even_if_full(job)

    def _journal(self, connection: Connection, name: str, scope: Scope, actor: str) -> AbstractContextManager[None]:
        return journal(connection, name, scope=scope.path, actor=actor, at=self.clock.now())

    def _keep(self, connection: Connection, keep: Keep, scope: Scope, actor: str) -> Remembered:
        erased = not keep.even_if_erased and self.is_erased(connection, keep.memory)
        return keep_one(connection, keep, scope=scope, actor=actor, erased=erased)

    def accept(self, reference: str, *, trust: Trust, supersedes: str | None, scope: Scope, actor: str) -> Changed:
        """What was held back may speak; what it was to supersede, if that still stands, is superseded."""

        def job(connection: Connection) -> Changed:
            at = self.clock.now()
            with self._journal(connection, "accept", scope, actor):
                return accept(
                    connection, reference, trust=trust, supersedes=supersedes, scope=scope, actor=actor, at=at
                )

        return self.database.write(job)

    # -- turns --

    def cursor(self, conversation: str, *, scope: Scope) -> bytes:
        """How far a conversation has been captured; empty when never."""
        with self.database.read() as connection:
            return turns.cursor(connection, self.name_digest(conversation), scope)

    def name_digest(self, name: str) -> bytes:
        """A name that nobody can read back, and that is the same whenever it is given."""
        return hashlib.blake2b(name.encode(), key=self._key, digest_size=16, person=b"conversation").digest()

    def drop_turn(self, name: str, *, scope: Scope) -> None:
        """Nothing is left of how far a conversation was looked at."""
        digest = self.name_digest(name)
        self.even_if_full(lambda connection: turns.drop(connection, digest, scope))

    def drop_turns(self, scope: Scope) -> None:
        """Nothing is left of the cursors and counts of a scope and of those below it."""
        self.even_if_full(lambda connection: turns.drop_below(connection, scope))

    def spend(self, amounts: Mapping[str, int], *, allowed: Callable[[Mapping[str, int]], bool]) -> int | None:
        """Add to the store's own counters of today if what was spent today allows it; the day, or None."""
        day = turns.day_of(self.clock.now())

        def job(connection: Connection) -> int | None:
            if not allowed(turns.counts(connection, ("",), day=day)):
                return None
            turns.add(connection, amounts, scope="", day=day)
            return day

        return self.database.write(job)

    def recount(self, amounts: Mapping[str, int], *, day: int) -> None:
        """Correct the store's own counters of a day."""
        self.database.write(lambda connection: turns.add(connection, amounts, scope="", day=day))

    def counts(self) -> dict[str, int]:
        """What was counted in all scopes, ever."""
        with self.database.read() as connection:
            return turns.all_counts(connection)

    # -- states --

    def change_state(
        self,
        reference: str,
        action: str,
        *,
        scope: Scope,
        actor: str,
        reason: str = "",
        grace_ms: int | None = None,
    ) -> Changed:
        """archived, forgotten or restored."""

        def job(connection: Connection) -> Changed:
            number, memory = memories.find(connection, scope, reference)
            refuse_from_below(scope, memory)
            after = _next_state(connection, number, memory, action)
            at = self.clock.now()
            changed, sequence = memories.change(
                connection, number, memory, action, at=at, actor=actor, reason=reason, state=after
            )
            until = at + grace_ms if action == "forgotten" and grace_ms is not None else None
            receipt = ChangeReceipt(action, memory.id, memory.scope, memory.state, after, sequence, until)
            return Changed(changed, receipt)

        return self.even_if_full(job)

    def even_if_full(self, job: Callable[[Connection], T]) -> T:
        """Letting go works on a full disk, too: there is a reserve for it."""
        try:
            return self.database.write(job)
        except LedgerFull:
            if not self._reserve.give_up():
                raise
            return self.database.write(job)

    # -- reading --

    def get(self, reference: str, *, scope: Scope, as_of: int | None = None) -> Memory | None:
        """One memory by id, now or as it was; None when it did not exist yet."""
        with self.database.read() as connection:
            number, memory = memories.find(connection, scope, reference)
            if as_of is None:
                return memory
            return memories.load(connection, scope, (number,), as_of).get(number)

    def number_of(self, reference: str, *, scope: Scope) -> int:
        """The number by which an index knows a memory."""
        with self.database.read() as connection:
            return memories.find(connection, scope, reference)[0]

    def history(self, reference: str, *, scope: Scope) -> tuple[Revision, ...]:
        with self.database.read() as connection:
            number, _ = memories.find(connection, scope, reference)
            return tuple(memories.history(connection, number))

    def browse(self, wanted: Filter, *, scope: Scope, limit: int, offset: int, surest_at: int | None = None) -> Listing:
        """One page: newest first; or trusted first, then what is surest at a moment."""
        with self.database.read() as connection:
            page, total = memories.browse(connection, scope, wanted, limit=limit, offset=offset, surest_at=surest_at)
            return Listing(tuple(page), total)

    def numbers_that_fit(self, wanted: Filter, *, scope: Scope) -> frozenset[int]:
        with self.database.read() as connection:
            return memories.numbers_that_fit(connection, scope, wanted)

    def aliases(self, *, scope: Scope) -> list[tuple[str, str]]:
        """(subject, what it is also called) of everything that the scope knows by another name."""
        with self.database.read() as connection:
            return memories.aliases(connection, scope, now=self.clock.now())

    def subjects_like(self, words: Sequence[str], *, scope: Scope) -> list[str]:
        """Subjects that have one of these words in their name."""
        with self.database.read() as connection:
            return memories.subjects_like(connection, scope, words)

    def numbers_about(self, subjects: Sequence[str], *, scope: Scope) -> frozenset[int]:
        """Numbers of everything about these subjects."""
        with self.database.read() as connection:
            return memories.numbers_about(connection, scope, subjects)

    def load(self, numbers: Sequence[int], *, scope: Scope, as_of: int | None = None) -> dict[int, Memory]:
        with self.database.read() as connection:
            return memories.load(connection, scope, numbers, as_of)

    def stats(self, *, scope: Scope) -> Stats:
        """Counts of what this scope can see."""
        names, values = placeholders("scope", scope.chain())
        with self.database.read() as connection:
            counted: list[Any] = connection.execute(
                f"""
                select scope, state, kind, trust, {grade_of("importance")}, count(*), min(created_at), max(created_at)
                from memory where scope in ({names}) group by 1, 2, 3, 4, 5
                """,  # noqa: S608
                values,
            ).fetchall()
            sequence = newest(connection)
            captured = turns.counts(connection, scope.chain(), day=None)

        def by(column: int, known: Sequence[str] = ()) -> dict[str, int]:
            sums = dict.fromkeys(known, 0)
            for row in counted:
                sums[row[column]] = sums.get(row[column], 0) + row[5]
            return {name: sums[name] for name in (known or sorted(sums)) if sums[name]}

        return Stats(
            scope=scope.path,
            total=sum(row[5] for row in counted),
            by_state=by(1, STATES),
            by_kind=by(2, KINDS),
            by_scope=by(0),
            by_trust=by(3, TRUSTS),
            by_grade=by(4, GRADES),
            oldest=min((row[6] for row in counted), default=None),
            newest=max((row[7] for row in counted), default=None),
            sequence=sequence,
            capture=captured,
        )

    def sequence(self) -> int:
        """The newest sequence."""
        return self.feed.sequence()

    # -- erasing --

    def choose(
        self,
        *,
        scope: Scope,
        ids: Sequence[str] = (),
        about: str = "",
        speaker: str = "",
        below: Scope | None = None,
    ) -> list[tuple[int, Memory]]:
        """The memories that an erasure would take, all inside the scope that may be changed from here."""
        with self.database.read() as connection:
            if ids:
                chosen = [memories.find(connection, scope, each) for each in ids]
                for _, memory in chosen:
                    refuse_from_below(scope, memory)
                return list(dict(chosen).items())
            return memories.select_below(connection, below or scope, about=about, speaker=speaker)

    def expired_forgotten(self, *, before: int) -> list[tuple[int, Memory]]:
        """Forgotten so long ago that the grace period is over."""
        with self.database.read() as connection:
            return memories.forgotten_before(connection, before)

    def lapsed(self, *, now: int) -> int:
        """How many are live and no longer hold."""
        with self.database.read() as connection:
            return memories.count_lapsed(connection, now)

    def expire(self, *, now: int, actor: str) -> int:
        """Write down of what no longer holds that it has expired; how many. In bites, so that others may write."""

        def job(connection: Connection) -> int:
            found = sorted(memories.lapsed(connection, now, limit=_EXPIRED_AT_ONCE), key=lambda each: each[1].scope)
            for scope, ended in groupby(found, key=lambda each: each[1].scope):
                with self._journal(connection, "expire", Scope(scope), actor):
                    for number, memory in ended:
                        memories.change(connection, number, memory, "expired", at=now, actor=actor, state="expired")
            return len(found)

        total = 0
        while ended := self.database.write(job):
            total += ended
        return total

    def erase(self, chosen: Sequence[tuple[int, Memory]], *, actor: str) -> int:
        """Delete rows, revisions, vectors and the words of events; leave tombstones and one event each."""

        def job(connection: Connection) -> int:
            at = self.clock.now()
            sequence = newest(connection)
            for number, memory in chosen:
                connection.execute(
                    "insert into tombstone (digest, scope, at) values (:digest, :scope, :at) on conflict do nothing",
                    {"digest": self._digest(memory.text), "scope": memory.scope, "at": at},
                )
                connection.execute(
                    "update event set reason = '' where seq in (select seq from revision where number = :number)",
                    {"number": number},
                )
                connection.execute("delete from memory where number = :number", {"number": number})
                sequence = memories.write_event(connection, "erased", number, memory, at=at, actor=actor)
            answers.clear(connection)  # what was answered may say it, too
            return sequence

        return self.even_if_full(job)

    def files(self) -> tuple[str, ...]:
        """Every file of the ledger that exists now."""
        reserve = (str(self._reserve.path),) if self._reserve.path.exists() else ()
        return (*self.database.files(), *reserve, *map(str, answers.presences(self.path)))

    def texts(self, wanted: Callable[[int], bool]) -> Iterator[str]:
        """Everything written into the memories whose number is wanted."""
        with self.database.read() as connection:
            yield from memories.all_texts(connection, wanted)

    def own_words(self) -> Iterator[str]:
        """What the file says whatever is kept."""
        with self.database.read() as connection:
            yield from own_words(connection)

    def key_for(self, purpose: str) -> bytes:
        """A key of this store for one purpose; nobody can tell the store's own from it."""
        return hashlib.blake2b(purpose.encode(), key=self._key, digest_size=32, person=b"purpose").digest()

    def _digest(self, text: str) -> bytes:
        return hashlib.blake2b(normal_form(text).encode(), key=self._key, digest_size=32).digest()

    def erased_at(self, connection: Connection, memory: Memory) -> int | None:
        """When what it says was first erased from its scope; None when it never was."""
        found = connection.execute(
            "select at from tombstone where digest = :digest and scope = :scope",
            {"digest": self._digest(memory.text), "scope": memory.scope},
        ).fetchone()
        return None if found is None else int(found[0])

    def is_erased(self, connection: Connection, memory: Memory) -> bool:
        """Whether what it says was erased from its scope, as a transaction sees it."""
        return self.erased_at(connection, memory) is not None

    def was_erased(self, memory: Memory) -> bool:
        """Whether what it says was erased from its scope."""
        with self.database.read() as connection:
            return self.is_erased(connection, memory)

    def verify(self) -> list[Check]:
        """Re-derive what can be re-derived; say what differs."""
        return checked(self.database)


def _store_key(connection: Connection) -> bytes | None:
    row = connection.execute("select value from store where key = 'key'").fetchone()
    return None if row is None else bytes.fromhex(str(row[0]))


def _make_store_key(connection: Connection) -> bytes:
    connection.execute(
        "insert into store (key, value) values ('key', :value) on conflict (key) do nothing",
        {"value": os.urandom(32).hex()},
    )
    key = _store_key(connection)
    assert key is not None
    return key


def _next_state(connection: Connection, number: int, memory: Memory, action: str) -> State:
    if action == "restored":
        if memory.state not in ("forgotten", "archived"):
            raise Conflict(f"{memory.id} is {memory.state}; only what is forgotten or archived can be restored")
        return memories.state_before(connection, number, memory.state)
    after: State = "archived" if action == "archived" else "forgotten"
    if memory.state == after:
        raise Conflict(f"{memory.id} is {after} already")
    if memory.state == "forgotten":
        raise Conflict(f"{memory.id} is forgotten", hint="Restore it first.")
    return after


__all__ = ["Filter", "Keep", "Ledger", "Turn"]
