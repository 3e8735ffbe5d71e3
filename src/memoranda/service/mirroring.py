"""`memory.mirror`: memories as Markdown files that people edit, and their edits taken back.

First what was edited since the last run goes into the store, then the files are written. Everything that somebody wrote
is afterwards live, in the history, restorable, or still in its file and reported. Run again after a crash, it finds
what was done already and goes on.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memoranda.documents.mirror import CONFLICT, Page, Place, Raw, is_shown, rendered
from memoranda.documents.mirror_plan import Base, Edit, Plan, kept_line, pages, plan, value_after
from memoranda.documents.mirror_reading import Reading, decoded
from memoranda.domain.draft import Draft
from memoranda.domain.errors import Conflict, InvalidInput, NotFound, Refused
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.mirror import MIRROR_MODES, Mirrored, MirrorMode, MirrorReceipt, Step, Trouble
from memoranda.domain.ports import Progress
from memoranda.domain.scope import Scope
from memoranda.ledger.ledger import Filter, Keep
from memoranda.service.engine import Engine
from memoranda.service.mirror_files import Folder, Found, State, alone
from memoranda.service.mirror_notes import lock_of, name_of, note_mirror
from memoranda.service.screening import screened

SOURCE_REF = "mirror"
_EVERYTHING = 1 << 31
_TRIES = 5
_REMOVED = "removed from a mirror"
_MOVED = "moved to another scope in a mirror"
_UNSAID: dict[str, Any] = {
    **dict.fromkeys(("about", "attribute", "context", "speaker", "conversation", "source_ref"), ""),
    "tags": (),
    "metadata": {},
}
"""What nobody wrote into the file."""
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
            note_mirror(engine, folder.root, None)
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
        self._steps: list[Step] = []
        self._now: dict[str, str] = {}

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
            raise Refused(
                f"{self._folder.root} is the mirror of {state.scope}",
                hint=f"Give another folder, or --scope {state.scope}.",
            )
        return state

    def _once(self) -> MirrorReceipt:
        found = {place: each for place, each in self._folder.files(self._state.files).items() if self._mine(place)}
        readings = {place: self._read(place, each) for place, each in found.items()}
        memories = self._memories()
        made = plan(readings, memories, base=self._state.files, digest=self._digest, was_erased=self._was_erased)
        if self._mode == "preview":
            would = tuple(_step(edit) for edit in made.edits)
            return self._receipt(made, memories, would, written=(), removed=(), unchanged=len(found))
        if self._mode == "sync" and made.asks and not self._confirm:
            raise Refused(
                f"{made.asks} memories have no line any more and would be forgotten: that looks like an accident",
                hint="Put the files back; or, if it is meant, run it again with --confirm (confirm=True).",
            )
        return self._carried_out(made, found, readings, memories)

    def _carried_out(
        self, made: Plan, found: Mapping[Place, Found], readings: Mapping[Place, Reading], memories: dict[str, Memory]
    ) -> MirrorReceipt:
        self._folder.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        note_mirror(self._engine, self._folder.root, self._scope)
        self._folder.tidy()
        left_alone = {place for place, reading in readings.items() if reading.trouble}
        if self._mode == "sync":
            made = self._taken(made, memories)
            memories = self._memories() if made.edits else memories
        else:
            edited = sorted({edit.place for edit in made.edits} | set(made.kept) - left_alone)
            left_alone.update(edited)
            why = "it has edits, and was left as it is"
            made = made._replace(refused=(*made.refused, *(Trouble(place.path, 0, "", why) for place in edited)))
        wanted = pages(readings, memories.values(), made.kept)
        for place in sorted(wanted.keys() - left_alone):
            if self._folder.is_linked(place):
                left_alone.add(place)
                why = "it stands behind a link; it was left as it is"
                made = made._replace(unreadable=(*made.unreadable, Trouble(place.path, 0, "", why)))
        changed = self._written(
            {place: page for place, page in wanted.items() if place not in left_alone}, found, readings
        )
        base = {place: base for place, base in self._state.files.items() if place in left_alone}
        for place, page in wanted.items():
            if place not in left_alone:
                base[place] = self._base(page, readings.get(place, Reading()).held)
        files = {place: each for place, each in base.items() if each.digests}
        self._folder.save(State(name_of(self._key), self._scope.path, self._below, files))
        written = tuple(place.path for place in changed if not wanted[place].empty)
        removed = tuple(place.path for place in changed if wanted[place].empty)
        unchanged = sum(not page.empty for page in wanted.values()) - len(written)
        return self._receipt(made, memories, tuple(self._steps), written=written, removed=removed, unchanged=unchanged)

    def _receipt(
        self, made: Plan, memories: Mapping[str, Memory], steps: tuple[Step, ...], **files: Any
    ) -> MirrorReceipt:
        return MirrorReceipt(
            mode=self._mode,
            scope=self._scope.path,
            below=self._below,
            memories=sum(map(is_shown, memories.values())),
            steps=steps,
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
        items = tuple(item._replace(id=self._now.get(item.id, item.id)) for item in reading.items)
        return reading._replace(items=items)

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

    def _base(self, page: Page, held: frozenset[str]) -> Base:
        """What a file has in it now; also what stands in it where it is not read."""
        digests = {memory.id: self._digest(memory.text) for memory in page.memories}
        before = self._state.files.get(page.place, Base("", {})).digests
        return Base(page.mark, digests | {each: before[each] for each in before.keys() & held})

    # -- taking --

    def _taken(self, made: Plan, memories: Mapping[str, Memory]) -> Plan:
        """Carry out the edits; those that the store refuses stay as they are in their files."""
        refused = list(made.refused)
        kept: dict[Place, list[Raw]] = {place: list(raw) for place, raw in made.kept.items()}
        for done, edit in enumerate(made.edits):
            if self._progress is not None:
                self._progress(done, len(made.edits))
            try:
                self._steps.append(self._take(edit, memories.get(edit.id)))
            except (Refused, InvalidInput, Conflict, NotFound) as error:
                refused.append(Trouble(edit.place.path, edit.item.line, edit.id, str(error)))
                if edit.item.lines:
                    kept.setdefault(edit.place, []).append(kept_line(edit.place, edit.item, memories))
        if made.edits:
            self._engine.nudge()
        return made._replace(refused=tuple(refused), kept={place: tuple(raw) for place, raw in kept.items()})

    def _take(self, edit: Edit, memory: Memory | None) -> Step:
        if memory is None:
            return self._kept(edit, _draft(edit))
        if edit.action == "forget":
            self._change(memory, "forgotten", _REMOVED)
            return _step(edit)
        if edit.action == "restore":
            return self._restored(edit, memory)
        if edit.action == "move":
            step = self._kept(edit, _draft(edit, memory), old=memory)
            self._change(memory, "forgotten", _MOVED)
            return step
        if edit.action == "supersede":
            try:
                return self._kept(edit, _draft(edit, memory), old=memory, supersedes=True)
            except Conflict:
                edit = edit._replace(action="conflict")  # superseded or forgotten this very moment
        return self._kept(edit, _beside(edit, memory), old=memory)

    def _kept(self, edit: Edit, draft: Draft, *, old: Memory | None = None, supersedes: bool = False) -> Step:
        engine, scope = self._engine, Scope(edit.place.scope)
        settings = engine.settings
        memory = draft.checked(scope, now=engine.clock.now(), max_text=settings.max_text)
        # What it has from the old one was let in before; an id of some host in it looks as random as a secret.
        screened(memory._replace(**_UNSAID), settings)
        if old is not None and edit.action == "conflict":
            memory = memory._replace(metadata={"mirror": {"conflict_with": old.id}})
        elif old is not None:
            memory = memory._replace(media_refs=old.media_refs, media_kind=old.media_kind)
        keep = Keep(memory, kind_given=True, supersedes=old.id if old is not None and supersedes else None)
        now = engine.ledger.remember([keep], scope=scope, actor=settings.actor)[0].id
        if edit.item.id:
            self._now[edit.item.id] = now
        return _step(edit)._replace(now=now)

    def _restored(self, edit: Edit, memory: Memory) -> Step:
        over = memory.updated_at + self._engine.settings.grace_ms
        if memory.state == "forgotten" and self._engine.clock.now() >= over:
            return self._kept(edit._replace(action="remember"), _draft(edit, memory), old=memory)
        self._change(memory, "restored", "")
        return _step(edit)._replace(now=memory.id)

    def _change(self, memory: Memory, action: str, reason: str) -> None:
        settings = self._engine.settings
        self._engine.ledger.change_state(
            memory.id,
            action,
            scope=Scope(memory.scope),
            actor=settings.actor,
            reason=reason,
            grace_ms=settings.grace_ms,
        )

    # -- writing --

    def _written(
        self, wanted: Mapping[Place, Page], found: Mapping[Place, Found], readings: Mapping[Place, Reading]
    ) -> tuple[Place, ...]:
        """Write what differs; the places of those files."""
        changed = []
        for done, (place, page) in enumerate(sorted(wanted.items())):
            if self._progress is not None:
                self._progress(done, len(wanted))
            before = found[place].content if place in found else None
            content = None if page.empty else _encoded(page, readings.get(place, Reading()))
            if content == before:
                continue
            if not self._folder.replace(place, content, expected=before):
                raise _Changed
            changed.append(place)
        return tuple(changed)


def _encoded(page: Page, reading: Reading) -> bytes:
    """A file with the line ends, and the mark of its encoding, that it had."""
    content = rendered(page).replace("\n", reading.newline).encode("utf-8", "surrogateescape")
    return _BOM + content if reading.bom else content


def _step(edit: Edit) -> Step:
    return Step(edit.action, edit.place.path, edit.item.line, edit.id)


def _draft(edit: Edit, memory: Memory | None = None) -> Draft:
    """Who edits a file of this machine is its operator: trusted, and held to have said it."""
    new = Draft(edit.item.text, kind=edit.place.kind, source="operator", source_ref=SOURCE_REF)
    if memory is None:
        return new
    return new._replace(
        kind=memory.kind if edit.place.shelf == "profile" else edit.place.kind,
        about=memory.about,
        attribute=memory.attribute,
        value=memory.value if edit.item.text == memory.text else value_after(memory, edit.item.text),
        context=memory.context,
        importance=memory.importance,
        speaker=memory.speaker,
        conversation=memory.conversation,
        tags=tuple(tag for tag in memory.tags if tag != CONFLICT),
        lang=memory.lang,
        metadata={name: value for name, value in memory.metadata.items() if name not in ("mirror", "review")},
        occurred_at=memory.occurred_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
    )


def _beside(edit: Edit, memory: Memory) -> Draft:
    """An edit of what the store has changed, too: both are kept, and this one says so. It takes no slot."""
    return _draft(edit)._replace(about=memory.about, speaker=memory.speaker, tags=(CONFLICT,))
