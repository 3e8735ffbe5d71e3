"""The profile: the small stable record of a group or of one who speaks in it, always in the prompt.

It is made of memories, one for each entry, so that history, scope, forgetting and erasure are theirs. Here is what
makes a profile of them; nothing here reads or writes a store.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import DAY_MS, iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Kind, Memory, checked_choice
from memoranda.domain.text import checked_text, normal_form

Field = Literal["name", "traits", "preferences", "notes"]
FIELDS: tuple[Field, ...] = get_args(Field)
ListField = Literal["traits", "preferences"]
LISTS: tuple[ListField, ...] = get_args(ListField)
SEVERAL: tuple[Field, ...] = (*LISTS, "notes")
"""Fields that hold several entries beside one another."""
KIND_OF: Mapping[Field, Kind] = {"name": "fact", "traits": "fact", "preferences": "preference", "notes": "note"}

PREFIX = "profile."
SUBJECT = "profile"
LIMITS: Mapping[ListField, int] = {"traits": 20, "preferences": 10}
MAX_NOTES = 2_000
MAX_ENTRY = 500
MOST_RECENT = 8
RECENT_MS = 30 * DAY_MS
BETWEEN_NOTES = "; "
# Of a list, how many entries; of the notes, how many characters once they are joined.
_ROOM: dict[str, int] = {"notes": MAX_NOTES + len(BETWEEN_NOTES)}
_ROOM.update((field, LIMITS[field]) for field in LISTS)
_MAX_SPEAKER = 500
_LINE = 400
_WORDS: Mapping[Field, str] = {"name": "name", "traits": "traits", "preferences": "preferences", "notes": "notes"}
_ONE: Mapping[ListField, str] = {"traits": "trait", "preferences": "preference"}


class Profile(NamedTuple):
    """A profile as it is now. Lists are oldest first. `recent` says what changed lately, and is not in the JSON."""

    name: str = ""
    traits: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    notes: str = ""
    updated_at: str = ""
    """When it last changed, as ISO-8601 with Z; empty when there is nothing in it."""
    recent: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.name or self.traits or self.preferences or self.notes)

    def as_json(self) -> dict[str, Any]:
        """The profile as hosts and other plugins know it."""
        return {
            "name": self.name,
            "traits": list(self.traits),
            "preferences": list(self.preferences),
            "notes": self.notes,
            "updated_at": self.updated_at,
        }

    def lines(self, whose: str) -> tuple[str, ...]:
        """The profile for a prompt, in the order of its fields; long lists go over several lines."""
        entries: dict[Field, Sequence[str]] = {
            "name": (self.name,) if self.name else (),
            "traits": self.traits,
            "preferences": self.preferences,
            "notes": self.notes.split(BETWEEN_NOTES) if self.notes else (),
        }
        return tuple(f"{whose}, {_WORDS[field]}: {line}" for field in FIELDS for line in _wrapped(entries[field]))


class ProfileReceipt(NamedTuple):
    """What a change of a profile did, in ids. What is not trusted was kept, but does not speak."""

    action: str
    scope: str
    sequence: int
    kept: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    trust: str = "trusted"

    def as_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._asdict().items()}


class ProfileChanged(NamedTuple):
    """A profile after a change, with the receipt of the change."""

    profile: Profile
    receipt: ProfileReceipt

    def as_json(self) -> dict[str, Any]:
        return {"profile": self.profile.as_json(), "receipt": self.receipt.as_json()}


def subject_of(speaker: str) -> str:
    """What the memories of a profile are about: the group, or one speaker in it."""
    checked_text(speaker, name="speaker", limit=_MAX_SPEAKER, empty_ok=True)
    return f"{SUBJECT}:{speaker.strip()}" if speaker.strip() else SUBJECT


def is_entry(memory: Memory) -> bool:
    """Whether a memory is an entry of some profile."""
    return memory.attribute.startswith(PREFIX)


def field_of(memory: Memory) -> str:
    return memory.attribute.removeprefix(PREFIX)


def entry_of(memory: Memory) -> str:
    """What an entry says."""
    return memory.value if isinstance(memory.value, str) else memory.text


def text_of(field: Field, entry: str) -> str:
    """An entry as it is found by recall and read by people."""
    return f"Name: {entry}" if field == "name" else entry


def checked_field(field: Field) -> Field:
    return checked_choice(field, FIELDS, name="field")


def checked_key(field: Field, key: str) -> str:
    """A key, which only an entry of a list may have."""
    checked_text(key, name="key", limit=120, empty_ok=True)
    if key.strip() and field not in LISTS:
        raise InvalidInput(f"{field} has no keys: there is only one", hint="Give a key to traits and preferences.")
    return key.strip()


def checked_entry(field: Field, entry: str) -> str:
    """An entry of the right length, without spaces at its ends."""
    if not isinstance(entry, str):
        raise InvalidInput(f"{field}: text is expected, not {type(entry).__name__}", hint="Write each entry as a text.")
    limit = MAX_NOTES if field == "notes" else MAX_ENTRY
    return checked_text(entry, name=field, limit=limit).strip()


def checked_entries(field: ListField, entries: Sequence[str]) -> tuple[str, ...]:
    """The entries of a list, each once, as many as it may hold."""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        given = "one text" if isinstance(entries, str) else type(entries).__name__
        raise InvalidInput(f"{field} are a list of texts, not {given}", hint=f"Pass {field}=['…'].")
    once: dict[str, str] = {}
    for each in entries:
        entry = checked_entry(field, each)
        once.setdefault(normal_form(entry), entry)
    if len(once) > LIMITS[field]:
        raise InvalidInput(f"{len(once)} {field} are too many; the limit is {LIMITS[field]}", hint="Give fewer.")
    return tuple(once.values())


def notes_in(text: str) -> tuple[str, ...]:
    """The notes that a text holds, each once, in its order."""
    parts = (part.strip() for part in text.split(BETWEEN_NOTES))
    return tuple({normal_form(part): part for part in parts if part}.values())


def same_entry(memory: Memory, entry: str) -> bool:
    return normal_form(entry_of(memory)) == normal_form(entry)


def beyond_limit(live: Sequence[Memory]) -> list[Memory]:
    """The oldest entries of what is too long, of entries given newest first. Trust is counted apart: what is not
    trusted pushes out nothing that is."""
    too_many: list[Memory] = []
    taken: dict[tuple[str, str], int] = {}
    for memory in live:
        field = field_of(memory)
        if field in _ROOM:
            needed = len(entry_of(memory)) + len(BETWEEN_NOTES) if field == "notes" else 1
            taken[field, memory.trust] = taken.get((field, memory.trust), 0) + needed
            if taken[field, memory.trust] > _ROOM[field]:
                too_many.append(memory)
    return too_many


def profile_of(live: Sequence[Memory], gone: Sequence[Memory], *, now: int) -> Profile:
    """The profile that trusted entries make, both given newest first; what is gone tells what changed lately."""
    if not live:
        return Profile()
    lists: dict[str, dict[str, str]] = {field: {} for field in SEVERAL}
    name: Memory | None = None
    # What was captured is not trimmed when it is kept: the newest are shown, the others are found when asked for.
    hidden = {memory.id for memory in beyond_limit(live)}
    for memory in reversed([memory for memory in live if memory.id not in hidden]):
        field = field_of(memory)
        if field in lists:
            lists[field].setdefault(normal_form(entry_of(memory)), entry_of(memory))
        elif name is None or memory.updated_at >= name.updated_at:
            name = memory
    return Profile(
        name="" if name is None else entry_of(name),
        traits=tuple(lists["traits"].values()),
        preferences=tuple(lists["preferences"].values()),
        notes=BETWEEN_NOTES.join(lists["notes"].values()),
        updated_at=_seconds(max(memory.updated_at for memory in (*live, *gone))),
        recent=_recent(live, gone, now=now),
    )


def _recent(live: Sequence[Memory], gone: Sequence[Memory], *, now: int) -> tuple[str, ...]:
    """What keyed entries were before, the latest change first."""
    changes: list[tuple[int, str]] = []
    for memory in live:
        field = field_of(memory)
        if not memory.context or field not in _ONE:
            continue
        before = [
            old
            for old in gone
            if old.state == "superseded" and old.superseded_by == memory.id and not same_entry(old, entry_of(memory))
        ]
        given = memory.metadata.get("previous")
        if before:
            latest = max(before, key=lambda old: (old.updated_at, old.id))
            at, previously = latest.updated_at, entry_of(latest)
        elif isinstance(given, str):
            at, previously = memory.created_at, given
        else:
            continue
        if now - at < RECENT_MS:
            told = f"Recent {_ONE[field]} update ({memory.context}): now {entry_of(memory)}; previously {previously}"  # type: ignore[index]  # it is among them
            changes.append((at, told))
    changes.sort(key=lambda change: (-change[0], change[1]))
    return tuple(told for _, told in changes[:MOST_RECENT])


def _seconds(ms: int) -> str:
    """A moment as hosts show it: to the second."""
    return iso(ms)[:19] + "Z"


def _wrapped(entries: Sequence[str]) -> list[str]:
    """Entries joined into lines of a bounded length; one that is longer stands alone."""
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(entry) < _LINE:
            lines[-1] += BETWEEN_NOTES + entry
        else:
            lines.append(entry)
    return lines
