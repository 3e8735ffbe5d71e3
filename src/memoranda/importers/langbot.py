"""What LangBot's plugin LongTermMemory gives out: profiles (`!memory export`), and episodes as it takes them in.

Profiles become facts, preferences and notes with the tag `profile`: what somebody else's export says of a person is
no profile here until somebody who is trusted says so.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.labels import ONE_TO_FIVE
from memoranda.domain.memory import Kind, State
from memoranda.importers.files import stream_of
from memoranda.importers.json_pieces import records
from memoranda.importers.told import kept_of, made_id, moment_of, name_of, said_of, share_of, tags_of, text_of

IMPORTANCE: Mapping[int, float] = dict(enumerate(ONE_TO_FIVE, 1))
"""Their five steps. Not evenly: 2 is what they give to everything ordinary, and that is worth keeping."""
_STATES: Mapping[str, State] = {"superseded": "superseded", "archived": "archived", "deleted": "forgotten"}
_LISTS: tuple[tuple[str, Kind], ...] = (("traits", "fact"), ("preferences", "preference"))
_READ = (
    "id", "episode_id", "content", "document", "tags", "importance", "timestamp", "user_key", "sender_name", "status",
    "superseded_by", "metadata", "score", "distance",
)  # fmt: skip
_HEAD = 65_536
_SHORT = 8  # letters of a digest: a longer one looks like a key


class Reader:
    """Reads a JSON file of profiles, or of episodes."""

    name = "langbot"
    title = "LangBot LongTermMemory: exported profiles (L1), or a list of episodes (L2)"

    def reads(self, path: Path) -> bool:
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD).decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
        except OSError:
            return False
        if head.startswith("{"):
            return '"profiles"' in head and '"scope_key"' in head
        return head.startswith("[") and '"content"' in head and ('"user_key"' in head or '"sender_id"' in head)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        del options  # there are none
        known = False
        with stream_of(path) as stream:
            for found in records(stream, under=("profiles", "episodes")):
                listed, _, number = found.place.rpartition(" ")
                place = f"{'profile' if listed == 'profiles' else 'episode'} {number}"
                if isinstance(found, Unread):
                    yield found._replace(place=place)
                elif found.under == "profiles":
                    known = True
                    yield from _profile(found.value, place)
                else:
                    episode = _episode(found.value, place)
                    known = known or bool(found.under) or isinstance(episode, Imported)
                    yield episode
        if not known:
            hint = "Give what `!memory export` wrote, or a list of episodes with content, tags and timestamp."
            raise InvalidInput(f"{path.name} has neither profiles nor episodes of LangBot", hint=hint)


# -- episodes --


def _episode(given: Mapping[str, Any], place: str) -> Imported | Unread:
    # As their vector store lists it: everything but the id is one level below.
    below = given.get("metadata")
    record = {**given, **below} if isinstance(below, dict) else given
    text = text_of(record.get("content")) or text_of(record.get("document"))
    if not text:
        return Unread(place, "it has no content")
    at = moment_of(record.get("timestamp"))
    return Imported(
        text=text,
        id=name_of(record.get("id")) or name_of(record.get("episode_id")),
        place=place,
        kind="episode",
        importance=_importance(record.get("importance")),
        speaker=name_of(record.get("sender_name")) or name_of(record.get("sender_id")),
        tags=tags_of(record.get("tags")),
        metadata=kept_of(record, without=_READ),
        state=_STATES.get(name_of(record.get("status")).lower(), "live"),
        superseded_by=name_of(record.get("superseded_by")),
        created_at=at,
        occurred_at=at,
        owner=name_of(record.get("user_key")),
    )


def _importance(given: Any) -> float:
    """They take anything that is no number for 2, and what is out of range for the nearest step."""
    try:
        step = int(given)
    except (TypeError, ValueError, OverflowError):
        step = 2
    return IMPORTANCE[max(1, min(5, step))]


# -- profiles --


def _profile(entry: Mapping[str, Any], place: str) -> Iterator[Imported | Unread]:
    profile = entry.get("profile")
    if not isinstance(profile, dict):
        yield Unread(place, "it has no profile")
        return
    whose = _Whose(entry, profile, place)
    name, notes = name_of(profile.get("name")), text_of(profile.get("notes"))
    if name:
        yield whose.said(f"Name: {name}", "name", kind="fact")
    slots = profile.get("profile_slots")
    for field, kind in _LISTS:
        group = slots.get(field) if isinstance(slots, dict) else None
        current: set[str] = set()
        for key, slot in sorted(group.items()) if isinstance(group, dict) else ():
            if isinstance(slot, dict):
                current.add(text_of(slot.get("value")))
                yield from whose.slot(field, name_of(key), slot, kind=kind)
        listed = profile.get(field)
        for item in listed if isinstance(listed, list) else ():
            text = text_of(item)
            if text and text not in current:
                yield whose.said(text, f"{field}/{made_id(text)[:_SHORT]}", kind=kind)
    if notes:
        yield whose.said(notes, "notes", kind="note")


class _Whose:
    """One profile: of a session, or of one who speaks in it. They give no ids, so that these are made of the place."""

    def __init__(self, entry: Mapping[str, Any], profile: Mapping[str, Any], place: str) -> None:
        self._owner = name_of(entry.get("scope_key"))
        self._sender = name_of(entry.get("sender_id"))
        self._name = name_of(profile.get("name")) or self._sender
        self._at = moment_of(profile.get("updated_at"))
        self._place = place

    def _id(self, what: str) -> str:
        return "/".join((self._owner, self._sender or "session", what))

    def said(self, text: str, what: str, *, kind: Kind) -> Imported:
        return Imported(
            text=said_of(self._name, text),
            id=self._id(what),
            place=f"{self._place}, {what.partition('/')[0]}",
            kind=kind,
            about=f"person:{self._name}" if self._sender else "",
            tags=("profile",),
            metadata={"sender_id": self._sender} if self._sender else None,
            created_at=self._at,
            owner=self._owner,
        )

    def slot(self, field: str, key: str, slot: Mapping[str, Any], *, kind: Kind) -> Iterator[Imported]:
        """What it said before, oldest first, and what it says now."""
        what = f"{field}/{key}"
        value = text_of(slot.get("value"))
        history = slot.get("history")
        for number, old in enumerate(history if isinstance(history, list) else (), 1):
            before = text_of(old.get("value")) if isinstance(old, dict) else ""
            if before:
                yield self.said(f"{key}: {before}", f"{what}/{number}", kind=kind)._replace(
                    state="superseded" if value else "archived",
                    superseded_by=self._id(what) if value else "",
                    created_at=moment_of(old.get("timestamp")) or self._at,
                )
        if value:
            yield self.said(f"{key}: {value}", what, kind=kind)._replace(
                confidence=share_of(slot.get("confidence")),
                created_at=moment_of(slot.get("updated_at")) or self._at,
            )
