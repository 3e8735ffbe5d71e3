"""The mirrors that a store knows of, and what an erasure does to them.

They are noted in the ledger, before the first file of a mirror is written.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memoranda.documents.mirror import Place, mark_of
from memoranda.documents.mirror_plan import Base
from memoranda.documents.mirror_reading import decoded, fits, without
from memoranda.domain.errors import Conflict, InvalidInput, Refused
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.text import normal_form
from memoranda.ledger.fence import lifted
from memoranda.service.engine import Engine
from memoranda.service.mirror_files import STATE, Folder, State, alone

_TRIES = 5


def known_mirrors(engine: Engine) -> tuple[Path, ...]:
    """The folders that this store was mirrored into."""
    return tuple(Path(path) for path in engine.mirrors.paths())


def note_mirror(engine: Engine, root: Path, scope: Scope) -> None:
    """The store knows of a mirror from now on."""
    engine.mirrors.note(str(root), scope)


def drop_mirror(engine: Engine, root: Path, scope: Scope) -> None:
    """The store knows of a mirror no longer, and no erasure reaches it: only its own scope, or one above, says so."""
    own = engine.mirrors.scope_of(str(root))
    if own is not None and not scope.contains(own.path):
        raise Refused(
            f"{root} is the mirror of a scope that is not {scope.path} or below it",
            hint="Run it with the scope that the folder was written from.",
        )
    engine.mirrors.drop(str(root))


def lock_of(engine: Engine) -> Path:
    store = engine.ledger.path
    return store.with_name(store.name + "-mirrors-lock")


def name_of(key: bytes) -> str:
    """By which a mirror knows its store."""
    return hashlib.blake2b(b"store", key=key, digest_size=8).hexdigest()


# -- erasing --


class MirrorsErased(NamedTuple):
    """What an erasure did to the mirrors. `files` are all that must be read for the proof; `pending` says what is left
    to do, `notes` what nobody here can do."""

    files: tuple[str, ...] = ()
    rewritten: int = 0
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@lifted()
def erase_from_mirrors(engine: Engine, memories: Sequence[Memory]) -> MirrorsErased:
    """Take the lines of these memories, edited or not, and lines that say the same, out of every mirror of theirs."""
    roots = [root for root in known_mirrors(engine) if _shows(engine.mirrors.scope_of(str(root)), memories)]
    if not roots:
        return MirrorsErased()
    done = [MirrorsErased()]
    try:
        with alone(lock_of(engine)):
            done += [_erased_from(engine, root, memories) for root in roots]
    except Conflict as error:
        done.append(MirrorsErased(pending=(f"{error}; run `memoranda mirror` when it has ended",)))
    return MirrorsErased(
        tuple(file for each in done for file in each.files),
        sum(each.rewritten for each in done),
        tuple(why for each in done for why in each.pending),
        tuple(note for each in done for note in each.notes),
    )


def _shows(scope: Scope | None, memories: Sequence[Memory]) -> bool:
    """Whether a mirror of this scope may have a line of them; what others mirror is not looked at, nor told of."""
    return any(scope is None or scope.contains(memory.scope) for memory in memories)


def _erased_from(engine: Engine, root: Path, memories: Sequence[Memory]) -> MirrorsErased:
    """One mirror that cannot be read keeps nothing from being erased elsewhere."""
    try:
        return _Erasing(engine, root, memories).done()
    except (OSError, InvalidInput, Refused) as error:
        return MirrorsErased(pending=(f"the mirror at {root}: {error}",))


class _Erasing:
    """One erasure in one mirror."""

    def __init__(self, engine: Engine, root: Path, memories: Sequence[Memory]) -> None:
        self._folder = Folder(root)
        self._store = name_of(engine.ledger.key_for("mirror"))
        self._ids = frozenset(memory.id for memory in memories)
        self._said = frozenset((memory.scope, normal_form(memory.text)) for memory in memories)
        self._pending: list[str] = []
        self._rewritten = 0

    def done(self) -> MirrorsErased:
        root = self._folder.root
        if not root.is_dir():
            why = f"the mirror at {root} cannot be reached; when it is gone for good: memoranda mirror {root} --detach"
            return MirrorsErased(pending=(why,))
        state = self._folder.state()
        if state.store not in ("", self._store):
            why = f"{root} is the mirror of another store by now; run memoranda mirror {root} --detach"
            return MirrorsErased(pending=(why,))
        try:
            self._erase(state)
        except (OSError, Conflict, Refused) as error:
            self._pending.append(f"the mirror at {root}: {error}")
        notes = (f"{root} is in a git repository, which may keep what was committed",) if self._folder.in_git else ()
        found = self._folder.files(state.files)
        files = [root / place.path for place, each in found.items() if not each.trouble]
        files += [root / STATE] if (root / STATE).exists() else []
        return MirrorsErased(tuple(map(str, files)), self._rewritten, tuple(self._pending), notes)

    def _erase(self, state: State) -> None:
        self._folder.tidy()
        files = {place: self._base(base) for place, base in state.files.items()}
        for place in self._folder.files(state.files):
            try:
                self._erase_in(place, state.files.get(place), files.get(place))
            except Refused as error:
                self._pending.append(str(error))
        if files != state.files:
            self._folder.save(state._replace(files=files))

    def _base(self, base: Base) -> Base:
        if not self._ids & base.digests.keys():
            return base
        left = {each: digest for each, digest in base.digests.items() if each not in self._ids}
        return base._replace(mark=mark_of(left), digests=left)

    def _erase_in(self, place: Place, before: Base | None, after: Base | None) -> None:
        for _ in range(_TRIES):
            found = self._folder.file(place)
            reading = decoded(found.content, place)
            trouble = found.trouble or reading.trouble
            if trouble or self._ids & reading.held:
                why = trouble or "it stands in a part that is no list"
                self._pending.append(f"{self._folder.root / place.path}: {why}; look whether it is in there")
            if trouble:
                return
            going = [
                item
                for item in reading.items
                if item.id in self._ids
                or any(fits(item.scrap, each) for each in self._ids)
                or (place.scope, normal_form(item.text)) in self._said
            ]
            current = before is not None and reading.mark == before.mark
            mark = after.mark if current and after is not None else reading.mark
            content = without(found.content.decode(), going, mark=mark).encode()
            if content == found.content:
                return
            if self._folder.replace(place, content, expected=found.content):
                self._rewritten += 1
                return
        self._pending.append(f"{self._folder.root / place.path} keeps changing; erase again when it is closed")
