"""Moving a whole store to another engine or another place, while it is in use.

The source goes on serving and being written to. It notes which rows are changed; everything is copied in bites, then
what was changed meanwhile, then both sides are compared row by row. For a moment nobody writes to the source: the rest
is copied and compared, and the source is marked as moved. Killed at any point, the same call goes on where it was.

An index is not copied: the target makes its own from what the ledger holds, and no text is embedded again.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from memoranda.config import Settings, load
from memoranda.domain.address import Address
from memoranda.domain.clock import Clock, SystemClock
from memoranda.domain.errors import Conflict, InvalidInput, NotFound
from memoranda.domain.migrating import Migrated, MigrationPlan, MigrationReceipt, TableCopied
from memoranda.domain.ports import Progress
from memoranda.ledger import backup
from memoranda.ledger import copying_tracking as tracking
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying import contents
from memoranda.ledger.copying_files import server_target
from memoranda.ledger.copying_run import Copy, counts
from memoranda.ledger.copying_targets import Arrival, SqliteTarget, Target, has_key
from memoranda.ledger.database import Database, make_folder
from memoranda.ledger.feed import newest
from memoranda.ledger.fence import lifted
from memoranda.ledger.locking import Busy, held
from memoranda.ledger.moved import is_arriving
from memoranda.ledger.opening import opened_file, opened_server
from memoranda.service.keys import key_for, key_of

_LOCK = "migrating"
_VIEW_SECONDS = 60.0
"""How long one moment of the source is looked at: as long as that, its log cannot be cut."""
_SMALL = 500
_MOST_ROUNDS = 20
_ROWS_A_SECOND = 8_000
_INDEX = "the index is not copied: the target makes its own at the first recall, and no text is embedded again"


class Place(NamedTuple):
    """One side: a file, or a schema. `settings` name it as their store."""

    settings: Settings
    path: Path
    address: Address | None

    @classmethod
    def of(cls, store: str | Path, settings: Settings) -> "Place":
        if str(store) in ("", ".", ":memory:"):
            raise InvalidInput(
                f"{str(store)!r} is not the address of a store", hint="Give a file, or postgresql://USER@HOST/DATABASE."
            )
        chosen = settings.changed({"store": str(store)})
        path = chosen.store_path()
        return cls(chosen, path.resolve() if path.is_symlink() else path, chosen.store_address())

    @property
    def shown(self) -> str:
        """For people: without a password."""
        return str(self.path) if self.address is None else self.address.shown

    def same_as(self, other: "Place") -> bool:
        if self.address is not None and other.address is not None:
            return self.address.digest == other.address.digest
        return self.address is None and other.address is None and self.path.absolute() == other.path.absolute()


def migrate(
    source: str | Path,
    target: str | Path,
    *,
    leave_open: bool = False,
    settings: Settings | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Migrated:
    """Copy a store and everything in it to a new file or schema, and mark the source as moved.

    A file is encrypted when the settings name a key. With `leave_open` the source is not marked: it can be written to
    as before, and both go their own ways. Call again with the same two to go on after an interruption.
    """
    chosen, now = settings or load(), clock or SystemClock()
    with lifted(), _sides(source, target, chosen, now) as (old, new, database):
        return _Migration(old, new, database, now, leave_open=leave_open, progress=progress).done()


def plan_migration(
    source: str | Path, target: str | Path, *, settings: Settings | None = None, clock: Clock | None = None
) -> MigrationPlan:
    """What a migration would copy, and about how long it takes. Nothing is changed."""
    chosen, now = settings or load(), clock or SystemClock()
    with _sides(source, target, chosen, now) as (old, new, database):
        with database.read() as connection:
            found = counts(connection)
            gone = tracking.moved(connection)
            resumes = tracking.token(connection) is not None
        if gone is not None:
            raise _moved_already(old, gone.to)
        size = database.free_and_all_bytes()[1]
    copied = tuple(TableCopied(name, rows) for name, rows in found.items())
    seconds = round(sum(found.values()) / _ROWS_A_SECOND, 1)
    return MigrationPlan(old.shown, new.shown, copied, size, seconds, resumes)


def reopen(store: str | Path, *, settings: Settings | None = None, clock: Clock | None = None) -> str:
    """Let a store that was moved, or was to be, be an ordinary one again; gives where it had gone, if it had.

    What was written to the target since stays there alone. An unfinished target is of no more use.
    """
    chosen, now = settings or load(), clock or SystemClock()
    place = Place.of(store, chosen)
    with _opened(place, now) as database, _alone(database):
        with database.read() as connection:
            gone = tracking.moved(connection)
        database.write(tracking.reopen)
        tracking.tidy(database)
    return "" if gone is None else gone.to


class Seen(NamedTuple):
    """What both sides said: the last sequence, and the digest of the contents at one."""

    sequence: int
    contents: str
    contents_sequence: int


class _Migration:
    """One run, from one place to another."""

    def __init__(
        self, old: Place, new: Place, source: Database, clock: Clock, *, leave_open: bool, progress: Progress | None
    ) -> None:
        self._old, self._new, self._source, self._clock = old, new, source, clock
        self._leave_open = leave_open
        self._progress = progress
        self._began = self._held_from = time.monotonic()
        self._done = self._total = self._followed = 0
        self._resumed = False

    def done(self) -> Migrated:
        with self._source.read() as connection:
            gone = tracking.moved(connection)
            self._total = 2 * sum(counts(connection).values())
        if gone is not None and not self._is_awaited(gone):
            raise _moved_already(self._old, gone.to)
        with _target(self._new, self._clock) as target:
            return self._moved(target) if gone is None else self._let_in(target)

    def _moved(self, target: Target) -> Migrated:
        copy = self._begun(target)
        while not copy.filled:
            with self._source.read() as connection:
                self._followed += copy.follow(connection)
                copy.fill(connection, seconds=_VIEW_SECONDS)
        contents, at = self._compared(copy)
        self._caught_up(copy)
        sequence = self._source.write(lambda connection: self._last(connection, copy))
        held_seconds = time.monotonic() - self._held_from
        target.complete(copy.arrival)
        if self._leave_open:
            tracking.tidy(self._source)
        return self._told_of(copy, Seen(sequence, contents, at), held_seconds)

    def _is_awaited(self, gone: tracking.Moved) -> bool:
        """Whether the source was marked as moved to this target, and only the target does not know it yet."""
        if self._new.address is None and not self._new.path.exists():
            return False
        with _target(self._new, self._clock) as target:
            found = target.arrival()
        return found is not None and found.token == gone.token

    def _let_in(self, target: Target) -> Migrated:
        """Everything was copied and compared. Once more, as nobody remembers the digests; then others may use it."""
        found = target.arrival()
        assert found is not None
        self._resumed = True
        copy = Copy(target, found, told=self._told)
        with self._source.read() as connection:
            copy.compare(connection)
        contents, sequence = target.contents(), newest(target.connection)
        target.complete(found)
        return self._told_of(copy, Seen(sequence, contents, sequence), 0.0)

    def _begun(self, target: Target) -> Copy:
        """A new target, or one that this very source has begun to fill."""
        found = target.arrival()
        with self._source.read() as connection:
            store, token = backup.store_of(connection), tracking.token(connection)
        if found is not None:
            if (found.store, found.token) != (store, token):
                raise Conflict(
                    f"{self._new.shown} holds an unfinished copy that {self._old.shown} cannot go on with",
                    hint="Name a new target; remove this one if nobody needs it. Nothing was changed.",
                )
            self._resumed = True
            return Copy(target, found, told=self._told)
        target.refuse_used()
        token = self._source.write(tracking.begin)
        with self._source.read() as connection:
            begun = Arrival(store, token, tracking.newest(connection))
        return Copy(target, target.begin(begun), told=self._told)

    def _compared(self, copy: Copy) -> tuple[str, int]:
        """Everything on both sides, at one moment: the digest of its contents, and its sequence."""
        with self._source.read() as connection:
            self._followed += copy.follow(connection)
            self._done = self._total // 2
            copy.compare(connection)
            said, sequence = contents(connection), newest(connection)
        if copy.target.contents() != said or newest(copy.target.connection) != sequence:
            raise Conflict(  # cannot be while rows are equal: then what is read out of them differs
                "the target reads its rows otherwise than the source", hint="Report this; the source was not changed."
            )
        return said, sequence

    def _caught_up(self, copy: Copy) -> None:
        """Until what is left to be copied is little, however much is written meanwhile."""
        for _ in range(_MOST_ROUNDS):
            with self._source.read() as connection:
                followed = copy.follow(connection)
            self._followed += followed
            if followed < _SMALL:
                return

    def _last(self, connection: Connection, copy: Copy) -> int:
        """While nobody else writes. May be run again: what the target has by then, it is not given twice."""
        self._held_from = time.monotonic()
        self._followed += copy.follow(connection, last=True)
        sequence = newest(connection)
        if newest(copy.target.connection) != sequence:
            raise Conflict("the target has another sequence", hint="Start again; the source was not changed.")
        if self._leave_open:
            tracking.end(connection)
        else:
            # Whoever reads this works in another folder.
            place = str(self._new.path.absolute()) if self._new.address is None else self._new.shown
            tracking.close(connection, tracking.Moved(place, copy.arrival.token))
        return sequence

    def _told(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    def _told_of(self, copy: Copy, seen: Seen, held_seconds: float) -> Migrated:
        rows = {name: tally.rows for name, tally in copy.tallies.items()}
        receipt = MigrationReceipt(
            source=self._old.shown,
            target=self._new.shown,
            store=copy.arrival.store,
            sequence=seen.sequence,
            contents=seen.contents,
            contents_sequence=seen.contents_sequence,
            tables=tuple(TableCopied(name, tally.rows, tally.digest) for name, tally in copy.tallies.items()),
            bytes=copy.target.size(),
            seconds=round(time.monotonic() - self._began, 3),
            held_seconds=round(held_seconds, 3),
            followed=self._followed,
            resumed=self._resumed,
            left_open=self._leave_open,
            notes=tuple(_notes(self._new, rows)),
        )
        return Migrated(self._new.shown, receipt)


def _moved_already(old: Place, to: str) -> Conflict:
    return Conflict(
        f"{old.shown} was moved to {to} already",
        hint="Use that one; `memoranda migrate --reopen` lets the old one be written to again.",
    )


# -- both sides --


@contextmanager
def _sides(
    source: str | Path, target: str | Path, settings: Settings, clock: Clock
) -> Iterator[tuple[Place, Place, Database]]:
    old, new = Place.of(source, settings), Place.of(target, settings)
    if old.same_as(new):
        raise InvalidInput("the source and the target are the same", hint="Name another file, or another schema.")
    with _opened(old, clock) as database, _alone(database):
        yield old, new, database


@contextmanager
def _opened(place: Place, clock: Clock) -> Iterator[Database]:
    """A store that is there."""
    busy = place.settings.busy_seconds
    if place.address is None:
        if not place.path.is_file() or not place.path.stat().st_size:
            raise NotFound(f"there is no store at {place.path}", hint="Check the path; nothing was made.")
        key = key_for(place.path, place.settings, passphrase=None)
        database: Database = opened_file(place.path, clock, busy_seconds=busy, key=key)
    else:
        database = opened_server(place.address, place.path, clock, busy_seconds=busy, pool_size=2)
    try:
        with database.read() as connection:
            _refuse_unfit(connection, place)
        yield database
    finally:
        database.close()


def _refuse_unfit(connection: Connection, place: Place) -> None:
    """What holds no store, or only a part of one."""
    if not has_key(connection):
        raise NotFound(f"there is no store at {place.shown}", hint="Check the address and its schema.")
    if is_arriving(connection):
        raise Conflict(
            f"{place.shown} is the target of a migration that is not finished",
            hint="Finish it: run the same `memoranda migrate` again.",
        )


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    try:
        with database.hold(_LOCK):
            yield
    except Busy as error:
        raise Conflict("a migration of this store is under way", hint="Wait until it is done.") from error


@contextmanager
def _target(place: Place, clock: Clock) -> Iterator[Target]:
    """A store that nobody else fills."""
    with ExitStack() as stack:
        target: Target
        try:
            if place.address is None:
                make_folder(place.path.parent)
                stack.enter_context(held(place.path.with_name(f"{place.path.name}-{_LOCK}")))
                _make_private(place.path)
                target = SqliteTarget(place.path, clock=clock, key=key_of(place.settings, place.path))
                stack.callback(target.close)
            else:
                busy = place.settings.busy_seconds
                target = server_target(place.address, place.path, clock=clock, busy_seconds=busy)
                stack.callback(target.close)
                stack.enter_context(target.alone())
        except Busy as error:
            raise Conflict("another migration fills this target", hint="Wait until it is done.") from error
        yield target


def _make_private(path: Path) -> None:
    """For its owner alone, before its first byte."""
    from memoranda.service.backing_up import private

    if not path.exists():
        private(path)


def _notes(place: Place, rows: dict[str, int]) -> list[str]:
    notes = [_INDEX]
    if rows.get("source") or rows.get("mirror"):
        notes.append("sources of documents and mirrors are folders of the machine where they were added")
    if rows.get("token"):
        notes.append("tokens came along: whoever has one that is not revoked is let in")
    if place.address is None and key_of(place.settings, place.path) is None:
        notes.append("the target is not encrypted")
    return notes
