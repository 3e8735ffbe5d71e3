"""Time: tags, what was done together, and the way back. Nothing erased comes back."""

import time
from typing import TYPE_CHECKING

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.looking import MOST_EVENTS, checked_whole
from memoranda.domain.memory import checked_choice
from memoranda.domain.request import checked_limit, checked_offset
from memoranda.domain.scope import Scope
from memoranda.ledger.fence import fences
from memoranda.service.engine import Engine
from memoranda.service.nouns import Nouns
from memoranda.service.screening import checked_reason

if TYPE_CHECKING:
    from memoranda.domain.clock import Clock, Moment
    from memoranda.domain.ports import Progress
    from memoranda.domain.travel import Difference, OperationPage, RolledBack, Tag, TagPage, TravelMode
    from memoranda.ledger.contents import Contents
    from memoranda.ledger.tags import Tags
    from memoranda.ledger.travel import Travel

_TAG = "tag:"
_MODES: "tuple[TravelMode, ...]" = ("now", "preview")
_TICK_SECONDS = 0.001
_MOST_TICKS = 3


@fences()
class Travelling(Nouns):
    """The verbs of the facade that go back in time."""

    # -- names for moments --

    def tag(self, name: str, *, note: str = "") -> "Tag":
        """Name what is there now, to come back to it or to compare with it."""
        from memoranda.domain.travel import checked_tag_name

        made = _tags(self._engine).add(
            checked_tag_name(name),
            scope=self._scope,
            actor=self._engine.actor,
            note=checked_reason(note, self._engine.settings),
        )
        _wait_out(self._engine.clock, made.at)
        return made

    def tags(self, *, limit: int = 100, offset: int = 0) -> "TagPage":
        """The tags of this scope and of those above, newest first; also those that the store made by itself."""
        return _tags(self._engine).page(self._scope, limit=checked_limit(limit), offset=checked_offset(offset))

    def untag(self, name: str) -> "Tag":
        """Take a name away; what it named stays. Only tags of this very scope."""
        return _tags(self._engine).remove(str(name), scope=self._scope)

    # -- ways back --

    def operations(self, *, limit: int = 50, before: int | None = None, below: bool = False) -> "OperationPage":
        """What was done here and can be undone, newest first. Give the `next` of a page as `before` for the one after.

        What was done in one go is one operation: a memory that supersedes another, a captured turn, an import.
        """
        from memoranda.ledger.undoable import page

        start = None if before is None else checked_whole(before, name="before", most=MOST_EVENTS)
        with self._engine.ledger.database.read() as connection:
            return page(connection, self._scope, below=below, before=start, limit=checked_limit(limit))

    def undo(
        self,
        operation: int | None = None,
        *,
        below: bool = False,
        mode: "TravelMode" = "now",
        progress: "Progress | None" = None,
    ) -> "RolledBack":
        """Take back the last operation here that is not undone; again, the one before it, as an editor does.

        `operation` names one by the sequence of any of its events; an undo can be undone by its own. Each memory is
        again what it was just before; what the operation made is forgotten. When something else has changed one of
        the memories since, nothing is done.
        """
        from memoranda.domain.travel import RolledBack

        preview = checked_choice(mode, _MODES, name="mode") == "preview"
        sequence = None if operation is None else checked_whole(operation, name="operation", most=MOST_EVENTS)
        if not preview:
            self._engine.refuse_read_only()
        receipt = self._travel(below=below).undo(sequence, preview=preview, tell=progress)
        self._engine.nudge()
        return RolledBack(preview, None, receipt)

    def rollback(
        self,
        to: str | int,
        *,
        below: bool = False,
        mode: "TravelMode" = "now",
        progress: "Progress | None" = None,
    ) -> "RolledBack":
        """Every memory of this scope as it was at a tag or a sequence, as new events; `undo` takes it back.

        What came later is forgotten; what was erased since stays erased, and is counted. The moment before gets an
        automatic tag. `below` takes the scopes below along. Conversations and documents stay as they are.
        """
        from memoranda.domain.travel import RolledBack

        preview = checked_choice(mode, _MODES, name="mode") == "preview"
        if not preview:
            self._engine.refuse_read_only()
        sequence, name = self._sequence_of(to)
        travel = self._travel(below=below)
        before = None
        if not preview and travel.has_changed_since(sequence):
            began = travel.interrupted_rollback(sequence)
            if began is None:
                before = tag_before(self._engine, self._scope, "rollback")
            else:  # what is there now is half of it: nobody wants that back
                before = _tags(self._engine).automatic_before("rollback", scope=self._scope, sequence=began)
        receipt = travel.rollback(sequence, name=name, preview=preview, tell=progress)
        self._engine.nudge()
        return RolledBack(preview, before, receipt)

    # -- comparing --

    def diff(
        self,
        older: str | int,
        newer: str | int | None = None,
        *,
        below: bool = False,
        limit: int = 200,
        offset: int = 0,
    ) -> "Difference":
        """What was added, is gone, was changed or erased between two tags or sequences; or since one of them."""
        from memoranda.ledger.differing import difference

        first = self._sequence_of(older)[0]
        last = self._engine.ledger.sequence() if newer is None else self._sequence_of(newer)[0]
        if first > last:
            raise InvalidInput(f"{str(older)[:80]} is newer than {str(newer)[:80]}", hint="Give the older one first.")
        page = {"limit": checked_limit(limit), "offset": checked_offset(offset)}
        with self._engine.ledger.database.read() as connection:
            return difference(connection, self._scope, first, last, below=below, **page)

    def contents(self, *, below: bool = False) -> "Contents":
        """A digest of everything that this scope holds and that is not forgotten: two that hold the same say the same.

        It is the same again after an undo, after a rollback, after export and import, and after backup and restore.
        """
        from memoranda.ledger.contents import Contents, digest_of, walk
        from memoranda.ledger.feed import newest

        with self._engine.ledger.database.read() as connection:
            count, digest = digest_of(walk(connection, self._scope, below=below))
            return Contents(self._scope.path, count, digest, newest(connection))

    # -- moments --

    def _sequence_of(self, given: str | int) -> tuple[int, str]:
        """The sequence that is meant, and the tag that names it."""
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise InvalidInput(
                f"a tag or a sequence is expected, not {type(given).__name__}", hint="`tags` shows what there is."
            )
        if isinstance(given, str):
            name = given.removeprefix(_TAG)
            found = _tags(self._engine).find(name, self._scope)
            if found is not None:
                return found.sequence, found.name
            if not (given.isascii() and given.isdigit()):
                raise _no_such(name)
            # More digits than any number here has are cut: it stays too large, and is made in no time.
            given = int(given[:40])
        last = self._engine.ledger.sequence()
        if not 0 <= given <= last:
            raise InvalidInput(f"there is no sequence {given}", hint=f"Give 0 for the beginning, to {last} for now.")
        return given, ""

    def _travel(self, *, below: bool) -> "Travel":
        from memoranda.ledger.travel import Travel

        engine = self._engine
        return Travel(engine.ledger, self._scope, below=below, actor=engine.actor, grace_ms=engine.settings.grace_ms)


def tag_before(engine: Engine, scope: Scope, why: str) -> "Tag":
    """An automatic tag, for whoever is about to do much at once."""
    made = _tags(engine).add_automatic(why, scope=scope, actor=engine.actor, kept=engine.settings.tags_kept)
    _wait_out(engine.clock, made.at)
    return made


def _tags(engine: Engine) -> "Tags":
    from memoranda.ledger.tags import Tags

    return Tags(engine.ledger.database, engine.clock)


def _no_such(name: str) -> NotFound:
    return NotFound(f"there is no tag {name[:80]!r} here", hint="`tags` shows which there are.")


def _wait_out(clock: "Clock", moment: int) -> None:
    """Until the millisecond of a tag is over, so that what its maker does next is later by the clock, too."""
    for _ in range(_MOST_TICKS):
        if clock.now() > moment:
            return
        time.sleep(_TICK_SECONDS)


def moment_named(engine: "Engine", scope: Scope, as_of: "Moment | None") -> "Moment | None":
    """A moment as it was given; for `tag:NAME`, the time at which that tag was made."""
    if not isinstance(as_of, str) or not as_of.startswith(_TAG):
        try:
            if isinstance(as_of, str):
                to_ms(as_of, name="as_of")
        except InvalidInput as error:
            raise InvalidInput(str(error), hint=f"{error.hint} A tag is written as {_TAG}NAME.") from error
        return as_of
    found = _tags(engine).find(as_of.removeprefix(_TAG), scope)
    if found is None:
        raise _no_such(as_of.removeprefix(_TAG))
    return found.at
