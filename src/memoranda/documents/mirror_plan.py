"""What somebody did to a mirror since it was written: which memories are to be superseded, forgotten or remembered.

Pure: files as they were read and memories as they are now go in, a plan comes out. A line is known by its text first
and by its id second, so that a plan that was carried out, wholly or in part, asks for nothing twice.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.documents.mirror import Page, Place, Raw, is_shown, place_of
from memoranda.documents.mirror_reading import Block, Item, Reading, fits
from memoranda.domain.fact import shown
from memoranda.domain.memory import Memory
from memoranda.domain.mirror import MirrorAction, Trouble
from memoranda.domain.profile import MAX_ENTRY, is_entry
from memoranda.domain.text import so_many

ORDER: tuple[MirrorAction, ...] = ("supersede", "forget", "move", "conflict", "restore", "remember")
"""In which they are carried out: what is new comes last, so that it does not meet what goes."""
MANY = 5
"""So many may be forgotten at once without asking, whatever part of the mirror they are."""


class Base(NamedTuple):
    """A file as it was written last: its mark, a digest of the text of each memory in it, and digests of what in it
    is no list item."""

    mark: str
    digests: Mapping[str, str]
    unread: frozenset[str] = frozenset()


class Edit(NamedTuple):
    """One thing that somebody did. `id` is of the memory that it was done to; a new line has none."""

    action: MirrorAction
    place: Place
    item: Item
    id: str = ""


class Plan(NamedTuple):
    """All that was done, what cannot be done or read, and the lines that must stay as they are because of that."""

    edits: tuple[Edit, ...]
    refused: tuple[Trouble, ...]
    kept: Mapping[Place, tuple[Raw, ...]]
    unreadable: tuple[Trouble, ...] = ()
    asks: int = 0
    """How many would be forgotten, when that is so many that somebody should say yes first."""


class _Planner:
    def __init__(
        self,
        readings: Mapping[Place, Reading],
        memories: Mapping[str, Memory],
        base: Mapping[Place, Base],
        digest: Callable[[str], str],
        was_erased: Callable[[str, str], bool],
    ) -> None:
        self._readings = readings
        self._memories = memories
        self._base = base
        self._digest = digest
        self._was_erased = was_erased
        self._was_at = {each: place for place, written in base.items() for each in written.digests}
        self._taken: dict[str, Item] = {}
        self._edited: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        self._edits: list[Edit] = []
        self._troubles: list[Trouble] = []
        self._kept: dict[Place, list[Raw]] = {}
        self._unsure = ""

    def plan(self) -> Plan:
        unsettled = self._mended(self._unclaimed(self._unsettled()))
        for place, item in unsettled:
            memory = self._memories.get(item.id)
            if item.id and item.id not in self._taken:
                self._of_memory(place, item, memory)
        staying = (self._memories.get(each) for each in self._taken if each not in self._edited)
        self._said = {(memory.scope, memory.text) for memory in staying if memory is not None and is_shown(memory)}
        for place, item in unsettled:
            if self._taken.get(item.id) is not item:
                self._new(place, item)
        asks = self._missing()
        order = {action: number for number, action in enumerate(ORDER)}
        self._edits.sort(key=lambda edit: order[edit.action])
        kept = {place: tuple(raw) for place, raw in self._kept.items()}
        return Plan(tuple(self._edits), tuple(self._troubles), kept, self._unreadable(), asks)

    # -- whose line is it? --

    def _unsettled(self) -> list[tuple[Place, Item]]:
        """Items without those that say of their memory what it says, where it stands."""
        left = []
        for place, reading in self._readings.items():
            for item in reading.items:
                memory = self._memories.get(item.id)
                as_it_is = memory is not None and is_shown(memory) and memory.text == item.text
                if memory is not None and as_it_is and place_of(memory) == place and item.id not in self._taken:
                    self._taken[item.id] = item
                else:
                    left.append((place, item))
        return left

    def _unclaimed(self, items: Sequence[tuple[Place, Item]]) -> list[tuple[Place, Item]]:
        """Items without those that say what some other memory of the same place says that has no line: the lines were
        swapped, or it was taken before and the file was not written."""
        free: dict[tuple[Place, str], list[str]] = {}
        for memory in self._memories.values():
            if is_shown(memory) and memory.id not in self._taken:
                free.setdefault((place_of(memory), memory.text), []).append(memory.id)
        left = []
        for place, item in items:
            claimed = free.get((place, item.text))
            if claimed:
                self._taken[claimed.pop()] = item
            else:
                left.append((place, item))
        return left

    def _mended(self, items: Sequence[tuple[Place, Item]]) -> list[tuple[Place, Item]]:
        """Items with the ids that damaged comments were of, without those of which nobody can tell."""
        others = {item.id for _, item in items}
        free = self._memories.keys() - self._taken.keys() - others
        mended = []
        for place, item in items:
            if item.scrap is None:
                mended.append((place, item))
                continue
            found = [each for each in free if fits(item.scrap, each)]
            if len(found) == 1:
                free.remove(found[0])
                mended.append((place, item._replace(id=found[0])))
            else:
                self._unsure = self._unsure or f"{place.path}:{item.line}"
                self._trouble(place, item, "its m: comment is damaged; mend it, or take it away to remember the line")
        return mended

    # -- what was done to it? --

    def _of_memory(self, place: Place, item: Item, memory: Memory | None) -> None:
        """A line with the id of a memory that says something else than the memory, or stands elsewhere."""
        self._taken[item.id] = item
        if memory is None:
            self._unknown(place, item)
        elif not is_shown(memory):
            self._not_shown(place, item, memory)
        else:
            self._of_shown(place, item, memory)

    def _unknown(self, place: Place, item: Item) -> None:
        written = self._base.get(self._was_at.get(item.id, place))
        if written is not None and written.digests.get(item.id) == self._digest(item.text):
            return  # it was erased, and nobody has touched the line: it goes
        if self._was_erased(place.scope, item.text):
            self._troubles.append(Trouble(place.path, item.line, item.id, "it was erased; the line was taken out"))
            return
        self._trouble(place, item, "no memory of this scope has this id; take the comment away to remember the line")

    def _not_shown(self, place: Place, item: Item, memory: Memory) -> None:
        if item.text != memory.text:
            self._edits.append(Edit("conflict", place, item, memory.id))
        elif memory.id not in self._was_at and self._is_current(place) and memory.state != "live":
            # It was not in the file that we wrote: somebody has put it back.
            back: MirrorAction = "restore" if memory.state in ("forgotten", "archived") else "remember"
            if back == "restore" and place == place_of(memory):
                self._edits.append(Edit(back, place, item, memory.id))
            else:
                self._edits.append(Edit("remember", place, item))

    def _of_shown(self, place: Place, item: Item, memory: Memory) -> None:
        home = place_of(memory)
        if self._was_at.get(memory.id) == place:
            place = home  # the store has moved it since; the line stands where it was written
        if item.text == memory.text and place == home:
            return
        self._edited.add(memory.id)
        if not item.text.strip():
            self._edits.append(Edit("forget", place, item, memory.id))
        elif (home.shelf == "profile") != (place.shelf == "profile") or (is_entry(memory) and home != place):
            self._trouble(place, item, "a profile is not moved; use `memoranda profile`")
        elif is_entry(memory) and not _fits_profile(memory, item.text):
            self._trouble(place, item, "the profile cannot have it so; use `memoranda profile`")
        else:
            action: MirrorAction = "supersede" if home.scope == place.scope else "move"
            self._edits.append(Edit(action, place, item, memory.id))

    def _new(self, place: Place, item: Item) -> None:
        """A line without an id, or with one that another line has."""
        if not item.text.strip():
            return
        if item.id and item.id not in self._memories:
            self._unknown(place, item)
            return
        item = item._replace(id="")  # wherever it ends up, it stands for no memory that another line is of
        if place.shelf == "profile":
            self._trouble(place, item, "a profile has no new lines; use `memoranda profile`")
            return
        if (place.scope, item.text) not in self._said:
            self._said.add((place.scope, item.text))
            self._edits.append(Edit("remember", place, item))

    def _missing(self) -> int:
        """What was written and has no line any more is to be forgotten; how many, when somebody should be asked."""
        held = frozenset(each for reading in self._readings.values() for each in reading.held)
        going: list[Edit] = []
        live = 0
        for place, written in self._base.items():
            reading = self._readings.get(place)
            if reading is not None and reading.trouble:
                continue
            untaken = [each for each in written.digests if each not in self._taken and each not in held]
            self._corrected_meanwhile(place, untaken)
            lost = [each for each in untaken if self._shown(each)]
            live += sum(map(self._shown, written.digests))
            if lost and not self._is_current(place):
                why = (
                    f"{so_many(len(lost), 'line')} missing, but this is not the file that was written last: back again"
                )
                self._troubles.append(Trouble(place.path, 0, "", why))
            elif lost and self._unsure:
                why = f"{so_many(len(lost), 'line')} missing, but {self._unsure} may be among them: back again"
                self._troubles.append(Trouble(place.path, 0, "", why))
            else:
                going += [Edit("forget", place, Item(0, (), ""), each) for each in lost]
        self._edits += going
        no_file_left = bool(going) and not any(place in self._readings for place in self._base)
        return len(going) if no_file_left or (len(going) > MANY and len(going) * 2 > live) else 0

    def _corrected_meanwhile(self, place: Place, untaken: Iterable[str]) -> None:
        """A line was removed that the store has another memory for by now."""
        for each in untaken if self._is_current(place) else ():
            memory = self._memories.get(each)
            later = "" if memory is None or memory.state != "superseded" else memory.superseded_by or ""
            if self._shown(later) and later not in self._taken:
                why = "removed here, but superseded in the store since: what supersedes it stays"
                self._troubles.append(Trouble(place.path, 0, each, why))

    def _shown(self, identity: str) -> bool:
        memory = self._memories.get(identity)
        return memory is not None and is_shown(memory)

    def _unreadable(self) -> tuple[Trouble, ...]:
        found = []
        for place, reading in self._readings.items():
            if reading.trouble:
                found.append(Trouble(place.path, 0, "", f"{reading.trouble}; it was left as it is"))
                continue
            told = self._base.get(place, Base("", {})).unread
            new = [block for block in reading.blocks if self._digest(block.text) not in told]
            found += [Trouble(place.path, block.line, "", _not_read(block)) for block in new]
        return tuple(found)

    def _is_current(self, place: Place) -> bool:
        """Whether somebody took away what is missing from a file: it is the one that we wrote, or it is gone."""
        reading, written = self._readings.get(place), self._base.get(place)
        return reading is None or (written is not None and reading.mark == written.mark)

    def _trouble(self, place: Place, item: Item, why: str) -> None:
        self._troubles.append(Trouble(place.path, item.line, item.id, why))
        self._kept.setdefault(place, []).append(kept_line(place, item, self._memories))


def plan(
    readings: Mapping[Place, Reading],
    memories: Mapping[str, Memory],
    *,
    base: Mapping[Place, Base],
    digest: Callable[[str], str],
    was_erased: Callable[[str, str], bool] = lambda scope, text: False,
) -> Plan:
    """What was done to the files. `memories` are all of the scopes that the files are of, whatever their state;
    `was_erased` says it of a scope and a text."""
    return _Planner(readings, memories, base, digest, was_erased).plan()


def kept_line(place: Place, item: Item, memories: Mapping[str, Memory]) -> Raw:
    """A line that stays as it is: instead of its memory's, when that stands in the same file."""
    memory = memories.get(item.id)
    own = memory is not None and is_shown(memory) and place_of(memory) == place
    return Raw(item.lines, item.id if own else "")


def pages(
    readings: Mapping[Place, Reading], memories: Iterable[Memory], kept: Mapping[Place, Sequence[Raw]]
) -> dict[Place, Page]:
    """What every file should be now; empty ones among them are to be removed."""
    held = frozenset(each for reading in readings.values() for each in reading.held)
    by_place: dict[Place, list[Memory]] = {place: [] for place in readings}
    for memory in memories:
        if is_shown(memory) and memory.id not in held:
            by_place.setdefault(place_of(memory), []).append(memory)
    return {
        place: Page(
            place,
            tuple(found),
            tuple(kept.get(place, ())),
            tuple(block.lines for block in readings[place].blocks) if place in readings else (),
        )
        for place, found in by_place.items()
    }


def value_after(memory: Memory, text: str) -> Any:
    """The value of a structured memory whose text was edited: what stands now where it stood; None when that cannot
    be told, and the text speaks for itself."""
    if memory.value is None:
        return None
    before, found, after = memory.text.rpartition(shown(memory.value))
    fits = found and text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    if not fits:
        return None
    said = text[len(before) : len(text) - len(after)]
    if isinstance(memory.value, str):
        return said
    try:
        return json.loads(said)
    except ValueError:
        return said


def _not_read(block: Block) -> str:
    last = block.line + len(block.lines) - 1
    which = f" (lines {block.line} to {last})" if last > block.line else ""
    return f"not a list item{which}; it was not read, and stays in the file below the list"


def _fits_profile(memory: Memory, text: str) -> bool:
    entry = value_after(memory, text)
    return isinstance(entry, str) and bool(entry.strip()) and len(entry) <= MAX_ENTRY
