"""`Talk`: one conversation as frameworks keep their sessions: items are added, shown, taken back and cleared.

What is taken back stays in the transcript, which is word for word; it is only not shown any more.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from memoranda.domain.conversation import Conversation, KeptMessage
from memoranda.domain.errors import NotFound
from memoranda.domain.message import Message
from memoranda.service.memory import LongTermMemory

_PAGE = 500
_TAKEN_BACK = "taken_back"


class Talk:
    """One conversation of one scope."""

    def __init__(self, memory: LongTermMemory, name: str) -> None:
        self._conversations = memory.conversations
        self._scope = memory.scope
        self.name = name

    def append(self, messages: Sequence[Message | Mapping[str, Any]]) -> None:
        """Keep messages at the end."""
        if messages:
            self._conversations.append(messages, conversation=self.name)

    def shown(self) -> list[KeptMessage]:
        """What a model should see: the summary of what is older, if there is one, and what was said since."""
        own = self._own()
        if own is None:
            return []
        hidden = _places(own)
        found: list[KeptMessage] = []
        place = 0
        while True:
            page = self._conversations.messages(own.id, after=place, limit=_PAGE, status="active")
            found += [each for each in page if each.place not in hidden]
            if len(page) < _PAGE:
                return found
            place = page[-1].place

    def take_back(self) -> KeptMessage | None:
        """The last message, which is not shown any more; None when there is none."""
        own, shown = self._own(), self.shown()
        if own is None or not shown:
            return None
        hidden = _ranges(sorted({*_places(own), shown[-1].place}))
        self._conversations.append([], conversation=self.name, metadata={_TAKEN_BACK: hidden})
        return shown[-1]

    def clear(self) -> None:
        """Erase the conversation for good."""
        with suppress(NotFound):
            self._conversations.erase(self.name)

    def _own(self) -> Conversation | None:
        """The conversation of this very scope: one of the same name above is somebody else's."""
        try:
            found = self._conversations.get(self.name)
        except NotFound:
            return None
        return found if found.scope == self._scope else None


def _places(conversation: Conversation) -> frozenset[int]:
    """Where the messages stood that were taken back."""
    ranges = conversation.metadata.get(_TAKEN_BACK) or ()
    return frozenset(place for first, last in ranges for place in range(int(first), int(last) + 1))


def _ranges(places: Sequence[int]) -> list[list[int]]:
    """Numbers in order as first and last of each row of neighbours: short, however many were taken back."""
    rows: list[list[int]] = []
    for place in places:
        if rows and rows[-1][1] == place - 1:
            rows[-1][1] = place
        else:
            rows.append([place, place])
    return rows
