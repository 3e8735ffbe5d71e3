"""Several stores that share the scopes among them. Each root is kept by one of them, with all that is below it.

Every call has a scope, so that every call goes to one store; nothing is ever joined across two. A store is opened when
a scope of it is first asked for: one that is down is felt by its own roots alone. Tokens are kept by the first.
"""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TypeVar

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.errors import ConfigError, LedgerError, MemorandaError, Refused
from memoranda.domain.results import Check, Verification
from memoranda.domain.scope import Scope
from memoranda.domain.shards import OF_ALL, Shard, ShardMap, ShardNote, ShardStatus, root_of
from memoranda.domain.text import so_many
from memoranda.ledger.looking import Overview
from memoranda.ledger.shard_notes import ShardNotes
from memoranda.service.engine import Engine
from memoranda.service.keys import key_of
from memoranda.service.memory import LongTermMemory

T = TypeVar("T")
_LEFT_ALONE_SECONDS = 2.0
_SHOWN_STRAYS = 20


class ShardEngine(Engine):
    """One open store of several."""

    def __init__(self, settings: Settings, clock: Clock, *, gate: "Callable[[], Engine] | None") -> None:
        path = settings.store_path()
        super().__init__(path, settings, clock, key=key_of(settings, path))
        self._gate = gate

    @property
    def gate(self) -> Engine:
        """The first store: it knows who may come in."""
        return self if self._gate is None else self._gate()


class Shards:
    """The stores of one installation, each opened when it is needed."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.map = ShardMap.of(settings.shards)
        self.settings = settings
        self.clock = clock
        self._only = self._named(settings)
        self._engines: dict[int, ShardEngine] = {}
        self._opening = {shard.place: threading.Lock() for shard in self.map.shards}
        self._failed: dict[int, tuple[float, MemorandaError]] = {}
        self._closed = False

    def _named(self, settings: Settings) -> Shard | None:
        """The one that the setting `store` names, to look after it alone."""
        if not settings.store:
            return None
        found = self.map.named(settings.store)
        if found is None:
            raise ConfigError(
                "there are shards, and a store that is none of them",
                hint="Leave the setting `store` out; or name one of the shards, to open that one alone.",
            )
        return found

    # -- which one --

    def of(self, scope: Scope) -> Engine:
        """The open store that keeps this scope."""
        root = root_of(scope.path)
        shard = self.map.of_root(root)
        if self._only is not None and shard != self._only:
            if root not in OF_ALL:
                raise Refused(
                    f"{root} is kept by {shard.shown}, which is not the one that was opened",
                    hint="Leave --store out: the right shard is found by the scope.",
                )
            shard = self._only
        return self.engine(shard)

    @property
    def chosen(self) -> tuple[Shard, ...]:
        """All of them, or the one that alone was asked for."""
        return self.map.shards if self._only is None else (self._only,)

    def first(self) -> Engine:
        """Where tokens are kept."""
        return self.engine(self.chosen[0])

    def each(self, work: Callable[[Engine], T]) -> list[tuple[Shard, T]]:
        """Do something with every store, one after the other. What failed is told when all others are done."""
        done: list[tuple[Shard, T]] = []
        failed: list[tuple[Shard, Exception]] = []
        for shard in self.chosen:
            try:
                done.append((shard, work(self.engine(shard))))
            except (MemorandaError, OSError) as error:
                failed.append((shard, error))
        if failed:
            raise _told(failed, len(self.chosen)) from failed[0][1]
        return done

    # -- opening --

    def engine(self, shard: Shard) -> Engine:
        """One store, opened if it was not yet. One that could not be opened is left alone for a moment."""
        found = self._engines.get(shard.place)
        if found is not None:
            return found
        with self._opening[shard.place]:
            if self._closed:
                raise LedgerError("this store is closed", hint="Open it again with memoranda.open().")
            if shard.place not in self._engines:
                since, error = self._failed.get(shard.place, (0.0, None))
                if error is not None and time.monotonic() - since < _LEFT_ALONE_SECONDS:
                    raise type(error)(str(error), hint=error.hint)
                try:
                    self._engines[shard.place] = self._opened(shard)
                except MemorandaError as trouble:
                    self._failed[shard.place] = time.monotonic(), trouble
                    raise
                self._failed.pop(shard.place, None)
            return self._engines[shard.place]

    def _opened(self, shard: Shard) -> ShardEngine:
        engine = self.apart(shard)
        try:
            self._belongs(engine, shard)
        except BaseException:
            engine.close()
            raise
        return engine

    def apart(self, shard: Shard) -> ShardEngine:
        """One store, opened anew for whoever closes it, whatever list it says that it belongs to."""
        gate = None if shard == self.chosen[0] else self.first
        return ShardEngine(settings_of(self.settings, shard), self.clock, gate=gate)

    def _belongs(self, engine: Engine, shard: Shard) -> None:
        """Refuse a store that belongs to another list; take one in that belongs to none and keeps no stray."""
        notes = ShardNotes(engine.ledger.database)
        note, wanted = notes.note(), self.note_for(shard)
        if note == wanted:
            return
        if note is not None:
            raise Refused(
                f"{shard.shown} is shard {note.place} of {note.total} in another list than this one",
                hint="Set `shards` as it was; or, if it was changed on purpose, run: memoranda shards adopt",
            )
        self.refuse_strays(shard, notes)
        notes.take(wanted)

    def note_for(self, shard: Shard) -> ShardNote:
        """What a store at this place says."""
        return ShardNote(self.map.digest, shard.place, len(self.map.shards))

    def strays(self, shard: Shard, notes: ShardNotes) -> list[str]:
        """The roots that a store keeps though the list gives them to another."""
        return sorted(root for root in notes.roots() if self.map.of_root(root) != shard)

    def refuse_strays(self, shard: Shard, notes: ShardNotes) -> None:
        """Nobody would find them any more."""
        strays = self.strays(shard, notes)
        if strays:
            roots = so_many(len(strays), "root")
            raise Refused(
                f"{shard.shown} keeps {roots} that this list gives to another shard, such as {strays[0]}",
                hint=f'Pin them ("{strays[0]}={shard.place}"), or export them, erase them there and import them anew.',
            )

    def refuse_fewer(self, shard: Shard, notes: ShardNotes) -> None:
        """A store that the list leaves out cannot be looked at, and its roots would be gone without a word."""
        note = notes.note()
        if note is not None and note.total > len(self.map.shards):
            raise Refused(
                f"{shard.shown} is shard {note.place} of {note.total}, and this list has {len(self.map.shards)}",
                hint="Name the missing stores as well, at the places that they had. To do without them, move their "
                "roots first, then run: memoranda shards adopt --drop",
            )

    def close(self) -> None:
        """Close all that were opened. May be called twice."""
        self._closed = True
        for place in sorted(self._opening, reverse=True):
            with self._opening[place]:
                engine = self._engines.pop(place, None)
            if engine is not None:
                engine.close()


class ShardedMemory(LongTermMemory):
    """The memory of one scope, in the one store of several that keeps it. Its `admin` is of all of them."""

    def __init__(self, shards: Shards, scope: Scope, *, owner: bool, engine: Engine | None = None) -> None:
        from memoranda.service.sharded_admin import ShardedAdmin

        super().__init__(engine or shards.of(scope), scope, owner=owner)
        self._shards = shards
        self.admin = ShardedAdmin(shards, self._engine, scope)

    def within(self, scope: str) -> "ShardedMemory":
        """The same store seen from a scope below this one: the same root, and so the same shard."""
        narrower = super().within(scope)
        return ShardedMemory(self._shards, narrower._scope, owner=False)

    def close(self) -> None:
        """Close every store. May be called twice; does nothing on what `within` returned."""
        if self._owner:
            self._shards.close()


def open_sharded(settings: Settings, scope: Scope, clock: Clock) -> LongTermMemory:
    """The memory of a scope, in the store that keeps it. No other store is opened."""
    shards = Shards(settings, clock)
    try:
        memory = ShardedMemory(shards, scope, owner=True)
        if settings.sweep and not settings.read_only:
            memory.admin.sweep_if_due()
    except BaseException:
        shards.close()
        raise
    return memory


def settings_of(settings: Settings, shard: Shard) -> Settings:
    """The settings of one store of several."""
    return settings.changed({"store": shard.address, "shards": (), "backups": _backups(settings, shard)})


def _backups(settings: Settings, shard: Shard) -> str | None:
    """One folder for each: what is thinned out in one must not be another store's."""
    return f"{settings.backups}/shard-{shard.place}" if settings.backups else None


# -- looking at all of them --


def statuses(settings: Settings, clock: Clock) -> tuple[ShardStatus, ...]:
    """Each shard as it stands, also one that is down or says that it belongs elsewhere."""
    shards = Shards(settings, clock)
    return tuple(_status(shards, shard) for shard in shards.chosen)


def adopt(settings: Settings, clock: Clock, *, drop: bool = False) -> tuple[ShardStatus, ...]:
    """Let all stores belong to the list of the settings from now on, if none keeps a root that is another's.

    A list that is shorter than the one that a store has noted is refused, unless `drop` says that it is meant.
    """
    shards = Shards(settings.changed({"store": ""}), clock)
    with ExitStack() as opened:
        notes = [
            (shard, ShardNotes(opened.enter_context(closing(shards.apart(shard))).ledger.database))
            for shard in shards.map.shards
        ]
        for shard, each in notes:
            if not drop:
                shards.refuse_fewer(shard, each)
            shards.refuse_strays(shard, each)
        for shard, each in notes:
            each.take(shards.note_for(shard))
    return statuses(settings, clock)


def examine_all(settings: Settings, clock: Clock, *, fix: bool = False) -> Verification:
    """Everything about every shard, also of those that cannot be opened."""
    from memoranda.service.doctor import examine

    shards = Shards(settings, clock)
    found = [(shard, examine(settings_of(settings, shard), clock, fix=fix)) for shard in shards.chosen]
    checks = [each._replace(name=named(shard, each.name)) for shard, told in found for each in told.checks]
    checks += [_placed(each) for each in statuses(settings, clock)]
    return Verification(tuple(checks), tuple(named(shard, each) for shard, told in found for each in told.repaired))


def named(shard: Shard, name: str) -> str:
    """A line about one of them."""
    return f"shard {shard.place}: {name}"


def _placed(each: ShardStatus) -> Check:
    name = f"shard {each.place}: list"
    if each.trouble:
        return Check(name, False, each.trouble, "See to that store; the others go on.")
    if each.strays:
        return Check(
            name, False, f"keeps what is another's: {', '.join(each.strays)}", "Pin these roots, or move them."
        )
    if each.unused:
        return Check(name, True, "not used yet")
    if not each.fits:
        return Check(name, False, "does not belong to this list", "Correct `shards`, or run: memoranda shards adopt")
    return Check(name, True, f"{so_many(each.roots, 'root')}, {so_many(each.memories, 'memory')}")


def _status(shards: Shards, shard: Shard) -> ShardStatus:
    try:
        engine = shards.apart(shard)
    except (MemorandaError, OSError) as error:
        return ShardStatus(shard.place, shard.shown, trouble=str(error))
    try:
        notes = ShardNotes(engine.ledger.database)
        note, strays = notes.note(), shards.strays(shard, notes)
        return ShardStatus(
            shard.place,
            shard.shown,
            roots=len(notes.roots()),
            memories=engine.ledger.feed.count(),
            live=Overview(engine.ledger.database).live(),
            fits=note == shards.note_for(shard),
            unused=note is None and not strays,
            strays=tuple(strays[:_SHOWN_STRAYS]),
        )
    except MemorandaError as error:
        return ShardStatus(shard.place, shard.shown, trouble=str(error))
    finally:
        engine.close()


def _told(failed: list[tuple[Shard, Exception]], total: int) -> MemorandaError:
    lines = "; ".join(f"shard {shard.place} ({shard.shown}): {error}" for shard, error in failed)
    kinds = {type(error) for _, error in failed}
    kind = kinds.pop() if len(kinds) == 1 else LedgerError
    chosen = kind if issubclass(kind, MemorandaError) else LedgerError
    hint = getattr(failed[0][1], "hint", None) or "Look after that shard; the others were done."
    return chosen(f"{len(failed)} of {total} shards failed, the others were done: {lines}", hint=hint)
