"""`Desk`: one `!memory` command: where it was given, by whom, and what they may do. Names no command."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memoranda.domain.errors import NotFound
from memoranda.domain.memory import Memory, State, Trust
from memoranda.domain.profile import is_entry
from memoranda_langbot.stores import Room

PAGE = 10
_AT_ONCE = 1_000
_MOST = 20_000


class Told(Exception):
    """Something to say instead of doing it: how a command is written, or that it is not allowed."""


class Desk(NamedTuple):
    """A command of one person in one place."""

    room: Room
    admin: bool
    knowledge_base: str = ""

    # -- what one may do --

    @property
    def own(self) -> bool:
        """Whether all that is kept here belongs to the one who asks: a private chat, or a memory of one's own."""
        isolation = self.room.options.isolation
        return isolation == "speaker" or (self.room.place.private and isolation == "session")

    def need_admin(self, what: str) -> None:
        if not self.admin:
            raise Told(f"{what} needs an admin of this bot.")

    def need_own(self, what: str) -> None:
        """An admin, or somebody whose own memory it is."""
        if not self.admin and not self.own:
            raise Told(f"{what} needs an admin of this bot, here where others are remembered, too.")

    def need_session(self, what: str) -> None:
        """An admin, or somebody who is alone in the session: its profiles are everybody's, whatever the isolation."""
        if not self.room.place.private:
            self.need_admin(what)

    def need_say(self, memory: Memory, what: str) -> None:
        """An admin, or the one who said it."""
        sender = self.room.place.sender_id
        said_it = bool(sender) and memory.speaker == sender and memory.source == "user"
        if not said_it:
            self.need_own(what)

    # -- what is kept here --

    def episode(self, reference: str) -> Memory:
        """One memory by its id, or by the beginning of it. Entries of profiles are none."""
        found = self.room.memories.get(reference)
        if is_entry(found):
            raise NotFound(f"no episode {found.id}", hint="See !memory profile.")
        return found

    def episodes(self, states: Sequence[State], *, tags: Sequence[str] = (), speaker: str = "") -> Iterator[Memory]:
        """What is kept in this very place and is no entry of a profile, newest first."""
        memories, place = self.room.memories, 0
        while place < _MOST:
            page = memories.list(
                here=True, states=states, tags=tags, speaker=speaker, trust=_MAY_SPEAK, limit=_AT_ONCE, offset=place
            )
            yield from (each for each in page if not is_entry(each))
            place += _AT_ONCE
            if place >= page.total:
                return


_MAY_SPEAK: tuple[Trust, ...] = ("trusted", "untrusted")


def number(words: Sequence[str], usage: str) -> int:
    """The page that is asked for; the first when none is."""
    if not words:
        return 1
    if len(words) > 1 or not words[0].isascii() or not words[0].isdigit() or not 1 <= int(words[0]) <= _MOST:
        raise Told(f"Usage: {usage}")
    return int(words[0])
