"""`memory.mirror`: memories as Markdown files that people edit, and their edits taken back.

First what was edited since the last run goes into the store, then the files are written. Everything that somebody wrote
is afterwards live, in the history, restorable, or still in its file and reported. Run again after a crash, it finds
what was done already and goes on.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from memoranda.documents.mirror import Page, Place, Raw, is_shown, place_of, rendered
from memoranda.documents.mirror_plan import Base, Edit, Plan, kept_line, pages, plan
from memoranda.documents.mirror_reading import Reading, decoded
from memoranda.domain.errors import Conflict, InvalidInput, NotFound, Refused
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.mirror import MIRROR_MODES, Mirrored, MirrorMode, MirrorReceipt, Step, Trouble
from memoranda.domain.ports import Progress
from memoranda.domain.scope import Scope
from memoranda.domain.text import so_many
from memoranda.ledger.ledger import Filter
from memoranda.service.engine import Engine
from memoranda.service.mirror_files import Folder, Found, State, alone
from memoranda.service.mirror_notes import drop_mirror, lock_of, name_of, note_mirror
from memoranda.service.mirror_taking import Taking

_EVERYTHING = 1 << 31
_TRIES = 5
_HAS_EDITS = "it has edits, and was left as it is"
_MOVED_AWAY = "its lines stand in another file now; it was not written"
_BOM = b"\xef\xbb\xbf"


def mirror(
    engine: Engine,
    scope: Scope,
    path: str | Path,
    *,
    below: bool = False,
    mode: MirrorMode = "sync",
    confirm: bool = False,
    progress: Progress | None = None,
) -> Mirrored:
    """Take the edits of a folder back and write it. `preview` does neither, `export` takes nothing and leaves what was
    edited alone, `detach` lets the store forget of the folder, which stays as it is."""
    checked_choice(mode, MIRROR_MODES, name="mode")
    folder = Folder(path)
    if mode == "detach":
        with alone(lock_of(engine)):
            drop_mirror(engine, folder.root, scope)
        return Mirrored(str(folder.root), MirrorReceipt(mode, scope.path, below, 0, (), (), 0, (), (), ()))
    folder.refuse_foreign()
    with alone(lock_of(engine)):
        return _Run(engine, scope, folder, below=below, mode=mode, confirm=confirm, progress=progress).run()


class _Changed(Exception):
    """Somebody wrote into a file meanwhile."""


class _Run:
    """One run over one folder."""

    def __init__(
        self,
        engine: Engine,
        scope: Scope,
        folder: Folder,
        *,
        below: bool,
        mode: MirrorMode,
        confirm: bool,
        progress: Progress | None,
    ) -> None:
        self._engine = engine
        self._scope = scope
        self._folder = folder
        self._mode = mode
        self._confirm = confirm
        self._progress = progress
        self._key = engine.ledger.key_for("mirror")
        self._state = self._own_state()
        self._below = below or self._state.below
        self._taking = Taking(engine)
        self._steps: list[Step] = []

    def run(self) -> Mirrored:
        for _ in range(_TRIES):
            try:
                return Mirrored(str(self._folder.root), self._once())
            except _Changed:
                continue
        raise Conflict(
            f"the files of {self._folder.root} kept changing while they were read",
            hint="Save and close them, then run it again; nothing is lost.",
        )

    def _own_state(self) -> State:
        state = self._folder.state()
        if state.store not in ("", name_of(self._key)):
            raise Refused(
                f"{self._folder.root} is the mirror of another store", hint="Give another folder, or the other store."
            )
        if state.scope not in ("", self._scope.path):
            # Who does not go beyond a top is not told what is there.
            if self._scope.top and not (self._scope.sees(state.scope) or self._scope.contains(state.scope)):
                raise Refused(f"{self._folder.root} is the mirror of another scope", hint="Give another folder.")
            raise Refused(
                f"{self._folder.root} is the mirror of {state.scope}",
                hint=f"Give another folder, or --scope {state.scope}.",
            )
        return state

    def _once(self) -> MirrorReceipt:
        there = self._folder.files(self._state.files)
        found = {place: each for place, each in there.items() if self._mine(place)}
        readings = {place: self._read(place, each) for place, each in found.items()}
        memories = self._memories()
        made = plan(readings, memories, base=self._state.files, digest=self._digest, was_erased=self._was_erased)
        made = made._replace(unreadable=(*made.unreadable, *self._strangers(there.keys() - found.keys())))
        if self._mode == "preview":
            made = self._taken(made, memories, self._taking.would)
            return self._receipt(made, memories, written=(), removed=(), unchanged=len(found))
        if self._mode == "sync" and made.asks and not self._confirm:
            raise Refused(
                f"{so_many(made.asks, 'memory has', 'memories have')} no line any more and would be forgotten: "
                "that looks like an accident",
                hint="To have lost files written again, run it with --export-only (mode='export'); to forget what was "
                "in them, with --confirm (confirm=True).",
            )
        return self._carried_out(made, found, readings, memories)

    def _carried_out(
        self, made: Plan, found: Mapping[Place, Found], readings: Mapping[Place, Reading], memories: dict[str, Memory]
    ) -> MirrorReceipt:
        self._folder.make()
        if self._mode == "sync":
            self._folder.refuse_unwritable({edit.place for edit in made.edits})
        note_mirror(self._engine, self._folder.root, self._scope)
        self._folder.tidy()
        left_alone = {place for place, reading in readings.items() if reading.trouble}
        if self._mode == "sync":
            made = self._taken(made, memories, self._taking.take, also=len(readings))
        else:
            edited = {
                place: why for place, why in self._edited(made, found, memories).items() if place not in left_alone
            }
            left_alone.update(edited)
            told = (Trouble(place.path, 0, "", why) for place, why in sorted(edited.items()))
            made = made._replace(edits=(), asks=0, refused=(*made.refused, *told))
        if made.edits:
            self._engine.nudge()
            memories = self._memories()
        wanted = pages(readings, memories.values(), made.kept)
        for place in sorted(wanted.keys() - left_alone):
            if self._folder.is_linked(place):
                left_alone.add(place)
                why = "it stands behind a link; it was left as it is"
                made = made._replace(unreadable=(*made.unreadable, Trouble(place.path, 0, "", why)))
        ours = {place: page for place, page in wanted.items() if place not in left_alone}
        changed = self._written(ours, found, readings, done=len(made.edits))
        base = {place: base for place, base in self._state.files.items() if place in left_alone}
        base |= {place: self._base(page, readings.get(place, Reading())) for place, page in ours.items()}
        files = {place: each for place, each in base.items() if each.digests or each.unread}
        self._folder.save(State(name_of(self._key), self._scope.path, self._below, files))
        written = tuple(place.path for place in changed if not wanted[place].empty)
        removed = tuple(place.path for place in changed if wanted[place].empty)
        unchanged = len(found.keys() - set(changed))
        return self._receipt(made, memories, written=written, removed=removed, unchanged=unchanged)

    def _receipt(self, made: Plan, memories: Mapping[str, Memory], **files: Any) -> MirrorReceipt:
        return MirrorReceipt(
            mode=self._mode,
            scope=self._scope.path,
            below=self._below,
            memories=sum(map(is_shown, memories.values())),
            steps=tuple(self._steps),
            refused=made.refused,
            unreadable=made.unreadable,
            asks=made.asks,
            **files,
        )

    # -- reading --

    def _mine(self, place: Place) -> bool:
        return self._scope.contains(place.scope) if self._below else place.scope == self._scope.path

    def _read(self, place: Place, found: Found) -> Reading:
        if found.trouble:
            return Reading(trouble=found.trouble)
        reading = decoded(found.content, place)
        # What was taken before the file changed under us has another id by now.
        items = tuple(item._replace(id=self._taking.now.get(item.id, item.id)) for item in reading.items)
        return reading._replace(items=items)

    def _strangers(self, elsewhere: Iterable[Place]) -> list[Trouble]:
        """Files that look like some of a mirror and are none of this one."""
        found = []
        for place in elsewhere:
            also = "; --below takes the scopes below along" if self._scope.contains(place.scope) else ""
            why = f"it is of {place.scope}, and this is the mirror of {self._scope.path}: it was not read{also}"
            found.append(Trouble(place.path, 0, "", why))
        why = f"a mirror has no such file ({Place(self._scope.path, 'fact').path} is one that it has): it was not read"
        found += [Trouble(path, 0, "", why) for path in self._folder.strangers()]
        return sorted(found)

    def _memories(self) -> dict[str, Memory]:
        """Everything of the scopes that are mirrored, whatever its state."""
        ledger = self._engine.ledger
        if self._below:
            return {memory.id: memory for _, memory in ledger.choose(scope=self._scope, below=self._scope)}
        here = ledger.browse(Filter(here=True), scope=self._scope, limit=_EVERYTHING, offset=0)
        return {memory.id: memory for memory in here}

    def _digest(self, text: str) -> str:
        return hashlib.blake2b(text.encode("utf-8", "replace"), key=self._key, digest_size=16).hexdigest()

    def _was_erased(self, scope: str, text: str) -> bool:
        return self._engine.ledger.was_erased(Memory("", scope, "note", text))

    def _base(self, page: Page, reading: Reading) -> Base:
        """What a file has in it now; also what stands in it where it is not read."""
        digests = {memory.id: self._digest(memory.text) for memory in page.memories}
        before = self._state.files.get(page.place, Base("", {})).digests
        held = {each: before[each] for each in before.keys() & reading.held}
        return Base(page.mark, digests | held, frozenset(self._digest(block.text) for block in reading.blocks))

    # -- taking --

    def _taken(
        self, made: Plan, memories: Mapping[str, Memory], take: Callable[[Edit, Memory | None], Step], *, also: int = 0
    ) -> Plan:
        """Carry out the edits; those that the store refuses stay as they are in their files."""
        refused = list(made.refused)
        kept: dict[Place, list[Raw]] = {place: list(raw) for place, raw in made.kept.items()}
        for done, edit in enumerate(made.edits, 1):
            try:
                self._steps.append(take(edit, memories.get(edit.id)))
            except (Refused, InvalidInput, Conflict, NotFound) as error:
                refused.append(Trouble(edit.place.path, edit.item.line, edit.id, str(error)))
                if edit.item.lines:
                    kept.setdefault(edit.place, []).append(kept_line(edit.place, edit.item, memories))
            self._tell(done, len(made.edits) + also)
        return made._replace(refused=tuple(refused), kept={place: tuple(raw) for place, raw in kept.items()})

    def _edited(self, made: Plan, found: Mapping[Place, Found], memories: Mapping[str, Memory]) -> dict[Place, str]:
        """Which files an export leaves alone, and why. One that is gone is written again, unless its lines are not."""
        edited = dict.fromkeys({*made.kept, *(edit.place for edit in made.edits)} & found.keys(), _HAS_EDITS)
        for edit in made.edits:
            memory = memories.get(edit.id)
            if memory is not None and edit.item.lines:
                home = place_of(memory)
                edited[home] = _HAS_EDITS if home in found else _MOVED_AWAY
        return edited

    # -- writing --

    def _written(
        self,
        wanted: Mapping[Place, Page],
        found: Mapping[Place, Found],
        readings: Mapping[Place, Reading],
        *,
        done: int,
    ) -> tuple[Place, ...]:
        """Write what differs; the places of those files. So much was done before."""
        changed = []
        for number, (place, page) in enumerate(sorted(wanted.items()), done + 1):
            before = found[place].content if place in found else None
            content = None if page.empty else _encoded(page, readings.get(place, Reading()))
            if content != before:
                if not self._folder.replace(place, content, expected=before):
                    raise _Changed
                changed.append(place)
            self._tell(number, done + len(wanted))
        return tuple(changed)

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


def _encoded(page: Page, reading: Reading) -> bytes:
    """A file with the line ends, and the mark of its encoding, that it had."""
    content = rendered(page).replace("\n", reading.newline).encode("utf-8", "surrogateescape")
    return _BOM + content if reading.bom else content
